# SPDX-License-Identifier: Apache-2.0
"""The gallery's counters here, by closed forms and lane by lane, and against those that Nsight Compute counted on a GPU (`counts` of
results/h200/gallery.json): every kernel of every rung, cell by cell; each that differs is printed.

  counts_test.py WARPLENS REPOSITORY [--compiler clang|nvcc] [--programs FOLDER] [--fidelity PAGE.md] [TOPIC...]
  counts_test.py --self-test

The rungs of a topic are one program (topic_program.py; --programs: FOLDER/TOPIC is that program, compiled). It is run twice, with closed
forms and with --counting oracle. Equal must be every number of the two reports, of all launches: those at the size that is counted, and those
before, at small and odd sizes, by which the rungs verify themselves. What is compared with a GPU are the former.

What may differ from a GPU is listed with its reason in tests/truth/exempt.csv (table "gallery", probe "TOPIC/RUNG"); an entry that no longer
differs is a fault, too. Exit code 77 when nothing was counted on a GPU yet, or the compiler is not there."""
import argparse
import collections
import csv
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "truth"))
import fidelity
import report_differences
import topic_program
from exemptions import Exemptions

L1 = "l1tex__t_{}_pipe_lsu_mem_{}_op_{}.sum"
PASSES = "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_{}.sum"
LINE_PASSES = "smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_{}.sum"


def columns():
    """Name -> metrics here, metrics there; each side is a sum."""
    table = {}
    for what in ("requests", "sectors"):
        # Asynchronous copies are among the loads on both sides.
        table[f"global loads, {what}"] = [L1.format(what, "global", "ld")], [L1.format(what, "global", "ld")]
        table[f"global stores, {what}"] = [L1.format(what, "global", "st")], [L1.format(what, "global", "st")]
        atomics = [L1.format(what, "global", op) for op in ("red", "atom")]
        table[f"global atomics, {what}"] = atomics, atomics
        for op, kind in (("ld", "loads"), ("st", "stores")):
            table[f"local {kind}, {what}"] = [L1.format(what, "local", op)], [L1.format(what, "local", op)]
    for op, kind in (("ld", "loads"), ("st", "stores")):
        table[f"shared {kind}, wavefronts"] = [PASSES.format(op)], [LINE_PASSES.format(op)]
    table["shared atomics, wavefronts"] = [PASSES.format("atom")], [PASSES.format("atom")]
    for metric, name in (("memory_l2_theoretical_sectors_global", "global, sectors by address"), ("memory_l2_theoretical_sectors_global_ideal", "global, ideal sectors"),
                         ("memory_l1_wavefronts_shared", "shared, wavefronts by address"), ("memory_l1_wavefronts_shared_ideal", "shared, ideal wavefronts")):
        table[name] = [metric], [metric]
    return table


COLUMNS = columns()
NEEDED = sorted({name for sides in COLUMNS.values() for name in sides[0]})


def merged(kernels):
    """Launches of one kernel with several shapes are one kernel in the profiler's rows."""
    names = {}
    for kernel in kernels:
        metrics = names.setdefault(kernel["kernel"], collections.Counter())
        metrics.update({name: value for name, value in kernel["metrics"].items() if value is not None})
    return list(names.values())


def cells(form, counts):
    """(column, kernel's number, here, there) of each cell that is not 0 on both sides; kernels are paired in the order of their first launch."""
    here, there = merged(form["kernels"]), merged(counts["kernels"])
    if len(here) != len(there) or form["size"] != counts["size"]:
        yield "kernels and size", 0, (len(here), form["size"]), (len(there), counts["size"])
        return
    for number, (ours, theirs) in enumerate(zip(here, there)):
        for column, (our_names, their_names) in COLUMNS.items():
            got, want = sum(ours[name] for name in our_names), sum(theirs[name] for name in their_names)
            if got or want:
                yield column, number, got, want


def run(warplens, arguments, counting, folder):
    """The report's kernels, the rows of its table (a launch each), and what the program printed."""
    report, table = folder / f"{counting}.json", folder / f"{counting}.csv"
    command = [warplens, "run", "-q", "--counting", counting, "--json", str(report), "--csv", str(table), *arguments, "count"]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)}: exit code {done.returncode}\n{done.stdout[-2000:]}\n{done.stderr[-4000:]}")
    with open(table, newline="") as rows:
        return json.loads(report.read_text())["kernels"], list(csv.DictReader(rows))[1:], done.stdout  # the first row has units


def launches_of_forms(rows):
    """The rows between two marks (topic_program.py), a list for each form."""
    forms, inside = [], False
    for row in sorted(rows, key=lambda r: int(r["ID"])):
        name = row["Kernel Name"].split("(")[0]
        if name in (topic_program.BEGINS, topic_program.ENDS):
            inside = name == topic_program.BEGINS
            forms += [[]] if inside else []
        elif inside:
            forms[-1].append({"kernel": row["Kernel Name"], "metrics": {n: int(row[n]) for n in NEEDED}})
    return forms


def forms_in(rows, printed):
    """Form -> size and kernels; the program prints "topic/form,size" after each."""
    names = [line.rsplit(",", 1) for line in printed.splitlines() if re.fullmatch(r"[a-z_]+/[0-9][0-9]_\w+,[0-9]+", line)]
    forms = launches_of_forms(rows)
    if len(names) != len(forms):
        sys.exit(f"{len(forms)} counted forms, {len(names)} named: {names}")
    return {name: {"size": int(size), "kernels": kernels} for (name, size), kernels in zip(names, forms)}


def forms_here(args, topic):
    """The topic's forms, and in what its two ways of counting differ."""
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        if args.compiler == "nvcc":
            source = folder / f"{topic}.cu"
            source.write_text(topic_program.source_of(args.repository, topic))
            program = ["--compiler", "nvcc", *topic_program.options(args.repository), str(source)]
        else:
            program = [str((args.programs or folder) / topic)]
            if args.programs is None:
                topic_program.build(args.warplens, args.repository, topic, program[0])
        kernels, rows, printed = run(args.warplens, program, "fast", folder)
        return forms_in(rows, printed), report_differences.differences(kernels, run(args.warplens, program, "oracle", folder)[0], topic)


def compare_all(forms, rows, exempt, found):
    """Faults, printed; `found`: column -> [cells, equal]."""
    faults = 0
    for name, counts in rows.items():
        for column, kernel, got, want in cells(forms[name], counts):
            found[column][0] += 1
            found[column][1] += got == want
            if got == want or exempt.covers(name, column):
                continue
            faults += 1
            print(f"{name}, kernel {kernel + 1}: {column} are {got} here, {want} on the GPU")
    return faults


def section(found):
    """What docs/fidelity.md says of this: the counters, and their sum."""
    rows = [(name, *found[name]) for name in sorted(found)]
    return fidelity.table(["counter", "cells", "equal"], [*rows, ("all", *(sum(row[i] for row in rows) for i in (1, 2)))])


def self_test():
    """Two kernels, worked out by hand: the second differs in the passes of its loads; the first has launches of two shapes here."""
    zero = {name: 0 for sides in COLUMNS.values() for side in sides for name in side}
    loads = L1.format("requests", "global", "ld")
    here = {"size": 8, "kernels": [{"kernel": "f(float const*)", "metrics": {**zero, loads: 3}}, {"kernel": "g()", "metrics": {**zero, PASSES.format("ld"): 31}},
                                   {"kernel": "f(float const*)", "metrics": {**zero, loads: 4}}]}
    there = {"size": 8, "kernels": [{"kernel": "f(const float *)", "metrics": {**zero, loads: 7}},
                                    {"kernel": "g()", "metrics": {**zero, LINE_PASSES.format("ld"): 32}}]}
    assert list(cells(here, there)) == [("global loads, requests", 0, 7, 7), ("shared loads, wavefronts", 1, 31, 32)]
    assert list(cells(here, {**there, "size": 9})) == [("kernels and size", 0, (2, 8), (2, 9))]
    exempt, found = Exemptions("no such table", "clang"), collections.defaultdict(lambda: [0, 0])
    assert compare_all({"a/01": here}, {"a/01": there}, exempt, found) == 1
    assert dict(found) == {"global loads, requests": [1, 1], "shared loads, wavefronts": [1, 0]}
    report_differences.self_test()
    row = lambda number, kernel: {"ID": str(number), "Kernel Name": kernel, **{n: str(number) for n in NEEDED}}
    rows = [row(10, "f()"), row(9, "counting_begins()"), row(11, "counting_ends()"), row(2, "f()"), row(12, "g()")]
    forms = forms_in(rows, "a/01_b verified: right\na/01_b,7\n")
    assert [(f["size"], [k["kernel"] for k in f["kernels"]], f["kernels"][0]["metrics"][loads]) for f in forms.values()] == [(7, ["f()"], 10)]
    with tempfile.TemporaryDirectory() as folder:
        page = pathlib.Path(folder) / "page.md"
        page.write_text("<!-- gallery clang: written by a test -->\n" + section(found) + "<!-- end of gallery clang -->\n")
        assert "| shared loads, wavefronts | 1 | 0 |\n| all | 2 | 1 |\n" in page.read_text()
        assert fidelity.settle(page, "gallery clang", section(found)) == []
        assert len(fidelity.settle(page, "gallery clang", section({**found, "shared loads, wavefronts": [1, 1]}))) == 1
    print("right")


def main():
    if sys.argv[1:] == ["--self-test"]:
        return self_test()
    parser = argparse.ArgumentParser()
    parser.add_argument("warplens")
    parser.add_argument("repository", type=pathlib.Path)
    parser.add_argument("--compiler", default="clang", choices=["clang", "nvcc"])
    parser.add_argument("--programs", type=pathlib.Path, help="where the topics' programs are, compiled by clang")
    parser.add_argument("--fidelity", metavar="PAGE", help="the page whose section of this must be what was found")
    parser.add_argument("topics", nargs="*")
    args = parser.parse_args()
    if args.compiler == "nvcc" and shutil.which("nvcc") is None:
        print("no nvcc in PATH")
        sys.exit(77)
    rows = {row["rung"]: row["counts"] for row in json.loads((args.repository / "results/h200/gallery.json").read_text())["rows"] if "counts" in row}
    rows = {name: counts for name, counts in rows.items() if not args.topics or name.split("/")[0] in args.topics}
    if not rows:
        print("results/h200/gallery.json has no counts")
        sys.exit(77)
    forms, faults = {}, 0
    for topic in sorted({name.split("/")[0] for name in rows}):
        its, differing = forms_here(args, topic)
        forms.update(its)
        faults += len(differing)
        print("\n".join([f"{topic}: {len(its)} forms, {len(differing)} differences between closed forms and lane by lane", *differing[:10]]), flush=True)
    exempt, found = Exemptions("gallery", args.compiler), collections.defaultdict(lambda: [0, 0])
    faults += compare_all(forms, rows, exempt, found)
    print(f"{len(rows)} rows, {sum(c for c, _ in found.values())} cells compared, {faults} differences in all")
    for entry in exempt.stale() if not args.topics else []:
        faults += 1
        print(f"exempt.csv: {entry['probe']}, {entry['what']} is equal now")
    if args.fidelity:
        text = section(found)
        for fault in fidelity.settle(args.fidelity, f"gallery {args.compiler}", text):
            faults += 1
            print(fault)
    sys.exit(1 if faults else 0)


main()
