"""The notebooks of examples/notebooks run from top to bottom, and what they say holds."""
import contextlib
import io
import json
import os
import tempfile
import unittest

import matplotlib.pyplot as plt
import numpy as np

import dissent
from support import ROOT, PackageTest

FOLDER = os.path.join(ROOT, "examples", "notebooks")


def read(name):
    with open(os.path.join(FOLDER, name)) as file:
        return json.load(file)


class Notebooks(PackageTest):
    def run_cells(self, name):
        """The variables after all cells, what was printed, and the figures."""
        session, printed = {}, io.StringIO()
        plt.close("all")
        self.addCleanup(plt.close, "all")
        old = os.getcwd()
        with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stdout(printed):
            os.chdir(folder)
            try:
                for cell in read(name)["cells"]:
                    if cell["cell_type"] == "code":
                        plt.figure()  # as a kernel would, a cell draws on a figure of its own
                        exec(compile("".join(cell["source"]), name, "exec"), session)  # noqa: S102
            finally:
                os.chdir(old)
        drawn = [ax for number in plt.get_fignums() for ax in plt.figure(number).axes if ax.has_data()]
        return session, printed.getvalue(), drawn

    def test_fit_and_check(self):
        session, printed, drawn = self.run_cells("1_fit_and_check.ipynb")
        before, after = session["before"], session["after"]
        self.assertAlmostEqual(before["rmse"], after["rmse"], delta=0.03 * before["rmse"])
        self.assertLess(after["nll"], before["nll"] + 0.02)
        self.assertIn("keep the model as it was fitted", printed)
        self.assertFalse(session["needed"])  # as the text says, and that it did not help
        self.assertGreater(after["crps"], before["crps"] - 0.1)
        self.assertGreater(after["miscalibration_area"], before["miscalibration_area"] - 0.005)
        self.assertGreater(session["factor"][0], 1.5)
        right = session["factor"] * session["narrow"]
        self.assertLess(
            dissent.metrics.miscalibration_area(session["y_test"], session["center"], right),
            dissent.metrics.miscalibration_area(session["y_test"], session["center"], session["narrow"]),
        )
        self.assertGreater(session["unlike"].iloc[session["u"].top(5)].median(), session["unlike"].median())
        self.assertEqual(len(drawn), 5)

    def test_what_to_measure_next(self):
        session, printed, drawn = self.run_cells("2_what_to_measure_next.ipynb")
        self.assertLess(session["last"]["aim"], session["last"]["random"])
        self.assertEqual(np.shape(session["curves"]["aim"]), (3, 5))
        self.assertIn("mean RMSE after the start", printed)
        self.assertEqual(len(drawn), 3)  # a map with its colours, and curves

    def test_your_own_ensemble(self):
        session, printed, drawn = self.run_cells("3_your_own_ensemble.ipynb")
        self.assertEqual(len(set(session["rows"])), 8)
        self.assertFalse(set(session["next_rows"]) & set(session["known"]))
        wrong, epistemic = session["wrong"].to_numpy(), session["epistemic"]
        self.assertGreater(epistemic[wrong].mean(), epistemic[~wrong].mean())
        self.assertEqual(len(drawn), 4)


class Files(PackageTest):
    """They are in the format of notebooks, and hold no outputs."""

    def test_form(self):
        names = sorted(name for name in os.listdir(FOLDER) if name.endswith(".ipynb"))
        self.assertEqual(len(names), 3)
        for name in names:
            book = read(name)
            self.assertEqual((book["nbformat"], book["nbformat_minor"]), (4, 5))
            self.assertEqual(book["cells"][0]["cell_type"], "markdown")
            self.assertEqual(len({cell["id"] for cell in book["cells"]}), len(book["cells"]))
            for cell in book["cells"]:
                self.assertIn(cell["cell_type"], ("markdown", "code"))
                if cell["cell_type"] == "code":
                    self.assertEqual((cell["outputs"], cell["execution_count"]), ([], None))


if __name__ == "__main__":
    unittest.main()
