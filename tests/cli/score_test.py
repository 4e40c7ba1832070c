"""dissent score: numbers, formats, ranking, streaming."""

import json
import os
import subprocess
import unittest

import numpy as np

from support import PROGRAM, SANITIZED, CliTest, dissent, kl_reference, mixture


class Numbers(CliTest):
    def check_kl(self, mean, stddev, tolerance, *arguments, weights=None):
        self.run_ok("score", *arguments, "--output", "out.csv", "--quiet")
        out = self.read_csv("out.csv")
        epistemic, aleatoric, log_deficit = kl_reference(mean, stddev, weights)
        self.assertEqual(out.dtype.names, ("index", "epistemic", "aleatoric", "total", "log_deficit"))
        np.testing.assert_array_equal(out["index"], np.arange(len(mean)))
        np.testing.assert_allclose(out["epistemic"], epistemic, rtol=tolerance)
        np.testing.assert_allclose(out["aleatoric"], aleatoric, rtol=tolerance)
        np.testing.assert_allclose(out["total"], aleatoric + epistemic, rtol=tolerance)
        np.testing.assert_allclose(out["log_deficit"], log_deficit, atol=10 * tolerance)

    def test_npz_float64(self):
        mean, stddev = mixture(200)
        self.check_kl(mean, stddev, 1e-11, self.save(mean=mean, stddev=stddev))

    def test_two_npy_float32(self):
        mean, stddev = mixture(200, dtype="f4")
        np.save(self.path("m.npy"), mean)
        np.save(self.path("s.npy"), stddev)
        self.check_kl(mean, stddev, 1e-5, "m.npy,s.npy")

    def test_mixed_types_are_computed_in_float64(self):
        mean, stddev = mixture(70)
        mean = np.rint(4 * mean).astype("i4")
        self.check_kl(mean, stddev, 1e-11, self.save(mean=mean, stddev=stddev))
        self.check_kl(mean, stddev, 1e-11, self.save(mean=mean.astype("f4"), stddev=stddev))

    def test_fortran_order_and_deflated(self):
        mean, stddev = mixture(70)
        np.savez_compressed(self.path("in.npz"), mean=np.asfortranarray(mean), stddev=stddev)
        self.check_kl(mean, stddev, 1e-11, "in.npz")

    def test_one_output_without_its_axis(self):
        mean, stddev = mixture(70, d=1)
        self.check_kl(mean, stddev, 1e-11, self.save(mean=mean[:, :, 0], stddev=stddev))

    def test_weights_from_anywhere(self):
        mean, stddev = mixture(70)
        w = [0.5, 0.3, 0.2, 0.0]
        self.check_kl(mean, stddev, 1e-11, self.save(mean=mean, stddev=stddev, weights=np.array(w)), weights=w)
        plain = self.save("plain.npz", mean=mean, stddev=stddev, weights=np.full(4, 0.25))
        self.check_kl(mean, stddev, 1e-11, plain, "--weights", "0.5,0.3,0.2,0", weights=w)
        np.save(self.path("w.npy"), w)
        self.check_kl(mean, stddev, 1e-11, plain, "--weights", "w.npy", weights=w)
        with open(self.path("w.csv"), "w") as file:
            file.write("weight\n0.5\n0.3\n0.2\n0\n")
        self.check_kl(mean, stddev, 1e-11, plain, "--weights", "w.csv", weights=w)

    def test_covariance(self):
        mean, stddev = mixture(70)
        covariance = stddev[..., None] ** 2 * np.eye(3)
        np.save(self.path("m.npy"), mean)
        np.save(self.path("c.npy"), covariance)
        self.check_kl(mean, stddev, 1e-9, "m.npy,c.npy")
        self.check_kl(mean, stddev, 1e-9, self.save(mean=mean, covariance=covariance))

    def test_far_components_have_an_ordered_log_deficit(self):
        mean = np.zeros((3, 2, 257))
        mean[:, 1] = np.array([1e3, 1e6, 1e5])[:, None]
        self.save(mean=mean, stddev=np.ones_like(mean))
        rows = json.loads(self.run_ok("score", "in.npz", "--json"))["top"]
        self.assertEqual([row["index"] for row in rows], [1, 2, 0])
        self.assertEqual({row["epistemic"] for row in rows}, {np.log(2)})

    def test_no_inputs(self):
        mean, stddev = mixture(0)
        self.save(mean=mean, stddev=stddev)
        self.assertIn("0 inputs", self.run_ok("score", "in.npz", "-o", "out.csv"))
        with open(self.path("out.csv")) as file:
            self.assertEqual(file.read(), "index,epistemic,aleatoric,total,log_deficit\n")
        self.run_ok("score", "in.npz", "-o", "out.npy", "--top", 3, "-e", "refine")
        self.assertEqual(np.load(self.path("out.npy")).shape, (0, 9))
        self.assertIsNone(json.loads(self.run_ok("score", "in.npz", "--json"))["estimators"][0]["epistemic"]["min"])

    def test_a_classifier_under_another_name(self):
        self.save(probs=np.full((2, 3, 4), 0.25))
        self.run_bad(2, "score", "in.npz", says="has no array 'mean'; it has: probs (a classifier's array is named 'probabilities')")

    def test_nothing_is_printed_before_a_failure(self):
        mean, stddev = mixture(3)
        mean[0, 0, 0] = np.nan
        self.save(mean=mean, stddev=stddev)
        result = dissent("score", "in.npz", "-o", "-", cwd=self.dir)
        self.assertEqual((result.returncode, result.stdout), (2, ""))


class Formats(CliTest):
    def setUp(self):
        super().setUp()
        self.mean, self.stddev = mixture(300)
        self.save(mean=self.mean, stddev=self.stddev)

    def test_several_estimators_are_prefixed(self):
        self.run_ok("score", "in.npz", "-e", "kl,mc:200", "--estimator", "chernoff:0.3", "-o", "out.npz", "-q")
        out = np.load(self.path("out.npz"))
        four = ["epistemic", "aleatoric", "total", "log_deficit"]
        names = ["kl_" + x for x in four] + ["mc_200_" + x for x in four + ["standard_error"]]
        self.assertEqual(out.files, ["index"] + names + ["chernoff_0.3_" + x for x in four])
        self.assertTrue((out["chernoff_0.3_epistemic"] <= out["kl_epistemic"]).all())
        self.assertLess(np.abs(out["mc_200_epistemic"] - out["kl_epistemic"]).max(), 1)

    def test_formats_agree(self):
        arguments = ["score", "in.npz", "-e", "bounds", "-q"]
        for name in ("out.csv", "out.npy", "out.npz"):
            self.run_ok(*arguments, "-o", name)
        csv, matrix, arrays = self.read_csv("out.csv"), np.load(self.path("out.npy")), np.load(self.path("out.npz"))
        self.assertEqual(matrix.shape, (300, len(csv.dtype.names) - 1))
        self.assertEqual(list(csv.dtype.names), arrays.files)
        for k, name in enumerate(csv.dtype.names[1:]):
            np.testing.assert_array_equal(csv[name], matrix[:, k])
            np.testing.assert_array_equal(csv[name], arrays[name])
        with open(self.path("out.csv")) as file:
            self.assertEqual(self.run_ok(*arguments, "-o", "-"), file.read())

    def test_top_is_the_full_ranking_cut(self):
        self.run_ok("score", "in.npz", "-o", "all.csv", "-q")
        everything = self.read_csv("all.csv")
        order = np.lexsort((everything["index"], -everything["epistemic"], everything["log_deficit"]))
        for k in (1, 7, 300, 1000):
            self.run_ok("score", "in.npz", "-o", "top.csv", "-q", "--top", k)
            np.testing.assert_array_equal(np.atleast_1d(self.read_csv("top.csv")), everything[order[:k]])
        self.run_ok("score", "in.npz", "-o", "top.npy", "-q", "--top", 5)
        np.testing.assert_array_equal(np.load(self.path("top.npy"))[:, 0], order[:5])

    def test_top_breaks_ties_by_input_number(self):
        mean, stddev = mixture(1)
        self.save("same.npz", mean=np.repeat(mean, 5000, 0), stddev=np.repeat(stddev, 5000, 0))
        self.run_ok("score", "same.npz", "-o", "top.csv", "-q", "--top", 9)
        np.testing.assert_array_equal(self.read_csv("top.csv")["index"], np.arange(9))

    def test_json_has_the_documented_keys(self):
        text = self.run_ok("score", "in.npz", "--json", "-e", "kl,refine:3", "--quiet", "-o", "out.csv")
        out = json.loads(text)
        self.assertEqual(
            list(out),
            ["version", "input", "num_inputs", "num_components", "num_outputs", "covariance", "weights",
             "weights_entropy", "estimators", "top", "output"])
        self.assertEqual((out["num_inputs"], out["num_components"], out["num_outputs"]), (300, 4, 3))
        self.assertEqual((out["output"], out["covariance"]), ("out.csv", "diagonal"))
        self.assertEqual(out["weights"], [0.25] * 4)
        self.assertAlmostEqual(out["weights_entropy"], np.log(4), 14)
        self.assertEqual([e["name"] for e in out["estimators"]], ["kl", "refine:3"])
        table = self.read_csv("out.csv")
        for key in ("min", "mean", "max"):
            want = getattr(np, key)(table["kl_epistemic"])
            self.assertAlmostEqual(out["estimators"][0]["epistemic"][key], want, 12)
        self.assertEqual(len(out["top"]), 10)
        self.assertEqual(list(out["top"][0]), list(table.dtype.names))
        refine = out["estimators"][1]
        self.assertEqual(refine["samples"], table["refine_3_samples"].sum())
        self.assertEqual(refine["inputs_sampled"], (table["refine_3_samples"] > 0).sum())
        self.assertEqual(refine["undecided"], table["refine_3_undecided"].sum())

    def test_infinity_is_null_in_json_and_inf_in_csv(self):
        self.run_ok("score", "in.npz", "-e", "max", "-o", "out.csv", "-q")
        self.assertTrue(np.isneginf(self.read_csv("out.csv")["log_deficit"]).all())
        out = json.loads(self.run_ok("score", "in.npz", "-e", "max", "--json"))
        self.assertIsNone(out["top"][0]["log_deficit"])

    def test_summary_and_quiet(self):
        text = self.run_ok("score", "in.npz")
        self.assertIn("300 inputs, 4 components, 3 outputs", text)
        self.assertIn("1.38629 nats", text)
        self.assertEqual(len(text.split("log_deficit\n")[1].split("\n\n")[0].splitlines()), 10)
        self.assertEqual(self.run_ok("score", "in.npz", "--quiet"), "")
        self.assertIn("wrote out.csv", self.run_ok("score", "in.npz", "-o", "out.csv"))
        text = self.run_ok("score", "in.npz", "-e", "refine", "--top", "2")
        self.assertRegex(text, r"of 300 inputs sampled, \d+ samples, \d+ undecided")

    def test_output_replaces_the_old_file(self):
        with open(self.path("out.csv"), "w") as file:
            file.write("old")
        self.run_ok("score", "in.npz", "-o", "out.csv")
        self.assertEqual(len(self.read_csv("out.csv")), 300)

    def test_same_seed_same_numbers(self):
        first = self.run_ok("score", "in.npz", "-e", "mc:100", "--seed", 5, "-o", "-")
        self.assertEqual(first, self.run_ok("score", "in.npz", "-e", "mc:100", "--seed", 5, "-o", "-"))
        self.assertNotEqual(first, self.run_ok("score", "in.npz", "-e", "mc:100", "--seed", 6, "-o", "-"))


class Threads(CliTest):
    def test_any_number_of_threads_gives_the_same_bytes(self):
        mean, stddev = mixture(3000, m=5, d=7, dtype="f4")
        self.save(mean=mean, stddev=stddev)
        estimators = "kl,bhattacharyya,epkl,mc:20,bounds,refine:5"
        outputs = []
        for threads in (1, 2, 5):
            name = f"{threads}.csv"
            text = self.run_ok("score", "in.npz", "-e", estimators, "--threads", threads, "--json", "-o", name)
            with open(self.path(name), "rb") as file:
                outputs.append((file.read(), text.replace(name, "")))
        self.assertEqual(outputs[0], outputs[1])
        self.assertEqual(outputs[0], outputs[2])

    def test_chunks_do_not_show(self):
        # 8 MiB of input a chunk: 3000 x 2 x 5 x 40 x 8 bytes are two of them, and 70 inputs alone are one.
        mean, stddev = mixture(3000, m=5, d=40)
        self.save(mean=mean, stddev=stddev)
        self.save("part.npz", mean=mean[2900:], stddev=stddev[2900:])
        self.run_ok("score", "in.npz", "-o", "all.npy", "-q", "-e", "bhattacharyya")
        self.run_ok("score", "part.npz", "-o", "part.npy", "-q", "-e", "bhattacharyya")
        np.testing.assert_array_equal(np.load(self.path("all.npy"))[2900:], np.load(self.path("part.npy")))


class Streaming(CliTest):
    def test_memory_is_constant(self):
        # 600 MB, the means as a hole in the file. Not written through a mapping: a child's peak starts at its parent's.
        n, row = 75000, 5 * 200 * 4
        for name in ("m.npy", "s.npy"):
            with open(self.path(name), "wb") as file:
                header = {"descr": "<f4", "fortran_order": False, "shape": (n, 5, 200)}
                np.lib.format.write_array_header_1_0(file, header)
                if name == "m.npy":
                    file.truncate(file.tell() + n * row)
                else:
                    ones = np.ones(1000 * row // 4, "f4").tobytes()
                    for _ in range(n // 1000):
                        file.write(ones)
        command = [PROGRAM, "score", "m.npy,s.npy", "--top", "3", "-o", "top.csv", "-q", "--threads", "2"]
        child = subprocess.Popen(command, cwd=self.dir)
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        self.assertEqual(child.returncode, 0)
        self.assertLess(usage.ru_maxrss, (600 if SANITIZED else 100) * 1024, "KiB resident at the peak")
        np.testing.assert_array_equal(self.read_csv("top.csv")["index"], [0, 1, 2])
        np.testing.assert_array_equal(self.read_csv("top.csv")["epistemic"], 0)


if __name__ == "__main__":
    unittest.main()
