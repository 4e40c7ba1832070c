"""--device: where there is a card fits run on it and repeat to the byte; where there is none one line says why."""

import json

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


class Device(CliTest):
    def setUp(self):
        super().setUp()
        random = np.random.default_rng(0)
        x = random.uniform(-3, 3, 80)
        np.savetxt(self.path("data.csv"), np.stack([x, np.sin(x)], 1), delimiter=",", header="x,y", comments="")
        np.savetxt(self.path("pool.csv"), random.uniform(-4, 4, (60, 1)), header="x", comments="")
        mean, stddev = mixture(n=100, m=5, d=3, dtype="f4")
        self.save("in.npz", mean=mean, stddev=stddev)
        with open(self.path("small.toml"), "w") as file:
            file.write(GRID)

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
