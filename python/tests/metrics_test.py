"""dissent.metrics: against definitions, numeric integration, and each other."""
import unittest

import numpy as np
import pandas as pd
from scipy import integrate, stats
from sklearn.metrics import mean_pinball_loss, r2_score

import dissent
from dissent import metrics
from dissent._distributions import GaussianMixture, Samples
from dissent._predictions import read_prediction
from support import PackageTest, make, rows


def gaussians(n=200, d=3, seed=1):
    random = np.random.default_rng(seed)
    mean, stddev = random.normal(size=(n, d)), np.exp(0.4 * random.normal(size=(n, d)))
    return mean + 1.3 * stddev * random.normal(size=(n, d)), mean, stddev


def components(n=40, m=4, d=2, seed=2):
    random = np.random.default_rng(seed)
    mean, stddev = 2 * random.normal(size=(n, m, d)), np.exp(0.5 * random.normal(size=(n, m, d)))
    return 2 * random.normal(size=(n, d)), mean, stddev, random.dirichlet(np.ones(m))


def crps_by_integration(cdf, y):
    """Of int (F(x) - 1[x >= y])^2 dx."""
    below = integrate.quad(lambda x: cdf(x) ** 2, y - 60, y, points=[y - 5, y - 1], limit=500)[0]
    return below + integrate.quad(lambda x: (1 - cdf(x)) ** 2, y, y + 60, points=[y + 1, y + 5], limit=500)[0]


class Scores(PackageTest):
    def test_crps_is_the_integral(self):
        y, mean, stddev, weights = components(n=6)
        scores = GaussianMixture(mean, stddev, weights).crps(y)
        for n, d in np.ndindex(y.shape):
            def cdf(x):
                return weights @ stats.norm.cdf(x, mean[n, :, d], stddev[n, :, d])

            self.assertAlmostEqual(scores[n, d], crps_by_integration(cdf, y[n, d]), places=7)
        one = metrics.crps(y[:, 0], mean[:, 0, 0], stddev[:, 0, 0])
        values = zip(y[:, 0], mean[:, 0, 0], stddev[:, 0, 0])
        by_hand = [crps_by_integration(stats.norm(m, s).cdf, v) for v, m, s in values]
        self.assertAlmostEqual(one, np.mean(by_hand), places=7)

    def test_crps_of_draws(self):
        random = np.random.default_rng(0)
        draws, y = random.normal(size=(7, 2, 31)), random.normal(size=(7, 2))
        apart = np.abs(draws[..., None] - draws[..., None, :]).mean((-2, -1))
        expected = np.abs(draws - y[..., None]).mean(-1) - apart / 2
        np.testing.assert_allclose(metrics.crps(y, samples=draws, per_output=True), expected.mean(0), rtol=1e-12)
        many = random.normal(size=(1, 200_000))
        self.assertAlmostEqual(metrics.crps([0.7], samples=many), metrics.crps([0.7], [0.0], 1.0), places=2)

    def test_equal_components_are_one_gaussian(self):
        y, mean, stddev = gaussians()
        mixture = dissent.Mixture(np.repeat(mean[:, None], 3, 1), np.repeat(stddev[:, None], 3, 1), np.full(3, 1 / 3))
        one, many = metrics.evaluate(y, mean, stddev), metrics.evaluate(y, mixture)
        self.assertEqual(one.keys(), many.keys())
        for name, value in one.items():
            self.assertAlmostEqual(value, many[name], places=9, msg=name)

    def test_nll_is_that_of_the_density(self):
        y, mean, stddev, weights = components()
        density = np.einsum("m,nmd->nd", weights, stats.norm.pdf(y[:, None], mean, stddev))
        self.assertAlmostEqual(metrics.nll(y, mean, stddev, weights=weights), -np.log(density).mean(), places=12)
        far = metrics.nll([1e6], [[0.0, 1.0]], 1.0)
        self.assertAlmostEqual(far / (0.5 * (1e6 - 1) ** 2), 1, places=6)
        with self.assertRaisesRegex(ValueError, "draws have no density"):
            metrics.nll([0.0], samples=[[0.0, 1.0]])

    def test_a_mixture_of_logarithms(self):
        random = np.random.default_rng(3)
        mean, stddev, weights = random.normal(size=(4, 3, 2)), random.uniform(0.2, 0.6, (4, 3, 2)), np.array([0.5, 0.3, 0.2])
        mixture = dissent.Mixture(mean, stddev, weights)
        mixture.space, mixture.logarithms = "base", (True, False)
        y = np.column_stack([np.exp(random.normal(size=4)), random.normal(size=4)])
        component = random.choice(3, (4, 2, 40_000), p=weights)
        pick = lambda part: np.take_along_axis(np.swapaxes(part, 1, 2), component, 2)
        draws = pick(mean) + pick(stddev) * random.normal(size=component.shape)
        draws[:, 0] = np.exp(draws[:, 0])
        exact, drawn = metrics.evaluate(y, mixture), metrics.evaluate(y, samples=draws)
        for name in ("rmse", "crps", "coverage_90", "sharpness"):
            self.assertAlmostEqual(exact[name], drawn[name], delta=0.02 * abs(exact[name]) + 1e-9, msg=name)
        plain = metrics.nll(np.log(y[:, :1]), dissent.Mixture(mean[..., :1], stddev[..., :1], weights), per_output=True)
        self.assertAlmostEqual(metrics.nll(y, mixture, per_output=True)[0], plain[0] + np.log(y[:, 0]).mean(), places=12)
        levels = np.array([0.05, 0.5, 0.99])
        truth, distribution = read_prediction(y, mixture)
        for level, found in zip(levels, distribution.quantile(levels)):
            np.testing.assert_allclose(distribution.cdf(found), level, rtol=1e-9)
        below = np.where(np.arange(2) == 0, -1.0, truth)
        self.assertTrue((distribution.cdf(below)[:, 0] == 0).all() and (distribution.log_density(below)[:, 0] == -np.inf).all())
        many = np.exp(random.normal(size=(400, 1)))
        wide = dissent.Mixture(np.zeros((400, 1, 1)), np.full((400, 1, 1), 0.5), np.ones(1))
        wide.space, wide.logarithms = "base", (True,)
        self.assertAlmostEqual(dissent.spread_factors(many, wide)[0], dissent.spread_factors(np.log(many), wide[0], wide[1])[0])
        with self.assertRaisesRegex(ValueError, "not positive"):
            dissent.spread_factors(-many, wide)

    def test_quantiles_of_a_mixture(self):
        """Two far modes with nothing between them, and weights of 0."""
        levels = np.array([1e-6, 0.01, 0.3, 0.5, 0.7, 0.999999])
        for mean, stddev, weights in (
            ([0.0, 1e4], [1.0, 1e-3], [0.5, 0.5]),
            ([0.0, 0.0, 3.0], [1.0, 5.0, 0.1], [0.2, 0.8, 0.0]),
            ([-1e3, 0.0, 1e3], [1e-2, 1.0, 10.0], [0.3, 0.4, 0.3]),
        ):
            mixture = GaussianMixture(*(np.array(part)[None, :, None] for part in (mean, stddev)), np.array(weights))
            found = mixture.quantile(levels)
            reached = np.array([mixture.cdf(x)[0, 0] for x in found])
            np.testing.assert_allclose(reached, levels, rtol=1e-9)
        y, mean, stddev, weights = components()
        mixture = GaussianMixture(mean, stddev, weights)
        for level, found in zip(levels, mixture.quantile(levels)):
            np.testing.assert_allclose(mixture.cdf(found), level, rtol=1e-9)

    def test_quantiles_of_draws(self):
        draws = np.sort(np.random.default_rng(0).normal(size=(5, 2, 7)), axis=-1)
        levels = np.array([0.0, 0.1, 0.5, 0.77, 1.0])
        np.testing.assert_allclose(Samples(draws).quantile(levels), np.quantile(draws, levels, axis=-1), rtol=1e-12)
        self.assertEqual(Samples(draws[..., :1]).quantile(levels)[3, 2, 1], draws[2, 1, 0])

    def test_check_score(self):
        """Those of scikit-learn; and twice its mean over all levels is the CRPS."""
        y, mean, stddev = gaussians(d=1)
        for level in (0.1, 0.5, 0.93):
            quantile = stats.norm.ppf(level, mean, stddev)
            expected = mean_pinball_loss(y, quantile, alpha=level)
            self.assertAlmostEqual(metrics.check_score(y, mean, stddev, level=level), expected, places=12)
        fine = (np.arange(4000) + 0.5) / 4000
        score = metrics.check_score(y, mean, stddev, level=fine)
        self.assertAlmostEqual(2 * score, metrics.crps(y, mean, stddev), places=3)
        default = metrics.check_score(y, mean, stddev, level=np.linspace(0.01, 0.99, 99))
        self.assertAlmostEqual(metrics.check_score(y, mean, stddev), default, places=12)
        y, mean, stddev, weights = components()
        fine = (np.arange(1000) + 0.5) / 1000
        score = metrics.check_score(y, mean, stddev, weights=weights, level=fine)
        self.assertAlmostEqual(2 * score, metrics.crps(y, mean, stddev, weights=weights), places=3)

    def test_interval_score(self):
        """An interval's score is 4 / (1 - level) times the mean pinball loss of its ends, halved."""
        y, mean, stddev = gaussians()
        for level in (0.5, 0.9):
            ends = [metrics.check_score(y, mean, stddev, level=0.5 + side * level / 2) for side in (-1, 1)]
            expected = 2 / (1 - level) * sum(ends)
            self.assertAlmostEqual(metrics.interval_score(y, mean, stddev, level=level), expected, places=10)


class Calibration(PackageTest):
    def by_definition(self, y, mean, stddev, kind, bins=100):
        """Shares at each level, one level at a time."""
        levels = np.linspace(0, 1, bins)
        z = (y - mean) / stddev
        if kind == "interval":
            return levels, np.array([(np.abs(z) <= stats.norm.ppf(0.5 + p / 2)).mean(0) for p in levels])
        return levels, np.array([(z <= stats.norm.ppf(p)).mean(0) for p in levels])

    def test_errors_by_their_definitions(self):
        y, mean, stddev = gaussians(n=157)
        for kind in ("interval", "quantile"):
            levels, observed = self.by_definition(y, mean, stddev, kind)
            curve = metrics.calibration_curve(y, mean, stddev, kind=kind, per_output=True)
            np.testing.assert_allclose(curve.observed, observed, atol=1e-12)
            distance = observed - levels[:, None]
            options = {"kind": kind, "per_output": True}
            np.testing.assert_allclose(
                metrics.rms_calibration_error(y, mean, stddev, **options), np.sqrt((distance**2).mean(0))
            )
            np.testing.assert_allclose(
                metrics.mean_absolute_calibration_error(y, mean, stddev, **options), np.abs(distance).mean(0)
            )
            fine = np.linspace(0, 1, 200_001)
            area = [np.abs(np.interp(fine, levels, column)).mean() for column in distance.T]
            np.testing.assert_allclose(metrics.miscalibration_area(y, mean, stddev, **options), area, rtol=1e-3)

    def test_coverage(self):
        y, mean, stddev = gaussians()
        levels = [0.0, 0.5, 0.9, 1.0]
        expected = [(np.abs(y - mean) <= stats.norm.ppf(0.5 + p / 2) * stddev).mean(0) for p in levels]
        np.testing.assert_allclose(metrics.coverage(y, mean, stddev, level=levels, per_output=True), expected)
        self.assertAlmostEqual(metrics.coverage(y, mean, stddev), np.mean(expected[2]))
        for level in (1.5, -0.1, [], [[0.5]]):
            with self.assertRaisesRegex(ValueError, "shares between 0 and 1"):
                metrics.coverage(y, mean, stddev, level=level)

    def test_a_true_forecast_is_calibrated(self):
        """Of 20,000 values; the bound fails for a true forecast once in 10^6 (Dvoretzky, Kiefer, Wolfowitz)."""
        random = np.random.default_rng(3)
        _, mean, stddev, weights = components(n=20_000)
        chosen = random.choice(4, size=20_000, p=weights)
        at = np.arange(20_000)
        y = mean[at, chosen] + stddev[at, chosen] * random.normal(size=(20_000, 2))
        given = {"weights": weights, "kind": "quantile"}
        curve = metrics.calibration_curve(y, mean, stddev, **given, per_output=True)
        self.assertLess(np.abs(curve.observed - curve.expected[:, None]).max(), np.sqrt(np.log(2e6) / 40_000))
        narrow = metrics.miscalibration_area(y, mean, 0.3 * stddev, weights=weights)
        self.assertGreater(narrow, 5 * metrics.miscalibration_area(y, mean, stddev, weights=weights))

    def test_draws_are_nearly_their_distribution(self):
        y, mean, stddev = gaussians()
        draws = mean[..., None] + stddev[..., None] * stats.norm.ppf((np.arange(4000) + 0.5) / 4000)
        exact, drawn = metrics.evaluate(y, mean, stddev), metrics.evaluate(y, samples=draws)
        self.assertEqual(set(exact) - set(drawn), {"nll"})
        for name, value in drawn.items():
            self.assertAlmostEqual(value, exact[name], delta=0.004 * max(1, abs(exact[name])), msg=name)


class Predictions(PackageTest):
    """What may be given, and what is said of anything else."""

    def test_errors_of_the_mean(self):
        y, mean, stddev = gaussians()
        scores = metrics.evaluate(y, mean, stddev, per_output=True)
        np.testing.assert_allclose(scores["rmse"], np.sqrt(((y - mean) ** 2).mean(0)))
        np.testing.assert_allclose(scores["mae"], np.abs(y - mean).mean(0))
        np.testing.assert_allclose(scores["median_absolute_error"], np.median(np.abs(y - mean), axis=0))
        np.testing.assert_allclose(scores["r2"], r2_score(y, mean, multioutput="raw_values"))
        np.testing.assert_allclose(scores["correlation"], [np.corrcoef(a, b)[0, 1] for a, b in zip(y.T, mean.T)])
        np.testing.assert_allclose(
            scores["relative_error_percent"], 200 * (np.abs(y - mean) / (np.abs(y) + np.abs(mean))).mean(0)
        )
        np.testing.assert_allclose(scores["sharpness"], np.sqrt((stddev**2).mean(0)))
        self.assertEqual(set(metrics.evaluate(y, mean)), set(list(scores)[:6]))
        self.assertAlmostEqual(metrics.rmse(y, mean), np.sqrt(((y - mean) ** 2).mean()))

    def test_shapes_that_mean_the_same(self):
        y, mean, stddev = gaussians(d=1)
        score = metrics.crps(y, mean, stddev)
        for value, center, spread in (
            (y[:, 0], mean[:, 0], stddev[:, 0]),
            (y[:, 0], mean, stddev[:, 0]),
            (y, mean[:, :, None], stddev[:, :, None]),
            (pd.Series(y[:, 0]), pd.Series(mean[:, 0]), stddev[:, 0].tolist()),
            (pd.DataFrame(y), mean[:, 0], stddev),
        ):
            self.assertAlmostEqual(metrics.crps(value, center, spread), score, places=12)
        y, mean, _ = gaussians()
        per_output = metrics.crps(y, mean, [1.0, 2.0, 3.0], per_output=True)
        np.testing.assert_allclose(per_output, [metrics.crps(y[:, d], mean[:, d], d + 1.0) for d in range(3)])

    def test_our_own_ensembles(self):
        x, y = rows(d=2)
        model = dissent.ProbabilisticEnsemble(epochs=30, random_state=0).fit(x, y)
        known, here = model.metrics(x, y), metrics.evaluate(y, model.predict_mixture(x))
        for name in ("rmse", "mae", "crps", "coverage_90"):
            self.assertAlmostEqual(here[name], known[name], delta=1e-3 * known[name], msg=name)
        flow = make(dissent.FlowEnsemble, 2, random_state=0).fit(x, y)
        with self.assertRaisesRegex(ValueError, "samples=model.sample_y"):
            metrics.crps(y, flow.predict_mixture(x))
        both = np.column_stack([np.exp(3 * x[:, 0]), x[:, 0]])
        logs = dissent.GaussianProcessEnsemble(n_components=3, random_state=0, log_targets="auto").fit(x, both)
        mixture = logs.predict_mixture(x)
        self.assertEqual((mixture.space, mixture.logarithms), ("base", (True, False)))
        self.assertEqual(mixture._replace(mean=mixture.mean + 1).logarithms, (True, False))
        known, here = logs.metrics(x, both), metrics.evaluate(both, mixture)
        for name in ("crps", "coverage_90"):
            self.assertAlmostEqual(known[name], here[name], places=6, msg=name)
        self.assertGreater(metrics.crps(y, samples=flow.sample_y(x, 50)), 0)

    def test_errors_name_the_fault(self):
        y, mean, stddev = gaussians(n=5)
        wrong = stddev.copy()
        wrong[3, 1] = 0
        for text, arguments, given in (
            (r"stddev\[3, 1\] = 0 is not positive", (y, mean, wrong), {}),
            (r"y\[0\] = nan is not finite", ([np.nan], [0.0], 1.0), {}),
            (r"mean has shape \[5, 2\]; for y \[5, 3\] give \[N, D\]", (y, mean[:, :2], 1.0), {}),
            (r"mean has shape \[4, 3\]", (y, mean[:4], 1.0), {}),
            (r"stddev has shape \[5, 2\], but the mean \[5, 3\]", (y, mean, stddev[:, :2]), {}),
            (r"samples has shape \[5, 9\]; for y \[5, 3\]", (y,), {"samples": np.zeros((5, 9))}),
            ("leave stddev and weights out", (y, None, 1.0), {"samples": np.zeros((5, 3, 9))}),
            ("give mean and stddev, or samples", (y,), {}),
            ("the mean alone has no spread", (y, mean), {}),
            ("weights must be 2 numbers", (y[:, 0], mean[:, :2], 1.0), {"weights": [0.5, 0.6]}),
            ("this mean has none", (y, mean, 1.0), {"weights": [1.0]}),
            (r"y has shape \[0\]", ([], [], 1.0), {}),
        ):
            with self.assertRaisesRegex(ValueError, text):
                metrics.crps(*arguments, **given)
        with self.assertRaisesRegex(ValueError, "kind = 'half'; it is 'interval' or 'quantile'"):
            metrics.calibration_curve(y, mean, stddev, kind="half")
        with self.assertRaisesRegex(ValueError, "bins = 1; give at least 2"):
            metrics.miscalibration_area(y, mean, stddev, bins=1)

    def test_many_rows(self):
        """Blocks of rows change nothing."""
        y, mean, stddev, weights = components(n=30_000, m=5, d=1)
        whole = metrics.interval_score(y, mean, stddev, weights=weights, level=[0.5, 0.9], per_output=True)
        halves = [
            metrics.interval_score(y[part], mean[part], stddev[part], weights=weights, level=[0.5, 0.9])
            for part in (slice(15_000), slice(15_000, None))
        ]
        self.assertAlmostEqual(whole[0], np.mean(halves), places=10)


if __name__ == "__main__":
    unittest.main()
