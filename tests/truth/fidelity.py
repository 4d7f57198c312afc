# SPDX-License-Identifier: Apache-2.0
"""Sections of docs/fidelity.md that tests write: what was compared with an H200, and how much of it was equal.

A section stands between the lines `<!-- NAME: written by ... -->` and `<!-- end of NAME -->`. Tests compare it with what
they found; with WARPLENS_WRITE_FIDELITY=1 in the environment they replace it (scripts/make_fidelity).
"""
import os
import pathlib
import re


def settle(path, name, text):
    """A list of faults: empty when the section of that name reads as `text`, or was written."""
    page = pathlib.Path(path)
    old = page.read_text()
    pattern = re.compile(rf"(<!-- {re.escape(name)}: [^\n]*-->\n).*?(<!-- end of {re.escape(name)} -->)", re.S)
    if not pattern.search(old):
        return [f"{path} has no section '{name}'"]
    new = pattern.sub(lambda m: m.group(1) + text + m.group(2), old)
    if new == old:
        return []
    if os.environ.get("WARPLENS_WRITE_FIDELITY") == "1":
        page.write_text(new)
        return []
    return [f"{path}: section '{name}' is not what was found; run scripts/make_fidelity"]


def table(head, rows):
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    return "\n".join(lines + ["| " + " | ".join(str(c) for c in row) + " |" for row in rows]) + "\n"
