#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs a probe program at full size and compares every launch, and every source line of it, with what an H200 counted.

usage: probe_counts.py WARPLENS NAME --compiler C --rows N [--lines N] [--skip PATTERN]... [--only TEXT] -- RUN-ARGUMENTS

Tables are truth/h200/NAME.csv and truth/h200/lines_NAME.csv; RUN-ARGUMENTS are what follows `warplens run --launches all
--json FILE`. The program prints "index,name" after each probe; that names the row of each launch. Compared, exactly:

  launches  requests and sectors of global loads and stores, wavefronts of shared loads and stores
  lines     active threads; lines, sectors and ideal sectors of global, wavefronts and ideal wavefronts of shared loads
            and stores, summed over what a line of the program's own file does

What may differ is listed with its reason in exempt.csv beside this file (columns: table, compiler or *, probe, what,
reason); `what` is a column of the launch table, or "line N memory kind". An entry that no longer differs is a fault, too.
"""
import argparse
import collections
import csv
import fnmatch
import json
import os
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
TRUTH = HERE.parent.parent / "truth" / "h200"

COLUMNS = {
    "req_global_ld": ("global", "read", "requests"),
    "sec_global_ld": ("global", "read", "sectors"),
    "req_global_st": ("global", "write", "requests"),
    "sec_global_st": ("global", "write", "sectors"),
    "wave_shared_ld": ("shared", "read", "wavefronts"),
    "wave_shared_st": ("shared", "write", "wavefronts"),
}
MEMORIES = {"Global": "global", "Shared": "shared"}
KINDS = {"Load": "read", "Store": "write"}
# Of a line: the report's name and the table's.
LINE_FIELDS = {
    "global": [("active_lanes", "thread_inst"), ("lines", "l1_tags"), ("sectors", "l2_sectors"),
               ("ideal_sectors", "l2_sectors_ideal")],
    "shared": [("active_lanes", "thread_inst"), ("wavefronts", "shared_wavefronts"),
               ("ideal_wavefronts", "shared_wavefronts_ideal")],
}


class Exemptions:
    """What may differ; notes which entries were needed."""

    def __init__(self, table, compiler):
        rows = csv.DictReader(line for line in open(HERE / "exempt.csv") if not line.startswith("#"))
        self.entries = [r for r in rows if r["table"] == table and r["compiler"] in ("*", compiler)]
        self.used = [False] * len(self.entries)

    def covers(self, probe, what):
        found = False
        for i, e in enumerate(self.entries):
            if fnmatch.fnmatch(probe, e["probe"]) and fnmatch.fnmatch(what, e["what"]):
                self.used[i] = found = True
        return found

    def stale(self):
        return [e for e, used in zip(self.entries, self.used) if not used]


def counted(launch):
    """The compared counters of one launch of the report; 0 where that kind of access does not occur."""
    totals = {(m["memory"], m["kind"]): m for m in launch["totals"]["memory"]}
    return {c: totals.get((memory, kind), {}).get(field, 0) for c, (memory, kind, field) in COLUMNS.items()}


def counted_lines(launch):
    """(line, memory, kind) -> fields, summed over the accesses of the line."""
    lines = collections.defaultdict(collections.Counter)
    for line in launch["lines"]:
        for access in line["accesses"]:
            key = (line["line"], access["memory"], access["kind"])
            for ours, _ in LINE_FIELDS.get(access["memory"], []):
                lines[key][ours] += access.get(ours, 0)
    return lines


def expected_lines(path):
    """probe -> (line, memory, kind) -> fields, of the program's own file."""
    probes = collections.defaultdict(lambda: collections.defaultdict(collections.Counter))
    for row in csv.DictReader(open(path)):
        memory, kind = MEMORIES.get(row["space"]), KINDS.get(row["access"])
        if memory is None or kind is None or not row["file"].endswith(".cu"):
            continue
        for ours, theirs in LINE_FIELDS[memory]:
            probes[row["probe"]][(int(row["line"]), memory, kind)][ours] += int(row[theirs])
    return probes


def run(warplens, arguments):
    """The launches of the program by probe."""
    with tempfile.NamedTemporaryFile(suffix=".json") as report:
        command = [warplens, "run", "--launches", "all", "--json", report.name, *arguments]
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        if done.returncode != 0:
            sys.exit(f"{' '.join(command)}: exit code {done.returncode}\n{done.stdout[-2000:]}\n{done.stderr[-4000:]}")
        kernels = json.load(open(report.name))["kernels"]
    groups = sorted((g for k in kernels for g in k["launch_groups"]), key=lambda g: g["first_launch"])
    names = [line.split(",", 1)[1] for line in done.stdout.splitlines() if line[:1].isdigit()]
    if len(groups) != len(names):
        sys.exit(f"{len(groups)} launches for {len(names)} probes")
    return dict(zip(names, groups))


def main():
    split = sys.argv.index("--")
    parser = argparse.ArgumentParser()
    parser.add_argument("warplens")
    parser.add_argument("name")
    parser.add_argument("--compiler", required=True)
    parser.add_argument("--skip", action="append", default=[], metavar="PATTERN", help="rows that are not compared")
    parser.add_argument("--rows", type=int, required=True, help="rows that must be compared, so that none is lost")
    parser.add_argument("--lines", type=int, default=0, help="the same for lines; 0: lines are not compared")
    parser.add_argument("--only", default="", metavar="TEXT", help="run and compare only probes with this in their name")
    args = parser.parse_args(sys.argv[1:split])
    if args.only:
        os.environ["PROBE"] = args.only  # what the probe programs read
    launches = run(args.warplens, sys.argv[split + 1:])
    exempt = Exemptions(args.name, args.compiler)
    skipped = lambda probe: args.only not in probe or any(fnmatch.fnmatch(probe, p) for p in args.skip)
    faults = 0

    def compare(probe, what, got, expected):
        nonlocal faults
        if got == expected or exempt.covers(probe, what):
            return
        faults += 1
        print(f"{probe}: {what} is {got}, an H200 counted {expected}")

    rows = [r for r in csv.DictReader(open(TRUTH / f"{args.name}.csv")) if not skipped(r["probe"])]
    for row in rows:
        if row["probe"] not in launches:
            sys.exit(f"the program has no probe {row['probe']}")
        for column, got in counted(launches[row["probe"]]).items():
            compare(row["probe"], column, got, int(row[column] or 0))
    lines = 0
    for probe, expected in expected_lines(TRUTH / f"lines_{args.name}.csv").items():
        if skipped(probe) or args.lines == 0:
            continue
        ours = counted_lines(launches[probe])
        for key in sorted(set(expected) | {k for k in ours if k[1] in LINE_FIELDS and k[2] in KINDS.values()}):
            lines += key in expected
            compare(probe, "line {} {} {}".format(*key), dict(ours[key]), dict(expected[key]))
    print(f"{len(rows)} rows and {lines} lines compared, {faults} differences")
    for entry in exempt.stale() if not args.only else []:
        faults += 1
        print(f"exempt.csv: {entry['probe']}, {entry['what']} is equal now")
    if (len(rows), lines) != (args.rows, args.lines):
        sys.exit(f"expected to compare {args.rows} rows and {args.lines} lines")
    sys.exit(1 if faults else 0)


main()
