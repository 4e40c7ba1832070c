"""Every example in docstrings, documentation and example scripts runs, and gives what it says."""
import doctest
import importlib
import importlib.util
import os
import pkgutil
import re
import subprocess
import sys
import tempfile
import types
import unittest
import unittest.mock

import numpy as np

import dissent
from support import ROOT, ActiveLearner, PackageTest

EXAMPLES = os.path.join(ROOT, "examples")


class Docstrings(PackageTest):
    def test_examples_run(self):
        for info in pkgutil.iter_modules(dissent.__path__):
            if info.name == "_core":
                continue
            module = importlib.import_module(f"dissent.{info.name}")
            result = doctest.testmod(module, extraglobs={"np": np, "dissent": dissent})
            self.assertEqual(result.failed, 0, info.name)
        self.assertEqual(doctest.testmod(dissent).failed, 0)

    def test_every_public_name_has_an_example_or_says_what_it_is(self):
        for name in dissent.__all__:
            value = getattr(dissent, name)
            self.assertTrue(value.__doc__, name)
            if callable(value) and not issubclass(type(value), type):
                self.assertIn(">>> ", value.__doc__, name)


def python_blocks(path):
    with open(path) as file:
        return re.findall(r"^```python\n(.*?)^```", file.read(), re.M | re.S)


def stand_ins():
    """modAL, where it is not installed."""
    if importlib.util.find_spec("modAL"):
        return {}
    models = types.ModuleType("modAL.models")
    models.ActiveLearner = ActiveLearner
    return {"modAL": types.ModuleType("modAL"), "modAL.models": models}


class Snippets(PackageTest):
    """The Python blocks of a document run in order, as one session, in an empty folder."""

    def run_blocks(self, *names):
        blocks = python_blocks(os.path.join(ROOT, *names))
        self.assertTrue(blocks)
        old = os.getcwd()
        with tempfile.TemporaryDirectory() as folder:
            os.chdir(folder)
            try:
                session = {}
                with unittest.mock.patch.dict(sys.modules, stand_ins()):
                    for block in blocks:
                        exec(compile(block, names[-1], "exec"), session)  # noqa: S102
            finally:
                os.chdir(old)

    def test_readme(self):
        self.run_blocks("README.md")

    def test_python_guide(self):
        self.run_blocks("docs", "python.md")


class Examples(PackageTest):
    def test_scripts(self):
        scripts = sorted(name for name in os.listdir(EXAMPLES) if name.endswith(".py"))
        self.assertEqual(len(scripts), 4)
        for name in scripts:
            with self.subTest(name), tempfile.TemporaryDirectory() as folder:
                run = subprocess.run(
                    [sys.executable, os.path.join(EXAMPLES, name)],
                    cwd=folder,
                    capture_output=True,
                    text=True,
                    timeout=300,
                )
                self.assertEqual(run.returncode, 0, run.stderr)
                self.assertTrue(run.stdout)


if __name__ == "__main__":
    unittest.main()
