"""Reads the documents and runs their commands; the program's path is in the environment variable DISSENT_PROGRAM."""

import glob
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

import numpy as np

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
PROGRAM = os.environ["DISSENT_PROGRAM"]
README = os.path.join(ROOT, "README.md")


def documents():
    """Every document of the project."""
    return sorted(glob.glob(os.path.join(ROOT, "*.md")) + glob.glob(os.path.join(ROOT, "docs", "**", "*.md"), recursive=True))


def read(path):
    with open(path) as file:
        return file.read()


def name_of(path):
    return os.path.relpath(path, ROOT)


def section(text, title):
    """The text below the heading `## title`, down to the next one."""
    return re.search(rf"^## {re.escape(title)}\n(.*?)(?=^## |\Z)", text, re.M | re.S).group(1)


def fenced(text, language):
    """The contents of the fenced blocks of a language."""
    return re.findall(rf"^```{language}\n(.*?)^```", text, re.M | re.S)


def indented(text):
    """The contents of the indented blocks, without the indentation. Lists are not blocks: they follow a bullet."""
    text = re.sub(r"^```.*?^```", "", text, flags=re.M | re.S)
    blocks = re.findall(r"(?:^|\n)(?:[^-*\n][^\n]*)?\n((?: {4,}[^\n]*\n)+)", text)
    return ["".join(line[4:] + "\n" for line in block.splitlines()) for block in blocks]


class DocsTest(unittest.TestCase):
    """A test in an empty folder, with the program on the PATH."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.dir = folder.name

    def path(self, name):
        return os.path.join(self.dir, name)

    def shell(self, command):
        """Runs a line of a document; it must succeed. Gives what it printed."""
        path = os.pathsep.join([os.path.dirname(PROGRAM), os.path.dirname(sys.executable), os.environ["PATH"]])
        run = subprocess.run(["bash", "-c", command], cwd=self.dir, text=True, env={**os.environ, "PATH": path},
                             stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        self.assertEqual(run.returncode, 0, f"{command}\n{run.stdout}")
        return run.stdout


class ShellTest(DocsTest):
    """Runs commands of a document in a folder with the files that documents name."""

    def setUp(self):
        super().setUp()
        shutil.copy(os.path.join(ROOT, "examples", "ensemble.npz"), self.dir)
        arrays = np.load(self.path("ensemble.npz"))
        for name in ("mean", "stddev"):
            np.save(self.path(f"{name}.npy"), arrays[name])
        random = np.random.default_rng(0)
        for name in ("data", "test", "L", "T", "new", "pool", "P"):
            x = random.uniform(-2, 2, 250 if name == "P" else 40)
            columns = {"x": x} if name in ("new", "pool", "P") else {"x": x, "y": np.sin(x)}  # those have no labels yet
            np.savetxt(self.path(f"{name}.csv"), np.column_stack(list(columns.values())), delimiter=",", comments="",
                       header=",".join(columns))
        with open(self.path("simulate"), "w") as oracle:
            oracle.write("#!/bin/sh\nawk -F, 'NR == 1 { print \"y\"; next } { print sin($1) }'\n")
        os.chmod(self.path("simulate"), 0o755)

    def run_line(self, line):
        """Runs it; before `tell` it does what the person does: fills in the last column."""
        told = re.match(r"dissent tell \S+ (\S+)", line)
        if told:
            first, *rows = read(self.path(told.group(1))).splitlines()
            with open(self.path(told.group(1)), "w") as file:
                file.write("\n".join([first, *(row + "0.5" for row in rows)]) + "\n")
        with self.subTest(line):
            self.shell(line)
