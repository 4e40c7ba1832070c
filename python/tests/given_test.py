"""Rows chosen by predictions from anywhere: arrays, scikit-learn's ensembles, one Gaussian process, probabilities."""
import json
import subprocess
import sys
import tempfile
import unittest
import warnings

import numpy as np
from sklearn.ensemble import (
    BaggingRegressor,
    ExtraTreesRegressor,
    GradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
    VotingRegressor,
)
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, WhiteKernel
from sklearn.linear_model import Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import dissent
from support import PROGRAM, PackageTest, mixture


def rows_of(seed=0, n=120):
    random = np.random.default_rng(seed)
    x = random.uniform(-1, 1, (n, 2))
    return x, np.sin(3 * x[:, 0]) + x[:, 1] + 0.1 * random.normal(size=n)


class Arrays(PackageTest):
    def test_the_rows_that_are_most_uncertain(self):
        mean, stddev = mixture(80)
        for name in ("kl", "bhattacharyya", "chernoff:0.3"):
            chosen = dissent.query(mean, stddev, batch=6, acquisition=name)
            np.testing.assert_array_equal(chosen, dissent.uncertainty(mean, stddev, estimator=name).top(6))

    def test_the_program_chooses_the_same(self):
        mean, stddev = mixture(60)
        with tempfile.TemporaryDirectory() as folder:
            np.savez(f"{folder}/in.npz", mean=mean, stddev=stddev, weights=[0.4, 0.3, 0.2, 0.1])
            for name in ("kl", "kl-joint", "mc:50", "batchbald:50", "variance", "random"):
                command = [PROGRAM, "suggest", "--mixture", "in.npz", "-a", name, "--batch", "5", "-o", "out.csv"]
                command += ["--json", "--seed", "3"]
                text = subprocess.run(command, cwd=folder, capture_output=True, check=True).stdout
                chosen = dissent.query(mean, stddev, 5, name, weights=[0.4, 0.3, 0.2, 0.1], random_state=3)
                self.assertEqual(chosen.tolist(), [row["row"] for row in json.loads(text)["rows"]], name)

    def test_a_mixture_and_axes(self):
        mean, stddev = mixture(50)
        expected = dissent.query(mean, stddev, 4)
        first = np.moveaxis(mean, 1, 0), np.moveaxis(stddev, 1, 0)
        np.testing.assert_array_equal(dissent.query(*first, 4, axis=0), expected)
        np.testing.assert_array_equal(dissent.query([*first[0]], [*first[1]], 4, axis=0), expected)
        np.testing.assert_array_equal(dissent.query(mean, stddev=stddev, batch=4), expected)
        x, y = rows_of()
        model = dissent.ProbabilisticEnsemble(epochs=3, random_state=0).fit(x, y)
        np.testing.assert_array_equal(dissent.query(model.predict_mixture(x), batch=4), dissent.query(model, x, 4))

    def test_utilities_and_candidates(self):
        mean, stddev = mixture(50)
        chosen, utilities = dissent.query(mean, stddev, 4, candidates=20, return_utilities=True)
        self.assertEqual(utilities.shape, (4, 50))
        self.assertEqual(np.isfinite(utilities[0]).sum(), 20)
        self.assertTrue(np.isfinite(utilities[range(4), chosen]).all())

    def test_costs_go_along_with_candidates(self):
        mean, stddev = mixture(50)
        aim = {"aim_mean": mean[:5] + 1, "aim_stddev": stddev[:5]}
        cost = np.random.default_rng(0).uniform(1, 9, 50)
        for name, options in (("kl", {}), ("aim", aim)):
            cheap = dissent.query(mean, stddev, 1, name, cost=np.where(np.arange(50) == 7, 1e-9, 1.0), **options)
            self.assertEqual(cheap.tolist(), [7])
            options.update(cost=cost, return_utilities=True)
            _, every = dissent.query(mean, stddev, 1, name, **options)
            _, drawn = dissent.query(mean, stddev, 1, name, candidates=20, **options)
            among = ~np.isnan(drawn)
            self.assertEqual(among.sum(), 20, name)
            np.testing.assert_allclose(drawn[among], every[among], rtol=1e-6, err_msg=name)

    def test_an_aim_of_given_means(self):
        mean, stddev = mixture(50)
        chosen, worth = dissent.query(
            mean, stddev, 1, aim_mean=mean[9:10], aim_stddev=stddev[9:10], return_utilities=True
        )
        self.assertFalse(np.array_equal(worth, dissent.query(mean, stddev, 1, return_utilities=True)[1]))

    def test_far_offsets_and_single_precision_do_not_matter(self):
        mean, stddev = mixture(80)
        expected = dissent.query(mean, stddev, 5, "kl")
        np.testing.assert_array_equal(dissent.query(mean + 1e7, stddev, 5, "kl"), expected)
        np.testing.assert_array_equal(dissent.query(mean.astype("f4"), stddev.astype("f4"), 5, "kl"), expected)

    def test_scalar_and_per_output_stddev(self):
        mean, _ = mixture(30)
        per_output = np.array([0.5, 1.0, 2.0])
        full = np.broadcast_to(per_output, mean.shape)
        np.testing.assert_array_equal(dissent.epistemic(mean, per_output), dissent.epistemic(mean, full))
        np.testing.assert_array_equal(dissent.epistemic(mean, 2), dissent.epistemic(mean, np.full(mean.shape, 2.0)))
        np.testing.assert_array_equal(dissent.query(mean, 0.5, 3), dissent.query(mean, np.full(mean.shape, 0.5), 3))
        with self.assertRaisesRegex(ValueError, "stddev has shape"):
            dissent.epistemic(mean, np.ones(4))

    def test_errors(self):
        mean, stddev = mixture(20)
        for arguments, options, message in [
            ((mean,), {}, "give the stddev"),
            ((mean, stddev), {"stddev": 1.0}, "give the stddev"),
            ((mean, stddev, 21), {}, "a batch of 21 from 20"),
            ((mean, stddev, 2, "badge"), {}, "last layer"),
            ((mean, stddev, 2), {"weights": [1.0, 0, 0, 0]}, "two components of weight > 0"),
            ((mean, stddev, 2), {"aim_mean": mean}, "both of aim_mean and aim_stddev"),
            ((mean, stddev, 2, "kl"), {"aim_mean": mean, "aim_stddev": stddev}, "not look at an aim; .* does: aim, kl-aim"),
            ((mean, stddev, 2), {"aim": mean[:, 0]}, "give the aim as aim_mean and aim_stddev"),
            ((mean, stddev, 2, "kl-joint"), {"cost": np.ones(20)}, "not look at costs; .* does: aim, kl, "),
            ((mean, stddev, 2), {"cost": np.ones(19)}, "cost has 19 values for a pool of 20 rows"),
            ((mean, stddev, 2), {"cost": np.ones((20, 1))}, r"cost has shape \[20, 1\]; it must be \[N\]"),
            ((mean, stddev, 2), {"cost": [1.0] * 19 + [0]}, r"cost\[19\] = 0; a cost must be finite and > 0"),
            ((mean, stddev, 2), {"cost": [np.nan] + [1.0] * 19}, r"cost\[0\] = nan"),
            ((mean, stddev[:3], 2), {}, "stddev has shape"),
            ((mean, stddev.swapaxes(0, 1), 2), {}, r"stddev has shape \(4, 20, 3\), but the mean \(20, 4, 3\)"),
            ((mean, stddev.ravel(), 2), {}, "stddev has shape"),
            ((mean, stddev, 2), {"aim_mean": mean[:6], "aim_stddev": stddev[:6].swapaxes(0, 1)}, "stddev has shape"),
            ((mean, stddev, 2), {"n_instances": 3}, "batch or n_instances"),
            ((dissent.Mixture(mean, stddev), stddev, 2), {}, "a Mixture has its own stddev"),
            ((mean, -stddev, 2), {}, r"stddev\[0, 0, 0\]"),
            ((mean,), {"probabilities": mean}, "not two of them"),
        ]:
            with self.subTest(message), self.assertRaisesRegex(ValueError, message):
                dissent.query(*arguments, **options)

    def test_all_the_weight_on_one_component(self):
        mean, stddev = mixture(4, m=3)
        for estimator in ("kl", "bhattacharyya", "epkl", "bounds", "mc:20"):
            u = dissent.uncertainty(mean, stddev, weights=[1, 0, 0], estimator=estimator)
            np.testing.assert_array_equal(u.epistemic, 0)
            np.testing.assert_array_equal(u.log_deficit, -np.inf)
            np.testing.assert_array_equal(u.total, u.aleatoric)

    def test_two_thousand_components_in_less_than_a_gigabyte(self):
        code = (
            "import numpy as np, dissent, resource\n"
            "mean = np.random.default_rng(0).normal(size=(8, 2000, 1))\n"
            "dissent.epistemic(mean, 1.0, threads=1)\n"
            "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)\n"
        )
        text = subprocess.run([sys.executable, "-W", "ignore", "-c", code], capture_output=True, check=True).stdout
        self.assertLess(int(text), 1 << 20)  # kilobytes


class Shapes(PackageTest):
    def said(self, *arguments, **options):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            dissent.epistemic(*arguments, **options)
        self.assertTrue(all(warning.filename == __file__ for warning in caught))
        return " ".join(str(warning.message) for warning in caught)

    def test_what_is_more_likely_transposed(self):
        mean = np.random.default_rng(0).normal(size=(5, 1000))
        self.assertRegex(self.said(mean, 1.0), r"\[5, 1000\] is understood as N = 5 and M = 1000 .* pass axis=0 if")
        self.assertEqual(self.said(mean, 1.0, axis=0), "")

    def test_a_list_of_what_each_component_says(self):
        mean = np.random.default_rng(0).normal(size=(5, 50, 3))
        for given in ([*mean], [*mean[:, :, 0]]):
            self.assertIn("read as N = 5 inputs of M = 50 components; pass axis=0 if", self.said(given, 1.0))
            self.assertEqual(self.said(given, 1.0, axis=0), "")
        self.assertEqual(self.said(mean, 1.0), "")
        self.assertEqual(self.said([*mean.swapaxes(0, 1)], 1.0), "")

    def test_a_single_component(self):
        self.assertIn("N = 30 and M = 1", self.said(np.zeros((30, 1)), 1.0))
        self.assertEqual(self.said(np.zeros((30, 2)), 1.0), "")


class Estimators(PackageTest):
    def test_trees_are_components(self):
        x, y = rows_of()
        pool = rows_of(1)[0]
        for model in (
            RandomForestRegressor(30, random_state=0),
            RandomForestRegressor(30, max_samples=0.5, random_state=0),
            ExtraTreesRegressor(30, bootstrap=True, random_state=0),
            BaggingRegressor(n_estimators=30, max_features=1, random_state=0),
        ):
            model.fit(x, y)
            with self.subTest(model=model):
                parts = dissent.components_of(model, pool, X_train=x, y_train=y)
                self.assertEqual(parts.mean.shape, (120, 30, 1))
                np.testing.assert_allclose(parts.mean[:, :, 0].mean(1), model.predict(pool))
                self.assertEqual(len(np.unique(parts.stddev)), 1)
                chosen = dissent.query(model, pool, 5, "kl", X_train=x, y_train=y)
                expected = dissent.uncertainty(parts.mean, parts.stddev).top(5)
                np.testing.assert_array_equal(chosen, expected)

    def test_noise_is_that_of_out_of_bag_residuals(self):
        x, y = rows_of()
        for kind in (RandomForestRegressor, BaggingRegressor):
            model = kind(n_estimators=60, oob_score=True, random_state=0).fit(x, y)
            found = dissent.components_of(model, x, X_train=x, y_train=y).stddev[0, 0, 0]
            self.assertAlmostEqual(found, np.sqrt(np.mean((y - model.oob_prediction_) ** 2)), 12)
        both = RandomForestRegressor(40, random_state=0).fit(x, np.stack([y, 100 * y], 1))
        spread = dissent.components_of(both, x, X_train=x, y_train=np.stack([y, 100 * y], 1)).stddev[0, 0]
        self.assertAlmostEqual(spread[1] / spread[0], 100, 9)

    def test_without_bags_noise_is_that_of_other_rows(self):
        x, y = rows_of()
        other, truth = rows_of(2)
        model = ExtraTreesRegressor(20, random_state=0).fit(x, y)
        found = dissent.components_of(model, x, X_train=other, y_train=truth).stddev[0, 0, 0]
        self.assertAlmostEqual(found, np.sqrt(np.mean((truth - model.predict(other)) ** 2)), 12)
        with self.assertRaisesRegex(ValueError, "has not seen"):
            dissent.components_of(model, x, X_train=x, y_train=y)
        with self.assertRaisesRegex(ValueError, "give stddev, or X_train"):
            dissent.components_of(model, x)
        forest = RandomForestRegressor(5, random_state=0).fit(x, y)
        bagging = BaggingRegressor(random_state=0).fit(x, y)
        with self.assertRaisesRegex(ValueError, "fitted to 120"):
            dissent.components_of(bagging, x, X_train=x[:50], y_train=y[:50])
        more, more_y = np.vstack([x, other]), np.concatenate([y, truth])
        for rows, targets in ((x[:50], y[:50]), (x[:119], y[:119]), (more[:121], more_y[:121]), (more, more_y)):
            message = f"X_train has {len(rows)} rows; the model was fitted to "
            with self.assertRaisesRegex(ValueError, message + "120"):
                dissent.query(forest, x, 5, X_train=rows, y_train=targets)
            with self.assertRaisesRegex(ValueError, message + "another number"):
                few = RandomForestRegressor(20, max_samples=60, random_state=0).fit(x, y)
                dissent.query(few, x, 5, X_train=rows, y_train=targets)
        for weight in (np.full(120, 2.0), np.arange(120) % 3):  # of rows, which the forest's bags do not change
            weighted = RandomForestRegressor(20, random_state=0).fit(x, y, sample_weight=weight)
            self.assertEqual(len(dissent.query(weighted, x, 5, X_train=x, y_train=y)), 5)
        np.testing.assert_array_equal(dissent.components_of(forest, x, stddev=0.3).stddev, 0.3)

    def test_lists_voting_and_pipelines(self):
        x, y = rows_of()
        pool = rows_of(1)[0]
        processes = [GaussianProcessRegressor(RBF(s, "fixed"), alpha=0.01, normalize_y=True).fit(x, y) for s in (0.3, 1.0, 3.0)]
        parts = dissent.components_of(processes, pool)
        mean, std = processes[1].predict(pool, return_std=True)
        np.testing.assert_allclose(parts.mean[:, 1, 0], mean)
        np.testing.assert_allclose(parts.stddev[:, 1, 0] ** 2, std**2 + 0.01 * y.std() ** 2)
        self.assertEqual(len(dissent.query(processes, pool, 4)), 4)
        voting = VotingRegressor([("a", Ridge()), ("b", RandomForestRegressor(5))], weights=[3, 1]).fit(x, y)
        parts = dissent.components_of(voting, pool, stddev=0.1)
        np.testing.assert_allclose(parts.mean[:, :, 0] @ parts.weights, voting.predict(pool))
        pipe = make_pipeline(StandardScaler(), RandomForestRegressor(20, random_state=0)).fit(x, y)
        chosen = dissent.query(pipe, pool, 4, X_train=x, y_train=y)
        self.assertEqual(len(set(chosen)), 4)

    def test_an_aim_and_costs(self):
        x, y = rows_of()
        pool, aim = rows_of(1)[0], rows_of(3, 20)[0]
        pipe = make_pipeline(StandardScaler(), RandomForestRegressor(20, random_state=0)).fit(x, y)
        train = {"X_train": x, "y_train": y}
        parts, there = (
            dissent.components_of(pipe[-1], pipe[0].transform(rows), X_train=pipe[0].transform(x), y_train=y)
            for rows in (pool, aim)
        )
        cost = np.linspace(1, 2, len(pool))
        expected = dissent.query(parts, batch=4, aim_mean=there.mean, aim_stddev=there.stddev, cost=cost)
        np.testing.assert_array_equal(dissent.query(pipe, pool, 4, aim=aim, cost=cost, **train), expected)
        self.assertFalse(np.array_equal(dissent.query(pipe, pool, 4, **train), expected))

    def test_what_has_no_components(self):
        x, y = rows_of()
        classifier = RandomForestClassifier(5).fit(x, y > 0)
        for model in (classifier, [classifier, classifier]):
            for function in (dissent.query, dissent.uncertainty):
                with self.assertRaisesRegex(TypeError, "RandomForestClassifier predicts classes.*predict_proba"):
                    function(model, x)
        for model in (GradientBoostingRegressor(n_estimators=3).fit(x, y), Ridge().fit(x, y)):
            with self.assertRaisesRegex(TypeError, "forest, bagging"):
                dissent.query(model, x)
        with self.assertRaisesRegex(ValueError, "not fitted"):
            dissent.query(RandomForestRegressor(), x, stddev=1.0)
        forest = RandomForestRegressor(5).fit(x, y)
        with self.assertRaisesRegex(ValueError, "no noise of their own: .* dissent.components_of"):
            dissent.uncertainty(forest, x)
        few = dissent.components_of(forest, x[:3], stddev=np.full((3, 5), 0.1))
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            self.assertEqual(dissent.uncertainty(few).epistemic.shape, (3,))

        class Plain:  # no estimator of scikit-learn
            def predict(self, X):
                return np.asarray(X)[:, 0]

        self.assertEqual(len(dissent.query([Plain(), Plain()], x, 4, stddev=0.1)), 4)
        with self.assertRaisesRegex(ValueError, r"stddev has shape \[5, 120, 1\]; for means \[120, 5, 1\]"):
            dissent.components_of(forest, x, stddev=np.ones((5, 120, 1)))
        with self.assertRaisesRegex(ValueError, "for given arrays"):
            dissent.query(RandomForestRegressor(5).fit(x, y), x, stddev=1.0, weights=[1.0])


class Posterior(PackageTest):
    def setUp(self):
        x, y = rows_of()
        self.pool = rows_of(1, 60)[0] * 2
        self.gp = GaussianProcessRegressor(RBF(0.5) + WhiteKernel(0.02), alpha=0.01, optimizer=None, normalize_y=True)
        self.gp.fit(x, y)

    def covariance(self):
        """Of the function alone, in normalised units."""
        _, covariance = self.gp.predict(self.pool, return_cov=True)
        return covariance / self.gp._y_train_std**2 - 0.02 * np.eye(60)

    def test_information_of_each_row(self):
        chosen, worth = dissent.query(self.gp, self.pool, 5, "exact", return_utilities=True)
        expected = 0.5 * np.log1p(np.diag(self.covariance()) / 0.03)
        np.testing.assert_allclose(worth[0], expected, rtol=1e-6, atol=1e-9)
        np.testing.assert_array_equal(chosen, np.argsort(-expected)[:5])

    def test_information_of_the_batch(self):
        chosen, worth = dissent.query(self.gp, self.pool, 6, return_utilities=True)
        part = self.covariance()[np.ix_(chosen, chosen)]
        joint = 0.5 * np.linalg.slogdet(np.eye(6) + part / 0.03)[1]
        self.assertAlmostEqual(worth[range(6), chosen].sum(), joint, 6)
        for k in range(1, 6):  # greedy: no other row would have told more
            self.assertEqual(chosen[k], np.nanargmax(worth[k]))
        self.assertTrue((np.diff(worth[range(6), chosen]) <= 1e-12).all())

    def test_noise_names_and_candidates(self):
        noisy = dissent.query(self.gp, self.pool, 1, return_utilities=True, stddev=10.0)[1]
        self.assertLess(np.nanmax(noisy), 0.01)
        self.assertEqual(len(dissent.query(self.gp, self.pool, 3, candidates=10)), 3)
        with self.assertRaisesRegex(ValueError, "exact and exact-joint"):
            dissent.query(self.gp, self.pool, 3, "kl")
        with self.assertRaisesRegex(ValueError, "not fitted"):
            dissent.query(GaussianProcessRegressor(), self.pool, 3)
        for wrong in ({"aim": self.pool}, {"cost": np.ones(60)}):
            with self.assertRaisesRegex(ValueError, "no aim and no costs; dissent.GaussianProcessEnsemble"):
                dissent.query(self.gp, self.pool, 3, **wrong)


class Classes(PackageTest):
    def setUp(self):
        random = np.random.default_rng(0)
        self.p = random.dirichlet([0.5, 0.5, 0.5], size=(40, 4))

    def test_bald_is_exact(self):
        mean = self.p.mean(1)
        entropy = lambda p: -np.sum(p * np.log(p), -1)
        u = dissent.uncertainty(probabilities=self.p)
        np.testing.assert_allclose(u.epistemic, entropy(mean) - entropy(self.p).mean(1), atol=1e-14)
        np.testing.assert_allclose(u.total, entropy(mean), atol=1e-14)
        np.testing.assert_array_equal(dissent.epistemic(probabilities=self.p), u.epistemic)
        np.testing.assert_array_equal(dissent.query(probabilities=self.p, batch=5, acquisition="exact"), u.top(5))
        np.testing.assert_array_equal(dissent.epistemic(probabilities=np.moveaxis(self.p, 1, 0), axis=0), u.epistemic)

    def test_pairwise_forms_bracket_it(self):
        exact = dissent.epistemic(probabilities=self.p)
        low, high = (dissent.epistemic(probabilities=self.p, estimator=e) for e in ("bhattacharyya", "kl"))
        self.assertTrue(((low <= exact) & (exact <= high)).all())

    def test_a_batch_of_different_rows(self):
        first = np.array([[0.5, 0.5, 0.5], [0.95, 0.05, 0.05], [0.94, 0.06, 0.06], [0.1, 0.9, 0.1]])
        p = np.stack([first, 1 - first], axis=-1)
        self.assertEqual(dissent.query(probabilities=p, batch=2, acquisition="exact").tolist(), [1, 2])
        self.assertEqual(dissent.query(probabilities=p, batch=2).tolist(), [1, 3])
        chosen, utilities = dissent.query(probabilities=p, batch=2, return_utilities=True, candidates=3)
        self.assertEqual(utilities.shape, (2, 4))

    def test_errors(self):
        wrong = self.p.copy()
        wrong[7, 2, 0] += 0.1
        for options, message in [
            ({"probabilities": wrong}, "input 7 component 2: its probabilities sum to 1.1"),
            ({"probabilities": -self.p}, "input 0 component 0 class 0"),
            ({"probabilities": self.p[0]}, r"\[N, M, K\]"),
            ({"probabilities": self.p, "mean": self.p}, "not both"),
            ({"probabilities": self.p, "estimator": "mc:10"}, "there is 'exact'"),
        ]:
            with self.subTest(message), self.assertRaisesRegex(ValueError, message):
                dissent.uncertainty(**options)
        with self.assertRaisesRegex(ValueError, "not for probabilities"):
            dissent.query(probabilities=self.p, acquisition="mc:10")
        for name in ("exact", "kl", None):
            with self.assertRaisesRegex(ValueError, "at least two components of weight > 0.* there is 1"):
                dissent.query(probabilities=self.p, acquisition=name, weights=[0, 0, 1, 0])
        for wrong in ({"aim": self.p[0]}, {"cost": np.ones(40)}, {"aim_mean": self.p, "aim_stddev": self.p}):
            with self.assertRaisesRegex(ValueError, "by probabilities of classes; leave them out"):
                dissent.query(probabilities=self.p, **wrong)

    def test_joint_utilities_are_what_each_pick_adds(self):
        alone = dissent.uncertainty(probabilities=self.p, estimator="bhattacharyya").log_deficit
        chosen, worth = dissent.query(probabilities=self.p, batch=3, return_utilities=True)
        np.testing.assert_allclose(worth[0], np.log(np.log(4)) - alone, rtol=1e-12)
        self.assertTrue((np.nanmax(worth[1:], axis=1) < worth[0, chosen[0]] + worth[1, chosen[1]]).all())


if __name__ == "__main__":
    unittest.main()
