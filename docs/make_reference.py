"""Makes the C++ reference from the installed headers: python3 docs/make_reference.py FOLDER gives FOLDER/html.

The installed headers are dissent/dissent.hpp and what it includes. Their comments are plain, so doxygen reads copies in
which comments before and behind a declaration have doxygen's marks, and the lines that open a file describe it.
"""

import os
import re
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
SOURCES = os.path.join(ROOT, "src")
FORMULA = "  "  # comment lines indented by this much more are formulas, tables or code


def installed_headers():
    """dissent/dissent.hpp and what it includes, directly or not; headers that the build makes are left out."""
    found, to_visit = [], ["dissent/dissent.hpp"]
    while to_visit:
        header = to_visit.pop()
        path = os.path.join(SOURCES, header)
        if header in found or not os.path.exists(path):
            continue
        found.append(header)
        with open(path) as file:
            to_visit += re.findall(r'^#include "(dissent/[^"]+)"', file.read(), re.M)
    return sorted(found)


def escaped(text):
    """The text, with the signs escaped that doxygen would take for commands."""
    return re.sub(r"([\\@<>#&%])", r"\\\1", text)


def described(comments, command=None):
    """A block of comment lines as doxygen reads it; indented lines stay as they are."""
    lines, verbatim = [command] if command else [], False
    for comment in comments:
        if comment.strip():
            if comment.startswith(FORMULA) != verbatim:
                verbatim = not verbatim
                lines.append("@verbatim" if verbatim else "@endverbatim")
            comment = comment if verbatim else escaped(comment)
        lines.append(comment)
    lines += ["@endverbatim"] * verbatim
    return ["/*!", *(line.replace("*/", "* /") for line in lines), "*/"] if lines else []


class Rewriter:
    """Rewrites the comments of one header, line by line. Comments inside functions stay as they are."""

    def __init__(self):
        self.lines = []
        self.scopes = []  # of the open braces: True for namespaces and types, False for functions and values
        self.comments = []
        self.trailing = None  # column of the comment behind the last declaration, which the next line may continue

    def declarations(self):
        return all(self.scopes)

    def flush(self):
        self.lines += described(self.comments)
        self.comments = []

    def add(self, line):
        comment = re.match(r"( *)// ?(.*)$", line)
        if comment and self.declarations():
            if self.trailing is not None and len(comment[1]) == self.trailing:
                self.lines.append(f"{comment[1]}///< {escaped(comment[2])}")
            else:
                self.comments.append(comment[2])
            return
        self.flush()
        behind = re.match(r"(.*\w.*[;,{}]) +// (.*)$", line)
        self.trailing = None
        if behind and self.declarations():
            self.trailing = line.index("// " + behind[2])
            self.lines.append(f"{behind[1].ljust(self.trailing)}///< {escaped(behind[2])}")
        else:
            self.lines.append(line)
        self.follow(behind[1] if behind else line)

    def follow(self, code):
        opens_scope = re.match(r" *(template .*> )?(inline )?(namespace|struct|class|enum|union)\b[^()]*\{", code) is not None
        for sign in re.sub(r"'.'|\"[^\"]*\"|//.*", "", code):
            if sign == "{":
                self.scopes.append(opens_scope)
            elif sign == "}" and self.scopes:
                self.scopes.pop()


def rewritten(header, text):
    """A header for doxygen. What opens dissent.hpp is the first page."""
    page = "@mainpage" if header == "dissent/dissent.hpp" else "@file"
    head = re.match(r"(?://.*\n)+", text)
    opening = [line[2:].removeprefix(" ") for line in head[0].splitlines()] if head else []
    rewriter = Rewriter()
    for line in text[head.end() if head else 0 :].splitlines():
        rewriter.add(line)
    rewriter.flush()
    return "\n".join([*described(opening, page), *rewriter.lines]) + "\n"


def version():
    with open(os.path.join(ROOT, "CMakeLists.txt")) as file:
        return re.search(r"^project\(\w+ VERSION ([\d.]+)", file.read(), re.M)[1]


def main(folder):
    copies = os.path.join(os.path.abspath(folder), "headers")
    for header in installed_headers():
        copy = os.path.join(copies, header)
        os.makedirs(os.path.dirname(copy), exist_ok=True)
        with open(os.path.join(SOURCES, header)) as source, open(copy, "w") as target:
            target.write(rewritten(header, source.read()))
    with open(os.path.join(ROOT, "docs", "Doxyfile")) as file:
        settings = file.read()
    settings += f"INPUT = {copies}\nSTRIP_FROM_PATH = {copies}\nOUTPUT_DIRECTORY = {os.path.abspath(folder)}\n"
    settings += f"PROJECT_NUMBER = {version()}\n"
    run = subprocess.run(["doxygen", "-"], input=settings, text=True)
    if run.returncode == 0:
        print(f"wrote {os.path.join(folder, 'html', 'index.html')}")
    return run.returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
