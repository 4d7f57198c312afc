#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs a probe program at full size and compares every launch, and every source line of it, with what an H200 counted.

usage: probe_counts.py WARPLENS NAME --compiler C --rows N [--lines N] [--skip PATTERN]... [--only TEXT]
                       [--fidelity FILE.md] -- RUN-ARGUMENTS

Tables are truth/h200/NAME.csv and truth/h200/lines_NAME.csv; RUN-ARGUMENTS are what follows `warplens run --launches all
--json FILE`. The program prints "index,name" after each probe; that names the row of each launch. Compared, exactly:

  launches  requests, sectors (as the L1 counted and by address) and ideal sectors of global, wavefronts of shared
            loads, stores and atomics; requests and sectors of local memory
  lines     active threads; lines, sectors and ideal sectors of global, wavefronts and ideal wavefronts of shared loads
            and stores, summed over what a line of the program's own file does; of atomics, which stand in headers, the
            same summed over the launch

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

import fidelity
from exemptions import Exemptions

HERE = pathlib.Path(__file__).resolve().parent
TRUTH = HERE.parent.parent / "truth" / "h200"

# What is compared of a launch: the table's columns that add up to it; of the report memory, kinds, and the counters
# that add up ("-": taken off; "+global": of that memory).
ALL = ("read", "write", "atomic")
COLUMNS = {
    "req_global_ld": (["req_global_ld"], "global", ("read",), ["requests"]),
    "sec_global_ld": (["sec_global_ld"], "global", ("read",), ["sectors"]),
    "req_global_st": (["req_global_st"], "global", ("write",), ["requests"]),
    "sec_global_st": (["sec_global_st"], "global", ("write",), ["sectors"]),
    "req_global_red + atom": (["req_global_red", "req_global_atom"], "global", ("atomic",), ["requests"]),
    "sec_global_red + atom": (["sec_global_red", "sec_global_atom"], "global", ("atomic",), ["sectors"]),
    "l2_sec_theoretical": (["l2_sec_theoretical"], "global", ALL, ["sectors", "-repeated_sectors"]),
    "l2_sec_ideal": (["l2_sec_ideal"], "global", ALL, ["ideal_sectors"]),
    "wave_shared_ld": (["wave_shared_ld"], "shared", ("read",), ["wavefronts"]),
    "wave_shared_st": (["wave_shared_st"], "shared", ("write",), ["wavefronts"]),
    "wave_shared_atom": (["wave_shared_atom"], "shared", ("atomic",), ["wavefronts", "+global empty_wavefronts"]),
    "wave_shared_source": (["wave_shared_source"], "shared", ALL, ["wavefronts", "-empty_wavefronts"]),
    "wave_shared_source_ideal": (["wave_shared_source_ideal"], "shared", ALL, ["ideal_wavefronts", "-empty_wavefronts"]),
    "req_local_ld": (["req_local_ld"], "local", ("read",), ["requests"]),
    "sec_local_ld": (["sec_local_ld"], "local", ("read",), ["sectors"]),
    "req_local_st": (["req_local_st"], "local", ("write",), ["requests"]),
    "sec_local_st": (["sec_local_st"], "local", ("write",), ["sectors"]),
}
MEMORIES = {"Global": "global", "Shared": "shared"}
KINDS = {"Load": "read", "Store": "write", "Atomic": "atomic", "0": "atomic"}  # 0: reductions
# Of a line: the report's name and the table's.
LINE_FIELDS = {
    "global": [("active_lanes", "thread_inst"), ("lines", "l1_tags"), ("sectors", "l2_sectors"),
               ("ideal_sectors", "l2_sectors_ideal")],
    "shared": [("active_lanes", "thread_inst"), ("wavefronts", "shared_wavefronts"),
               ("ideal_wavefronts", "shared_wavefronts_ideal")],
}


def counted(launch):
    """The compared counters of one launch of the report; 0 where that kind of access does not occur."""
    totals = {(m["memory"], m["kind"]): m for m in launch["totals"]["memory"]}

    def value(memory, kinds, fields):
        total = 0
        for field in fields:
            of, _, name = field.lstrip("+-").rpartition(" ")
            sign = -1 if field[0] == "-" else 1
            total += sum(sign * totals.get((of or memory, kind), {}).get(name, 0) for kind in kinds)
        return total

    return {name: value(*rest) for name, (_, *rest) in COLUMNS.items()}


def counted_lines(launch):
    """(line, memory, kind) -> fields, summed over the accesses of the line."""
    lines = collections.defaultdict(collections.Counter)
    for line in launch["lines"]:
        for access in line["accesses"]:
            atomic = access["kind"] == "atomic"
            key = (0 if atomic else line["line"], access["memory"], access["kind"])
            for ours, _ in LINE_FIELDS.get(access["memory"], []):
                lines[key][ours] += access.get(ours, 0)
            if access["memory"] == "global":
                lines[key]["sectors"] -= access.get("repeated_sectors", 0)
            if access["memory"] == "shared":
                for passes in ("wavefronts", "ideal_wavefronts"):
                    lines[key][passes] -= access.get("empty_wavefronts", 0)
    return lines


def expected_lines(path):
    """probe -> (line, memory, kind) -> fields, of the program's own file."""
    probes = collections.defaultdict(lambda: collections.defaultdict(collections.Counter))
    for row in csv.DictReader(open(path)):
        memory, kind = MEMORIES.get(row["space"]), KINDS.get(row["access"])
        if memory is None or kind is None or not (kind == "atomic" or row["file"].endswith(".cu")):
            continue
        line = 0 if kind == "atomic" else int(row["line"])
        for ours, theirs in LINE_FIELDS[memory]:
            probes[row["probe"]][(line, memory, kind)][ours] += int(row[theirs])
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
    parser.add_argument("--fidelity", metavar="FILE", help="the page whose section of this must be what was found")
    args = parser.parse_args(sys.argv[1:split])
    if args.only:
        os.environ["PROBE"] = args.only  # what the probe programs read
    launches = run(args.warplens, sys.argv[split + 1:])
    exempt = Exemptions(args.name, args.compiler)
    skipped = lambda probe: args.only not in probe or any(fnmatch.fnmatch(probe, p) for p in args.skip)
    faults = 0
    found = collections.defaultdict(lambda: [0, 0])  # by column: cells that are not 0 on both sides, and equal

    def compare(probe, what, got, expected):
        nonlocal faults
        if got or expected:
            tally = found["lines of the source" if what.startswith("line ") else what]
            tally[0] += 1
            tally[1] += got == expected
        if got == expected or exempt.covers(probe, what):
            return
        faults += 1
        print(f"{probe}: {what} is {got}, an H200 counted {expected}")

    rows = [r for r in csv.DictReader(open(TRUTH / f"{args.name}.csv")) if not skipped(r["probe"])]
    for row in rows:
        if row["probe"] not in launches:
            sys.exit(f"the program has no probe {row['probe']}")
        for column, got in counted(launches[row["probe"]]).items():
            compare(row["probe"], column, got, sum(int(row[c] or 0) for c in COLUMNS[column][0]))
    lines = 0
    for probe, expected in expected_lines(TRUTH / f"lines_{args.name}.csv").items():
        if skipped(probe) or args.lines == 0:
            continue
        ours = counted_lines(launches[probe])
        own = {k for k in ours if k[1] in LINE_FIELDS and k[2] in ("read", "write")}
        for key in sorted(set(expected) | own):  # the tables do not have all atomics
            lines += key in expected
            compare(probe, "line {} {} {}".format(*key), dict(ours[key]), dict(expected[key]))
    print(f"{len(rows)} rows and {lines} lines compared, {faults} differences")
    for entry in exempt.stale() if not args.only else []:
        faults += 1
        print(f"exempt.csv: {entry['probe']}, {entry['what']} is equal now")
    if args.fidelity:
        text = fidelity.table(["counter", "cells", "equal"], [(n, c, e) for n, (c, e) in sorted(found.items())])
        for fault in fidelity.settle(args.fidelity, f"{args.name} {args.compiler}", text):
            faults += 1
            print(fault)
    if (len(rows), lines) != (args.rows, args.lines):
        sys.exit(f"expected to compare {args.rows} rows and {args.lines} lines")
    sys.exit(1 if faults else 0)


main()
