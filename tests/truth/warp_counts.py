#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs truth/src/warp_costs.cu and warp_mixes.cu and compares what we count for one warp's accesses with what an H200 counted.

usage: warp_counts.py WARPLENS [--counting oracle|fast] [--fidelity FILE.md]

Each launch of the programs is a row of truth/h200/warps_*.csv: one instruction in a loop, lanes at the places of a
pattern. The GPU's assembler drops equal accesses of a loop, so what one execution costs is compared, for each row:
the counter, less what the kernel does besides, by executions. Rows that are known to differ are in DIFFERS, with the
reason; one that agrees is a fault, too.
"""
import argparse
import collections
import fnmatch
import json
import os
import pathlib
import subprocess
import sys
import tempfile

import fidelity
import warp_mix_rules
import warp_rules

HERE = pathlib.Path(__file__).resolve().parent
TRUTH = HERE.parent.parent / "truth"
WRITTEN = 16  # executions in the source

PROGRAMS = {"warp_costs": ["global_atomics", "global_more", "shared_atomics", "shared_more", "shared", "matrix", "cluster",
                           "local", "constant", "async", "uniform", "uniform_more", "generic", "cluster_atomics"],
            "warp_mixes": ["mixed", "cluster_mixed", "copies", "less", "tags", "wide"]}

DIFFERS = {
    ("y_max_u64", "*_far*", "shared *"): "an estimate: 64-bit minima and maxima in another block's memory",
    ("w_cas_b16", "*", "shared *"): "an estimate: a lane whose neighbour in the word changed it tries again",
}


def field(memory, kind, name):
    def value(totals):
        own = totals.get((memory, kind), {}).get(name, 0)
        if (memory, kind, name) != ("shared", "atomic", "wavefronts"):
            return own
        return own + totals.get(("global", "atomic"), {}).get("empty_wavefronts", 0)  # those that pass by

    return value


# The engine's side of each rule of warp_rules.RULES that has one: by (name, table) the kind of access in the report, its
# counter, and what the same counter holds besides.
ENGINE = {
    ("global atomics: sectors", "global_atomics"): ("global", "atomic", "sectors", 0),
    ("global atomics: sectors", "global_more"): ("global", "atomic", "sectors", 0),
    ("shared atomics: passes", "shared_atomics"): ("shared", "atomic", "wavefronts", 0),
    ("shared atomics: passes", "shared_more"): ("shared", "atomic", "wavefronts", 0),
    ("shared increments: passes", "shared_atomics"): ("shared", "atomic", "wavefronts", 0),
    ("shared increments, result of every fourth used: passes", "shared_atomics"): ("shared", "atomic", "wavefronts", 0),
    ("shared compare and swap: passes", "shared_atomics"): ("shared", "atomic", "wavefronts", 0),
    ("shared atomics in loops: passes of swaps", "shared_atomics"): ("shared", "atomic", "wavefronts", 0),
    ("shared atomics in loops: passes of loads", "shared_atomics"): ("shared", "read", "wavefronts", 0),
    ("shared atomics in loops: passes of swaps", "shared_more"): ("shared", "atomic", "wavefronts", 0),
    ("shared atomics in loops: passes of loads", "shared_more"): ("shared", "read", "wavefronts", 0),
    ("shared loads: passes", "shared"): ("shared", "read", "wavefronts", 0),
    ("shared stores: passes", "shared"): ("shared", "write", "wavefronts", warp_rules.FILLED),
    ("matrix loads: passes", "matrix"): ("shared", "read", "wavefronts", 0),
    ("matrix stores: passes", "matrix"): ("shared", "write", "wavefronts", warp_rules.FILLED),
    ("own memory by cluster address, loads: passes", "cluster"): ("shared", "read", "wavefronts", 0),
    ("own memory by cluster address, stores: passes", "cluster"): ("shared", "write", "wavefronts", 0),
    ("another block's memory, loads: sectors", "cluster"): ("shared", "read", "sectors", 0),
    ("another block's memory, stores: sectors", "cluster"): ("shared", "write", "sectors", 0),
    ("asynchronous copies through L1: sectors", "async"): ("global", "read", "sectors", 4),
    ("constant memory: requests", "constant"): ("constant", "read", "wavefronts_per_request", 0),
    ("local stores: sectors", "local"): ("local", "write", "sectors", warp_rules.FILLED_LOCAL),
    ("local loads: sectors", "local"): ("local", "read", "sectors", warp_rules.FILLED_LOCAL),
}
# Tables whose columns are compared as they are: (memory, kind, counter) and the columns that add up to it.
PASSES = [("shared", kind, "wavefronts", [warp_rules.WAVES.format(op)])
          for kind, op in (("atomic", "atom"), ("read", "ld"), ("write", "st"))]
ATOMICS = [("global", "atomic", "requests", warp_rules.ATOMIC_REQUESTS),
           ("global", "atomic", "sectors", warp_rules.ATOMIC_SECTORS)]
REMOTE = [("shared", "atomic", "sectors", [warp_rules.TAG.format("sectors", "dshared_op_atom")])]
WHOLE = {"uniform": ("one address for all lanes", ATOMICS + PASSES),
         "uniform_more": ("one address for all lanes", ATOMICS + PASSES),
         "generic": ("atomics by generic address", ATOMICS + PASSES),
         "cluster_atomics": ("atomics by cluster address", PASSES + REMOTE),
         "mixed": ("atomics by lane in own or global memory", ATOMICS + PASSES[:2]),
         "cluster_mixed": ("atomics by lane in own or another block's memory", PASSES[:2] + REMOTE + [
             ("shared", "read", "sectors", [warp_rules.TAG.format("sectors", "dshared_op_ld")])]),
         "wide": ("shared atomics whose passes depend on values", PASSES)}
# Asynchronous copies: what the counter holds besides their passes, which are 16 executions'.
COPIES = {"async": ("asynchronous copies from patterns: passes", 4), "copies": ("asynchronous copies by lane: passes", 4),
          "less": ("asynchronous copies that read less: passes", 13), "tags": ("asynchronous copies of two lines: passes", 4)}


def run(warplens, program, counting):
    """(op, pattern) -> {(memory, kind): counters} of each launch."""
    with tempfile.NamedTemporaryFile(suffix=".json") as report:
        command = [warplens, "run", "-q", "--launches", "all", "--json", report.name, "--device-ptx",
                   str(TRUTH / "ptx" / f"{program}.ptx"), *(["--counting", counting] if counting else []), "-O1",
                   "-std=c++17", str(TRUTH / "src" / f"{program}.cu"), "all", "run"]
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        if done.returncode != 0:
            sys.exit(f"{' '.join(command)}: exit code {done.returncode}\n{done.stdout[-2000:]}\n{done.stderr[-4000:]}")
        kernels = json.load(open(report.name))["kernels"]
    launches = sorted((g for k in kernels for g in k["launch_groups"]), key=lambda g: g["first_launch"])
    names = [tuple(line.split(":")) for line in done.stdout.splitlines() if ":" in line]
    if len(names) != len(launches):
        sys.exit(f"{len(launches)} launches for {len(names)} probes")
    return {n: {(m["memory"], m["kind"]): m for m in l["totals"]["memory"]} for n, l in zip(names, launches)}


class Comparison:
    """Rows by (table, kind, counter): compared, equal, and known to differ."""

    def __init__(self):
        self.rows = collections.defaultdict(lambda: [0, 0])
        self.faults, self.used = [], set()

    def add(self, name, op, pattern, kind, got, want):
        tally = self.rows[name]
        tally[0] += 1
        tally[1] += got == want
        entry = next((e for e in DIFFERS if fnmatch.fnmatch(op, e[0]) and fnmatch.fnmatch(pattern, e[1]) and
                      fnmatch.fnmatch(kind, e[2])), None)
        if got != want and entry is None:
            self.faults.append(f"{name}: {op} {pattern}: {got:g} an execution, an H200 counted {want:g}")
        if got != want and entry is not None:
            self.used.add(entry)


def compare_rules(table, rows, ours, comparison):
    known = warp_rules.patterns()
    for rule in warp_rules.RULES:
        name, of, ops, columns, _, executions, besides = rule
        if of != table or (name, of) not in ENGINE:
            continue
        memory, kind, counter, extra = ENGINE[(name, of)]
        for row in rows:
            if row["op"] not in ops:
                continue
            pattern = known[row["pattern"]]
            times = warp_rules.added(row, executions) if isinstance(executions, list) else executions
            besides_here = besides(pattern) if callable(besides) else besides
            want = (warp_rules.added(row, columns) - besides_here) / times
            if row["op"] == "s_atom_add_one":
                want /= 4
            totals = ours[(row["op"], row["pattern"])]
            got = field(memory, kind, counter)(totals)
            if counter != "wavefronts_per_request":
                got = (got - extra) / WRITTEN
            comparison.add(name, row["op"], row["pattern"], f"{memory} {kind}", got, want)


def compare_whole(table, rows, ours, comparison):
    title, columns = WHOLE[table]
    for row in rows:
        totals = ours[(row["op"], row["pattern"])]
        for memory, kind, counter, theirs in columns:
            got, want = field(memory, kind, counter)(totals), warp_rules.added(row, theirs)
            if got or want:
                comparison.add(f"{title}: {memory} {kind}, {counter}", row["op"], row["pattern"], f"{memory} {kind}", got,
                               want)


def compare_copies(table, rows, ours, comparison):
    """The hardware's first execution, which finds its lines not yet in the L1, may take a pass more or less."""
    title, besides = COPIES[table]
    for row in rows:
        totals = ours[(row["op"], row["pattern"])]
        got = field("shared", "write", "wavefronts")(totals) / WRITTEN
        want = round((warp_rules.added(row, warp_mix_rules.ALL) - besides) / WRITTEN)
        comparison.add(title, row["op"], row["pattern"], "shared write", got, want)


def compare_table(table, ours, comparison):
    rows = warp_rules.read_table(TRUTH / "h200", table)
    missing = [r for r in rows if (r["op"], r["pattern"]) not in ours]
    if missing:
        sys.exit(f"{table}: the program has no probe {missing[0]['op']}:{missing[0]['pattern']}")
    if table in COPIES:
        compare_copies(table, rows, ours, comparison)
    if table in WHOLE:
        compare_whole(table, rows, ours, comparison)
    else:
        compare_rules(table, rows, ours, comparison)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("warplens")
    parser.add_argument("--counting", default="", choices=["", "fast", "oracle"])
    parser.add_argument("--fidelity", metavar="FILE", help="the page whose section of this must be what was found")
    args = parser.parse_args()
    comparison = Comparison()
    for program, tables in PROGRAMS.items():
        ours = run(args.warplens, program, args.counting)
        for table in tables:
            compare_table(table, ours, comparison)
    for name, (compared, equal) in comparison.rows.items():
        print(f"{name}: {equal} of {compared} rows")
    faults = comparison.faults
    faults += [f"{e[0]} {e[1]} {e[2]} is equal now" for e in DIFFERS if e not in comparison.used]
    if args.fidelity:
        text = fidelity.table(["one warp's access", "rows", "equal"], [(n, c, e) for n, (c, e) in comparison.rows.items()])
        faults += fidelity.settle(args.fidelity, "warps", text)
    print("\n".join(faults[:40]), end="\n" if faults else "")
    sys.exit(1 if faults else 0)


main()
