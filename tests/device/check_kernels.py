"""Fails if the compiler dropped the end of a function of the training kernels.

    check_kernels.py COMPILE_COMMANDS

nvcc 13.0 once took an assumption about an address space for a contradiction and left out all that came after it; the
program ran, and trained nothing. So each function of the PTX must return, and its last statement must be a return or a
jump: one that falls off its end was cut. Compiles with the optimiser, whatever the build does: where no card is, builds
leave it out.
"""

import json
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile

FUNCTION = re.compile(r"^(?:\.visible |\.weak )?\.(?:func|entry)\s+(?:\([^)]*\)\s*)?(?P<name>\w+)[^;{]*\{",
                      re.MULTILINE)
RETURN = re.compile(r"^\s*(?:@!?%p\d+ )?ret(?:\.uni)?;", re.MULTILINE)
LAST = re.compile(r"(?:ret|bra)(?:\.uni)?\b|trap;|exit;")  # of what a function may end with
LEFT_OUT = ("--generate-code", "--compress-mode", "--Ofast-compile", "-lineinfo")


def ptx_of(entry, output):
    words = [word for word in shlex.split(entry["command"]) if not word.startswith(LEFT_OUT)]
    while "nvcc" not in pathlib.Path(words[0]).name:
        words.pop(0)  # a compiler cache
    words[words.index("-c")] = "-ptx"
    words[words.index("-o") + 1] = str(output)
    subprocess.run(words + ["-arch=compute_90"], cwd=entry["directory"], check=True)
    return output.read_text()


def cut_functions(ptx):
    """The names of functions that never return, or whose text ends in the middle of something."""
    starts = [(found.end(), found["name"]) for found in FUNCTION.finditer(ptx)]
    ends = [start for start, _ in starts[1:]] + [len(ptx)]
    cut = []
    for (start, name), end in zip(starts, ends):
        body = ptx[start:ptx.index("\n}", start, end)]
        statements = [line.strip() for line in body.splitlines() if line.strip().endswith(";")]
        if not RETURN.search(body) or not LAST.match(statements[-1]):
            cut.append(name)
    return cut


def main():
    entries = json.loads(pathlib.Path(sys.argv[1]).read_text())
    entries = [entry for entry in entries if re.search(r"/device/train_\w+\.cu$", entry["file"])]
    assert entries, "no training kernels are compiled here"
    broken = []
    with tempfile.TemporaryDirectory() as folder:
        for entry in entries:
            ptx = ptx_of(entry, pathlib.Path(folder) / "kernels.ptx")
            assert len(FUNCTION.findall(ptx)) > 10, f"{entry['file']}: its functions were not found"
            broken += [f"{entry['file']}: {name} is cut" for name in cut_functions(ptx)]
    print("\n".join(broken))
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
