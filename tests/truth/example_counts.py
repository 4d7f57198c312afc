#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the programs in examples/ and compares global requests and sectors with what an H200 counted.

usage: example_counts.py WARPLENS EXAMPLES_DIR TABLE.csv [--compiler clang|nvcc]

With --compiler nvcc on a machine without nvcc it says so and exits 77 (skipped): the clang run is the one that always counts.
With nvcc, the program must also print what clang's program prints.
"""
import csv
import json
import shutil
import subprocess
import sys
import tempfile

warplens, examples, table = sys.argv[1:4]
compiler = sys.argv[5] if len(sys.argv) > 5 else "clang"
if compiler == "nvcc" and shutil.which("nvcc") is None:
    print("skipped: no nvcc on PATH")
    sys.exit(77)

COLUMNS = {"req_global_ld": ("read", "requests"), "sec_global_ld": ("read", "sectors"),
           "req_global_st": ("write", "requests"), "sec_global_st": ("write", "sectors")}


def run(name, which):
    """Standard output of the example and its global traffic, built by compiler `which`."""
    with tempfile.NamedTemporaryFile(suffix=".json") as report:
        command = [warplens, "run", "--compiler", which, "--json", report.name, f"{examples}/{name}.cu"]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode != 0:
            sys.exit(f"{' '.join(command)}: exit code {done.returncode}\n{done.stdout}{done.stderr[-3000:]}")
        memory = json.load(open(report.name))["kernels"][0]["launch_groups"][0]["totals"]["memory"]
    return done.stdout, {m["kind"]: m for m in memory if m["memory"] == "global"}


faults = 0
for row in csv.DictReader(open(table)):
    output, traffic = run(row["example"], compiler)
    for column, (kind, field) in COLUMNS.items():
        if traffic[kind][field] != int(row[column]):
            faults += 1
            print(f"{row['example']}: {column} is {traffic[kind][field]}, an H200 counted {row[column]}")
    if compiler == "nvcc" and output != run(row["example"], "clang")[0]:
        faults += 1
        print(f"{row['example']}: nvcc's and clang's programs print different things")
    print(output, end="")
sys.exit(1 if faults else 0)
