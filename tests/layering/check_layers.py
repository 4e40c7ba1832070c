"""Fails when a folder of src/dissent includes one that layers.txt does not allow it.

    check_layers.py LAYERS SOURCE_DIR     SOURCE_DIR is the repository's src/

Prints one line a violation, `file:line: rule`, and exits 1 when there is any. Inside src/dissent:
- a quoted include names a file of ours, as "dissent/FOLDER/FILE"; libraries are included with angle brackets;
- the folder is the file's own or one that it may include;
- every file stands in a folder that layers.txt knows; dissent.hpp alone, which includes what users need, stands above.
What lies outside src (apps, tests, benchmarks) may include any folder, and nothing in src may include that.
"""

import pathlib
import re
import sys

SUFFIXES = {".hpp", ".cpp", ".h", ".cu", ".cuh", ".in"}
INCLUDE = re.compile(r'^\s*#\s*include\s*(?:"(?P<quoted>[^"]*)"|<(?P<angled>[^>]*)>)')


def read_layers(text):
    """Returns {folder: set of the folders it may include}, closed under `and what they may include`.

    A folder must come after those it names, so the table has no cycle and one pass closes it.
    """
    allowed = {}
    for number, line in enumerate(text.splitlines(), start=1):
        line = line.split("#")[0].strip()
        if not line:
            continue
        folder, colon, others = line.partition(":")
        folder = folder.strip()
        if not colon or not folder or folder in allowed:
            raise ValueError(f"layers, line {number}: '{line}' is not `folder: others` with a new folder")
        allowed[folder] = set()
        for other in others.split():
            if other == folder or other not in allowed:
                raise ValueError(f"layers, line {number}: '{other}' must stand on a line above '{folder}'")
            allowed[folder] |= {other} | allowed[other]
    return allowed


def violations_in(path, folder, allowed):
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
        match = INCLUDE.match(line)
        if not match:
            continue
        name = match["quoted"] if match["quoted"] is not None else match["angled"]
        parts = name.split("/")
        if parts[0] != "dissent":
            if match["quoted"] is not None:
                yield number, f'"{name}" must be written as "dissent/FOLDER/FILE", or <{name}> if it is a library\'s'
        elif match["quoted"] is None:
            yield number, f'<{name}> is ours: write "{name}"'
        elif len(parts) < 3 or parts[1] not in allowed:
            yield number, f'"{name}" is in no folder that layers.txt knows'
        elif parts[1] != folder and parts[1] not in allowed[folder]:
            yield number, f"{folder} may not include {parts[1]} ({name})"


def check(source_dir, allowed):
    """Returns (number of files read, list of violations as text)."""
    root = pathlib.Path(source_dir) / "dissent"
    files = sorted(path for path in root.rglob("*") if path.suffix in SUFFIXES)
    found = []
    for path in files:
        parts = path.relative_to(root).parts
        if parts == ("dissent.hpp",):
            continue
        if len(parts) < 2 or parts[0] not in allowed:
            found.append(f"{path}:1: stands in no folder that layers.txt knows")
            continue
        found += [f"{path}:{number}: {rule}" for number, rule in violations_in(path, parts[0], allowed)]
    return len(files), found


def main(arguments):
    layers, source_dir = arguments
    num_files, found = check(source_dir, read_layers(pathlib.Path(layers).read_text(encoding="utf-8")))
    print(*found, sep="\n")
    print(f"{num_files} files, {len(found)} violations")
    return 1 if found or num_files == 0 else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
