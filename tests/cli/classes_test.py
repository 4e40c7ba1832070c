"""A classifier's probabilities [N, M, K]: dissent score and dissent suggest --mixture."""

import json
import unittest

import numpy as np

from support import CliTest, dissent


def probabilities(n=60, m=4, k=3, seed=1):
    random = np.random.default_rng(seed)
    return random.dirichlet(np.full(k, 0.7), size=(n, m))


def bald(p, w=None):
    """Information and mean entropy by the plain formulas."""
    w = np.full(p.shape[1], 1 / p.shape[1]) if w is None else np.asarray(w)
    entropy = lambda q: -np.where(q > 0, q * np.log(np.where(q > 0, q, 1)), 0).sum(-1)
    noise = (w * entropy(p)).sum(-1)
    return entropy((w[:, None] * p).sum(1)) - noise, noise


def pairwise_kl(p):
    kl = (p[:, :, None] * np.log(p[:, :, None] / p[:, None])).sum(-1)
    return -np.log(np.exp(-kl).mean(-1)).mean(-1)


class Score(CliTest):
    def score(self, *arguments):
        self.run_ok("score", "in.npz", *arguments, "-o", "out.csv", "-q")
        return self.read_csv("out.csv")

    def test_bald_and_the_pairwise_forms(self):
        p = probabilities()
        self.save(probabilities=p)
        information, noise = bald(p)
        out = self.score()
        self.assertEqual(out.dtype.names, ("index", "epistemic", "aleatoric", "total", "log_deficit"))
        np.testing.assert_allclose(out["epistemic"], information, rtol=1e-10)
        np.testing.assert_allclose(out["aleatoric"], noise, rtol=1e-10)
        np.testing.assert_allclose(out["total"], information + noise, rtol=1e-10)
        np.testing.assert_allclose(out["log_deficit"], np.log(np.log(4) - information), atol=1e-9)
        out = self.score("-e", "exact,kl,bhattacharyya")
        np.testing.assert_allclose(out["exact_epistemic"], information, rtol=1e-10)
        np.testing.assert_allclose(out["kl_epistemic"], pairwise_kl(p), rtol=1e-10)
        self.assertTrue((out["bhattacharyya_epistemic"] <= information + 1e-12).all())
        self.assertTrue((information <= out["kl_epistemic"] + 1e-12).all())

    def test_weights_and_precision(self):
        p = probabilities(m=3)
        w = [0.6, 0.4, 0]
        self.save(probabilities=p.astype("f4"), weights=w)
        np.testing.assert_allclose(self.score()["epistemic"], bald(p, w)[0], atol=1e-6)
        self.save(probabilities=np.asfortranarray(p))
        np.testing.assert_allclose(self.score("--weights", "0.6,0.4,0")["epistemic"], bald(p, w)[0], rtol=1e-10)
        self.run_bad(2, "score", "in.npz", "--weights", "0.5,0.5", says="2 weights for 3 components")

    def test_says_what_was_understood(self):
        self.save(probabilities=probabilities())
        text = self.run_ok("score", "in.npz")
        self.assertTrue(text.startswith("in.npz: 60 inputs, 4 components, 3 classes\n"), text)
        self.assertRegex(text, r"\nexact .*bound: exact\n")
        self.assertIn("entropy of the class within the components", text)
        report = json.loads(self.run_ok("score", "in.npz", "--json", "--top", 3))
        self.assertEqual([report[key] for key in ("num_inputs", "num_components", "num_classes")], [60, 4, 3])
        self.assertNotIn("num_outputs", report)
        best = np.argsort(-bald(probabilities())[0])[:3]
        self.assertEqual([row["index"] for row in report["top"]], best.tolist())
        self.save(probabilities=probabilities(n=1, m=300))
        self.assertIn("N = 1 and M = 300 ", dissent("score", "in.npz", cwd=self.dir).stderr)

    def test_chunks_and_threads(self):
        p = probabilities(n=3000, m=20, k=40)
        self.save(probabilities=p)
        out = {self.run_ok("score", "in.npz", "-o", "-", "--threads", t) for t in (1, 3)}
        self.assertEqual(len(out), 1)
        values = [float(line.split(",")[1]) for line in out.pop().splitlines()[1:]]
        np.testing.assert_allclose(values, bald(p)[0], rtol=1e-9)

    def test_what_are_no_probabilities(self):
        def bad(*arguments, says, at=None, value=None):
            p = probabilities(n=3000, m=20, k=40)
            if at is not None:
                p[at] = value
            self.save(probabilities=p)
            self.run_bad(2, "score", "in.npz", *arguments, says=says)

        bad(at=(2900, 2, 1), value=np.nan, says=["in.npz[probabilities]", "input 2900 component 2 class 1: probability nan"])
        bad(at=(7, 0, 0), value=-0.25, says="input 7 component 0 class 0: probability -0.25 is not a finite number >= 0")
        bad(at=(7, 3), value=0.5, says="input 7 component 3: its probabilities sum to 20, not to 1")
        bad("-e", "mc:20", says="--estimator: of classes there is 'exact'")
        bad("-e", "wasserstein", says="classes have none; choose another divergence")
        bad("-e", "kl,kl", says="'kl' is given twice")
        self.save(probabilities=probabilities()[0])
        self.run_bad(2, "score", "in.npz", says="has shape (4, 3); it must be [N, M, K]")
        self.save(probabilities=np.ones((5, 2, 1)))
        self.run_bad(2, "score", "in.npz", says="2 classes are required")
        self.save(probabilities=probabilities())
        self.run_bad(2, "score", "in.npz", "-o", "in.npz", says="is read as well")


class Suggest(CliTest):
    def suggest(self, *arguments):
        return self.run_ok("suggest", "--mixture", "in.npz", *arguments)

    def test_the_rows_that_tell_most(self):
        p = probabilities()
        self.save(probabilities=p)
        text = self.suggest("-a", "exact", "--batch", 5, "-o", "next.csv")
        self.assertRegex(text, r"\Anext.csv: 5 of 60 rows\nThe 4 components disagree about the class of these rows, one of 3, "
                               r"by \S+ nats on average.\n\Z")
        information, noise = bald(p)
        best = np.argsort(-information)[:5]
        out = self.read_csv("next.csv")
        np.testing.assert_array_equal(out["row"], best)
        np.testing.assert_allclose(out["epistemic"], information[best], rtol=1e-10)
        np.testing.assert_allclose(out["aleatoric"], noise[best], rtol=1e-10)
        self.assertEqual(self.suggest("--batch", 5, "-o", "-", "-a", "bhattacharyya-joint"), self.suggest("--batch", 5, "-o", "-"))
        kl = np.argsort(-pairwise_kl(p))[:5]
        report = json.loads(self.suggest("--batch", 5, "-o", "n.csv", "-a", "kl", "--json"))
        self.assertEqual((report["acquisition"], [row["row"] for row in report["rows"]]), ("kl", kl.tolist()))

    def test_joint_candidates_and_weights(self):
        p = np.repeat(probabilities(n=10), 4, axis=0)
        self.save(probabilities=p, weights=[0.4, 0.3, 0.2, 0.1])
        rows = lambda *a: [row["row"] for row in json.loads(self.suggest("-o", "n.csv", "--json", *a))["rows"]]
        self.assertGreater(len({row // 4 for row in rows("-a", "kl-joint", "--batch", 4)}), 1)
        self.assertEqual(len({row // 4 for row in rows("-a", "kl", "--batch", 4)}), 1)
        self.assertIn("4 of 40 rows (20 drawn to choose among)", self.suggest("--candidates", 20, "--batch", 4, "-o", "n.csv"))
        self.assertEqual(rows("--batch", 40, "-a", "random", "--seed", 3) , rows("--batch", 40, "-a", "random", "--seed", 3))

    def test_what_does_not_go(self):
        self.save(probabilities=probabilities())

        def bad(*arguments, says):
            self.run_bad(2, "suggest", "--mixture", "in.npz", "-o", "n.csv", *arguments, says=says)

        bad("-a", "aim", says="acquisition 'aim' is not for probabilities of classes")
        bad("-a", "nonsense", says="nonsense")
        bad("--batch", 61, says=["--batch: 61 rows are wanted", "has 60"])
        p = probabilities()
        p[3, 1] = [0.5, 0.6, 0.1]
        self.save(probabilities=p)
        bad(says=["in.npz[probabilities]", "input 3 component 1: its probabilities sum to 1.2"])
        self.save(mean=probabilities(), stddev=probabilities())
        bad("-a", "exact", says="exact")


if __name__ == "__main__":
    unittest.main()
