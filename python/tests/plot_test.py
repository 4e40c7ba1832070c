"""dissent.plot: what is on the axes, and which axes are current afterwards."""
import unittest

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.collections import LineCollection, PathCollection, PolyCollection
from scipy import stats
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import dissent
from support import PackageTest, rows


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

    def test_bands_of_learning_curves(self):
        repeats = np.array([[3.0, 2.0, 1.0], [5.0, 2.0, 1.5]])
        curves = {"kl": repeats, "random": [4.0, 4.0, 4.0]}
        ax = dissent.plot.learning_curves(curves, rows=[10, 20, 30], metric="RMSE (K)")
        self.assertEqual((ax.get_xlabel(), ax.get_ylabel()), ("training rows", "RMSE (K)"))
        first, second = ax.get_lines()
        np.testing.assert_allclose(first.get_xydata(), [[10, 4], [20, 2], [30, 1.25]])
        self.assertNotEqual((first.get_color(), first.get_marker()), (second.get_color(), second.get_marker()))
        (band,) = ax.collections  # one curve has no repeats
        heights = band.get_paths()[0].vertices[:, 1]
        np.testing.assert_allclose([heights.min(), heights.max()], [1, 5])
        self.assertEqual(labels_of(ax), ["kl", "random"])
        plt.clf()
        (band,) = dissent.plot.learning_curves({"kl": repeats[:, 1:]}, band="range").collections
        self.assertIn(1.5, band.get_paths()[0].vertices[:, 1])
        with self.assertRaisesRegex(ValueError, "band = 'wide'"):
            dissent.plot.learning_curves(curves, band="wide")
        with self.assertRaisesRegex(ValueError, r"'kl' has shape \[2, 3\], rows \[2\]"):
            dissent.plot.learning_curves(curves, rows=[1, 2])


def labels_of(ax):
    return [text.get_text() for text in ax.get_legend().get_texts()]


def points_of(ax):
    """The coordinates of each group of dots."""
    return [np.asarray(group.get_offsets()) for group in ax.collections if isinstance(group, PathCollection)]


def forecast(n, seed=0):
    random = np.random.default_rng(seed)
    mean = random.normal(size=n)
    return mean + 0.3 * random.normal(size=n), mean, np.full(n, 0.3)


class PredictionPlots(PackageTest):
    def setUp(self):
        plt.figure()
        self.addCleanup(plt.close, "all")

    def test_parity(self):
        y, mean, stddev = forecast(100)
        ax = dissent.plot.parity(pd.Series(y, name="density"), mean, stddev, unit="g/cm3")
        self.assertEqual((ax.get_xlabel(), ax.get_ylabel()), ("density (g/cm3)", "predicted density (g/cm3)"))
        outside = np.abs(y - mean) > stats.norm.ppf(0.95) * stddev
        inner, outer = points_of(ax)
        np.testing.assert_array_equal(inner, np.column_stack([y, mean])[~outside])
        np.testing.assert_array_equal(outer, np.column_stack([y, mean])[outside])
        (bars,) = [group for group in ax.collections if isinstance(group, LineCollection)]
        ends = np.array(bars.get_segments())
        np.testing.assert_allclose(ends[:, 1, 1] - ends[:, 0, 1], 2 * stats.norm.ppf(0.95) * 0.3)
        self.assertEqual(labels_of(ax), ["90% interval", "inside", "outside"])
        self.assertIn(f"{1 - outside.mean():.0%} in their 90% interval", ax.texts[0].get_text())
        self.assertEqual(ax.get_xlim(), ax.get_ylim())
        low, high = ax.get_ylim()
        self.assertTrue(low < ends[:, 0, 1].min() and high > ends[:, 1, 1].max())

    def test_a_long_interval_does_not_press_the_points_into_a_corner(self):
        y, mean, stddev = forecast(100)
        stddev[7] = 100
        ax = dissent.plot.parity(y, mean, stddev)
        least, most = min(y.min(), mean.min()), max(y.max(), mean.max())
        self.assertLess(np.diff(ax.get_ylim())[0], 1.7 * (most - least))
        self.assertEqual(ax.get_xlim(), ax.get_ylim())

    def test_a_target_fitted_by_its_logarithm(self):
        x = np.linspace(-1, 1, 60)[:, None]
        y = np.exp(3 * x[:, 0] + 0.2 * np.random.default_rng(0).normal(size=60))
        model = dissent.GaussianProcessEnsemble(random_state=0).fit(x, y)
        mixture = model.predict_mixture(x)
        self.assertEqual(mixture.space, "base")
        ax = dissent.plot.parity(y, mixture)
        shown = np.concatenate(points_of(ax))
        np.testing.assert_allclose(np.sort(shown[:, 1]), np.sort(model.predict(x)), rtol=1e-6)
        for draw in (dissent.plot.residuals, dissent.plot.calibration):
            plt.clf()
            draw(y, mixture)

    def test_many_points_are_a_density(self):
        y, mean, stddev = forecast(20_000)
        for draw in (dissent.plot.parity, dissent.plot.residuals):
            plt.clf()
            (cells,) = [c for c in draw(y, mean, stddev).collections if isinstance(c, PolyCollection)]
            self.assertEqual(cells.get_array().sum(), 20_000)
            self.assertEqual(plt.gcf().axes[1].get_ylabel(), "points in a cell")

    def test_parity_of_a_mean_alone(self):
        y, mean, _ = forecast(20)
        ax = dissent.plot.parity(y, mean)
        self.assertEqual((len(points_of(ax)), len(points_of(ax)[0]), ax.get_legend()), (1, 20, None))

    def test_one_of_several_outputs(self):
        y, mean, stddev = (np.column_stack([part, 2 * part]) for part in forecast(30))
        table = pd.DataFrame(y, columns=["a", "b"])
        ax = dissent.plot.parity(table, mean, stddev, output=1)
        self.assertEqual(ax.get_xlabel(), "b")
        self.assertTrue(set(points_of(ax)[0][:, 0]) <= set(y[:, 1]))
        with self.assertRaisesRegex(ValueError, "2 outputs; say which"):
            dissent.plot.residuals(table, mean, stddev)
        with self.assertRaisesRegex(ValueError, "output = 2; there are 2: a, b"):
            dissent.plot.residuals(table, mean, stddev, output=2)

    def test_residuals(self):
        y, mean, stddev = forecast(100)
        ax = dissent.plot.residuals(y, mean, stddev, name="T", unit="K")
        self.assertEqual((ax.get_xlabel(), ax.get_ylabel()), ("predicted T (K)", "T - predicted (K)"))
        np.testing.assert_allclose(np.sort(np.concatenate(points_of(ax))[:, 1]), np.sort(y - mean))
        running = [line for line in ax.get_lines() if line.get_label() == "running mean"]
        self.assertEqual(len(running[0].get_xdata()), 5)
        self.assertEqual(ax.get_ylim()[0], -ax.get_ylim()[1])
        plt.clf()
        ax = dissent.plot.residuals(y[:20], mean[:20], stddev[:20], standardised=True)
        np.testing.assert_allclose(np.sort(np.concatenate(points_of(ax))[:, 1]), np.sort((y - mean)[:20] / 0.3))
        self.assertNotIn("running mean", labels_of(ax))
        with self.assertRaisesRegex(ValueError, "no spread to divide by"):
            dissent.plot.residuals(y, mean, standardised=True)

    def test_calibration(self):
        y, mean, stddev = forecast(400)
        ax = dissent.plot.calibration(y, mean, stddev, label="right")
        dissent.plot.calibration(y, mean, 0.5 * stddev, label="narrow", ax=ax)
        curves = [line for line in ax.get_lines() if line.get_gid() == "curve"]
        for line, scale in zip(curves, (1, 0.5)):
            known = dissent.metrics.calibration_curve(y, mean, scale * stddev)
            np.testing.assert_allclose(line.get_xydata(), np.column_stack(known))
        self.assertEqual(len({line.get_color() for line in curves}), 2)
        self.assertEqual(len(ax.collections), 1)  # one band for both
        area = dissent.metrics.miscalibration_area(y, mean, stddev)
        self.assertEqual(labels_of(ax)[0], f"right, area {area:.3f}")
        self.assertEqual(ax.get_xlabel(), "expected share within the interval")

    def test_given_axes(self):
        y, mean, stddev = forecast(20)
        _, axes = plt.subplots(1, 5)
        u = dissent.uncertainty(np.column_stack([mean, y]), 1.0)
        drawn = [
            dissent.plot.parity(y, mean, stddev, ax=axes[0]),
            dissent.plot.residuals(y, mean, stddev, ax=axes[1]),
            dissent.plot.calibration(y, mean, stddev, ax=axes[2]),
            dissent.plot.pool_map(np.column_stack([y, mean, stddev]), ax=axes[3]),
            dissent.plot.epistemic_aleatoric(u, ax=axes[4]),
        ]
        self.assertEqual([id(ax) for ax in drawn], [id(ax) for ax in axes])


class PoolPlots(PackageTest):
    def setUp(self):
        plt.figure()
        self.addCleanup(plt.close, "all")
        self.pool = np.random.default_rng(0).normal(size=(200, 4)) * [1, 10, 100, 0]

    def test_pool_map(self):
        ax = dissent.plot.pool_map(self.pool, [5, 3, 9], labelled=self.pool[:7])
        pool, labelled, chosen = points_of(ax)
        np.testing.assert_allclose(labelled, pool[:7])
        np.testing.assert_allclose(chosen, pool[[5, 3, 9]])
        self.assertEqual([text.get_text() for text in ax.texts], ["1", "2", "3"])
        self.assertEqual(labels_of(ax), ["pool", "labelled", "chosen"])
        standard = (self.pool - self.pool.mean(0))[:, :3] / self.pool[:, :3].std(0)
        _, size, directions = np.linalg.svd(standard, full_matrices=False)
        np.testing.assert_allclose(np.abs(pool), np.abs(standard @ directions[:2].T), atol=1e-9)
        share = size[0] ** 2 / (size**2).sum()
        self.assertEqual(ax.get_xlabel(), f"component 1 ({share:.0%} of the variance)")

    def test_few_columns(self):
        table = pd.DataFrame(self.pool[:, :2], columns=["a", "b"])
        ax = dissent.plot.pool_map(table)
        self.assertEqual((ax.get_xlabel(), ax.get_ylabel()), ("a", "b"))
        np.testing.assert_array_equal(points_of(ax)[0], table)
        plt.clf()
        self.assertEqual(dissent.plot.pool_map(self.pool[:, 0]).get_ylabel(), "row")

    def test_scores(self):
        scores = np.arange(200.0)
        dissent.plot.pool_map(self.pool, scores=scores, score_name="worth")
        (points,) = plt.gcf().axes[0].collections
        np.testing.assert_array_equal(np.sort(points.get_array()), scores)
        self.assertEqual(plt.gcf().axes[1].get_ylabel(), "worth")
        plt.clf()
        many = np.tile(self.pool, (50, 1))
        ax = dissent.plot.pool_map(many, np.arange(40), scores=np.tile(scores, 50))
        self.assertEqual((len(ax.texts), len(points_of(ax)[-1])), (0, 40))  # too many to number
        self.assertIsInstance(ax.collections[0], PolyCollection)
        for given, text in (({"scores": [1.0]}, "scores has shape"), ({"chosen": [200]}, "rows from 0 to 199"),
                            ({"labelled": np.zeros((3, 2))}, r"labelled has shape \[3, 2\]; it must be \[N, 4\]")):
            with self.assertRaisesRegex(ValueError, text):
                dissent.plot.pool_map(self.pool, **given)

    def test_epistemic_aleatoric(self):
        x, y = rows()
        model = make_pipeline(StandardScaler(), dissent.GaussianProcessEnsemble(random_state=0)).fit(x, y)
        ax = dissent.plot.epistemic_aleatoric(model, x, chosen=[4, 2])
        u = dissent.uncertainty(model, x)
        points, chosen = points_of(ax)
        np.testing.assert_allclose(points, np.column_stack([u.aleatoric, u.epistemic]))
        np.testing.assert_allclose(chosen, points[[4, 2]])
        self.assertEqual(ax.get_xlabel(), "aleatoric uncertainty (nats)")
        plt.clf()
        np.testing.assert_allclose(points_of(dissent.plot.epistemic_aleatoric(u))[0], points)


if __name__ == "__main__":
    unittest.main()
