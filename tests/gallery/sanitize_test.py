# SPDX-License-Identifier: Apache-2.0
"""scripts/sanitize_gpu with stand-ins for nvcc, nvidia-smi and compute-sanitizer: what it calls clean and what not. No GPU is needed.

  sanitize_test.py SCRIPTS-FOLDER"""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

SCRIPTS = pathlib.Path(sys.argv[1])
NVIDIA_SMI = '#!/bin/sh\ncase "$1" in *compute_cap*) echo 9.0 ;; *) echo "a GPU, 1, 2 MHz" ;; esac\n'
# "Compiles" the second line of the source, a shell command, after "// ".
NVCC = """#!/bin/sh
if [ "$1" = --version ]; then echo "release 13.0, V13.0.88"; exit; fi
for word; do case "$word" in *.cu) source=$word ;; esac; out=$word; done
(echo "#!/bin/sh"; sed -n '2s,^// ,,p' "$source") > "$out"
chmod +x "$out"
"""
# Complains when the program says "race" and the tool is racecheck.
SANITIZER = """#!/bin/sh
echo "========= COMPUTE-SANITIZER"
text=$("$5"); code=$?
echo "$text"
if [ "$2" = racecheck ] && [ "$text" = race ]; then echo "========= Error: a hazard"; exit "$4"; fi
exit $code
"""


def sanitize(rung, folder="topic", name="01_one", arguments=("gallery/topic",)):
    with tempfile.TemporaryDirectory() as temporary:
        root = pathlib.Path(temporary)
        for made in (f"gallery/{folder}", "scripts", "bin", "include"):
            (root / made).mkdir(parents=True)
        for script in ("measure_gpu", "sanitize_gpu"):
            shutil.copy(SCRIPTS / script, root / "scripts" / script)
        for tool, text in (("nvidia-smi", NVIDIA_SMI), ("nvcc", NVCC), ("compute-sanitizer", SANITIZER)):
            (root / "bin" / tool).write_text(text)
            (root / "bin" / tool).chmod(0o755)
        (root / f"gallery/{folder}/{name}.cu").write_text(f"// SPDX\n// {rung}\n")
        return subprocess.run([sys.executable, str(root / "scripts/sanitize_gpu"), *arguments], text=True, capture_output=True,
                              env={**os.environ, "PATH": f"{root / 'bin'}:{os.environ['PATH']}"})


def expect(what, answer, code, text):
    if answer.returncode != code or text not in answer.stdout + answer.stderr:
        sys.exit(f"WRONG: {what}: exit code {answer.returncode}\n{answer.stdout}{answer.stderr}")


expect("a right rung", sanitize("echo right"), 0, "topic/01_one: clean\n")
expect("a race", sanitize("echo race"), 1, "topic/01_one: racecheck: 77 Error: a hazard <-\n")
expect("a rung that ends with a failure", sanitize("exit 2"), 1, "memcheck: 2")
expect("wrong results", sanitize("echo WRONG"), 1, "topic/01_one: clean; wrong results <-\n")
expect("no runs at once", sanitize("echo right", arguments=("gallery/topic", "--jobs", "0")), 2, "0 is not a number from 1")
expect("an unknown topic", sanitize("echo right", arguments=("gallery/else",)), 2, "the gallery has no else")
expect("a fault that is noticed", sanitize("echo race", "faulty", "one", ("--faulty",)), 0, "faulty/one: racecheck: 77")
expect("a fault that shows in results", sanitize("echo WRONG", "faulty", "one", ("--faulty",)), 0, "faulty/one: clean; wrong results\n")
expect("a fault that only ends the program", sanitize("exit 2", "faulty", "one", ("--faulty",)), 1, "faulty/one: clean <-\n")
expect("a fault that only wastes", sanitize("echo right  # exit code 1 with --limit a=0", "faulty", "one", ("--faulty",)), 0, "faulty/one: clean\n")
expect("a fault that nobody notices", sanitize("echo right", "faulty", "one", ("--faulty",)), 1, "faulty/one: clean <-\n")
expect("a rung that is faulty on purpose", sanitize("Faulty on purpose."), 0, "0 programs, 0 not as they should be")
print("right")
