"""Holds src/dissent to the rules of its structure that are not about layers.

    check_structure.py SOURCE_DIR [FOLDER...]     SOURCE_DIR is the repository's src/; functions of the other folders
                                                  are measured too

Prints one line a violation and exits 1 when there is any:
- two files (a header and its source count as one) include each other only where ALLOWED_PAIRS says so;
- the library never spells an option of the command line ("--x"): it names arguments, the program adds the dashes;
- a function fits a screen: at most 60 lines;
- headers that users get (dissent/dissent.hpp and all it includes) are at most 35, and no kernels.
"""

import pathlib
import re
import sys

# Factories know their products, and the products what they are made as; a table reads and writes itself as CSV.
ALLOWED_PAIRS = {
    ("problem/cache", "problem/problem"),
    ("simulator/environment", "simulator/pendulum"),
    ("simulator/environment", "simulator/robot"),
    ("simulator/linear_policy", "simulator/policy"),
    ("table/csv", "table/table"),
}
MOST_LINES = 60
MOST_HEADERS = 35
INCLUDE = re.compile(r'^#include "dissent/([^"]+)\.hpp"', re.MULTILINE)
# A line that opens a function, at the margin or inside of a class; formatted code closes it at the same indentation.
FUNCTION = re.compile(r"^(  )?(?!namespace|class|struct|enum|union|extern|template|\}|#)[A-Za-z~\[].*\{$")


def stems(root):
    """Returns {folder/file without suffix: the stems it includes}."""
    included = {}
    for path in root.rglob("*"):
        if path.suffix in (".hpp", ".cpp"):
            stem = path.relative_to(root).with_suffix("").as_posix()
            included.setdefault(stem, set()).update(set(INCLUDE.findall(path.read_text(encoding="utf-8"))) - {stem})
    return included


def two_way_pairs(included):
    return {tuple(sorted((a, b))) for a in included for b in included[a] if a in included.get(b, ())}


def long_functions(path):
    lines = path.read_text(encoding="utf-8").splitlines()
    for begin, line in enumerate(lines):
        match = FUNCTION.match(line)
        if match and "(" in "".join(lines[max(0, begin - 4) : begin + 1]):
            close = (match[1] or "") + "}"
            end = next((k for k in range(begin + 1, len(lines)) if lines[k].startswith(close)), begin)
            if end - begin + 1 > MOST_LINES:
                yield begin + 1, end - begin + 1


def installed_headers(root):
    found, waiting = set(), ["dissent"]
    while waiting:
        stem = waiting.pop()
        path = root / f"{stem}.hpp"
        if stem not in found:
            found.add(stem)
            waiting += INCLUDE.findall(path.read_text(encoding="utf-8")) if path.exists() else []
    return found


def check(source_dir):
    root = pathlib.Path(source_dir) / "dissent"
    for a, b in sorted(two_way_pairs(stems(root)) - ALLOWED_PAIRS):
        yield f"{root}/{a} and {b} include each other"
    for path in sorted(root.rglob("*")):
        if path.suffix not in (".hpp", ".cpp", ".cu", ".cuh"):
            continue
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
            if re.search(r'"[^"]*--[a-z]', line.split("//")[0]):
                yield f"{path}:{number}: spells an option of the command line"
        for number, length in long_functions(path):
            yield f"{path}:{number}: a function of {length} lines; at most {MOST_LINES}"
    headers = installed_headers(root)
    if len(headers) > MOST_HEADERS:
        yield f"{len(headers)} headers are installed; at most {MOST_HEADERS}: {', '.join(sorted(headers))}"
    for stem in sorted(headers):
        if "kernel" in stem or stem.endswith("-inl"):
            yield f"{stem}.hpp is a kernel, and installed"


def main(arguments):
    found = list(check(arguments[0]))
    for folder in arguments[1:]:
        for path in sorted(pathlib.Path(folder).rglob("*.?pp")):
            found += [f"{path}:{number}: a function of {length} lines" for number, length in long_functions(path)]
    print(*found, sep="\n")
    print(f"{len(found)} violations")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
