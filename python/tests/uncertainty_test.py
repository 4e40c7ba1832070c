"""dissent.uncertainty and its kin: equal to the command line, any array, clean errors, threads, Ctrl-C, no leaks."""
import array
import os
import tempfile
import threading
import unittest

import numpy as np
import pandas as pd

import dissent
from support import PackageTest, covariances, dissent_program, mixture


def score(estimator, **arrays):
    """The columns that the command line gives for the same arrays."""
    with tempfile.TemporaryDirectory() as folder:
        np.savez(os.path.join(folder, "in.npz"), **arrays)
        run = dissent_program("score", "in.npz", "-e", estimator, "-o", "out.npz", "-q", "--seed", 7, cwd=folder)
        if run.returncode != 0:
            raise RuntimeError(run.stderr)
        with np.load(os.path.join(folder, "out.npz")) as columns:
            return dict(columns)


class SameBits(PackageTest):
    """As the C++ library, through the command line."""

    def check(self, estimator, **arrays):
        expected = score(estimator, **arrays)
        result = dissent.uncertainty(**arrays, estimator=estimator, seed=7)
        for name in ("epistemic", "aleatoric", "total", "log_deficit"):
            self.assert_same_bits(getattr(result, name), expected.pop(name))
        expected.pop("index", None)
        self.assertEqual(set(result.extras), set(expected))
        for name, values in expected.items():
            self.assert_same_bits(result.extras[name], values)

    def test_every_estimator(self):
        for info in dissent.estimators():
            name = info.name.replace(":A", ":0.3").replace(":K", ":5")
            outputs = 1 if name == "quadrature" else 3
            for dtype in ("f4", "f8"):
                mean, stddev = mixture(70, d=outputs, dtype=dtype)
                with self.subTest(name, dtype=dtype):
                    self.check(name, mean=mean, stddev=stddev)

    def test_weights_and_covariance(self):
        mean, covariance = covariances()
        self.check("kl", mean=mean, covariance=covariance, weights=np.array([0.5, 0.3, 0.2]))
        self.check("bounds", mean=mean.astype("f4"), covariance=covariance.astype("f4"))

    def test_any_number_of_threads(self):
        mean, stddev = mixture(5000, d=7, dtype="f4")
        one = dissent.uncertainty(mean, stddev, threads=1)
        for threads in (2, 3, None):
            for a, b in zip(one[:4], dissent.uncertainty(mean, stddev, threads=threads)[:4]):
                self.assert_same_bits(a, b)

    def test_parts(self):
        mean, stddev = mixture()
        result = dissent.uncertainty(mean, stddev, estimator="bounds")
        bounds = dissent.bounds(mean, stddev)
        self.assert_same_bits(bounds.lower, result.extras["lower"])
        self.assert_same_bits(bounds.upper, dissent.epistemic(mean, stddev))
        self.assertTrue((bounds.lower <= bounds.upper).all())


class Divergences(PackageTest):
    def test_kl_by_its_formula(self):
        mean, stddev = mixture(130)
        result = dissent.divergence(mean, stddev)
        mi, mj, si, sj = mean[:, :, None], mean[:, None], stddev[:, :, None], stddev[:, None]
        expected = (np.log(sj / si) + (si**2 + (mi - mj) ** 2) / (2 * sj**2) - 0.5).sum(-1)
        np.testing.assert_allclose(result, expected, rtol=1e-11, atol=1e-12)

    def test_full_covariance_and_kinds(self):
        mean, stddev = mixture(20)
        covariance = stddev[..., None] ** 2 * np.eye(3)
        for kind in ("kl", "bhattacharyya", "chernoff:0.3", "renyi:2", "hellinger", "wasserstein", "min", "max"):
            with self.subTest(kind):
                diagonal = dissent.divergence(mean, stddev, kind=kind)
                full = dissent.divergence(mean, covariance=covariance, kind=kind)
                np.testing.assert_allclose(full, diagonal, rtol=1e-9, atol=1e-12)
        self.assertEqual(dissent.divergence(*mixture(0)).shape, (0, 4, 4))


class Sources(PackageTest):
    """The same numbers in any container, layout or type."""

    def setUp(self):
        self.mean, self.stddev = mixture(40)
        self.expected = dissent.epistemic(self.mean, self.stddev)

    def test_layouts(self):
        wide = np.zeros((40, 4, 6))
        wide[:, :, ::2] = self.mean
        unaligned = np.frombuffer(b"-" + self.mean.tobytes(), dtype="u1")[1:].view("f8").reshape(self.mean.shape)
        self.assertFalse(unaligned.flags.aligned)
        read_only = self.mean.copy()
        read_only.flags.writeable = False
        for mean in (
            np.asfortranarray(self.mean),
            wide[:, :, ::2],
            self.mean[::-1].copy()[::-1],
            self.mean.astype(">f8"),
            unaligned,
            read_only,
            self.mean.tolist(),
            memoryview(self.mean),
        ):
            self.assert_same_bits(dissent.epistemic(mean, self.stddev), self.expected)

    def test_axis_of_components(self):
        mean, stddev = self.mean, self.stddev
        for axis in (0, -1):
            a, b = (np.ascontiguousarray(np.moveaxis(x, 1, axis)) for x in (mean, stddev))
            self.assert_same_bits(dissent.epistemic(a, b, axis=axis), self.expected)
        mean, covariance = covariances()
        expected = dissent.epistemic(mean, covariance=covariance)
        for axis in (0, -1):
            a, b = (np.moveaxis(x, 1, axis) for x in (mean, covariance))
            self.assert_same_bits(dissent.epistemic(a, covariance=b, axis=axis), expected)

    def test_one_output_without_its_axis(self):
        mean, stddev = mixture(40, d=1)
        expected = dissent.epistemic(mean, stddev)
        self.assert_same_bits(dissent.epistemic(mean[:, :, 0], stddev), expected)
        self.assert_same_bits(dissent.epistemic(mean[:, :, 0].T, stddev[:, :, 0].T, axis=0), expected)
        self.assert_same_bits(dissent.epistemic(mean[:, :, 0], stddev[:, :, 0], axis=-1), expected)

    def test_a_mixture_has_all(self):
        mean, stddev = mixture()
        weights = [0.4, 0.3, 0.2, 0.1]
        given = dissent.Mixture(mean, stddev, weights)
        for function in (dissent.epistemic, dissent.bounds, dissent.divergence, dissent.score):
            own = {} if function is dissent.divergence else {"weights": weights}
            np.testing.assert_equal(function(given), function(mean, stddev, **own))
        np.testing.assert_array_equal(dissent.Mixture(mean, stddev).weights, np.full(4, 0.25))
        self.assertIn("4 components at 50 inputs, 1 output", repr(dissent.Mixture(mean[..., 0], stddev[..., 0])))
        for wrong in (mean[:, 0, 0], mean[:, :0]):
            with self.assertRaisesRegex(ValueError, "M > 0 components"):
                dissent.Mixture(wrong, wrong)
        np.testing.assert_array_equal(dissent.epistemic(dissent.Mixture(mean, stddev)), dissent.epistemic(mean, stddev))

    def test_numbers_that_python_holds(self):
        mean, stddev = mixture()
        np.testing.assert_array_equal(dissent.epistemic(mean.astype(object), stddev), dissent.epistemic(mean, stddev))
        with self.assertRaisesRegex(ValueError, "mean has type object"):
            dissent.epistemic(np.array([["1", "2"]], dtype=object), 1.0)

    def test_buffers(self):
        mean, stddev = mixture(1, d=1)
        rows = [array.array("d", x.ravel()) for x in (mean, stddev)]
        a, b = (memoryview(x).cast("B").cast("d", (1, 4)) for x in rows)
        self.assert_same_bits(dissent.epistemic(a, b), dissent.epistemic(mean, stddev))

    def test_types(self):
        half = [x.astype("f2") for x in (self.mean, self.stddev)]
        self.assert_same_bits(dissent.epistemic(*half), dissent.epistemic(*(x.astype("f4") for x in half)))
        whole = np.rint(4 * self.mean)
        expected = dissent.epistemic(whole, self.stddev)
        for dtype in ("i4", "i8", "i1", "f4"):
            self.assert_same_bits(dissent.epistemic(whole.astype(dtype), self.stddev), expected)

    def test_torch(self):
        try:
            import torch
        except ImportError:
            self.skipTest("torch is not installed")
        a, b = (torch.from_numpy(x) for x in (self.mean, self.stddev))
        self.assert_same_bits(dissent.epistemic(a, b), self.expected)
        self.assert_same_bits(dissent.epistemic(a.clone().requires_grad_(), b), self.expected)
        self.assert_same_bits(dissent.epistemic(a.permute(2, 0, 1).contiguous().permute(1, 2, 0), b), self.expected)
        self.assert_same_bits(dissent.epistemic(a.transpose(0, 1), b.transpose(0, 1), axis=0), self.expected)
        with self.assertRaisesRegex(ValueError, r"mean cannot be read by numpy .*mean\.cpu\(\)\.float\(\)"):
            dissent.epistemic(a.bfloat16(), b)

    def test_dlpack_alone(self):
        class Exporter:
            def __init__(self, values):
                self.values = values

            def __dlpack__(self, stream=None):
                return self.values.__dlpack__()

            def __dlpack_device__(self):
                return self.values.__dlpack_device__()

        self.assert_same_bits(dissent.epistemic(Exporter(self.mean), self.stddev), self.expected)


class Errors(PackageTest):
    """ValueError, with what the command line says of the same arrays."""

    def check(self, **arrays):
        with self.assertRaises(RuntimeError) as program:
            score("kl", **arrays)
        with self.assertRaises(ValueError) as package:
            dissent.uncertainty(**arrays)
        text = str(package.exception).replace("mixture: ", "").replace("weights: ", "")
        self.assertIn(text, str(program.exception))

    def test_same_text(self):
        mean, stddev = mixture(70)
        for index, value in (((3, 1, 2), -1), ((69, 0, 0), 0), ((8, 2, 1), np.nan), ((64, 3, 2), np.inf)):
            wrong = stddev.copy()
            wrong[index] = value
            self.check(mean=mean, stddev=wrong)
        self.check(mean=np.where(np.arange(3) == 1, np.nan, mean), stddev=stddev)
        self.check(mean=mean[0, 0], stddev=stddev)
        self.check(mean=mean[:, :0], stddev=stddev[:, :0])
        self.check(mean=mean[..., :0], stddev=stddev[..., :0])
        self.check(mean=mean, stddev=stddev, weights=np.array([0.5, 0.5, 0.5, -0.5]))
        self.check(mean=mean, stddev=stddev, weights=np.full(4, 0.3))
        mean, covariance = covariances()
        self.check(mean=mean, covariance=-covariance)

    def test_components_in_the_place_of_inputs(self):
        mean, stddev = np.zeros((5, 12000)), np.ones((5, 12000))
        for call in (dissent.epistemic, dissent.bounds, dissent.divergence):
            with self.assertRaisesRegex(ValueError, "M = 12000 components of 5 inputs; pass axis=0 if components come"):
                call(mean, stddev)
        self.assertEqual(dissent.epistemic(mean, stddev, axis=0).shape, (12000,))
        with self.assertWarnsRegex(UserWarning, "M = 12000"):
            self.assertEqual(dissent.epistemic(mean, stddev, estimator="mc:1").shape, (5,))

    def test_first_of_several_on_any_number_of_threads(self):
        mean, stddev = mixture(20000)
        stddev[[13, 19999]] = -1
        for threads in (1, 3):
            with self.assertRaisesRegex(ValueError, r"stddev\[13, 0, 0\] = -1 is not positive"):
                dissent.epistemic(mean, stddev, threads=threads)

    def test_arguments(self):
        mean, stddev = mixture()
        cases = [
            (ValueError, "exactly one of stddev and covariance", dict(mean=mean)),
            (ValueError, "exactly one of stddev and covariance", dict(mean=mean, stddev=stddev, covariance=stddev)),
            (ValueError, "'klx' is not known", dict(mean=mean, stddev=stddev, estimator="klx")),
            (TypeError, "estimator must be a name, not int", dict(mean=mean, stddev=stddev, estimator=3)),
            (ValueError, "axis = 2", dict(mean=mean, stddev=stddev, axis=2)),
            (ValueError, "threads = 0", dict(mean=mean, stddev=stddev, threads=0)),
            (ValueError, "seed = -1", dict(mean=mean, stddev=stddev, seed=-1)),
            (TypeError, "seed = None; it must be a whole number", dict(mean=mean, stddev=stddev, seed=None)),
            (TypeError, "threads = 1.5; it must be a whole number", dict(mean=mean, stddev=stddev, threads=1.5)),
            (ValueError, "a Mixture has its own stddev", dict(mean=dissent.Mixture(mean, stddev), stddev=1.0)),
            (ValueError, "on its second axis", dict(mean=dissent.Mixture(mean, stddev), axis=0)),
            (ValueError, "mean has type <U1", dict(mean=np.full((5, 4), "a"), stddev=stddev)),
            (ValueError, "mean has type complex128", dict(mean=mean * 1j, stddev=stddev)),
            (ValueError, "mean has type object", dict(mean=None, stddev=stddev)),
            (ValueError, "weights: there are none", dict(mean=mean, stddev=stddev, weights=[])),
            (ValueError, r"weights has shape \[1, 4\]", dict(mean=mean, stddev=stddev, weights=[[0.25] * 4])),
            (
                ValueError,
                r"stddev has shape \(50, 4\), but the mean \(50, 4, 3\)",
                dict(mean=mean, stddev=stddev[..., 0]),
            ),
            (ValueError, "masked", dict(mean=np.ma.masked_greater(mean, 1), stddev=stddev)),
        ]
        for kind, text, arguments in cases:
            with self.subTest(text), self.assertRaisesRegex(kind, text):
                dissent.uncertainty(**arguments)


class LongCalls(PackageTest):
    def test_a_thread_scores_while_another_does(self):
        """Many short calls fit into one long call: no more than one or two would if it held the interpreter's lock."""
        mean, stddev = mixture(200, m=10, d=20)
        long_call = threading.Thread(target=lambda: dissent.epistemic(mean, stddev, estimator="mc:2000", threads=1))
        long_call.start()
        count = 0
        while long_call.is_alive():
            dissent.epistemic(mean[:10], stddev[:10])
            count += 1
        self.assertGreater(count, 20)

    def test_many_threads_agree(self):
        mean, stddev = mixture(2000, d=9)
        expected = dissent.epistemic(mean, stddev)
        results = [None] * 8

        def work(k):
            results[k] = [dissent.epistemic(mean, stddev, threads=1 + k % 2) for _ in range(5)]

        threads = [threading.Thread(target=work, args=(k,)) for k in range(len(results))]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        for result in results:
            for values in result:
                self.assert_same_bits(values, expected)

    def test_control_c(self):
        mean, stddev = mixture(3000, m=10, d=20)
        self.assert_interrupted(lambda: dissent.epistemic(mean, stddev, estimator="mc:20000"))
        self.assertEqual(len(dissent.epistemic(mean[:5], stddev[:5])), 5)


class ListsOfTensors(PackageTest):
    def test_one_per_component(self):
        """As a loop over an ensemble's models collects them: components first."""
        import torch

        mean, stddev = mixture(20, 4, 3)
        expected = dissent.epistemic(mean, stddev)
        for make in (list, tuple):
            means = make(torch.tensor(mean[:, k], requires_grad=k == 2) for k in range(4))
            stddevs = make(torch.tensor(stddev[:, k]) for k in range(4))
            self.assert_same_bits(dissent.epistemic(means, stddevs, axis=0), expected)
        with self.assertRaisesRegex(ValueError, r"items have shapes \(2,\), \(3,\)"):
            dissent.epistemic([torch.ones(2), torch.ones(3)], stddev, axis=0)
        with self.assertRaisesRegex(ValueError, r"mean\[1\] has type"):
            dissent.epistemic([torch.ones(2), "a"], stddev, axis=0)

    def test_gradients_are_left_behind(self):
        import torch

        mean, stddev = mixture(12, 3, 1)
        x, y = mean[:, :, 0], stddev[:, 0, 0]
        scalars = [[torch.tensor(value, requires_grad=True) for value in row] for row in x]
        spread = torch.tensor(stddev[:, :, 0], requires_grad=True)
        self.assert_same_bits(dissent.epistemic(scalars, spread), dissent.epistemic(mean, stddev))

        expected = dissent.ProbabilisticEnsemble(epochs=2, random_state=0).fit(x, y).predict(x)
        whole = torch.tensor(x, requires_grad=True)
        for inputs in (whole, list(whole), scalars):
            model = dissent.ProbabilisticEnsemble(epochs=2, random_state=0)
            model.fit(inputs, torch.tensor(y, requires_grad=True))
            self.assert_same_bits(model.predict(inputs), expected)
        with self.assertRaisesRegex(ValueError, r"X cannot be read by numpy.*pass X.cpu\(\).float\(\)"):
            model.predict(whole.to(torch.bfloat16))


class Tables(PackageTest):
    def test_columns_make_a_frame(self):
        u = dissent.uncertainty(*mixture(20, 4, 3), estimator="bounds")
        frame = pd.DataFrame(u.columns())
        self.assertEqual(frame.shape, (20, 4 + len(u.extras)))
        self.assert_same_bits(frame.lower, u.extras["lower"])
        self.assertIn("extras", u._asdict())


if __name__ == "__main__":
    unittest.main()
