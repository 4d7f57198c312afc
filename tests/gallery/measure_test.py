# SPDX-License-Identifier: Apache-2.0
"""scripts/measure_gpu with stand-ins for nvcc, nvidia-smi and ncu: what it writes, what it keeps, what it refuses. No GPU is needed.

  measure_test.py SCRIPTS-FOLDER"""
import importlib.machinery
import importlib.util
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

SCRIPTS = pathlib.Path(sys.argv[1])

NVIDIA_SMI = """#!/bin/sh
case "$1" in *compute_cap*) echo 9.0 ;; *) echo "${GPU:-NVIDIA H200}, ${DRIVER:-1}, 1980 MHz" ;; esac
"""
# "Compiles" the second line of the source, a shell command, after "// ".
NVCC = """#!/bin/sh
if [ "$1" = --version ]; then echo "Cuda compilation tools, release 13.0, V13.0.88"; exit; fi
for word; do case "$word" in *.cu) source=$word ;; esac; out=$word; done
echo "#!/bin/sh" > "$out"
sed -n '2s,^// ,,p' "$source" >> "$out"
chmod +x "$out"
"""
# Two launches of one kernel and one of another for each form; the second launch of "first" has one request more.
NCU = """#!/usr/bin/env python3
import subprocess, sys
words = sys.argv[1:]
metrics, table = words[words.index("--metrics") + 1].split(","), words[words.index("--log-file") + 1]
assert words[:2] == ["--profile-from-start", "off"] and words[-1] == "count"
done = subprocess.run(words[-2:], stdout=subprocess.PIPE, text=True)
print("==PROF== on standard output")
print(done.stdout, end="")
with open(table, "w") as out:
    print("==PROF== Connected to process 7", file=out)
    print(",".join(f'"{n}"' for n in ["ID", "Kernel Name", *metrics]), file=out)
    print(",".join('""' for n in ["ID", "Kernel Name", *metrics]), file=out)
    for form in range(len(done.stdout.splitlines())):
        for name, value in (("first(int, float *)", 1000), ("second()", 5), ("first(int, float *)", 1001)):
            values = [0 if "local" in metric else value + form for metric in metrics]
            print(",".join(f'"{v}"' for v in ["0", name, *[f"{v:,}" for v in values]]), file=out)
sys.exit(done.returncode)
"""
LOADS, REGISTERS = "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum", "launch__registers_per_thread"


def rung(name, *forms, us=2.5):
    """A rung whose program is a shell script."""
    time = "; ".join(f"echo {name}{form},8,{us},2.0,4.0,GB/s" for form in forms)
    count = "; ".join(f"echo {name}{form},4" for form in forms)
    return f"// Idea.\n// if [ $1 = time ]; then {time}; else {count}; fi\n"


class Tree:
    def __init__(self, folder, tools=("nvcc", "nvidia-smi", "ncu")):
        self.root = pathlib.Path(folder)
        for name in ("scripts", "include", "gallery/a", "gallery/b", "bin"):
            (self.root / name).mkdir(parents=True)
        shutil.copy(SCRIPTS / "measure_gpu", self.root / "scripts")
        self.write("gallery/a/01_one.cu", rung("a/01_one", ""))
        self.write("gallery/b/01_one.cu", rung("b/01_one", ""))
        self.write("gallery/b/02_two.cu", rung("b/02_two", 1, 2))
        for name, text in (("nvcc", NVCC), ("nvidia-smi", NVIDIA_SMI), ("ncu", NCU)):
            if name in tools:
                self.write(f"bin/{name}", text)
                (self.root / "bin" / name).chmod(0o755)

    def write(self, name, text):
        (self.root / name).write_text(text)

    def measure(self, *words, **variables):
        # Nothing of this machine's own but what scripts need.
        (self.root / "bin/python3").exists() or (self.root / "bin/python3").symlink_to(sys.executable)
        for tool in ("sh", "sed", "chmod", "env"):
            (self.root / "bin" / tool).exists() or (self.root / "bin" / tool).symlink_to(shutil.which(tool))
        environment = {"PATH": str(self.root / "bin"), "CUDA_HOME": "/nowhere", **variables}
        return subprocess.run([sys.executable, str(self.root / "scripts/measure_gpu"), *words], text=True, capture_output=True, env=environment)

    def rows(self):
        path = self.root / "results/h200/gallery.json"
        return {row["rung"]: row for row in json.loads(path.read_text())["rows"]} if path.exists() else None


def expect(what, right, got=""):
    if not right:
        sys.exit(f"WRONG: {what}\n{got}")


def measured(tree, *words, **variables):
    done = tree.measure(*words, **variables)
    expect(f"measure {words} works", done.returncode == 0, done.stderr)
    return tree.rows()


def refused(tree, text, *words, exit_code=2, **variables):
    before = tree.rows()
    done = tree.measure(*words, **variables)
    expect(f"measure {words} is refused: {text}", done.returncode == exit_code and text in done.stderr, f"{done.returncode} {done.stderr}")
    expect("nothing is written then", tree.rows() == before)


def check_counts(tree):
    rows = measured(tree, "gallery")
    expect("all rungs and forms", list(rows) == ["a/01_one", "b/01_one", "b/02_two1", "b/02_two2"], list(rows))
    expect("times", rows["a/01_one"]["us"] == 2.5 and rows["a/01_one"]["size"] == 8)
    counts = rows["b/02_two2"]["counts"]
    expect("the size counted", counts["size"] == 4)
    expect("kernels in order", [(k["kernel"], k["launches"]) for k in counts["kernels"]] == [("first(int, float *)", 2), ("second()", 1)])
    expect("launches add up", counts["kernels"][0]["metrics"][LOADS] == 1001 + 1002)
    expect("zeros are left out", not any("local" in name for name in counts["kernels"][0]["metrics"]))
    expect("properties do not", counts["kernels"][0]["metrics"][REGISTERS] == 1002)
    expect("the first form has its own", rows["b/02_two1"]["counts"]["kernels"][1]["metrics"][LOADS] == 5)


def check_keeping(tree):
    before = measured(tree, "gallery")
    tree.write("gallery/b/01_one.cu", rung("b/01_one", "", us=9.0))
    tree.write("gallery/a/01_one.cu", rung("a/01_one", "", us=9.0))
    rows = measured(tree, "gallery/b", "--no-counts")
    expect("other topics stay", rows["a/01_one"] == before["a/01_one"])
    expect("new times", rows["b/01_one"]["us"] == 9.0)
    expect("counts stay without new ones", rows["b/01_one"]["counts"] == before["b/01_one"]["counts"])
    rows = measured(tree, "gallery/a/01_one", "--no-times")
    expect("times stay without new ones", rows["a/01_one"]["us"] == 2.5 and "counts" in rows["a/01_one"])
    rows = measured(tree, "gallery/a/01_one")
    expect("one rung", rows["a/01_one"]["us"] == 9.0 and rows["b/01_one"]["us"] == 9.0)
    refused(tree, "measure the whole gallery", "gallery/a", DRIVER="3")
    refused(tree, "measure the whole gallery", "gallery", "--no-times", DRIVER="3")
    (tree.root / "gallery/a/01_one.cu").unlink()
    rows = measured(tree, "gallery", "--no-counts", DRIVER="3")
    expect("another driver: all anew", "counts" not in rows["b/01_one"])
    expect("a rung that went is gone", "a/01_one" not in rows)
    before_counts = rows
    tree.write("gallery/a/01_one.cu", rung("a/01_one", ""))
    rows = measured(tree, "gallery", "--no-times", DRIVER="3")
    expect("a rung without a time is timed", rows["a/01_one"]["us"] == 2.5 and "counts" in rows["a/01_one"])
    expect("the others are not", rows["b/01_one"]["date"] == before_counts["b/01_one"]["date"] and rows["b/01_one"]["us"] == 9.0)


def check_refusals(tree):
    refused(tree, "measure what?", "matmul")
    refused(tree, "has no c; it has a, b", "gallery/c")
    refused(tree, "it has b/01_one, b/02_two", "gallery/b/03_three")
    refused(tree, "leaves nothing to do", "gallery", "--no-times", "--no-counts")
    measured(tree, "gallery")
    tree.write("gallery/b/01_one.cu", "// Idea.\n// exit 1\n")
    refused(tree, "failed with 1", "gallery", exit_code=1)
    refused(tree, "could not be counted", "gallery/b/01_one", "--no-times")
    tree.write("gallery/b/01_one.cu", "// Idea.\n// true\n")
    refused(tree, "0 launches were counted of 0 forms", "gallery/b/01_one", "--no-times")


def check_bad_files(tree):
    """Noticed before anything is measured."""
    good = json.dumps({"date": "", "gpu": "NVIDIA H200", "driver": "1", "toolkit": "13.0.88", "rows": [{"rung": "a/01_one"}]})
    tree.write("gallery/a/01_one.cu", "// Idea.\n// exit 1\n")  # measuring it would be exit code 1
    target = tree.root / "out/h200/gallery.json"
    target.parent.mkdir(parents=True)
    for text in ("", "{", "[]", "7", '{"rows": 1}', good.replace('"date": "", ', ""), good.replace("{\"rung\"", "[{\"rung\"").replace("}]", "}]]"),
                 good.replace("rung", "rang"), good.replace('"a/01_one"', "3")):
        target.write_text(text)
        refused(tree, str(target), "gallery", "--out", str(tree.root / "out"))
        expect("the damaged file stays", target.read_text() == text)
    target.write_bytes(b"\xff")
    refused(tree, "cannot be read", "gallery/a", "--out", str(tree.root / "out"))
    tree.write("file", "")
    for out in ("file", "file/deep/er"):
        for what in ("gallery", "kernels"):
            refused(tree, "cannot be written", what, "--out", str(tree.root / out), exit_code=3)
    (tree.root / "folder/h200/kernels.json").mkdir(parents=True)
    refused(tree, "it is a folder", "kernels", "--out", str(tree.root / "folder"), exit_code=3)
    for jobs in ("0", "-1", "two"):
        refused(tree, "is not a number from 1", "gallery", "--jobs", jobs)
    refused(tree, "failed with 1", "gallery", "--out", str(tree.root / "new/deep"), exit_code=1)
    expect("no folder is left of a try", not (tree.root / "new").exists())


def check_names(tree):
    """The folder of results is the id that `warplens gallery --gpu` knows."""
    script = str(SCRIPTS / "measure_gpu")
    loader = importlib.machinery.SourceFileLoader("measure_gpu", script)
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("measure_gpu", loader))
    loader.exec_module(module)
    described = sorted((SCRIPTS.parent / "gpus").glob("*.toml"))
    expect("all GPUs have names", {path.stem for path in described} == set(module.IDS.values()))
    for path in described:
        name = re.search(r'^name = "(.*?)"', path.read_text(), flags=re.M)[1]
        expect(f"{name} is {path.stem}", module.folder_of(name) == path.stem, module.folder_of(name))
    for name, folder in (("NVIDIA H100 PCIe", "h100-pcie"), ("NVIDIA L40", "l40"), ("NVIDIA GeForce RTX 3090 Ti", "rtx-3090-ti"),
                         ("NVIDIA RTX A6000", "rtx-a6000"), ("NVIDIA A100-SXM4-40GB", "a100-sxm4-40gb")):
        expect(f"{name} is another", module.folder_of(name) == folder, module.folder_of(name))
    measured(tree, "gallery/a", GPU="Tesla T4")
    expect("the folder", (tree.root / "results/t4/gallery.json").exists())


sys.dont_write_bytecode = True
for check in (check_counts, check_keeping, check_refusals, check_bad_files, check_names):
    with tempfile.TemporaryDirectory() as folder:
        check(Tree(folder))
for missing, text, words in (("nvcc", "no nvcc", []), ("nvidia-smi", "no nvidia-smi", []), ("ncu", "--no-counts measures times alone", [])):
    with tempfile.TemporaryDirectory() as folder:
        refused(Tree(folder, {"nvcc", "nvidia-smi", "ncu"} - {missing}), text, "gallery", *words)
print("right")
