# SPDX-License-Identifier: Apache-2.0
"""scripts/measured on a small tree: what must be noticed is noticed.

  figures_test.py SCRIPTS-FOLDER"""
import json
import pathlib
import subprocess
import sys
import tempfile

SCRIPTS = pathlib.Path(sys.argv[1])
RUNG = "// Idea: one.\n#include <a>\n"


def tree(folder):
    """A tree with two rungs, one of which times two forms."""
    root = pathlib.Path(folder)
    for name in ("docs", "results/h200", "gallery/topic"):
        (root / name).mkdir(parents=True)
    for name in ("kernels", "gallery"):
        (root / f"docs/{name}.md").write_text(f"before\n<!-- measured: {name} -->\n<!-- end -->\nafter\n")

    with (root / "docs/gallery.md").open("a") as doc:
        doc.write("<!-- measured: topics -->\n<!-- end -->\n")
    (root / "gallery/topics.txt").write_text("# a comment\ntopic: C = A: B\n")
    (root / "gallery/topic/01_one.cu").write_text(RUNG)
    (root / "gallery/topic/02_two.cu").write_text(RUNG)
    about = {"gpu": "a GPU", "driver": "1", "toolkit": "2", "date": "today"}
    row = {"size": 8, "us": 2.5, "us_min": 2.0, "figure": 4.0, "unit": "GB/s"}
    rows = [{"rung": f"topic/{name}", **row} for name in ("01_one", "02_two1", "02_two2")]
    (root / "gallery/topic/03_three.cu").write_text(RUNG)
    rows.append({"rung": "topic/03_three", **row, "figure": 14.62, "unit": "ns/load"})
    (root / "gallery/topic/05_five.cu").write_text(RUNG)
    rows.append({"rung": "topic/05_five", **row, "us": 0.0, "figure": 4094.0, "unit": "blocks seen"})
    (root / "results/h200/gallery.json").write_text(json.dumps({**about, "rows": rows}))
    (root / "results/h200/kernels.json").write_text(json.dumps({**about, "rows": [{"what": "sum", **row}]}))
    return root


def measured(root, *options):
    return subprocess.run([sys.executable, str(SCRIPTS / "measured"), "--root", str(root), *options], text=True, capture_output=True)


def expect(what, right):
    if not right:
        sys.exit(f"WRONG: {what}")


def change(root, name, text):
    path = root / name
    path.unlink() if text is None else path.write_text(text)


def check_measured():
    with tempfile.TemporaryDirectory() as folder:
        root = tree(folder)
        expect("an empty table is not current", measured(root, "--check").returncode == 1)
        expect("rewriting works", measured(root).returncode == 0)
        expect("what was rewritten is current", measured(root, "--check").returncode == 0)
        expect("the line", "// Idea: one.\n// Measured on an H200: 2.5 us, 4 GB/s at size 8.\n" in (root / "gallery/topic/01_one.cu").read_text())
        expect("nanoseconds for one load", "| topic/03_three | 8 | 2.5 us | 14.6 ns/load |" in (root / "docs/gallery.md").read_text())
        expect("what was seen is not scaled", "| topic/05_five | 8 |  | 4094 blocks seen |" in (root / "docs/gallery.md").read_text())
        expect("nor does it have a time", "// Measured on an H200: 4094 blocks seen at size 8.\n" in (root / "gallery/topic/05_five.cu").read_text())
        expect("two forms", "(02_two1); 2.5 us" in (root / "gallery/topic/02_two.cu").read_text())
        expect("topics", "| topic | C = A: B |" in (root / "docs/gallery.md").read_text())
        expect("the table", "| topic/02_two2 | 8 | 2.5 us | 4 GB/s |" in (root / "docs/gallery.md").read_text())
    for what, name, text in (("a missing marker", "docs/gallery.md", "no marker"), ("a missing end", "docs/kernels.md", "<!-- measured: kernels -->"),
                             ("missing results", "results/h200/gallery.json", None), ("missing results", "results/h200/kernels.json", None),
                             ("a topic without rungs", "gallery/topics.txt", "topic: a\nother: b\n"), ("a folder that is no topic", "gallery/topics.txt", "# none\n"),
                             ("a rung without a row", "gallery/topic/04_four.cu", RUNG), ("a row without a rung", "gallery/topic/02_two.cu", None)):
        with tempfile.TemporaryDirectory() as folder:
            root = tree(folder)
            measured(root)
            change(root, name, text)
            expect(f"{what}: {name}", measured(root, "--check").returncode == 1)
    with tempfile.TemporaryDirectory() as folder:
        root = tree(folder)
        change(root, "gallery/topic/04_four.cu", "// Idea: four.\n// Not measured yet.\n#include <a>\n")
        expect("a rung that says it is not measured", measured(root).returncode == 0 and measured(root, "--check").returncode == 0)


check_measured()
print("right")
