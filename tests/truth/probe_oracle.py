# SPDX-License-Identifier: Apache-2.0
"""Runs a probe program twice, counting by closed forms and lane by lane, and compares every number of the two reports.

usage: probe_oracle.py WARPLENS --launches N [--shift N] -- RUN-ARGUMENTS

--shift: the probes at sizes divided by 2 to the N (truth/src/probe.h), where lane by lane at full size takes too long.
RUN-ARGUMENTS are what follows `warplens run --launches all --json FILE`; N launches must have been counted.
"""
import argparse
import json
import os
import subprocess
import sys
import tempfile

from report_differences import differences, self_test


def run(warplens, counting, arguments):
    """The launches, each with its kernel's name."""
    with tempfile.NamedTemporaryFile(suffix=".json") as report:
        command = [warplens, "run", "-q", "--counting", counting, "--launches", "all", "--json", report.name, *arguments]
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        if done.returncode != 0:
            sys.exit(f"{' '.join(command)}: exit code {done.returncode}\n{done.stdout[-2000:]}\n{done.stderr[-4000:]}")
        kernels = json.load(open(report.name))["kernels"]
    launches = [{"kernel": k["name"], **g} for k in kernels for g in k["launch_groups"]]
    return sorted((l for l in launches if l["counted"]), key=lambda l: l["first_launch"])


def main():
    self_test()
    split = sys.argv.index("--")
    parser = argparse.ArgumentParser()
    parser.add_argument("warplens")
    parser.add_argument("--launches", type=int, required=True)
    parser.add_argument("--shift", type=int, default=0)
    args = parser.parse_args(sys.argv[1:split])
    os.environ["PROBE_SHIFT"] = str(args.shift)
    fast, oracle = (run(args.warplens, counting, sys.argv[split + 1:]) for counting in ("fast", "oracle"))
    found = differences(fast, oracle)
    print(f"{len(fast)} launches by closed forms, {len(oracle)} lane by lane, {len(found)} differences")
    print("\n".join(found[:20]))
    if len(fast) != args.launches:
        sys.exit(f"expected {args.launches} launches")
    sys.exit(1 if found else 0)


main()
