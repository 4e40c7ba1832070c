"""Ensembles beside scikit-learn's checks: recalibration, weights, pipelines, texts, newer versions of it."""
import copy
import inspect
import os
import tempfile
import types
import unittest
import unittest.mock
import warnings

import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.ensemble import AdaBoostRegressor, RandomForestRegressor
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils import validation

import dissent
from dissent import _sklearn
from support import EVERY, PackageTest, dissent_program, make, rows


class Recalibration(PackageTest):
    def test_the_spread_fits_rows_it_has_not_seen(self):
        x, y = rows(400)
        for kind in EVERY:
            with self.subTest(kind.__name__):
                model = make(kind, 20, random_state=0).fit(x[:100], y[:100])
                before, mean = model.log_density(x[100:], y[100:]).mean(), model.predict(x)
                again = copy.copy(model)  # which shares what was fitted
                self.assertIs(model.recalibrate(x[100:], y[100:]), model)
                self.assertEqual(model.spread_factors_.shape, (1,))
                self.assertGreaterEqual(model.log_density(x[100:], y[100:]).mean(), before - 1e-9)
                self.assertEqual(again.log_density(x[100:], y[100:]).mean(), before)
                factor = model.spread_factors_[0]
                model.recalibrate(x[100:], y[100:])
                np.testing.assert_allclose(model.spread_factors_, 1, rtol=1e-5)  # it fits already
                if model.model_.describe()["model"] != "flow":
                    np.testing.assert_allclose(model.predict(x), mean)
                    ratio = model.predict_mixture(x).stddev / again.predict_mixture(x).stddev
                    np.testing.assert_allclose(ratio, factor, rtol=1e-5)

    def test_as_the_program(self):
        x, y = rows(100)
        model = dissent.ProbabilisticEnsemble(epochs=5, random_state=0).fit(x[:50], y[:50])
        table = pd.DataFrame(np.column_stack([x, y])[50:], columns=["x0", "x1", "y"])
        with tempfile.TemporaryDirectory() as folder:
            path = lambda name: os.path.join(folder, name)  # noqa: E731
            model.save(path("a.model"))
            table.to_csv(path("held.csv"), index=False)
            run = dissent_program("recalibrate", "a.model", "held.csv", "-o", "b.model", cwd=folder)
            self.assertEqual(run.returncode, 0, run.stderr)
            model.recalibrate(x[50:], y[50:]).save(path("c.model"))
            with open(path("b.model"), "rb") as by_program, open(path("c.model"), "rb") as by_python:
                self.assertEqual(by_program.read(), by_python.read())

    def test_few_rows_are_refused(self):
        x, y = rows()
        model = dissent.GaussianProcessEnsemble(random_state=0).fit(x, y)
        before = model.predict(x)
        with self.assertRaisesRegex(ValueError, "9 rows; at least 10 are required"):
            model.recalibrate(x[:9], y[:9])
        self.assert_same_bits(model.predict(x), before)

    def test_predictions_from_anywhere(self):
        random = np.random.default_rng(0)
        stddev = np.exp(0.3 * random.normal(size=(500, 2)))
        y = [3, 0.5] * stddev * random.normal(size=(500, 2))
        exact = np.sqrt(((y / stddev) ** 2).mean(0))
        np.testing.assert_allclose(dissent.spread_factors(y, np.zeros((500, 2)), stddev), exact, rtol=1e-8)
        parts = dissent.Mixture(np.zeros((500, 3, 2)), np.repeat(stddev[:, None], 3, 1), np.full(3, 1 / 3))
        np.testing.assert_allclose(dissent.spread_factors(y, parts), exact, rtol=1e-8)
        with self.assertWarnsRegex(UserWarning, "output 1 is off by a factor of 1000 or more"):
            dissent.spread_factors(y * [1, 1e5], np.zeros((500, 2)), stddev)
        with self.assertRaisesRegex(ValueError, "no spread"):
            dissent.spread_factors(y, np.zeros((500, 2)))


class Weights(PackageTest):
    def test_a_weight_is_how_often_a_row_counts(self):
        x, y = rows(30, d=2)
        weights = np.arange(30) % 3
        for kind in EVERY:
            weighed = make(kind, 3, random_state=0).fit(x, y, sample_weight=weights.astype(float).tolist())
            by_hand = make(kind, 3, random_state=0).fit(np.repeat(x, weights, 0), np.repeat(y, weights, 0))
            self.assert_same_bits(weighed.predict(x), by_hand.predict(x))
        same = make(kind, 3, random_state=0).fit(x, y, sample_weight=np.ones(30))
        plain = make(kind, 3, random_state=0).fit(x, y, sample_weight=None)
        self.assert_same_bits(same.predict(x), plain.predict(x))

    def test_what_is_refused(self):
        x, y = rows(30)
        model = dissent.GaussianProcessEnsemble()
        for weights, text in (
            (np.full(30, 0.5), r"sample_weight\[0\] = 0.5; this model repeats rows, a whole number"),
            (np.full(30, 1e6), "sample_weight adds up to 3e.07 rows; give smaller ones"),
            (np.full(30, -1), r"sample_weight\[0\] = -1"),
            (np.full(30, np.nan), r"sample_weight\[0\] = nan"),
            (np.ones(29), r"sample_weight has shape \[29\]; give one for each of the 30 rows"),
            (np.ones((30, 1)), "sample_weight has shape"),
            (np.zeros(30), "fewer than 2 rows"),
        ):
            with self.assertRaisesRegex(ValueError, text):
                model.fit(x, y, sample_weight=weights)
        with self.assertRaisesRegex(TypeError, "unexpected keyword argument 'weight'"):
            model.fit(x, y, weight=np.ones(30))
        self.assertFalse(hasattr(model, "model_"))

    def test_weights_of_any_size_are_for_networks(self):
        x, y = rows(40)
        weights = np.where(np.arange(40) % 2, 0.75, 0.5)
        for make_one in (dissent.ProbabilisticEnsemble, dissent.FlowEnsemble):
            make_it = lambda: make_one(3, epochs=30, random_state=0)
            plain = make_it().fit(x, y)
            weighed = make_it().fit(x, y, sample_weight=weights)
            self.assertFalse(np.array_equal(weighed.predict(x), plain.predict(x)))
            self.assert_same_bits(make_it().fit(x, y, sample_weight=weights / 2).predict(x), weighed.predict(x))
            self.assert_same_bits(make_it().fit(x, y, sample_weight=np.full(40, 0.3)).predict(x), plain.predict(x))
            self.assert_same_bits(make_it().fit(x, y, sample_weight=4e6 * weights).predict(x), weighed.predict(x))
            without = np.where(np.arange(40) < 30, weights, 0)
            self.assert_same_bits(make_it().fit(x, y, sample_weight=without).predict(x),
                                  make_it().fit(x[:30], y[:30], sample_weight=weights[:30]).predict(x))
            for wrong in (-0.5, np.nan, np.inf):
                with self.assertRaisesRegex(ValueError, rf"sample_weight\[1\] = {wrong:g}; a weight is a finite number >= 0"):
                    make_it().fit(x, y, sample_weight=[0.5, wrong] + [1] * 38)

    def test_a_heavy_half_draws_the_mean(self):
        """Two values at each input; the prediction goes where the weight is."""
        x = np.repeat(np.linspace(-1, 1, 40), 2)[:, None]
        y = np.tile([0.0, 1.0], 40)
        for heavy, near in ((0, 0.1), (1, 0.9)):
            weights = np.where(y == heavy, 0.9, 0.1)
            model = dissent.ProbabilisticEnsemble(5, epochs=300, random_state=0).fit(x, y, sample_weight=weights)
            self.assertLess(abs(model.predict(x).mean() - near), 0.15)

    def test_in_a_pipeline(self):
        x, y = rows(30)
        weights = np.arange(30) % 2
        pipeline = Pipeline([("model", dissent.GaussianProcessEnsemble(random_state=0))])
        pipeline.fit(x, y, model__sample_weight=weights)
        known = dissent.GaussianProcessEnsemble(random_state=0).fit(x[1::2], y[1::2])
        self.assert_same_bits(pipeline.predict(x), known.predict(x))

    def test_boosting_draws_rows_instead(self):
        """Its weights have any size, and it passes them only to estimators that have them in their signature."""
        x, y = rows(40)
        boosted = AdaBoostRegressor(dissent.GaussianProcessEnsemble(random_state=0), n_estimators=2, random_state=0)
        self.assertEqual(boosted.fit(x, y).predict(x).shape, (40,))


class Pipelines(PackageTest):
    def setUp(self):
        self.x, self.y = rows(60)
        self.model = dissent.GaussianProcessEnsemble(random_state=0)
        self.pipeline = make_pipeline(StandardScaler(), self.model).fit(self.x, self.y)

    def test_uncertainty_through_a_pipeline(self):
        inner = StandardScaler().fit_transform(self.x)
        known = self.model.uncertainty(inner)
        through = dissent.uncertainty(self.pipeline, self.x)
        for name in ("epistemic", "aleatoric", "total", "log_deficit"):
            self.assert_same_bits(getattr(through, name), getattr(known, name))
        self.assert_same_bits(dissent.epistemic(self.pipeline, self.x), known.epistemic)
        self.assert_same_bits(
            dissent.epistemic(self.pipeline, self.x, estimator="bhattacharyya"),
            self.model.epistemic(inner, "bhattacharyya"),
        )
        mean, std = self.pipeline.predict(self.x, return_std=True)
        self.assert_same_bits(mean, self.model.predict(inner))
        self.assertEqual(std.shape, (60,))
        self.assert_same_bits(dissent.epistemic(self.model, inner), known.epistemic)

    def test_through_a_search(self):
        search = GridSearchCV(self.pipeline, {"gaussianprocessensemble__n_components": [4]}, cv=2).fit(self.x, self.y)
        known = search.best_estimator_[-1].epistemic(search.best_estimator_[:-1].transform(self.x))
        self.assert_same_bits(dissent.epistemic(search, self.x), known)

    def test_other_models(self):
        processes = [GaussianProcessRegressor(alpha=a).fit(self.x, self.y) for a in (0.01, 0.1)]
        parts = dissent.components_of(processes, self.x)
        self.assert_same_bits(
            dissent.epistemic(processes, self.x), dissent.epistemic(parts.mean, parts.stddev, weights=parts.weights)
        )
        with self.assertRaisesRegex(ValueError, "no noise of their own"):
            dissent.epistemic(RandomForestRegressor(5).fit(self.x, self.y), self.x)
        with self.assertRaisesRegex(ValueError, "has no components"):
            dissent.epistemic(processes[0], self.x)

    def test_what_is_refused(self):
        with self.assertRaisesRegex(ValueError, "give the inputs X"):
            dissent.uncertainty(self.pipeline)
        for given in ({"weights": [1.0]}, {"axis": 0}, {"threads": 1}, {"covariance": self.x}):
            with self.assertRaisesRegex(ValueError, "a model has its own components"):
                dissent.epistemic(self.pipeline, self.x, **given)


class Texts(PackageTest):
    """One line each."""

    def test_ensembles(self):
        table, y = rows(20, d=2)
        table = pd.DataFrame(np.hstack([table, table]), columns=["a", "b", "c", "d"])
        model = dissent.ProbabilisticEnsemble(3, hidden=[8, 8], epochs=1, random_state=0)
        text = "ProbabilisticEnsemble(epochs=1, hidden=[8, 8], n_components=3, random_state=0)"
        self.assertEqual(repr(model), text)
        model.fit(table, pd.DataFrame(y, columns=["p", "q"]))
        self.assertTrue(repr(model).endswith(": 3 components, 4 inputs (a, b, c, ...), 2 targets (p, q)>"), repr(model))
        auto = dissent.AutoEnsemble(epochs=2, random_state=0)
        self.assertEqual(repr(auto), "AutoEnsemble(epochs=2, random_state=0)")
        known = r"^<AutoEnsemble\(.*\): gp, 16 components, 4 inputs .* 2 targets \(y0, y1\)>$"
        self.assertRegex(repr(auto.fit(table, y)), known)
        pipeline = make_pipeline(StandardScaler(), dissent.GaussianProcessEnsemble())
        self.assertIn("GaussianProcessEnsemble()", repr(pipeline))

    def test_results(self):
        mean, stddev = np.zeros((7, 3, 2)), np.ones((7, 3, 2))
        u = dissent.uncertainty(mean, stddev)
        self.assertEqual(
            repr(u), "<Uncertainty of 7 inputs in nats: epistemic 0 to 0, aleatoric 2.84 to 2.84, total 2.84 to 2.84>"
        )
        changed = repr(u._replace(epistemic=u.epistemic + 1))
        self.assertTrue(changed.startswith("<Uncertainty of 7 inputs in nats: epistemic 1 to 1, aleatoric"))
        mixture = dissent.Mixture(mean, stddev, np.full(3, 1 / 3))
        self.assertEqual(repr(mixture), "<Mixture of 3 components at 7 inputs, 2 outputs, in output space>")
        bounds = dissent.bounds(mean[:1], stddev[:1])
        self.assertEqual(repr(bounds), "<Bounds of 1 input in nats: lower 0 to 0, upper 0 to 0>")
        self.assertIn("unknown", repr(dissent.uncertainty(np.zeros((0, 3)), np.zeros((0, 3)))))


class Versions(PackageTest):
    """What scikit-learn moved in 1.6, with the new place patched into the installed version."""

    def test_validate_data_is_a_function(self):
        x, y = rows(20)
        known = dissent.GaussianProcessEnsemble(random_state=0).fit(x, y).predict(x)
        calls = []

        def validate_data(estimator, X="no_validation", y="no_validation", **rules):
            calls.append(estimator)
            return old(estimator, X, y, **rules)

        old = BaseEstimator._validate_data if hasattr(BaseEstimator, "_validate_data") else validation.validate_data
        gone = AttributeError("removed in scikit-learn 1.7")
        with unittest.mock.patch.object(validation, "validate_data", validate_data, create=True):
            with unittest.mock.patch.object(
                dissent.GaussianProcessEnsemble, "_validate_data", unittest.mock.Mock(side_effect=gone), create=True
            ):
                model = dissent.GaussianProcessEnsemble(random_state=0).fit(x, y)
                self.assert_same_bits(model.predict(x), known)
        self.assertEqual(calls, [model, model])

    def test_a_renamed_keyword(self):
        def check(values, *, ensure_all_finite=True):
            return ensure_all_finite

        self.assertEqual(check(0, **_sklearn.allowing_nan(check)), "allow-nan")
        samples, labels = rows(20)
        labels[10:] = np.nan
        strategy = dissent.QueryStrategy("kl", random_state=0)
        reg = dissent.GaussianProcessEnsemble(random_state=0)
        with warnings.catch_warnings():
            warnings.simplefilter("error", FutureWarning)
            self.assertGreaterEqual(strategy.query(samples, labels, reg, batch_size=2).min(), 10)

    def test_tags_are_objects(self):
        def tags_of(estimator):
            return types.SimpleNamespace(target_tags=types.SimpleNamespace(multi_output=False, required=True))

        with unittest.mock.patch.object(BaseEstimator, "__sklearn_tags__", tags_of, create=True):
            with unittest.mock.patch.object(RegressorMixin, "__sklearn_tags__", tags_of, create=True):
                for kind in EVERY:
                    tags = kind().__sklearn_tags__()
                    self.assertTrue(tags.target_tags.multi_output and tags.target_tags.required)

    def test_mixins_come_first(self):
        """Since 1.7 tags are wrong otherwise."""
        for kind in EVERY:
            order = inspect.getmro(kind)
            self.assertLess(order.index(RegressorMixin), order.index(BaseEstimator))


if __name__ == "__main__":
    unittest.main()
