"""dissent suggest --mixture: rows chosen by predictions that someone has in a file."""

import json
import unittest

import numpy as np

from support import CliTest, dissent, kl_reference, mixture


class SuggestMixture(CliTest):
    def suggest(self, *arguments):
        return self.run_ok("suggest", "--mixture", "in.npz", *arguments)

    def test_the_rows_where_components_disagree_most(self):
        mean, stddev = mixture(60)
        self.save(mean=mean, stddev=stddev)
        text = self.suggest("-a", "kl", "--batch", 5, "-o", "next.csv")
        self.assertRegex(text, r"\Anext.csv: 5 of 60 rows\nThe components disagree about these rows by \S+ nats on")
        out = self.read_csv("next.csv")
        self.assertEqual(out.dtype.names, ("row", "score", "epistemic", "aleatoric"))
        epistemic, aleatoric, log_deficit = kl_reference(mean, stddev)
        best = np.argsort(log_deficit)[:5]
        np.testing.assert_array_equal(out["row"], best)
        np.testing.assert_allclose(out["score"], -log_deficit[best], rtol=1e-5)
        np.testing.assert_allclose(out["epistemic"], epistemic[best], rtol=1e-5)
        np.testing.assert_allclose(out["aleatoric"], aleatoric[best], rtol=1e-10)
        with open(self.path("next.csv")) as file:
            self.assertEqual(self.suggest("-a", "kl", "--batch", 5, "-o", "-", "--threads", 2), file.read())

    def test_every_method_that_needs_no_network(self):
        mean, stddev = mixture(40, dtype="f4")
        self.save(mean=mean, stddev=stddev, weights=[0.4, 0.3, 0.2, 0.1])
        for row in json.loads(self.run_ok("acquisitions", "--json"))["acquisitions"]:
            name = row["name"].replace(":K", ":20").replace(":A", ":0.3")
            if name in ("badge", "bait", "lcmd", "lcmd-grad"):
                self.run_bad(2, "suggest", "--mixture", "in.npz", "-a", name, "-o", "n.csv", says="last layer")
                continue
            with self.subTest(name):
                report = json.loads(self.suggest("-a", name, "--batch", 6, "-o", "n.csv", "--json"))
                self.assertEqual(report["acquisition"], name)
                self.assertEqual(len({r["row"] for r in report["rows"]}), 6)

    def test_base_space_has_no_noise_in_your_units(self):
        mean, stddev = mixture(30)
        self.save(mean=mean, stddev=stddev)
        rows = [line.rsplit(",", 1)[0] for line in self.suggest("--batch", 4, "-o", "-").splitlines()]
        self.save(mean=mean, stddev=stddev, base_space=True)
        self.assertEqual(self.suggest("--batch", 4, "-o", "-").splitlines(), rows)

    def test_candidates_and_seed(self):
        mean, stddev = mixture(500)
        self.save(mean=mean, stddev=stddev)
        rows = {self.suggest("--candidates", 20, "--batch", 4, "--seed", seed, "-o", "-") for seed in (1, 2, 1)}
        self.assertEqual(len(rows), 2)
        self.assertIn("n.csv: 4 of 500 rows (20 drawn to choose among)", self.suggest("--candidates", 20, "--batch", 4, "-o", "n.csv"))

    def test_what_does_not_go_together(self):
        mean, stddev = mixture(5)
        self.save(mean=mean, stddev=stddev)
        np.savetxt(self.path("p.csv"), [[1.0], [2.0]], header="a", comments="")

        def bad(*arguments, says):
            self.run_bad(2, "suggest", "--mixture", "in.npz", "-o", "n.csv", *arguments, says=says)

        bad("--pool", "p.csv", says="has the predictions already")
        bad("--epochs", 3, says="would do nothing")
        for option in ("--aim", "--cost", "--require", "--exclude"):
            bad(option, "a=1", "--batch", 2, says=f"so {option} would do nothing; leave it out")
        bad("--skip-outliers", "--batch", 2, says="so --skip-outliers would do nothing")
        bad("--device", "cuda", "--batch", 2, says="so --device would do nothing")
        bad(says=["--batch: 10 rows are wanted", "has 5"])
        self.save(mean=mean, covariance=np.broadcast_to(np.eye(3), (5, 4, 3, 3)))
        bad("--batch", 2, says="has covariances")
        stddev[3, 1, 2] = 0
        self.save(mean=mean, stddev=stddev)
        bad("--batch", 2, says=["in.npz[stddev]", "3, 1, 2"])

    def test_one_component_with_all_the_weight(self):
        mean, stddev = mixture(5, m=3)
        self.save(mean=mean, stddev=stddev, weights=[1.0, 0, 0])
        asked = ("suggest", "--mixture", "in.npz", "--batch", 2, "-o", "n.csv")
        self.run_bad(2, *asked, says="two components of weight > 0")
        self.assertIn("row,", self.suggest("-a", "random", "--batch", 2, "-o", "-"))

    def test_doubtful_axes(self):
        mean, stddev = mixture(3, m=100, d=1)
        self.save(mean=mean, stddev=stddev)
        result = dissent("suggest", "--mixture", "in.npz", "--batch", 2, "-o", "n.csv", cwd=self.dir)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("understood as N = 3 and M = 100 (inputs, components)", result.stderr)
        self.suggest("--batch", 2, "-o", "n.csv", "--quiet")


class CornersOfScore(CliTest):
    def score(self, *arguments):
        result = dissent("score", "in.npz", *arguments, cwd=self.dir)
        self.assertEqual(result.returncode, 0, result.stderr)
        return result

    def test_all_the_weight_on_one_component(self):
        mean, stddev = mixture(4, m=3)
        self.save(mean=mean, stddev=stddev)
        for estimator in ("kl", "bhattacharyya", "epkl", "bounds", "mc:20", "refine:2"):
            with self.subTest(estimator):
                result = self.score("-w", "1,0,0", "-e", estimator, "-o", "out.csv")
                self.assertIn("all the weight is on one component", result.stderr)
                out = self.read_csv("out.csv")
                np.testing.assert_array_equal(out["epistemic"], 0)
                np.testing.assert_array_equal(out["log_deficit"], -np.inf)
                np.testing.assert_array_equal(out["total"], out["aleatoric"])
        summary = json.loads(self.score("-w", "1,0,0", "--json").stdout)
        self.assertIsNone(summary["top"][0]["log_deficit"])
        self.assertEqual(summary["top"][0]["epistemic"], 0)
        self.run_ok("score", "in.npz", "-w", "0,1,0", "-o", "out.csv", "--quiet")

    def test_doubtful_axes(self):
        mean, stddev = mixture(300, m=1, d=1)
        self.save(mean=mean, stddev=stddev)
        self.assertIn("N = 300 and M = 1 ", self.score().stderr)
        self.save(mean=mean.reshape(1, 300), stddev=stddev.reshape(1, 300))
        self.assertIn("N = 1 and M = 300 ", self.score().stderr)


if __name__ == "__main__":
    unittest.main()
