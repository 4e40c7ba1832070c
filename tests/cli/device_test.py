"""--device: where there is a card fits run on it and repeat to the byte; where there is none one line says why."""

import csv
import json
import os
import subprocess

import numpy as np

from support import CliTest, dissent, mixture

FIT = ("--targets", "y", "--model", "pne", "--epochs", 20, "--components", 3)
NO_CARD = ("this build has no code for cards", "there is no NVIDIA driver", "the NVIDIA driver is too old", "no card can be used")
GRID = """name = "small"
rounds = 1
[settings]
model = "flow"
epochs = 5
[grid]
problem = "hetero"
acquisition = "kl"
seed = "0-2"
"""


def write_files(test):
    """What the commands below read."""
    random = np.random.default_rng(0)
    x = random.uniform(-3, 3, 80)
    np.savetxt(test.path("data.csv"), np.stack([x, np.sin(x)], 1), delimiter=",", header="x,y", comments="")
    np.savetxt(test.path("pool.csv"), random.uniform(-4, 4, (60, 1)), header="x", comments="")
    mean, stddev = mixture(n=100, m=5, d=3, dtype="f4")
    test.save("in.npz", mean=mean, stddev=stddev)
    with open(test.path("small.toml"), "w") as file:
        file.write(GRID)


class Device(CliTest):
    def setUp(self):
        super().setUp()
        write_files(self)

    def commands(self):
        """All that take --device, without it."""
        tables = ("--labelled", "data.csv", "--pool", "pool.csv")
        return [
            ("fit", "data.csv", *FIT, "--output", "m.model"),
            ("suggest", *tables, *FIT, "--batch", 3, "--output", "next.csv"),
            ("learn", "out", *tables, *FIT, "--oracle", "false"),
            ("ask", "lab", *tables, *FIT, "--output", "todo.csv"),
            ("score", "in.npz", "--output", "scores.csv"),
            ("study", "run", "small.toml", "--store", "sqlite:runs.db"),
        ]

    def why_no_card(self):
        """None where there is a card."""
        found = dissent("score", "in.npz", "--quiet", "--device", "cuda", cwd=self.dir)
        return found.stderr if found.returncode else None

    def test_other_names_are_refused(self):
        for command in self.commands():
            for name in ("gpu", "cuda:", "cuda:x", "CUDA"):
                says = f"--device = {name}; it must be cpu, cuda, or cuda:N with the number of a card"
                self.run_bad(2, *command, "--device", name, says=says)

    def test_no_card_is_told_before_anything_is_written(self):
        reason = self.why_no_card()
        if reason is None:
            self.skipTest("there is a card")
        self.assertTrue(any(text in reason for text in NO_CARD), reason)
        code = 2 if NO_CARD[0] in reason else 1
        for command in self.commands():
            self.run_bad(code, *command, "--device", "cuda", says=[text for text in NO_CARD if text in reason])

    def test_the_processor_is_the_default(self):
        self.run_ok("fit", "data.csv", *FIT, "--output", "a.model", "--quiet")
        self.run_ok("fit", "data.csv", *FIT, "--output", "b.model", "--quiet", "--device", "cpu")
        with open(self.path("a.model"), "rb") as a, open(self.path("b.model"), "rb") as b:
            self.assertEqual(a.read(), b.read())

    def test_on_a_card_fits_repeat_and_agree(self):
        if self.why_no_card() is not None:
            self.skipTest("there is no card")
        loss = {}
        for name, device in (("a", "cuda"), ("b", "cuda"), ("c", "cpu")):
            report = self.run_ok("fit", "data.csv", *FIT, "--output", f"{name}.model", "--json", "--device", device)
            loss[name] = json.loads(report)["loss"]
        with open(self.path("a.model"), "rb") as a, open(self.path("b.model"), "rb") as b:
            self.assertEqual(a.read(), b.read())
        self.assertAlmostEqual(loss["a"], loss["c"], delta=0.05)
        for device in ("cuda", "cpu"):
            self.run_ok("score", "in.npz", "--quiet", "--output", f"{device}.csv", "--device", device)
        for column in ("epistemic", "aleatoric", "total"):
            np.testing.assert_allclose(self.read_csv("cuda.csv")[column], self.read_csv("cpu.csv")[column], rtol=1e-6)

    def test_on_a_card_a_study_ends_with_every_campaign_once(self):
        if self.why_no_card() is not None:
            self.skipTest("there is no card")
        run = ("study", "run", "small.toml", "--store", "sqlite:runs.db", "--json", "--device", "cuda")
        first = json.loads(self.run_ok(*run))
        self.assertEqual((first["done"], first["ended"], first["failed"]), (3, 3, 0))
        self.assertEqual(json.loads(self.run_ok(*run))["ended"], 0)

    def test_a_process_is_told_to_be_fitted_on_the_processor(self):
        if self.why_no_card() is not None:
            self.skipTest("there is no card")
        fit = dissent("fit", "data.csv", "--targets", "y", "--model", "gp", "--output", "m.model", "--device", "cuda", cwd=self.dir)
        self.assertEqual((fit.returncode, fit.stderr), (0, "gp is fitted on the CPU: --device cuda trains networks alone\n"))


class FakeDevice(CliTest):
    """The way from --device down to what batchbald hands to a card, by a program whose card is a plain formula and whose
    fits leave networks as they were drawn."""

    CHOICE = ("--acquisition", "batchbald:100", "--batch", 3)

    def setUp(self):
        super().setUp()
        write_files(self)

    def run_fake(self, *arguments, fits, calls):
        """On card 1, which says at the end what it was asked for."""
        run = subprocess.run([os.environ["DISSENT_FAKE_DEVICE"], *map(str, arguments), "--device", "cuda:1"], cwd=self.dir,
                             text=True, capture_output=True)
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertEqual(run.stderr.splitlines()[-1:], [f"fake card 1: {fits} fits, {calls} calls"], run.stderr)
        return run.stdout

    def test_a_suggestion_is_that_of_the_processor(self):
        self.run_ok("fit", "data.csv", *FIT, "--output", "m.model", "--quiet")
        suggest = ("suggest", "--fitted", "m.model", "--pool", "pool.csv", *self.CHOICE, "--json")
        found = []
        for output, run in (("cpu.csv", self.run_ok), ("card.csv", lambda *given: self.run_fake(*given, fits=0, calls=3))):
            run(*suggest, "--output", output)
            with open(self.path(output), newline="") as file:
                found.append([[float(row[name]) for name in ("row", "x", "score", "epistemic")] for row in csv.DictReader(file)])
        self.assertEqual(len(found[0]), 3)
        np.testing.assert_allclose(found[1], found[0], rtol=1e-9)

    def test_other_methods_ask_nothing_of_it(self):
        self.run_ok("fit", "data.csv", *FIT, "--output", "m.model", "--quiet")
        self.run_fake("suggest", "--fitted", "m.model", "--pool", "pool.csv", "--batch", 3, "--output", "next.csv", "--quiet",
                      "--acquisition", "kl", fits=0, calls=0)

    def test_suggest_fits_there_and_fits_again(self):
        tables = ("--labelled", "data.csv", "--pool", "pool.csv")
        self.run_fake("suggest", *tables, *FIT, *self.CHOICE, "--output", "next.csv", "--json", fits=2, calls=6)

    def test_a_campaign_that_asks(self):
        tables = ("--labelled", "data.csv", "--pool", "pool.csv")
        self.run_fake("ask", "lab", *tables, *FIT, *self.CHOICE, "--output", "todo.csv", "--quiet", fits=1, calls=3)
        with open(self.path("todo.csv")) as file:
            self.assertEqual(len(file.read().splitlines()), 4)

    def test_a_campaign_that_learns(self):
        self.run_fake("learn", "out", "--problem", "hetero", "--model", "pne", "--epochs", 2, "--components", 3,
                      "--candidates", 50, *self.CHOICE, "--rounds", 2, "--quiet", fits=3, calls=6)

    def test_a_study(self):
        with open(self.path("bald.toml"), "w") as file:
            file.write(GRID.replace('"kl"', '"batchbald:100"').replace('"flow"', '"pne"').replace(
                "epochs = 5", "epochs = 5\nbatch = 3\ncandidates = 50\ncomponents = 3"))
        self.run_fake("study", "run", "bald.toml", "--store", "sqlite:runs.db", "--quiet", fits=6, calls=9)
