"""dissent fit, predict, evaluate and show: the whole way from a table to uncertainty, and what is wrong with tables."""

import json
import os
import re
import resource
import signal
import subprocess
import unittest

import numpy as np

from support import PROGRAM, SANITIZED, CliTest, dissent

QUICK = ("--epochs", 30, "--batch-size", 64, "--components", 3)
FLOW = ("--model", "flow")


def rows(n=300, seed=0):
    random = np.random.default_rng(seed)
    x = random.uniform(-3, 3, n)
    w = random.uniform(0, 1, n)
    return np.stack([x, w, 100 + 20 * np.sin(x) + random.normal(size=n), 1e-3 * (x + w)], 1)


class Fit(CliTest):
    def table(self, name="data.csv", data=None, header="x,w,y,z"):
        np.savetxt(self.path(name), rows() if data is None else data, delimiter=",", header=header, comments="",
                   fmt="%s")
        return name

    def fit(self, *arguments, output="m.model"):
        model = () if "--model" in arguments else FLOW
        return self.run_ok("fit", self.table(), "--targets", "y,z", "--output", output, *QUICK, *model, *arguments)

    def read(self, name):
        with open(self.path(name), "rb") as file:
            return file.read()

    def test_from_table_to_scores(self):
        for model in ("pne", "flow"):
            report = json.loads(self.fit("--model", model, "--json"))
            self.assertEqual((report["rows"], report["validation_rows"], report["diverged"]), (300, 0, []))
            self.assertEqual((report["inputs"], report["targets"]), (["x", "w"], ["y", "z"]))
            self.run_ok("predict", "m.model", "data.csv", "-o", "out.csv", "--mixture", "mix.npz", "-q")
            out = self.read_csv("out.csv")
            self.assertEqual(out.dtype.names[:5], ("index", "y_mean", "y_stddev", "y_q005", "y_q095"))
            self.assertLess(np.sqrt(np.mean((out["y_mean"] - rows()[:, 2]) ** 2)), 10)
            self.assertTrue(np.all((out["y_q005"] < out["y_mean"]) & (out["y_mean"] < out["y_q095"])))
            np.testing.assert_allclose(out["total"], out["epistemic"] + out["aleatoric"])
            mixture = np.load(self.path("mix.npz"))
            self.assertEqual(mixture["mean"].shape, (300, 3, 2))
            self.run_ok("score", "mix.npz", "-o", "scores.csv", "-q")
            scores = self.read_csv("scores.csv")
            np.testing.assert_array_equal(scores["epistemic"], out["epistemic"])
            if model == "pne":
                np.testing.assert_allclose(scores["aleatoric"], out["aleatoric"], rtol=1e-9, atol=1e-9)
                np.testing.assert_allclose(mixture["mean"].mean(1)[:, 0], out["y_mean"])
                self.assertEqual(mixture.files, ["mean", "stddev", "weights"])
            else:  # the mixture is in base space, where entropies are not in the table's units
                self.assertEqual(mixture["base_space"], 1)
                self.assertEqual(scores.dtype.names, ("index", "epistemic", "log_deficit"))
                result = dissent("score", "mix.npz", "--json", cwd=self.dir)
                self.assertIn("aleatoric and total are left out", result.stderr)
                self.assertNotIn("aleatoric", result.stdout)

    def test_evaluate(self):
        self.fit()
        metrics = json.loads(self.run_ok("evaluate", "m.model", self.table("test.csv", rows(200, 1)), "--json"))
        self.assertEqual(list(metrics), ["version", "rows", "rmse", "rmse_paper", "mae", "log_likelihood", "crps",
                                         "coverage_90", "calibration_error", "sharpness", "targets"])
        self.run_ok("predict", "m.model", "test.csv", "-o", "out.csv", "-q", "--quantiles", "0.5")
        out = self.read_csv("out.csv")
        error = np.stack([out["y_mean"], out["z_mean"]], 1) - rows(200, 1)[:, 2:]
        self.assertAlmostEqual(metrics["rmse"], np.sqrt(np.mean(error**2)), places=9)
        self.assertAlmostEqual(metrics["rmse_paper"], np.mean(np.sqrt(np.mean(error**2, 1))), places=9)
        self.assertAlmostEqual(metrics["mae"], np.mean(np.abs(error)), places=9)
        text = self.run_ok("evaluate", "m.model", "test.csv")
        self.assertIn("calibration_error", text)
        table = [line.split() for line in text.split("\n\n")[1].splitlines()]
        self.assertEqual(table[0], ["target", "rmse", "mae", "crps", "coverage_90", "calibration_error", "sharpness"])
        for d, name in enumerate("yz"):
            own = metrics["targets"][name]
            self.assertAlmostEqual(own["rmse"], np.sqrt(np.mean(error[:, d] ** 2)), places=9)
            self.assertEqual(table[d + 1], [name, *(f"{value:.6g}" for value in own.values())])
        self.assertAlmostEqual(np.mean([own["crps"] for own in metrics["targets"].values()]), metrics["crps"], places=9)

    def test_same_bytes_on_any_number_of_threads(self):
        for model in ("pne", "flow"):
            self.fit("--model", model, "--threads", 1, output="a.model")
            self.fit("--model", model, "--threads", 2, output="b.model")
            self.assertEqual(self.read("a.model"), self.read("b.model"))

    def test_every_row_and_chosen_inputs_from_npz(self):
        data = rows()
        self.save("data.npz", a=data[:, :2], y=data[:, 2])
        report = json.loads(self.run_ok("fit", "data.npz", "-t", "y", "-i", "a0", "-o", "m.model", *QUICK, *FLOW,
                                        "--validation", 0, "--json"))
        self.assertEqual((report["rows"], report["validation_rows"], report["inputs"]), (300, 0, ["a0"]))
        self.assertIsInstance(report["validation_loss"], float)  # of rows that bootstrap samples leave out
        report = json.loads(self.run_ok("fit", "data.npz", "-t", "y", "-o", "m.model", *QUICK, *FLOW, "--validation", 0,
                                        "--no-bootstrap", "--json"))
        self.assertIsNone(report["validation_loss"])

    def kill_and_resume(self, random, *command):
        """Kills the command, ever later after its checkpoint appears, until it ends by itself; how often."""
        kills = 0
        while True:
            process = subprocess.Popen([PROGRAM, *map(str, command)], cwd=self.dir,
                                       stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
            while process.poll() is None and not os.path.exists(self.path("state")):
                pass
            try:
                process.wait(timeout=random.uniform(0, 0.02) * (1 + kills))
            except subprocess.TimeoutExpired:
                process.kill()
                kills += 1
            with process.stderr as errors:
                self.assertEqual((process.wait() in (0, -signal.SIGKILL), errors.read()), (True, b""))
            if process.returncode == 0:
                return kills

    @unittest.skipIf(SANITIZED, "files are tested here, not memory, by many starts, which take long there")
    def test_killed_at_any_moment_and_run_again_gives_the_same_bytes(self):
        random = np.random.default_rng(5)
        for model, threads in (("pne", 1), ("pne", 2), ("flow", 1), ("flow", 2)):
            command = ("fit", self.table(), "-t", "y,z", "-m", model, "--batch-size", 64, "-c", 3, "-q", "--threads",
                       threads, "--epochs", 1000)
            if threads == 1:
                self.run_ok(*command, "-o", "whole.model")
            kills = 0
            while kills < 3:  # a fit may end before its turn comes
                kills += self.kill_and_resume(random, *command, "-o", "m.model", "--checkpoint", "state",
                                              "--checkpoint-every", 0)
                self.assertEqual(self.read("m.model"), self.read("whole.model"))
                self.assertFalse(os.path.exists(self.path("state")))

    def test_ctrl_c_saves_the_state(self):
        command = ("fit", self.table(), "-t", "y", "-o", "m.model", "-q", "--epochs", 3000, *FLOW)
        with subprocess.Popen([PROGRAM, *map(str, command), "--checkpoint", "state", "--checkpoint-every", "0"],
                              cwd=self.dir, stderr=subprocess.PIPE) as process:
            while not os.path.exists(self.path("state")):
                self.assertIsNone(process.poll())
            process.send_signal(signal.SIGINT)
            self.assertRegex(process.communicate()[1], rb"\Astopped after epoch \d+ of 3000; the same command goes on")
            self.assertEqual(process.returncode, -signal.SIGINT)
        self.assertFalse(os.path.exists(self.path("m.model")))
        self.refuse(*command, "--seed", 1, "--checkpoint", "state", says=["state: ", "its 'seed' is 0, not 1"])
        self.assertGreater(os.path.getsize(self.path("state")), 0)

    @unittest.skipIf(SANITIZED, "sanitizers keep freed memory for a while, and shadows of all of it")
    def test_humanoid_sizes_in_200_megabytes(self):
        random = np.random.default_rng(3)
        x = random.normal(size=(1200, 274))
        self.save("data.npz", x=x, y=x[:, :257] + 0.1 * random.normal(size=(1200, 257)))
        targets = ",".join(f"y{k}" for k in range(257))
        for model in ("pne", "flow"):
            process = subprocess.Popen([PROGRAM, "fit", "data.npz", "-t", targets, "-m", model, "-o", "m.model", "-q",
                                        "--preset", "paper", "--epochs", "4", "--checkpoint", "state"], cwd=self.dir)
            _, status, usage = os.wait4(process.pid, 0)
            process.returncode = status  # waited for here, not by the object
            self.assertEqual(status, 0)
            self.assertLess(usage.ru_maxrss, 200 * 1024)  # kilobytes

    def test_shared_weights(self):
        for model in ("pne", "flow"):
            self.fit("--model", model, output="own.model")
            self.fit("--model", model, "--share-weights", "--threads", 1, output="a.model")
            self.fit("--model", model, "--share-weights", "--threads", 2, output="b.model")
            self.assertEqual(self.read("a.model"), self.read("b.model"))
            shown = json.loads(self.run_ok("show", "a.model", "--json"))
            self.assertEqual((shown["share_weights"], shown["bootstrap"]), (True, False))
            self.run_ok("predict", "a.model", "data.csv", "-o", "out.csv", "-q")
            self.assertTrue(np.all(self.read_csv("out.csv")["epistemic"] > 0))
        self.refuse("fit", "data.csv", "-t", "y", "-o", "m", "--share-weights", "--no-masks",
                    says=["--share-weights", "without masks the 5 components would be the same"])

    def test_show(self):
        self.fit("--seed", 7, "--weights", "0.5,0.25,0.25")
        shown = json.loads(self.run_ok("show", "m.model", "--json"))
        self.assertEqual((shown["model"], shown["components"], shown["seed"]), ("flow", 3, 7))
        self.assertEqual(shown["weights"], [0.5, 0.25, 0.25])
        self.assertEqual([c["name"] for c in shown["targets"]], ["y", "z"])
        self.assertIn("cubic with 10 bins", self.run_ok("show", "m.model"))
        version = dissent("--version").stdout.split()[1]
        self.assertEqual((shown["version"], shown["written_by"], shown["format_version"]), (version, version, 2))
        self.run_bad(2, "show", "data.csv", says=["data.csv: is a table, not a model", "dissent fit data.csv"])

    def test_show_names_what_a_model_has(self):
        """No networks and no flow of a Gaussian process; ln before targets fitted by their logarithms."""
        prices = rows(60)
        prices[:, 2] = np.exp(prices[:, 2] / 20)
        self.table(data=prices)
        self.run_ok("fit", "data.csv", "-t", "y,z", "-m", "gp", "-c", 2, "--log-targets", "auto", "-o", "m.model")
        shown = self.run_ok("show", "m.model")
        self.assertRegex(shown, r"model +gp, 2 components")
        self.assertRegex(shown, r"targets +ln y = .*\n +z = ")
        self.assertNotRegex(shown, r"hidden|masks|flow|bins")
        self.assertEqual(json.loads(self.run_ok("show", "m.model", "--json"))["logarithms"], ["y"])
        self.run_ok("fit", "data.csv", "-t", "y", "-m", "pne", "--log-targets", "all", "-o", "m.model", *QUICK)
        shown = self.run_ok("show", "m.model")
        self.assertRegex(shown, r"hidden 50,50,50")
        self.assertNotRegex(shown, r"flow|bins")

    def test_show_tells_recalibrated_models(self):
        self.fit()
        self.assertRegex(self.run_ok("show", "m.model"), r"recalibrated +no\n")
        shown = json.loads(self.run_ok("show", "m.model", "--json"))
        self.assertEqual((shown["recalibrated"], shown["spread_factors"]), (False, []))
        for once, twice in (("m.model", "a.model"), ("a.model", "b.model")):
            report = json.loads(self.run_ok("recalibrate", once, self.table("held.csv", rows(60, 3)), "-o", twice, "--json"))
        first = json.loads(self.run_ok("show", "a.model", "--json"))["spread_factors"]
        shown = json.loads(self.run_ok("show", "b.model", "--json"))
        self.assertTrue(shown["recalibrated"])
        np.testing.assert_allclose(shown["spread_factors"], [f * r["factor"] for f, r in zip(first, report["factors"])])
        self.assertRegex(self.run_ok("show", "b.model"), r"recalibrated +yes, spread multiplied by [\d.]+, [\d.]+\n")

    def test_recalibration_factors_stand_beside_their_targets(self):
        random = np.random.default_rng(5)
        x = random.uniform(0, 1, 300)
        for noisy in range(3):
            y = 10 * x[:, None] + random.normal(size=(300, 3))
            self.table("train.csv", np.column_stack([x, y]), "x,a,b,c")
            y[:, noisy] += 8 * random.normal(size=300)
            self.table("held.csv", np.column_stack([x, y]), "x,a,b,c")
            self.run_ok("fit", "train.csv", "-t", "a,b,c", "-m", "flow", "-o", "f.model", "-q", "--seed", noisy, *QUICK)
            report = json.loads(self.run_ok("recalibrate", "f.model", "held.csv", "-o", "g.model", "--json"))
            large = [each["target"] for each in report["factors"] if each["factor"] > 3]
            self.assertEqual(large, ["abc"[noisy]])

    def test_hard_rows(self):
        random = np.random.default_rng(6)
        x = random.uniform(0, 1, (60, 2))
        y = np.sin(3 * x[:, 0]) + x[:, 1] + 0.1 * random.normal(size=60)
        outlier = np.where(np.arange(60) == 5, 1e12, 0)
        targets = {"constant": 0 * y + 7.5, "large": y * 1e170, "small": y * 1e-170, "outlier": y + outlier}
        for model in ("pne", "flow"):
            for name, target in targets.items():
                self.table("hard.csv", np.column_stack([x, target]), "a,b,y")
                fitted = dissent("fit", "hard.csv", "-t", "y", "-m", model, "-o", "h.model", "-q", *QUICK, cwd=self.dir)
                self.assertEqual(fitted.returncode, 0, fitted.stderr)
                self.assertEqual("'y' is 1e+12 in row 6, " in fitted.stderr, name == "outlier", fitted.stderr)
                self.run_ok("predict", "h.model", "hard.csv", "-o", "out.csv", "-q")
                out = self.read_csv("out.csv")
                for column in out.dtype.names:
                    self.assertTrue(np.all(np.isfinite(out[column])), (model, name, column))
                self.assertTrue(np.all(out["y_stddev"] > 0), (model, name))
                metrics = json.loads(self.run_ok("evaluate", "h.model", "hard.csv", "--json"))
                for name_of, values in (("all", metrics), *metrics["targets"].items()):
                    numbers = [value for key, value in values.items() if key not in ("version", "targets")]
                    self.assertTrue(np.all(np.isfinite(numbers)), (model, name, name_of, values))
                self.assertLess(metrics["rmse"], 3 * np.ptp(target) + 1e-9 * abs(target).max() + (name == "constant"))
        self.table("two.csv", rows(2), "x,w,y,z")
        self.run_bad(2, "fit", "two.csv", "-t", "y", "-o", "t.model", "--validation", 0.1,
                     says="two.csv: 2 rows, 1 of them held out; at least 2 must remain to train on; give more rows, or set --validation to 0")

    def test_what_a_loss_is_called(self):
        self.assertIn(", held out ", self.fit("--model", "flow", "--validation", 0.1, "--no-calibrate-spread"))
        plain = ("--validation", 0, "--no-calibrate-spread")
        text = self.fit("--model", "pne", *plain)
        self.assertRegex(text, r"0 held out; [^\n]*\nloss [-\d.]+ nats per row, out of bag [-\d.]+\n")
        self.assertIn("(of rows that others trained on)", self.fit("--model", "flow", *plain))
        self.assertNotIn("out of bag", self.fit("--model", "flow"))  # spreads were set by it
        self.assertRegex(self.fit("--model", "flow", "--validation", 0, "--no-out-of-bag"), r"nats per row\n")

    def test_a_diverging_loss_is_reported(self):
        self.table()
        for quiet in ((), ("-q",), ("--json",)):
            result = dissent("fit", "data.csv", "-t", "y,z", "-o", "m.model", *QUICK, *FLOW, "--learning-rate", 1e9, *quiet,
                             cwd=self.dir)
            self.assertEqual(result.returncode, 0, result.stderr)
            self.assertRegex(result.stderr, r"\Athe loss of component[^\n]* diverged; [^\n]*\n\Z")
            self.assertNotIn("the loss of", result.stdout)
        self.run_ok("predict", "m.model", "data.csv", "-o", "out.csv", "-q")
        self.assertTrue(np.all(np.isfinite(self.read_csv("out.csv")["y_mean"])))

    def refuse(self, *arguments, says):
        self.run_bad(2, *arguments, says=says)

    def test_a_row_too_far_from_the_others(self):
        data = rows()
        data[16, 1] = 1e40
        self.table("far.csv", data)
        for model in ("pne", "flow"):
            self.refuse("fit", "far.csv", "-t", "y", "-m", model, "-o", "m", "--scaling", "none", *QUICK,
                        says="far.csv: column 'w' row 17: '1e+40' is too far from the other rows")
        data[17, 1] = -1.7e308
        data[16, 1] = 1.7e308
        self.table("far.csv", data)
        self.refuse("fit", "far.csv", "-t", "y", "-o", "m", *QUICK, *FLOW,
                    says="far.csv: column 'w' row 17: '1.7e+308' is too far")
        self.refuse("fit", "far.csv", "-t", "y", "-o", "m", "--scaling", "minmax", *QUICK,
                    says="far.csv: column 'w': has numbers too large to scale")

    def test_bad_tables(self):
        data = rows().astype(object)
        data[16, 1] = "tall"
        fit = ("fit", "bad.csv", "-t", "y", "-o", "bad.model")
        self.table("bad.csv", data)
        self.refuse(*fit, says="bad.csv: 'w' is numbers but for text ('tall' in row 17); correct it, or leave the column out "
                    "with --ignore")
        data[16, 1] = "inf"
        self.table("bad.csv", data)
        self.refuse(*fit, says="bad.csv: column 'w' row 17: 'inf' is not a finite number")
        self.table("bad.csv", rows(2))
        self.refuse(*fit, "--validation", 0.1, says="bad.csv: 2 rows, 1 of them held out; at least 2 must remain")
        self.table("bad.csv", rows(1))
        self.refuse(*fit, says="bad.csv: 1 row; at least 2 are needed to train on")
        self.table("bad.csv", rows(0))
        self.refuse(*fit, says="bad.csv: has no rows")
        self.refuse("fit", self.table(), "-t", "q", "-o", "m", says="has no column 'q'; it has: x, w, y, z")
        self.refuse("fit", "data.csv", "-t", "y", "-i", "y", "-o", "m", says="--inputs = y; it is a target as well")
        self.refuse("fit", "data.csv", "-t", "x,w,y,z", "-o", "m", says="every column is a target")
        self.refuse("fit", "data.txt", "-t", "y", "-o", "m", says="must end in .csv")
        self.refuse("fit", "none.csv", "-t", "y", "-o", "m", says="none.csv: cannot be read")
        self.refuse("fit", "data.csv", "--targes", "y", "-o", "m", says="did you mean '--targets'?")

    def test_every_option_is_in_the_help_and_in_the_report(self):
        text = self.run_ok("fit", "--help")
        listed = set(re.findall(r"^  (?:-\w,)?--([a-z-]+)", text.split("Fit options:\n")[1].split("\n\n")[0], re.M))
        flags = {"masks": "no-masks", "bootstrap": "no-bootstrap", "own_initial_weights": "same-weights",
                 "cosine_decay": "constant-rate", "out_of_bag": "no-out-of-bag", "trend": "no-trend",
                 "limit_certainty": "no-limit-certainty", "calibrate_spread": "no-calibrate-spread",
                 "alternate_layers": "no-alternate-layers", "stray_rows": "no-stray-rows"}
        options = json.loads(self.fit("--json"))["options"]
        self.assertEqual({flags.get(name, name.replace("_", "-")) for name in options}, listed)
        self.assertEqual((options["components"], options["hidden"], options["weight_decay"]), (3, [], None))
        self.assertRegex(text, r"-c,--components M +Components of the ensemble; 5 for flow, 5 for pne, 16 for gp\n")
        self.assertRegex(text, r"--flow-hidden H1,H2=20,20\s")
        self.assertRegex(text, r"--weight-decay W +For the components")  # no default: it depends on the rows

    def test_options_reach_the_fit(self):
        for typed, name, value in (("--no-bootstrap", "bootstrap", False), ("--same-weights", "own_initial_weights", False),
                                   ("--constant-rate", "cosine_decay", False), ("--share-weights", "share_weights", True),
                                   ("--hidden=8,4", "hidden", [8, 4]), ("--patience=0.25", "patience", 0.25),
                                   ("--weight-decay=0.125", "weight_decay", 0.125), ("--no-masks", "keep_probability", 1)):
            self.assertEqual(json.loads(self.fit("--json", typed))["options"][name], value, typed)
        # What is given overrides the preset, in whatever order.
        options = json.loads(self.fit("--averaging", 0.5, "--preset", "paper", "--json"))["options"]
        self.assertEqual([options[name] for name in ("preset", "epochs", "averaging", "learning_rate", "clip_norm")],
                         ["paper", 30, 0.5, 5e-4, 0])

    def test_values_out_of_range_name_the_option(self):
        fit = ("fit", self.table(), "-t", "y", "-o", "m")
        for option, value, rule in (("--epochs", "0", "it must be a whole number >= 1"),
                                    ("--epochs", "two", "it must be a whole number >= 1"),
                                    ("--keep-probability", "1.5", "it must be a finite number in (0, 1]"),
                                    ("--clip-norm", "-1", "it must be a finite number >= 0"),
                                    ("--flow-hidden", "20,0", "it must be whole numbers from 1 to 100000"),
                                    ("--scaling", "minmx", "did you mean 'minmax'?"),
                                    ("--checkpoint-every", "-1", "it must be a finite number >= 0"),
                                    ("--threads", "1025", "it must be a whole number from 0 to 1024")):
            self.refuse(*fit, option, value, says=[f"dissent fit: {option} = {value}; ", rule])
        for option in ("--weights", "--epochs", "--checkpoint"):
            self.refuse(*fit, option, "", says=f"dissent fit: {option}: the value is empty")
        self.refuse(*fit, "--epochs", says="--epochs needs a value; see 'dissent fit --help'")
        self.refuse(*fit, "--seed", 1, "--seed", 2, says="--seed is given more than once; see 'dissent fit --help'")

    def test_bad_options(self):
        fit = ("fit", self.table(), "-t", "y", "-o", "m")
        self.refuse(*fit, "--model", "gpp", says="--model = gpp; there are: flow, pne, gp, auto; did you mean 'gp'?")
        self.refuse(*fit, "--model", "gp", "--epochs", 3, says="--epochs = 3; --model gp has no networks")
        self.refuse(*fit, "--preset", "fast", says="there are: default, paper")
        self.refuse(*fit, "--validation", 1, says="--validation = 1; it must be")
        self.refuse(*fit, "--learning-rate", 0, says="--learning-rate = 0; it must be")
        self.refuse(*fit, "--components", 0, says="--components = 0; it must be a whole number")
        self.refuse(*fit, "-c", 5, "--weights", "0.5,0.5", says="2 weights for 5 components")
        self.run_bad(1, "fit", "data.csv", "-t", "y", "-o", "none/m", says="none")
        self.run_bad(2, "fit", "data.csv", "-t", "y", "-o", "-", says="a model is not written to standard output; give a file")
        self.refuse("fit", "data.csv", "-t", "y", "-o", "./data.csv", says="would be overwritten")
        self.refuse(*fit, "--checkpoint", "m", says="'m' is written as well and would be overwritten")
        self.refuse("recalibrate", "m", "data.csv", "-o", "data.csv", says="'data.csv' is read as well")
        self.refuse(*fit, "--seed", -1, says="--seed = -1; it must be a whole number >= 0")

    def test_bad_models(self):
        self.fit()
        whole = self.read("m.model")
        damaged = {
            "empty": b"",
            "short": whole[:-1],
            "long": whole + b"x",
            "header": whole[:200],
            "length": b"\xff" * 8 + whole[8:],
            "foreign": whole.replace(b"dissent.ensemble", b"another.ensemble"),
            "other type": whole.replace(b'"F32"', b'"I32"', 1),
            "renamed": whole.replace(b"component2.mean.bias", b"component9.mean.bias"),
            "other size": whole.replace(b'\\"components\\":3', b'\\"components\\":9'),
            "csv": self.read("data.csv"),
        }
        for name, content in damaged.items():
            with self.subTest(name):
                self.assertNotEqual(content, whole)
                with open(self.path("bad.model"), "wb") as file:
                    file.write(content)
                self.refuse("predict", "bad.model", "data.csv", "-o", "out.csv", says="bad.model")
        self.refuse("show", "none.model", says="none.model: cannot be read")
        self.refuse("predict", "m.model", "data.csv", says="nothing to write")
        self.refuse("predict", "m.model", "data.csv", "-o", "o.csv", "--quantiles", "1.5", says="1.5")
        self.table("few.csv", rows()[:, :1], "x")
        self.refuse("predict", "m.model", "few.csv", "-o", "o.csv", says="has no column 'w'")


if __name__ == "__main__":
    unittest.main()


class WideTable(CliTest):
    def seconds(self, num_columns):
        """Of processor time, the least of three runs."""
        random = np.random.default_rng(1)
        self.save("wide.npz", x=random.normal(size=(12, num_columns)), y=random.normal(size=12))
        times = []
        for _ in range(3):
            before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
            result = dissent("fit", "wide.npz", "-t", "y", "-o", "m", "-q", "--threads", 1, "--model", "pne", "--epochs",
                             1, "--hidden", 2, "--components", 2, cwd=self.dir)
            self.assertEqual(result.returncode, 0, result.stderr)
            times.append(resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before)
        return min(times)

    @unittest.skipIf(SANITIZED, "CPU time is compared, which sanitizers change")
    def test_time_grows_with_columns_and_not_with_their_square(self):
        # Four times the columns: 4 if it grows in proportion, 16 if with the square.
        self.assertLess(self.seconds(80_000) / self.seconds(20_000), 10)
