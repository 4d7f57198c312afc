# SPDX-License-Identifier: Apache-2.0
"""Whether two reports say the same, but for times: by closed forms and lane by lane every number must be equal."""

TIMES = ("host_seconds", "seconds", "code")


def differences(fast, oracle, where=""):
    """Where two reports differ, a line each."""
    if isinstance(fast, dict) and isinstance(oracle, dict):
        names = [n for n in {**fast, **oracle} if n not in TIMES]
        return [d for n in names for d in differences(fast.get(n), oracle.get(n), f"{where} {n}")]
    if isinstance(fast, list) and isinstance(oracle, list) and len(fast) == len(oracle):
        return [d for i, (f, o) in enumerate(zip(fast, oracle)) for d in differences(f, o, f"{where} {i}")]
    return [] if fast == oracle else [f"{where}: {fast} by closed forms, {oracle} lane by lane"]


def self_test():
    assert differences({"a": [1, 2], "seconds": 1}, {"a": [1, 3], "seconds": 2}) == [" a 1: 2 by closed forms, 3 lane by lane"]
    assert differences([1], [1, 2]) and differences({"a": 1}, {}) and not differences({"a": [{"b": 1}]}, {"a": [{"b": 1}]})
