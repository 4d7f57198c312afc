#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs a probe program at full size and compares every launch's counters with what an H200 counted.

usage: probe_counts.py WARPLENS TABLE.csv --rows N [--skip PATTERN]... [--allow N] -- RUN-ARGUMENTS

TABLE.csv is one of truth/h200; RUN-ARGUMENTS are what follows `warplens run --launches all --json FILE`. The program prints
"index,name" after each probe; that names the row of each launch. Compared, exactly: requests and sectors of global loads and
stores, wavefronts of shared loads and stores.
"""
import argparse
import csv
import fnmatch
import json
import subprocess
import sys
import tempfile

COLUMNS = {
    "req_global_ld": ("global", "read", "requests"),
    "sec_global_ld": ("global", "read", "sectors"),
    "req_global_st": ("global", "write", "requests"),
    "sec_global_st": ("global", "write", "sectors"),
    "wave_shared_ld": ("shared", "read", "wavefronts"),
    "wave_shared_st": ("shared", "write", "wavefronts"),
}


def counted(launch):
    """The compared counters of one launch of the JSON report; 0 where that kind of access does not occur."""
    totals = {(m["memory"], m["kind"]): m for m in launch["totals"]["memory"]}
    return {c: totals.get((memory, kind), {}).get(field, 0) for c, (memory, kind, field) in COLUMNS.items()}


def main():
    split = sys.argv.index("--")
    parser = argparse.ArgumentParser()
    parser.add_argument("warplens")
    parser.add_argument("table")
    parser.add_argument("--skip", action="append", default=[], help="row name pattern that is not compared")
    parser.add_argument("--rows", type=int, required=True, help="rows that must be compared, so that none is lost")
    parser.add_argument("--allow", type=int, default=0, help="rows that may differ")
    args = parser.parse_args(sys.argv[1:split])

    with tempfile.NamedTemporaryFile(suffix=".json") as report:
        command = [args.warplens, "run", "--launches", "all", "--json", report.name, *sys.argv[split + 1:]]
        run = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        if run.returncode != 0:
            sys.exit(f"{' '.join(command)}: exit code {run.returncode}\n{run.stdout[-2000:]}\n{run.stderr[-4000:]}")
        kernels = json.load(open(report.name))["kernels"]
    groups = sorted((g for k in kernels for g in k["launch_groups"]), key=lambda g: g["first_launch"])
    names = [line.split(",", 1)[1] for line in run.stdout.splitlines() if line[:1].isdigit()]
    if len(groups) != len(names):
        sys.exit(f"{len(groups)} launches for {len(names)} probes")
    launches = dict(zip(names, map(counted, groups)))

    compared = differ = 0
    for row in csv.DictReader(open(args.table)):
        if any(fnmatch.fnmatch(row["probe"], p) for p in args.skip):
            continue
        if row["probe"] not in launches:
            sys.exit(f"the program has no probe {row['probe']}")
        compared += 1
        wrong = [(c, int(row[c]), got) for c, got in launches[row["probe"]].items() if int(row[c] or 0) != got]
        differ += bool(wrong)
        for column, expected, got in wrong:
            print(f"{row['probe']}: {column} is {got}, an H200 counted {expected}")
    print(f"{compared} rows compared, {differ} differ")
    if compared != args.rows:
        sys.exit(f"expected to compare {args.rows} rows")
    sys.exit(1 if differ > args.allow else 0)


main()
