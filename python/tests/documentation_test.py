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

import matplotlib.pyplot as plt
import numpy as np

import dissent
from support import ROOT, ActiveLearner, PackageTest

EXAMPLES = os.path.join(ROOT, "examples")


def public_members():
    """(name, docstring) of what is public: functions, classes, and the methods and properties they have from here."""
    for name in dissent.__all__:
        value = getattr(dissent, name)
        if isinstance(value, types.ModuleType):
            for part in value.__all__:
                yield f"{name}.{part}", getattr(value, part).__doc__
            continue
        yield name, value.__doc__
        for owner in value.__mro__ if isinstance(value, type) else ():
            for part, member in vars(owner).items() if owner.__module__.startswith("dissent.") else ():
                kinds = (types.FunctionType, classmethod, staticmethod, property)
                if not part.startswith("_") and isinstance(member, kinds):
                    yield f"{name}.{part}", member.__doc__


class Docstrings(PackageTest):
    def campaign(self):
        """What the examples of Campaign's methods begin with."""
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        x = np.linspace(-1, 1, 20)
        pool = {"x": np.linspace(-3, 3, 13)}
        campaign = dissent.Campaign(folder.name + "/c", {"x": x, "y": x**2}, pool, "y", model="pne", epochs=5)
        self.addCleanup(campaign.close)
        return campaign

    def test_examples_run(self):
        names = [info.name for info in pkgutil.iter_modules(dissent.__path__) if info.name != "_core"]
        runner, finder = doctest.DocTestRunner(), doctest.DocTestFinder()
        for module in [dissent, *(importlib.import_module(f"dissent.{name}") for name in names)]:
            for test in finder.find(module, module.__name__, extraglobs={"np": np, "dissent": dissent}):
                if ".Campaign." in test.name and test.examples:
                    test.globs["campaign"] = self.campaign()
                with self.subTest(test.name):
                    self.assertEqual(runner.run(test).failed, 0)
                plt.close("all")  # each draws on axes of its own

    def test_every_public_member_has_an_example(self):
        members = dict(public_members())
        for name in ("FlowEnsemble.predict", "Campaign.ask", "QueryStrategy.query", "Bounds", "plot.parity", "metrics.crps"):
            self.assertIn(name, members)
        for name, text in members.items():
            self.assertIn(">>> ", text or "", name)


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
                command = [sys.executable, os.path.join(EXAMPLES, name)]
                run = subprocess.run(command, cwd=folder, capture_output=True, text=True)
                self.assertEqual(run.returncode, 0, run.stderr)
                self.assertTrue(run.stdout)


if __name__ == "__main__":
    unittest.main()
