"""dissent predict, evaluate, recalibrate and show: what they write, and what is wrong with tables."""

import json
import unittest

import numpy as np

from support import CliTest, dissent


def rows(n=300, seed=0):
    random = np.random.default_rng(seed)
    x = random.uniform(-3, 3, n)
    w = random.uniform(0, 1, n)
    return np.stack([x, w, 100 + 20 * np.sin(x) + random.normal(size=n), 1e-3 * (x + w)], 1)


class Predict(CliTest):
    def table(self, name="data.csv", data=None, header="x,w,y,z"):
        np.savetxt(self.path(name), rows() if data is None else data, delimiter=",", header=header, comments="",
                   fmt="%s")
        return name

    def setUp(self):
        super().setUp()
        self.run_ok("fit", self.table(), "--targets", "y,z", "--output", "m.model", "--model", "flow", "--epochs", 30,
                    "--components", 3, "--quiet")

    def each_command(self, table):
        """Command lines that read `table`, and whether they need its targets."""
        yield ("predict", "m.model", table, "-o", "o.csv"), False
        yield ("evaluate", "m.model", table), True
        yield ("recalibrate", "m.model", table, "-o", "m2.model"), True

    def test_bad_tables(self):
        for column, (name, number) in enumerate({"x": 0, "w": 1, "y": 2, "z": 3}.items()):
            for value, says in {"tall": "'tall' is text", "-inf": "'-inf' is not a finite"}.items():
                data = rows(40).astype(object)
                data[16, number] = value
                self.table("bad.csv", data)
                for command, needs_targets in self.each_command("bad.csv"):
                    if column < 2 or needs_targets:
                        self.run_bad(2, *command, says=["bad.csv", "row 17", f"'{name}'", says])

    def test_missing_cells_have_an_answer(self):
        for column, name in ((1, "w"), (2, "y")):
            for value in ("", "nan", "NA"):
                data = rows(40).astype(object)
                data[16, column] = value
                self.table("hole.csv", data)
                for command, needs_targets in self.each_command("hole.csv"):
                    result = dissent(*command, cwd=self.dir)
                    self.assertEqual(result.returncode, 0, result.stderr)
                    says = {"w": "w: 1 missing, none in the fit, filled with ",
                            "y": "hole.csv: 1 row without y, z, left out\n" if needs_targets else ""}[name]
                    self.assertTrue(result.stderr.startswith(says) and bool(says) == bool(result.stderr), result.stderr)

    def test_targets_of_inputs_to_predict_do_not_matter(self):
        data = rows(40).astype(object)
        data[3, 2] = "unknown"
        self.run_ok("predict", "m.model", self.table("new.csv", data), "-o", "o.csv", "-q")
        self.run_ok("predict", "m.model", self.table("new.csv", data[:, :2], "x,w"), "-o", "o2.csv", "-q")
        with open(self.path("o.csv")) as one, open(self.path("o2.csv")) as other:
            self.assertEqual(one.read(), other.read())

    def test_missing_columns_and_rows(self):
        self.table("few.csv", rows()[:, :1], "x")
        for command, needs_targets in self.each_command("few.csv"):
            lacks = "columns 'y', 'z'" if needs_targets else "column 'w'"
            self.run_bad(2, *command, says=f"few.csv: has no {lacks}; it has: x")
        self.table("none.csv", rows(0))
        self.run_bad(2, "evaluate", "m.model", "none.csv", says="none.csv: has no rows")
        self.run_bad(2, "predict", "m.model", "none.csv", "-o", "o.csv", says="none.csv: has no rows")
        self.table("nine.csv", rows(9))
        self.run_bad(2, "recalibrate", "m.model", "nine.csv", "-o", "m2.model",
                     says="nine.csv: has 9 rows; at least 10 are required")

    def test_inputs_beyond_single_precision(self):
        data = rows(20)
        data[4, 1] = -1e300
        self.table("far.csv", data)
        for command, _ in self.each_command("far.csv"):
            self.run_bad(2, *command, says=": far.csv: column 'w' row 5: '-1e+300' is too far")

    def test_one_row_is_enough(self):
        self.table("one.csv", rows(1))
        self.run_ok("predict", "m.model", "one.csv", "-o", "o.csv", "-q")
        self.assertEqual(json.loads(self.run_ok("evaluate", "m.model", "one.csv", "--json"))["rows"], 1)

    def test_bad_outputs(self):
        self.run_bad(2, "predict", "m.model", "data.csv", "-o", "o.txt", says="must end in .csv")
        self.run_bad(2, "predict", "m.model", "data.csv", "--mixture", "o.csv", says="must end in .npz")
        for command in (("predict", "m.model", "data.csv", "-o", "none/o.csv"),
                        ("predict", "m.model", "data.csv", "--mixture", "none/o.npz"),
                        ("recalibrate", "m.model", "data.csv", "-o", "none/m2")):
            result = self.run_bad(1, *command, says="none/")
            self.assertEqual(result.stdout, "")

    def test_metrics_by_numpy(self):
        """Of pne, whose predictive distribution numpy can compute from the mixture that it writes."""
        # Log-likelihoods without the wide component, which mixtures do not have.
        self.run_ok("fit", "data.csv", "-t", "y,z", "-m", "pne", "-o", "p.model", "--epochs", 30, "-q",
                    "--no-calibrate-spread", "--no-trend")
        test = rows(150, 1)
        metrics = json.loads(self.run_ok("evaluate", "p.model", self.table("test.csv", test), "--json"))
        self.assertEqual(list(metrics), ["version", "rows", "rmse", "rmse_paper", "mae", "log_likelihood", "crps",
                                         "coverage_90", "calibration_error", "sharpness", "targets"])
        self.run_ok("predict", "p.model", "test.csv", "--mixture", "mix.npz", "-q")
        mixture = np.load(self.path("mix.npz"))
        mean, stddev, y = mixture["mean"], mixture["stddev"], test[:, None, 2:]
        centre = mean.mean(1)
        error = centre - test[:, 2:]
        log_terms = (-0.5 * ((y - mean) / stddev) ** 2 - np.log(stddev) - 0.5 * np.log(2 * np.pi)).sum(2)
        draws = np.random.default_rng(5).normal(size=(4000, 1))
        member = np.random.default_rng(6).integers(0, mean.shape[1], 4000)
        crps, cdf = [], []
        for n in range(len(test)):
            sample = mean[n, member] + stddev[n, member] * draws
            ordered = np.sort(sample, 0)
            k = len(sample)
            spread = 2 * ((2 * np.arange(1, k + 1) - k - 1)[:, None] * ordered).sum(0) / k**2
            crps.append(np.abs(sample - y[n]).mean(0) - 0.5 * spread)
            cdf.append((sample <= y[n]).mean(0))
        expected = {
            "rmse": np.sqrt(np.mean(error**2)),
            "rmse_paper": np.mean(np.sqrt(np.mean(error**2, 1))),
            "mae": np.mean(np.abs(error)),
            "log_likelihood": np.mean(np.logaddexp.reduce(log_terms, 1) - np.log(mean.shape[1])),
            "sharpness": np.sqrt((stddev**2 + mean**2).mean(1) - centre**2).mean(),
        }
        for name, value in expected.items():
            self.assertAlmostEqual(metrics[name], value, delta=1e-9 * abs(value), msg=name)
        self.assertAlmostEqual(metrics["crps"], np.mean(crps), delta=0.02 * np.mean(crps))
        self.assertEqual(list(metrics["targets"]), ["y", "z"])
        for name in ("crps", "coverage_90", "sharpness"):
            mean_of_targets = np.mean([own[name] for own in metrics["targets"].values()])
            self.assertAlmostEqual(metrics[name], mean_of_targets, delta=1e-9 * abs(mean_of_targets), msg=name)
        for d, own in enumerate(metrics["targets"].values()):
            self.assertAlmostEqual(own["rmse"], np.sqrt(np.mean(error[:, d]**2)), delta=1e-9)
            self.assertAlmostEqual(own["mae"], np.mean(np.abs(error[:, d])), delta=1e-9)
        cdf = np.array(cdf)
        self.assertAlmostEqual(metrics["coverage_90"], np.mean((cdf >= 0.05) & (cdf <= 0.95)), delta=0.02)
        levels = np.arange(1, 20) / 20
        calibration = np.mean([abs(np.mean(cdf <= p) - p) for p in levels])
        self.assertAlmostEqual(metrics["calibration_error"], calibration, delta=0.02)

    def test_recalibrate(self):
        """Held-out targets three times as far from the prediction need about three times the spread."""
        self.run_ok("fit", "data.csv", "-t", "y", "-i", "x", "-m", "pne", "-o", "p.model", "--epochs", 60, "-q")
        held_out = rows(400, 2)
        held_out[:, 2] += 9 * np.random.default_rng(3).normal(size=400)
        report = json.loads(self.run_ok("recalibrate", "p.model", self.table("held.csv", held_out), "-o", "p2.model",
                                        "--json"))
        self.assertEqual(list(report), ["version", "output", "rows", "factors", "before", "after"])
        self.assertEqual([f["target"] for f in report["factors"]], ["y"])
        factor = report["factors"][0]["factor"]
        self.assertGreater(factor, 2)
        self.assertGreater(report["after"]["log_likelihood"], report["before"]["log_likelihood"] + 0.5)
        self.assertAlmostEqual(report["after"]["coverage_90"], 0.9, delta=0.06)
        mixtures = []
        for model in ("p.model", "p2.model"):
            self.run_ok("predict", model, "data.csv", "--mixture", "mix.npz", "-q")
            mixtures.append(np.load(self.path("mix.npz")))
        np.testing.assert_array_equal(mixtures[0]["mean"], mixtures[1]["mean"])
        np.testing.assert_allclose(mixtures[0]["stddev"] * factor, mixtures[1]["stddev"], rtol=1e-5)
        metrics = json.loads(self.run_ok("evaluate", "p2.model", "held.csv", "--json"))
        self.assertEqual(metrics["log_likelihood"], report["after"]["log_likelihood"])
        self.assertIn("multiplied by", self.run_ok("recalibrate", "p.model", "held.csv", "-o", "p3.model"))
        self.assertEqual(self.run_ok("recalibrate", "p.model", "held.csv", "-o", "p3.model", "-q"), "")
        again = json.loads(self.run_ok("recalibrate", "p2.model", "held.csv", "-o", "p3.model", "--json"))
        self.assertAlmostEqual(again["factors"][0]["factor"], 1, delta=1e-4)


if __name__ == "__main__":
    unittest.main()
