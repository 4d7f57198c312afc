# SPDX-License-Identifier: Apache-2.0
"""The rungs of a gallery topic as one program, each in a namespace of its own, so that a topic is compiled once: most of a
rung's compile time is headers that all share. The program hands its arguments to one rung after the other.

  topic_program.py WARPLENS REPOSITORY TOPIC PROGRAM

A rung that counts does so between cudaProfilerStart and cudaProfilerStop (gallery/harness.h). Here these launch the
kernels counting_begins and counting_ends, so that a report of all launches shows which they are."""
import pathlib
import re
import subprocess
import sys
import tempfile

BEGINS, ENDS = "counting_begins", "counting_ends"
MARKS = f"""#include <cuda_profiler_api.h>
#include <cuda_runtime.h>
__global__ void {BEGINS}() {{}}
__global__ void {ENDS}() {{}}
inline cudaError_t mark_begin() {{ {BEGINS}<<<1, 1>>>(); return cudaGetLastError(); }}
inline cudaError_t mark_end() {{ {ENDS}<<<1, 1>>>(); return cudaGetLastError(); }}
#define cudaProfilerStart mark_begin
#define cudaProfilerStop mark_end
"""
MAIN = """#undef main
int main(int argc, char** argv) {{
  int wrong = 0;
{calls}  return wrong;
}}
"""


def source_of(repository, topic):
    """The program's text."""
    headers, bodies, calls = {}, "", ""
    for rung in sorted((pathlib.Path(repository).resolve() / "gallery" / topic).glob("[0-9][0-9]_*.cu")):
        # Headers first, outside the namespaces; the second time they are empty.
        for name in re.findall(r'^#include ([<"].*[>"])', rung.read_text(), re.M):
            header = name if name[0] == "<" else f'"{(rung.parent / name[1:-1]).resolve()}"'
            headers[f"#include {header}\n"] = None
        bodies += f'namespace rung_{rung.stem} {{\n#include "{rung}"\n}}\n'
        calls += f"  wrong |= rung_{rung.stem}::rung_main(argc, argv);\n"
    return MARKS + "".join(headers) + "#define main rung_main\n" + bodies + MAIN.format(calls=calls)


def options(repository):
    return ["-O2", "-std=c++17", f"-I{pathlib.Path(repository).resolve()}/include"]


def build(warplens, repository, topic, program):
    """Compiles the topic to `program`; ends with what the compiler said when it does not compile."""
    with tempfile.TemporaryDirectory() as folder:
        source = pathlib.Path(folder) / f"{topic}.cu"
        source.write_text(source_of(repository, topic))
        done = subprocess.run([warplens, "cc", *options(repository), str(source), "-o", str(program)], stderr=subprocess.PIPE, text=True)
    if done.returncode != 0:
        sys.exit(f"{topic} does not compile:\n{done.stderr[-4000:]}")


if __name__ == "__main__":
    build(*sys.argv[1:])
