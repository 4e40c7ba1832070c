"""dissent.plot: what is on the axes, and which axes are current afterwards."""
import unittest

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import dissent
from support import PackageTest


class Plots(PackageTest):
    def setUp(self):
        plt.figure()
        self.addCleanup(plt.close)

    def test_uncertainty_1d(self):
        x = pd.DataFrame({"dose": np.linspace(-1, 1, 30)})
        y = pd.Series(x.dose**2, name="effect")
        ensemble = dissent.ProbabilisticEnsemble(epochs=2, random_state=0)
        for model in (ensemble, make_pipeline(StandardScaler(), ensemble)):
            ax = dissent.plot.uncertainty_1d(model.fit(x, y), x, y)
            self.assertIs(plt.gca(), ax)
            self.assertEqual((ax.get_xlabel(), ax.get_ylabel()), ("dose", "effect"))
            ax.figure.clear()
        process = dissent.GaussianProcessEnsemble(random_state=0).fit(x, y)
        self.assertEqual(dissent.plot.uncertainty_1d(process, x, y).get_ylabel(), "effect")
        with self.assertRaisesRegex(ValueError, "the model has 2 inputs and 1 outputs"):
            dissent.plot.uncertainty_1d(ensemble.fit(np.column_stack([x, x]), y), x, y)

    def test_learning_curves(self):
        self.assertEqual(dissent.plot.learning_curves({"kl": [3, 2, 1]}).get_yscale(), "log")
        plt.clf()
        ax = dissent.plot.learning_curves({"kl": [3, 2, 1], "random": [3, 0, -1]}, metric="log_likelihood")
        self.assertEqual(ax.get_yscale(), "linear")


if __name__ == "__main__":
    unittest.main()
