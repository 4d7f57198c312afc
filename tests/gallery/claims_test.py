# SPDX-License-Identifier: Apache-2.0
"""scripts/claims on a small tree, with a stand-in for warplens that hands out one report: what must be noticed is noticed.

  claims_test.py SOURCE-FOLDER"""
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile

SOURCE = pathlib.Path(sys.argv[1])

STAND_IN = '''#!{python}
import pathlib, shutil, sys
if sys.argv[1] == "cc":
    source = pathlib.Path(sys.argv[-3])
    pathlib.Path(sys.argv[-1]).write_text(source.read_text())
if sys.argv[1] == "run":
    shutil.copy("{report}", sys.argv[sys.argv.index("--json") + 1])
'''

CLAIMS = '''
[introduction]
claims = "Claims."
cheatsheet = "Patterns."
[[claim]]
number = 1
section = "All"
says = "Eight sectors."
verdict = "true"
rungs = ["t/01_one"]
counted = "{counted('t/01_one').global_read.sectors} sectors."
counted_holds = ["counted('t/01_one').global_read.sectors == 8"]
measured = "{us('t/01_one') / us('t/02_two'):.1f} times; {profiled_sectors('t/01_one', 'global_op_ld')} sectors, {profiled('t/01_one', 'launch__registers_per_thread')} registers."
measured_holds = ["us('t/01_one') > us('t/02_two')"]
[[claim]]
number = 2
says = "Not measured."
verdict = "false"
why = "Of {counted('t/01_one').global_read.requests} requests with `5` words."
experiment = "`one`"
counted = "{counted('t/01_one').at('in[').global_read.used:.0%} used."
counted_holds = ["counted('t/01_one').global_read.used == 0.5"]
not_yet = true
measured = "{us('t/03_three')}"
measured_holds = ["us('t/03_three') > probe('ladder').threads"]
[[claim]]
number = 3
says = "Neither."
verdict = "true when nothing waits"
rungs = ["t/01_one"]
not_counted = "does not count time."
counted_holds = ["1 < 2"]
measured = "{probe('access').threads} threads."
measured_holds = ["cycles('shared') > 2 and probe('apps').threads == 256"]
[[table]]
title = "Global"
pattern = [{name = "every second", rung = "t/01_one", best = "t/02_two", counted = "counted('t/01_one').global_read", instead = "none"},
  {name = "itself", rung = "t/02_two", best = "t/02_two", counted = "counted('t/01_one').global_read"},
  {name = "a form", rung = "t/02_two", row = "t/01_one", best = "t/02_two", by = "a load", counted = "counted('t/01_one').global_read"},
  {name = "its own", rung = "t/01_one", time = "us('t/01_one') * 5", against = "a fifth", counted = "counted('t/01_one').global_read"}]
'''


def report():
    read = {"memory": "global", "kind": "read", "exactness": "exact", "requests": 4, "active_lanes": 128, "bytes_asked": 512, "bytes_moved": 1024,
            "sectors": 32, "ideal_sectors": 16, "lines": 8}
    line = {"file": "01_one.cu", "line": 3, "text": "out[i] = in[2 * i];", "ptx_instructions": 12, "active_lanes": 384, "accesses": [read]}
    group = {"counted": True, "totals": {"memory": [read]}, "lines": [line], "findings": []}
    uncounted = {"counted": False, "findings": []}
    return {"end": {"exit_code": 0}, "kernels": [{"demangled": "rung_t_01_one::one(int)", "launch_groups": [uncounted, group]}]}


def counts():
    names = ("l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum", "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum", "launch__registers_per_thread")
    return {"kernels": [{"metrics": dict(zip(names, values))} for values in ((4, 32, 20), (4, 16, 16))]}


def tree(folder):
    root = pathlib.Path(folder)
    for name in ("docs", "results/h200", "gallery/t", "truth/h200", "gpus"):
        (root / name).mkdir(parents=True)
    shutil.copy(SOURCE / "gpus/h200.toml", root / "gpus")
    for name in ("access", "ladder", "apps"):
        (root / f"truth/h200/{name}.csv").write_text(f"probe,block\n{name},\"(256, 1, 1)\"\n")
    (root / "truth/h200/latency.csv").write_text("latency,shared,29\n")
    (root / "gallery/t/01_one.cu").write_text("// one\n")
    (root / "gallery/claims.toml").write_text(CLAIMS)
    (root / "results/h200/kernels.json").write_text(json.dumps({"rows": []}))
    (root / "results/h200/gallery.json").write_text(json.dumps({"rows": [{"rung": "t/01_one", "us": 3.0, "figure": 5.0, "counts": counts()}, {"rung": "t/02_two", "us": 2.0, "figure": 20.0}]}))
    (root / "report.json").write_text(json.dumps(report()))
    stand_in = root / "warplens"
    stand_in.write_text(STAND_IN.format(python=sys.executable, report=root / "report.json"))
    stand_in.chmod(0o755)
    return root


def claims(root, *options):
    return subprocess.run([sys.executable, str(SOURCE / "scripts/claims"), "--root", str(root), "--warplens", str(root / "warplens"), *options],
                          text=True, capture_output=True)


def expect(what, right, answer=None):
    if not right:
        sys.exit(f"WRONG: {what}" + (f"\n{answer.stdout}{answer.stderr}" if answer else ""))


def check_documents():
    with tempfile.TemporaryDirectory() as folder:
        root = tree(folder)
        answer = claims(root, "--check")
        expect("documents that are not there are not current", answer.returncode == 1 and "not current: docs/claims.md" in answer.stdout, answer)
        expect("--check writes nothing", not (root / "docs/claims.md").exists())
        expect("writing works", claims(root).returncode == 0, claims(root))
        expect("what was written is current", claims(root, "--check").returncode == 0)
        text = (root / "docs/claims.md").read_text()
        for wanted in ("### 1. Eight sectors.\n\n**True.**\n\n- Warplens: 8 sectors.\n- H200: 1.5 times; 6 sectors, 20 registers.\n- Experiment: `gallery/t/01_one.cu`\n",
                       "**Open, expected false.** Of 4 requests with `5` words.\n\n- Warplens: 50 % used.\n- H200: not measured yet.\n- Experiment: `one`, `truth/src/ladder.cu`\n",
                       "- Warplens: does not count time.\n- H200: 256 threads.\n- Experiment: `gallery/t/01_one.cu`, `truth/src/access.cu`, `truth/src/apps.cu`, `truth/src/latency.cu`\n",
                       "Of 3 statements 1 are true, 1 are true under a condition, 1 are open."):
            expect(f"the document has {wanted}", wanted in text)
        sheet = (root / "docs/cheatsheet.md").read_text()
        for row in ("every second | 8 |  | 50 % | 1.50 | `t/02_two` | none | `t/01_one`", "itself | 8 |  | 50 % | 1 |  |  | `t/02_two`",
                    "a form | 8 |  | 50 % | 4.00 | `t/02_two`, a load |  | `t/02_two`", "its own | 8 |  | 50 % | 15 | a fifth |  | `t/01_one`"):
            expect(f"the cheat sheet's row {row}", f"| {row} |\n" in sheet)
        (root / "docs/cheatsheet.md").write_text("typed")
        expect("a document that was edited", claims(root, "--check").returncode == 1)


def check_refusals():
    """Each change of the claims is an error that names the claim and says what is wrong."""
    changes = [
        ("a condition on counts that does not hold", ".sectors == 8", ".sectors == 9", "claim 1: does not hold"),
        ("a condition on times that does not hold", "us('t/01_one') > us('t/02_two')", "us('t/01_one') < us('t/02_two')", "claim 1: does not hold"),
        ("a condition that is a number", "us('t/01_one') > us('t/02_two')", "us('t/01_one')", "claim 1: does not hold"),
        ("a row that is not there", "us('t/01_one') / us('t/02_two')", "us('t/01_one') / us('t/04_four')", "no row t/04_four"),
        ("a metric that is not there", "launch__registers_per_thread", "launch__registers", "no metric launch__registers"),
        ("a rung without counts", "profiled('t/01_one', 'launch", "profiled('t/02_two', 'launch", "no counts of t/02_two"),
        ("a kernel that is not there", "counted('t/01_one').global_read.sectors == 8", "counted('t/01_one', 'two').global_read.sectors == 8", "0 kernels"),
        ("traffic that is not there", ".global_read.sectors == 8", ".shared_read.sectors == 8", "no such traffic"),
        ("a line that is not there", ".at('in[')", ".at('nowhere[')", "no line has the text"),
        ("a typed figure", '"{counted(\'t/01_one\').global_read.sectors} sectors."', '"8 sectors."', "typed, not computed"),
        ("a typed figure in the reason", "with `5` words", "with 5 words", "claim 2: a figure is typed, not computed"),
        ("a typed figure in an experiment", 'experiment = "`one`"', 'experiment = "1"', "claim 2: a figure is typed, not computed"),
        ("a typed figure instead of counts", "does not count time", "does not count 3", "claim 3: a figure is typed, not computed"),
        ("a reason's value that is not there", "global_read.requests}", "local_read.requests}", "no such traffic"),
        ("a time against nothing", 'against = "a fifth", ', "", "pattern its own: there is a time, but not what it is against"),
        ("an expression that is none", ".sectors == 8", ".sectors ==", "claim 1"),
        ("a verdict that is none", 'verdict = "true"', 'verdict = "perhaps"', "neither with true nor with false"),
        ("not measured, though its row is there", "us('t/03_three')", "us('t/02_two')", "claim 2: its rows are there"),
        ("a number that is missing", "number = 2", "number = 4", "not numbered"),
        ("a pattern's row that is not there", 'best = "t/02_two"', 'best = "t/05_five"', "pattern every second"),
        ("a rung that is not there", "counted('t/01_one').at(", "counted('t/06_six').at(", "no rung t/06_six"),
    ]
    for what, old, new, says in changes:
        with tempfile.TemporaryDirectory() as folder:
            root = tree(folder)
            expect(f"{what}: there is something to change", old in CLAIMS)
            (root / "gallery/claims.toml").write_text(CLAIMS.replace(old, new))
            answer = claims(root)
            expect(what, answer.returncode == 1 and says in answer.stderr, answer)
            expect(f"{what}: nothing is written", not (root / "docs/claims.md").exists())


def check_failed_experiment():
    with tempfile.TemporaryDirectory() as folder:
        root = tree(folder)
        failed = report()
        failed["end"]["exit_code"] = 1
        (root / "report.json").write_text(json.dumps(failed))
        answer = claims(root)
        expect("a rung that is wrong in the engine", answer.returncode == 1 and "wrong in the engine" in answer.stderr, answer)


check_documents()
check_refusals()
check_failed_experiment()
print("right")
