"""The ensembles: scikit-learn's own checks, equality with the command line, parameters."""
import inspect
import json
import os
import pickle
import tempfile
import unittest
import warnings

import numpy as np
import pandas as pd
from sklearn.base import clone
from sklearn.utils import estimator_checks

import dissent
from support import EVERY, NETWORKS, PackageTest, dissent_program, make, rows


def checks_of(estimator):
    """(estimator, check): a generator of its own since scikit-learn 1.6."""
    if hasattr(estimator_checks, "estimator_checks_generator"):
        return estimator_checks.estimator_checks_generator(estimator)
    return estimator_checks.check_estimator(estimator, generate_only=True)


class Conformance(PackageTest):
    """Every check of check_estimator; none is skipped or declared to fail. Networks take few steps: the default number
    gives the same results of the checks, a minute later."""

    def run_checks(self, estimator):
        count = 0
        for instance, check in checks_of(estimator):
            count += 1
            with self.subTest(check.func.__name__), warnings.catch_warnings():
                warnings.simplefilter("ignore")
                try:
                    check(instance)
                except unittest.SkipTest as reason:
                    if "SCIPY_ARRAY_API" not in str(reason):  # of newer versions: arrays of other libraries
                        self.fail(f"skipped: {reason}")
        self.assertGreater(count, 40)

    def test_flow(self):
        self.run_checks(dissent.FlowEnsemble(epochs=100))

    def test_probabilistic(self):
        self.run_checks(dissent.ProbabilisticEnsemble(epochs=100))

    def test_gaussian_process(self):
        self.run_checks(dissent.GaussianProcessEnsemble())

    def test_auto(self):
        self.run_checks(dissent.AutoEnsemble(epochs=20))


class SameBits(PackageTest):
    """As `dissent fit`, `predict` and `evaluate` with the same seed."""

    def check(self, kind, d):
        x, y = rows(d=d)
        targets = ["y"] if d == 1 else [f"y{k}" for k in range(d)]
        table = pd.DataFrame(np.column_stack([x, y]), columns=["x0", "x1", *targets])
        model = make(kind, 8, n_components=3, random_state=5).fit(x, y)
        with tempfile.TemporaryDirectory() as folder:
            table.to_csv(os.path.join(folder, "rows.csv"), index=False)
            fitted = dissent_program(
                "fit",
                "rows.csv",
                "--targets",
                ",".join(targets),
                "--output",
                "cli.model",
                "--model",
                kind._model,
                "--components",
                3,
                *(["--epochs", 8] if "epochs" in model.get_params() else []),
                "--seed",
                5,
                cwd=folder,
            )
            self.assertEqual(fitted.returncode, 0, fitted.stderr)
            model.save(os.path.join(folder, "python.model"))
            with open(os.path.join(folder, "cli.model"), "rb") as a, open(
                os.path.join(folder, "python.model"), "rb"
            ) as b:
                self.assertEqual(a.read(), b.read())
            dissent_program("predict", "python.model", "rows.csv", "--output", "out.csv", cwd=folder)
            out = pd.read_csv(os.path.join(folder, "out.csv"), float_precision="round_trip")
            evaluated = json.loads(dissent_program("evaluate", "python.model", "rows.csv", "--json", cwd=folder).stdout)
        mean, std = model.predict(x, return_std=True)
        uncertainty = model.uncertainty(x)
        quantiles = model.predict_quantiles(x).reshape(len(x), d, 2)
        for k, target in enumerate(targets):
            self.assert_same_bits(mean.reshape(len(x), d)[:, k], out[f"{target}_mean"])
            self.assert_same_bits(std.reshape(len(x), d)[:, k], out[f"{target}_stddev"])
            self.assert_same_bits(quantiles[:, k, 0], out[f"{target}_q0.05"])
        for name in ("epistemic", "aleatoric", "total", "log_deficit"):
            self.assert_same_bits(getattr(uncertainty, name), out[name])
        self.assert_same_bits(model.epistemic(x), uncertainty.epistemic)
        for name, value in model.metrics(x, y).items():
            if name != "num_rows":
                self.assertEqual(evaluated[name], value, name)

    def test_every_kind(self):
        for kind in EVERY:
            for d in (1, 3):
                with self.subTest(kind.__name__, d=d):
                    self.check(kind, d)

    def test_mixture_gives_the_same_uncertainty(self):
        x, y = rows(d=2)
        for kind in EVERY:
            model = make(kind, 3, n_components=3, weights=[0.5, 0.3, 0.2], random_state=0).fit(x, y)
            mixture = model.predict_mixture(x)
            self.assertEqual(mixture.mean.shape, (60, 3, 2))
            self.assert_same_bits(
                dissent.epistemic(mixture.mean, mixture.stddev, weights=mixture.weights), model.epistemic(x)
            )

    def test_any_number_of_threads(self):
        x, y = rows()
        for kind in EVERY:
            one, two = (make(kind, 4, random_state=1, n_jobs=jobs).fit(x, y) for jobs in (1, 2))
            self.assert_same_bits(one.predict(x), two.predict(x))


class Predictions(PackageTest):
    def test_density_of_gaussians(self):
        """That of the mixture, and of a wide Cauchy density with weight 1 / (rows + 1) unless that is switched off."""
        x, y = rows(d=2)
        wide = (-np.log(np.pi * y.std(0)) - np.log1p(((y - y.mean(0)) / y.std(0)) ** 2)).sum(-1)
        for kind, options, weight in (
            (dissent.ProbabilisticEnsemble, {"limit_certainty": False}, 0),
            (dissent.ProbabilisticEnsemble, {"calibrate_spread": False}, 0),
            (dissent.ProbabilisticEnsemble, {}, 1 / 61),
            (dissent.GaussianProcessEnsemble, {}, 1 / 61),
        ):
            with self.subTest(kind.__name__, **options):
                model = make(kind, 5, n_components=3, random_state=0, **options).fit(x, y)
                mean, stddev, weights = model.predict_mixture(x)
                z = (y[:, None, :] - mean) / stddev
                logs = (-0.5 * z**2 - np.log(stddev) - 0.5 * np.log(2 * np.pi)).sum(-1) + np.log(weights)
                density = (1 - weight) * np.exp(np.logaddexp.reduce(logs, axis=1)) + weight * np.exp(wide)
                np.testing.assert_allclose(model.log_density(x, y), np.log(density), rtol=1e-6, atol=1e-6)
                np.testing.assert_allclose(model.predict(x), (weights[:, None] * mean).sum(1), rtol=1e-10, atol=1e-12)

    def test_samples_agree_with_mean_and_quantiles(self):
        x, y = rows()
        for kind in EVERY:
            model = make(kind, 40, random_state=0).fit(x, y)
            draws = model.sample_y(x[:3], 4000, random_state=1)
            self.assertEqual(draws.shape, (3, 4000))
            mean, std = model.predict(x[:3], return_std=True)
            # False alarms: 5 standard errors of the mean, four times three times: below 1e-5.
            self.assertTrue((abs(draws.mean(1) - mean) < 5 * std / np.sqrt(4000)).all())
            share = (draws < model.predict_quantiles(x[:3], [0.25])[:, :1]).mean(1)
            self.assertTrue((abs(share - 0.25) < 5 * np.sqrt(0.25 * 0.75 / 4000)).all(), share)
            self.assert_same_bits(draws, model.sample_y(x[:3], 4000, random_state=1))

    def test_shapes_follow_y(self):
        x, y = rows()
        model = dissent.ProbabilisticEnsemble(epochs=2, random_state=0)
        self.assertEqual(model.fit(x, y).predict(x).shape, (60,))
        self.assertEqual(model.fit(x, y[:, None]).predict(x).shape, (60, 1))
        self.assertEqual(model.sample_y(x, 7).shape, (60, 1, 7))
        self.assertEqual(model.predict_quantiles(x, [0.1, 0.5, 0.9]).shape, (60, 1, 3))
        self.assert_same_bits(model.predict_quantiles(x, 0.5), model.predict_quantiles(x, [0.5])[..., 0])

    def test_seeds(self):
        """A generator draws the seed; equal generators give equal models."""
        x, y = rows()
        for make in (np.random.RandomState, np.random.default_rng):
            one, two = (dissent.ProbabilisticEnsemble(epochs=1, random_state=make(3)).fit(x, y) for _ in range(2))
            self.assert_same_bits(one.predict(x), two.predict(x))

    def test_learns(self):
        x, y = rows(300)
        for kind in EVERY:
            model = make(kind, 200, random_state=0).fit(x[:250], y[:250])
            self.assertGreater(model.score(x[250:], y[250:]), 0.9)
            far = model.epistemic(x[250:] + 5).mean()
            self.assertGreater(far, 3 * model.epistemic(x[250:]).mean())

    def test_errors(self):
        x, y = rows()
        with self.assertRaisesRegex(ValueError, r"keep_probability = 0; it must be a finite number in \(0, 1\]"):
            dissent.FlowEnsemble(keep_probability=0).fit(x, y)
        with self.assertRaisesRegex(ValueError, "preset = papper; there are: default, paper; did you mean 'paper'?"):
            dissent.FlowEnsemble(preset="papper").fit(x, y)
        with self.assertRaisesRegex(ValueError, "n_jobs = 0"):
            dissent.FlowEnsemble(n_jobs=0).fit(x, y)
        with self.assertRaisesRegex(ValueError, "random_state = -1"):
            dissent.FlowEnsemble(random_state=-1).fit(x, y)
        with self.assertRaisesRegex(ValueError, "2 rows, 1 of them held out"):
            dissent.FlowEnsemble(validation=0.1).fit(x[:2], y[:2])
        for wrong, text in (
            ({"n_components": 2.5}, "n_components = 2.5; it must be a whole number from 1 to 10000"),
            ({"hidden": [8, "a"]}, r"hidden = \[8, 'a'\]; it must be whole numbers from 1 to 100000"),
            ({"hidden": None, "epochs": 0}, "epochs = 0; it must be a whole number >= 1"),
            ({"epochs": "5"}, "epochs = '5'; it must be a whole number"),
            ({"epochs": object()}, "epochs = <object .*; it must be a whole number"),
            ({"batch_size": -1}, "batch_size = -1; it must be a whole number"),
            ({"n_flow_layers": 101}, "n_flow_layers = 101; it must be a whole number from 1 to 100"),
            ({"flow_bins": 1}, "flow_bins = 1; it must be a whole number from 2"),
            ({"share_weights": True, "keep_probability": 1}, "share_weights = true; without masks"),
            ({"validation": 1}, r"validation = 1; it must be a finite number in \[0, 1\)"),
            ({"scaling": 3}, "scaling = 3; it must be a name"),
            ({"bootstrap": "no"}, "bootstrap = 'no'; it must be true or false"),
            ({"random_state": 2**64}, "a whole number from 0 to"),
            ({"random_state": "a"}, "give a seed, a numpy generator, or None"),
            ({"n_jobs": "a"}, "n_jobs = 'a'"),
            ({"device": "gpu"}, "device = gpu; it must be cpu, cuda, or cuda:N with the number of a card"),
        ):
            with self.subTest(text), self.assertRaisesRegex(ValueError, text):
                dissent.FlowEnsemble(**wrong).fit(x, y)
        model = dissent.ProbabilisticEnsemble(epochs=1).fit(x, y)
        with self.assertRaisesRegex(ValueError, "n_samples = -1; it must be a whole number >= 0"):
            model.sample_y(x, -1)
        with self.assertRaisesRegex(ValueError, r"n_samples = 18446744073709551616; .* and <= 2\^53"):
            model.sample_y(x, 2**64)
        for many in (2**53, 2**53 // 60):
            with self.assertRaises((ValueError, MemoryError)):
                model.sample_y(x, many)
        with self.assertRaisesRegex(ValueError, r"y has shape \[59\]; for 60 rows and 1 targets give \[60\] or \[60, 1\]"):
            model.log_density(x, y[:-1])
        with self.assertRaisesRegex(ValueError, "quantile 1 is not between 0 and 1"):
            model.predict_quantiles(x, [1.0])
        with self.assertRaisesRegex(ValueError, "'klx' is not known"):
            model.epistemic(x, estimator="klx")


    def test_targets_by_name_and_never_transposed(self):
        x, y = rows(d=2)
        named = pd.DataFrame(y, columns=["u", "v"])
        model = dissent.ProbabilisticEnsemble(epochs=1, random_state=0).fit(x, named)
        expected = model.log_density(x, y)
        self.assert_same_bits(model.log_density(x, named), expected)
        self.assert_same_bits(model.log_density(x, named[["v", "u"]].assign(w=0)), expected)
        self.assert_same_bits(model.log_density(x, pd.DataFrame(y)), expected)
        self.assertEqual(model.metrics(x, named[["v", "u"]]), model.metrics(x, y))
        for wrong, text in (
            (named.rename(columns={"u": "t"}), "not the target 'u'"),
            (y.T, r"y has shape \[2, 60\]; for 60 rows and 2 targets give \[60, 2\]"),
            (y.ravel(), r"y has shape \[120\]"),
            (np.where(y > 0, np.nan, y), "NaN"),
        ):
            with self.subTest(text), self.assertRaisesRegex(ValueError, text):
                model.log_density(x, wrong)
        with self.assertRaisesRegex(ValueError, r"shape \[2, 2, 1\]"):
            model.metrics(x[:2], y[:2, :, None])


class Parameters(PackageTest):
    """The constructors take what the library lists as options of a fit."""

    def test_every_option_is_a_keyword(self):
        keywords = {field["keyword"]: field for field in dissent._core.fit_fields()}
        flow = {name for name, field in keywords.items() if field["models"] == ["flow", "auto"]}
        self.assertLess({"flow_hidden", "n_flow_layers", "flow_transform", "flow_weight_decay"}, flow)
        process = {"n_components", "weights", "scaling", "log_targets", "validation", "random_state", "n_jobs"}
        self.assertLess({"n_components", "random_state", "n_flow_layers", "weight_decay"}, set(keywords))
        process.add("stray_rows")
        wanted = (set(keywords) | {"n_jobs", "device"}) - {"model"}
        for kind, names in zip(EVERY, (wanted, wanted - flow, process, wanted), strict=True):
            parameters = inspect.signature(kind).parameters
            self.assertEqual(set(parameters), names)
            self.assertEqual(set(kind().get_params()), names)
            by_position = [name for name, each in parameters.items() if each.kind is not each.KEYWORD_ONLY]
            self.assertEqual(by_position, ["n_components"])
            for name in names:
                self.assertIn(f"\n    {name} : ", kind.__doc__)
                field = keywords.get(name)
                by_preset = field is not None and field["preset"] and "preset" in names
                if field is not None and not by_preset and field["type"] in ("switch", "number", "text"):
                    self.assertEqual(parameters[name].default, field["default"], name)
            self.assertNotIn("{", kind.__doc__)

    def test_defaults(self):
        parameters = dissent.FlowEnsemble().get_params()
        fixed = {"keep_probability": 0.5, "bootstrap": True, "preset": "default"}
        self.assertEqual({name: parameters[name] for name in fixed}, fixed)
        for name in ("n_components", "hidden", "weights", "scaling", "epochs", "batch_size", "validation", "weight_decay",
                     "log_targets", "random_state", "n_jobs"):
            self.assertIsNone(parameters[name], name)
        self.assertEqual(dissent.GaussianProcessEnsemble().log_targets, "auto")
        self.assertEqual(dissent.GaussianProcessEnsemble().validation, 0)
        self.assertEqual(dissent.FlowEnsemble(3).n_components, 3)
        with self.assertRaisesRegex(TypeError, r"FlowEnsemble.__init__\(\) got an unexpected keyword .*'epcohs'"):
            dissent.FlowEnsemble(epcohs=3)
        with self.assertRaisesRegex(TypeError, "n_flow_layers"):
            dissent.ProbabilisticEnsemble(n_flow_layers=3)
        for name in ("hidden", "epochs", "preset", "choose_epoch"):
            with self.assertRaisesRegex(TypeError, name):
                dissent.GaussianProcessEnsemble(**{name: None})

    def test_components_by_default_are_those_of_the_kind(self):
        x, y = rows()
        for kind, count in zip(EVERY, (5, 5, 16, 16), strict=True):
            model = make(kind, 2, random_state=0).fit(x, y)
            self.assertEqual(model.predict_mixture(x).mean.shape, (60, count, 1), kind.__name__)
            self.assertIsNone(model.n_components)
            weighted = make(kind, 2, weights=[0.5, 0.25, 0.25], random_state=0).fit(x, y)
            self.assertEqual(weighted.predict_mixture(x).weights.tolist(), [0.5, 0.25, 0.25])

    def test_values_of_numpy_and_lists(self):
        x, y = rows()
        plain = {"hidden": [6, 5], "epochs": 3, "keep_probability": 0.75, "weights": [0.5, 0.5], "bootstrap": False}
        other = {
            "hidden": np.array([6, 5], np.int32),
            "epochs": 3.0,
            "keep_probability": np.float32(0.75),
            "weights": (np.float64(0.5), 0.5),
            "bootstrap": np.False_,
        }
        for kind in NETWORKS:
            one, two = (kind(np.int64(2), **each, random_state=0).fit(x, y) for each in (plain, other))
            self.assert_same_bits(one.predict(x), two.predict(x))
            self.assertEqual(one.model_.describe(), two.model_.describe())

    def test_an_option_overrides_its_preset(self):
        x, y = rows()
        model = dissent.ProbabilisticEnsemble(preset="paper", epochs=2, random_state=0)
        expected = model.fit(x, y).predict(x)
        for same in ({"cosine_decay": False}, {"weight_decay": 0}, {"averaging": 0, "patience": 0}):
            self.assert_same_bits(clone(model).set_params(**same).fit(x, y).predict(x), expected)
        changed = clone(model).set_params(weight_decay=10.0).fit(x, y).predict(x)
        self.assertFalse((changed == expected).all())

    def test_a_preset_sets_more_than_training(self):
        """The paper's model is a flow of the targets as they are."""
        x, y = rows()
        for kind in (dissent.FlowEnsemble, dissent.AutoEnsemble):
            model = kind(preset="paper", epochs=2, random_state=0).fit(x, np.exp(3 * y))
            about = model.model_.describe()
            self.assertEqual((about["model"], about["log_targets"], about["logarithms"]), ("flow", "none", []))
            own = clone(model).set_params(log_targets="all").fit(x, np.exp(3 * y))
            self.assertEqual(own.model_.describe()["logarithms"], ["y"])


class Auto(PackageTest):
    def test_says_what_it_took_and_why(self):
        x, y = rows()
        model = dissent.AutoEnsemble(epochs=20, random_state=0).fit(x, y)
        self.assertEqual(model.model_.describe()["model"], "gp")
        self.assertRegex(model.fit_report_["choice"], r"^gp: .* nats a row on \d+ rows held out in turn; ")
        self.assertEqual(model.n_iter_, 1)
        same = dissent.GaussianProcessEnsemble(random_state=0).fit(x, y)
        self.assert_same_bits(same.predict(x), model.predict(x))
        self.assertEqual(same.fit_report_["choice"], "")

    def test_takes_networks_where_they_are_clearly_better(self):
        """Two branches: Gaussian noise of any width is far from them."""
        random = np.random.default_rng(0)
        x = random.uniform(-1, 1, size=(400, 1))
        y = np.where(random.uniform(size=400) < 0.5, 1, -1) * (1 + 0.3 * x[:, 0]) + 0.01 * random.normal(size=400)
        model = dissent.AutoEnsemble(epochs=200, random_state=0).fit(x, y)
        self.assertEqual(model.model_.describe()["model"], "flow", model.fit_report_["choice"])
        self.assertRegex(model.fit_report_["choice"], "^flow: ")
        self.assertEqual(dissent.query(model, x, 3, "bait").shape, (3,))

    def test_loads_files_of_any_kind(self):
        x, y = rows()
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "a.model")
            for kind in EVERY:
                model = make(kind, 2, n_components=3, random_state=0).fit(x, y)
                model.save(path)
                loaded = dissent.AutoEnsemble.load(path)
                self.assert_same_bits(loaded.predict(x), model.predict(x))
                self.assertEqual(loaded.model_.describe(), model.model_.describe())
                self.assertEqual(loaded.n_components, 3)
            with self.assertRaisesRegex(ValueError, "is a gp ensemble; FlowEnsemble is flow, AutoEnsemble loads any"):
                dissent.FlowEnsemble.load(path)


class Logarithms(PackageTest):
    """Of targets that are positive and noisier where they are large."""

    def test_space_of_a_mixture(self):
        x, y = rows()
        model = dissent.GaussianProcessEnsemble(random_state=0).fit(x, np.exp(3 * y))
        self.assertEqual(model.model_.describe()["logarithms"], ["y"])
        mixture = model.predict_mixture(x)
        self.assertEqual((mixture.space, sorted(mixture._asdict())), ("base", ["mean", "stddev", "weights"]))
        self.assert_same_bits(dissent.epistemic(**mixture._asdict()), model.epistemic(x))
        expected = (mixture.weights[:, None] * np.exp(mixture.mean + mixture.stddev**2 / 2)).sum(1)[:, 0]
        np.testing.assert_allclose(model.predict(x), expected, rtol=1e-3)
        self.assertTrue((model.predict_quantiles(x, 0.01) > 0).all())
        plain = dissent.GaussianProcessEnsemble(log_targets="none", random_state=0).fit(x, np.exp(3 * y))
        self.assertEqual((plain.predict_mixture(x).space, plain.model_.describe()["logarithms"]), ("output", []))
        self.assertGreater(model.log_density(x, np.exp(3 * y)).mean(), plain.log_density(x, np.exp(3 * y)).mean())
        self.assertEqual(dissent.FlowEnsemble(epochs=1).fit(x, y).predict_mixture(x).space, "base")
        self.assertEqual(pickle.loads(pickle.dumps(mixture)).space, "base")
        fewer = mixture._replace(mean=mixture.mean[:3])
        self.assertEqual((fewer.space, type(fewer), len(fewer.mean)), ("base", dissent.Mixture, 3))
        self.assertEqual(mixture._replace(space="output").space, "output")

    def test_all_of_them(self):
        x, y = rows(d=2)
        model = dissent.ProbabilisticEnsemble(epochs=2, log_targets="all").fit(x, np.exp(y))
        self.assertEqual(model.model_.describe()["logarithms"], ["y0", "y1"])
        with self.assertRaisesRegex(ValueError, "has no logarithm; let `?log_targets`? be auto or none"):
            dissent.GaussianProcessEnsemble(log_targets="all").fit(x, y)
