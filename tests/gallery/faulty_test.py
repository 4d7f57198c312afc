# SPDX-License-Identifier: Apache-2.0
"""The programs of gallery/faulty do what their head comments say: which rule finds them, at which line, or that their results are wrong;
and the right rung beside each has neither finding nor wrong result.

  faulty_test.py WARPLENS GALLERY-FOLDER

All are put into one program, each in a namespace of its own, so that they are compiled once; its first argument chooses."""
import json
import pathlib
import re
import subprocess
import sys
import tempfile

WARPLENS, GALLERY = sys.argv[1], pathlib.Path(sys.argv[2])
FINDING = re.compile(r"^// Expected finding: ([a-z-]+) at line (\d+), exit code (\d)(?: with (--limit \S+))?$", re.M)
WRONG = re.compile(r"^// Expected: wrong results \(.*\), exit code 1$", re.M)
RIGHT = re.compile(r"^// Right: gallery/(\S+)\.cu$", re.M)
faults = []


def expect(what, is_so, more=""):
    if not is_so:
        faults.append(what)
        print(f"WRONG: {what}\n{more}")


def one(pattern, text, path):
    found = pattern.search(text)
    if not found:
        sys.exit(f"{path}: no line like {pattern.pattern}")
    return found


def combined(rungs):
    """One source of all rungs. Headers come first, outside of the namespaces; the second time they are empty."""
    includes, bodies, choice = [], [], []
    for rung in rungs:
        name = re.sub(r"\W", "_", rung)
        path = GALLERY / f"{rung}.cu"
        for header in re.findall(r"^#include (\S+)$", path.read_text(), re.M):
            includes.append(f'#include "{(path.parent / header[1:-1]).resolve()}"' if header[0] == '"' else f"#include {header}")
        bodies.append(f'namespace rung_{name} {{\n#include "{path}"\n}}')
        choice.append(f'  if (rung == "{rung}") return rung_{name}::rung_main(1, argv);')
    return "\n".join([*dict.fromkeys(includes), "#define main rung_main", *bodies, "#undef main", "int main(int argc, char** argv) {",
                      '  const std::string rung = argc > 1 ? argv[1] : "";', *choice, "  return 99;\n}\n"])


def run(folder, program, rung, options):
    """Exit code, errors found as (rule, file, line), all output. Warnings of waste (small and odd sizes have some) are left out."""
    sarif = folder / "findings.sarif"
    answer = subprocess.run([WARPLENS, "run", "-q", "--no-config", "--sarif", str(sarif), *options, str(program), rung], text=True,
                            capture_output=True)
    findings = []
    for result in json.loads(sarif.read_text())["runs"][0]["results"]:
        if result["level"] != "error":
            continue
        place = result["locations"][0]["physicalLocation"]
        findings.append((result["ruleId"], pathlib.Path(place["artifactLocation"]["uri"]).name, place["region"]["startLine"]))
    return answer.returncode, findings, answer.stdout + answer.stderr


def main():
    sources = sorted((GALLERY / "faulty").glob("*.cu"))
    if not sources:
        sys.exit("no faulty programs")
    texts = {f"faulty/{path.stem}": path.read_text() for path in sources}
    rights = {name: one(RIGHT, text, name).group(1) for name, text in texts.items()}
    options = {name: (FINDING.search(text).group(4) or "").split() if FINDING.search(text) else [] for name, text in texts.items()}
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(temporary)
        (folder / "all.cu").write_text(combined([*texts, *dict.fromkeys(rights.values())]))
        built = subprocess.run([WARPLENS, "cc", "-O2", "-std=c++17", "-lineinfo", "-o", str(folder / "all"), str(folder / "all.cu")],
                               text=True, capture_output=True)
        if built.returncode != 0:
            sys.exit(built.stdout + built.stderr)
        for name, text in texts.items():
            code, findings, output = run(folder, folder / "all", name, options[name])
            expected = FINDING.search(text)
            if expected:
                rule, line, wanted = expected.group(1), int(expected.group(2)), int(expected.group(3))
                expect(f"{name} has the finding {rule} at line {line} alone", findings == [(rule, name.split("/")[1] + ".cu", line)],
                       f"{findings}\n{output}")
            else:
                one(WRONG, text, name)
                wanted = 1
                expect(f"{name} has no finding", findings == [], f"{findings}\n{output}")
                expect(f"{name} has wrong results", "WRONG" in output, output)
            expect(f"{name} ends with {wanted}", code == wanted, f"{code}\n{output}")
            print(f"{name}: {findings or 'wrong results'}, exit code {code}")
        for name, right in rights.items():
            code, findings, output = run(folder, folder / "all", right, options[name])
            expect(f"{right} is right and without a finding", code == 0 and findings == [] and "right" in output, f"{code} {findings}\n{output}")
    sys.exit(1 if faults else 0)


main()
