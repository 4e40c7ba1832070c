"""Arrays where they lie: scored as uncertainty() scores them, and rows chosen as on the host, on a card without a copy."""
import contextlib
import sys
import types
import unittest
import unittest.mock

import numpy as np

import dissent
from dissent import _device_arrays
from support import PackageTest

try:
    import torch

    HAS_CARD = torch.cuda.is_available()
except ImportError:
    HAS_CARD = False

try:
    import jax

    JAX_HAS_CARD = jax.default_backend() == "gpu"
except ImportError:
    JAX_HAS_CARD = False


class OnACard:
    """What a tensor on a card that is not there would say."""

    def __init__(self, number=0):
        self.number = number

    def __dlpack_device__(self):
        return (2, self.number)

    def __dlpack__(self, **how):
        raise BufferError("there is no card")


def arrays(dtype=np.float32):
    generator = np.random.default_rng(1)
    mean = generator.normal(size=(50, 5, 11)).astype(dtype)
    return mean, np.exp(generator.normal(size=mean.shape)).astype(dtype)


class Score(PackageTest):
    def test_on_the_host_it_is_uncertainty(self):
        mean, stddev = arrays()
        got, expected = dissent.score(mean, stddev, "bhattacharyya"), dissent.uncertainty(
            mean, stddev, estimator="bhattacharyya"
        )
        np.testing.assert_array_equal(got.epistemic, expected.epistemic)
        np.testing.assert_array_equal(got.log_deficit, expected.log_deficit)

    def test_arrays_on_different_devices_are_refused(self):
        with self.assertRaisesRegex(ValueError, "same card"):
            dissent.score(arrays()[0], OnACard())
        with self.assertRaisesRegex(ValueError, "same card"):
            dissent.score(OnACard(0), OnACard(1))

    @unittest.skipIf(HAS_CARD, "there is a card")
    def test_without_a_card_it_says_so(self):
        with self.assertRaisesRegex((OSError, ValueError), "(card|CUDA|driver).*; arrays can be brought to the host"):
            dissent.score(OnACard(), OnACard())

    @unittest.skipUnless(HAS_CARD, "no card, or no torch")
    def test_tensors_are_scored_where_they_are(self):
        for dtype, relative in ((np.float32, 1e-6), (np.float64, 1e-10)):
            for estimator in ("kl", "chernoff:0.3", "bounds"):
                mean, stddev = arrays(dtype)
                tensors = torch.tensor(mean).cuda(), torch.tensor(stddev).cuda()
                got = dissent.score(*tensors, estimator)
                expected = dissent.uncertainty(mean, stddev, estimator=estimator)
                epistemic = torch.from_dlpack(got)
                self.assertEqual(epistemic.device.type, "cuda")
                np.testing.assert_allclose(epistemic.cpu().numpy(), expected.epistemic, rtol=2 * relative)
                on_host = got.numpy()
                self.assertEqual(list(on_host.extras), list(expected.extras))
                for k in (0, 3, 50, 70):
                    np.testing.assert_array_equal(got.top(k), on_host.top(k))
                np.testing.assert_allclose(on_host.log_deficit, expected.log_deficit, rtol=2 * relative, atol=2 * relative)
                np.testing.assert_array_equal(on_host.total, on_host.aleatoric + on_host.epistemic)

    @unittest.skipUnless(HAS_CARD, "no card, or no torch")
    def test_bad_tensors_are_refused(self):
        mean, stddev = (torch.tensor(array).cuda() for array in arrays())
        with self.assertRaisesRegex(ValueError, "contiguous"):
            dissent.score(mean.transpose(0, 1), stddev.transpose(0, 1))
        with self.assertRaisesRegex(ValueError, "float32"):
            dissent.score(mean.double(), stddev)
        with self.assertRaisesRegex(ValueError, "same shape"):
            dissent.score(mean[1:], stddev)
        with self.assertRaisesRegex(ValueError, "float32"):
            dissent.score(mean.half(), stddev.half())
        with self.assertRaisesRegex(ValueError, "float32"):
            dissent.score(mean.int(), stddev.int())
        with self.assertRaisesRegex(ValueError, "same card"):
            dissent.score(mean, stddev.cpu())
        with self.assertRaisesRegex(ValueError, "no components"):
            dissent.score(mean[:, :0], stddev[:, :0])
        with self.assertRaisesRegex(ValueError, "axes"):
            dissent.score(mean[0, 0], stddev[0, 0])
        with self.assertRaisesRegex(ValueError, "no kernel"):
            dissent.score(mean, stddev, "quadrature")
        for array, value, message in (
            (mean, float("nan"), r"mean\[7, 2, 3\] = nan"),
            (mean, float("-inf"), r"mean\[7, 2, 3\] = -inf"),
            (stddev, 0.0, r"stddev\[7, 2, 3\] = 0"),
            (stddev, -1.0, r"stddev\[7, 2, 3\] = -1"),
            (stddev, float("inf"), r"stddev\[7, 2, 3\] = inf"),
        ):
            before = array[7, 2, 3].item()
            array[7, 2, 3] = value
            with self.assertRaisesRegex(ValueError, message):
                dissent.score(mean, stddev)
            array[7, 2, 3] = before
        dissent.score(mean, stddev)

    @unittest.skipUnless(HAS_CARD, "no card, or no torch")
    def test_parts_of_tensors_are_scored_where_they_begin(self):
        for shape in ((40, 5, 11), (40, 4, 12), (40, 5, 257), (40, 9, 33)):
            generator = np.random.default_rng(2)
            mean = generator.normal(size=shape).astype(np.float32)
            stddev = np.exp(generator.normal(size=shape)).astype(np.float32)
            whole = torch.tensor(mean).cuda(), torch.tensor(stddev).cuda()
            for first, last in ((0, 40), (1, 40), (3, 39), (5, 6), (40, 40)):
                got = dissent.score(whole[0][first:last], whole[1][first:last])
                expected = dissent.uncertainty(mean, stddev).epistemic[first:last]
                self.assertEqual(len(got.epistemic), last - first)
                np.testing.assert_allclose(got.numpy().epistemic, expected, rtol=2e-6)
                self.assertEqual(len(got.top(3)), min(3, last - first))

    @unittest.skipUnless(HAS_CARD, "no card, or no torch")
    def test_what_is_still_being_written_is_waited_for(self):
        mean, stddev = arrays()
        expected = dissent.uncertainty(mean, stddev).epistemic
        source = torch.tensor(mean).cuda(), torch.tensor(stddev).cuda()
        for stream in (torch.cuda.current_stream(), torch.cuda.Stream()):
            stream.wait_stream(torch.cuda.current_stream())
            with torch.cuda.stream(stream):
                target = torch.zeros_like(source[0]), torch.zeros_like(source[1])
                torch.cuda._sleep(100_000_000)  # some 50 ms
                target[0].copy_(source[0])
                target[1].copy_(source[1])
                got = torch.from_dlpack(dissent.score(*target))
                np.testing.assert_allclose(got.cpu().numpy(), expected, rtol=2e-6)

    @unittest.skipUnless(HAS_CARD, "no card, or no torch")
    def test_results_outlive_what_they_were_made_of(self):
        mean, stddev = (torch.tensor(array).cuda() for array in arrays())
        mean.requires_grad_()
        expected = dissent.uncertainty(*arrays()).epistemic
        got = dissent.score(mean, stddev)
        epistemic, on_host = torch.from_dlpack(got.epistemic), got.epistemic.numpy()
        del got, mean, stddev
        torch.cuda.empty_cache()
        np.testing.assert_array_equal(epistemic.cpu().numpy(), on_host)
        np.testing.assert_allclose(on_host, expected, rtol=2e-6)

    @unittest.skipUnless(HAS_CARD, "no card, or no torch")
    def test_results_are_neither_copied_nor_moved_when_taken(self):
        got = dissent.score(*(torch.tensor(array).cuda() for array in arrays()))
        self.assertEqual(torch.from_dlpack(got.total).data_ptr(), torch.from_dlpack(got.total).data_ptr())
        with self.assertRaisesRegex(BufferError, "numpy"):
            got.epistemic.__dlpack__(copy=True)
        with self.assertRaisesRegex(BufferError, "numpy"):
            got.epistemic.__dlpack__(dl_device=(1, 0))
        got.epistemic.__dlpack__(dl_device=(2, 0), copy=False, stream=None)  # released with the capsule

    @unittest.skipUnless(JAX_HAS_CARD, "no card, or no JAX")
    def test_arrays_of_jax_are_scored_where_they_are(self):
        mean, stddev = arrays()
        got = dissent.score(jax.numpy.asarray(mean), jax.numpy.asarray(stddev), "bhattacharyya")
        expected = dissent.uncertainty(mean, stddev, estimator="bhattacharyya").epistemic
        self.assertEqual(got.__dlpack_device__(), (2, 0))
        np.testing.assert_allclose(got.numpy().epistemic, expected, rtol=2e-6)
        taken = jax.dlpack.from_dlpack(got.epistemic)
        np.testing.assert_allclose(np.asarray(taken), expected, rtol=2e-6)


class HandedOver(PackageTest):
    """torch waits for what is being written to a tensor only if the tensor's card is the current one."""

    def test_the_card_of_a_tensor_is_current(self):
        current = []

        class Tensor:
            device = "cuda:1"

            def detach(self):
                return self

            def __dlpack__(self, stream):
                return current[-1:], stream

        @contextlib.contextmanager
        def select(card):
            current.append(card)
            yield
            current.pop()

        torch = types.SimpleNamespace(Tensor=Tensor, cuda=types.SimpleNamespace(device=select))
        with unittest.mock.patch.dict(sys.modules, torch=torch):
            self.assertEqual(_device_arrays._capsule(Tensor(), 7), (["cuda:1"], 7))
        self.assertEqual(_device_arrays._capsule(Tensor(), 7), ([], 7))  # not one of torch's


class Query(PackageTest):
    def test_what_a_card_does_not_do_is_refused(self):
        mean, stddev = OnACard(), OnACard()
        for options, message in (
            ({"cost": [1.0, 2.0]}, "cost.*host"),
            ({"aim_mean": OnACard(), "aim_stddev": OnACard()}, "aim_mean.*host"),
            ({"aim_mean": np.ones((2, 5, 11)), "aim_stddev": np.ones((2, 5, 11))}, "aim_mean.*host"),
            ({"aim": [[1.0]]}, "aim_mean"),
            ({"candidates": 5}, "candidates.*host"),
            ({"return_utilities": True}, "return_utilities.*host"),
            ({"axis": 0}, "move axis 0 there.*host"),
            ({"axis": -1}, "move axis -1 there.*host"),
            ({"axis": 7}, "axis = 7"),
            ({"stddev": OnACard()}, "once"),
        ):
            with self.subTest(options), self.assertRaisesRegex(ValueError, message):
                dissent.query(mean, stddev, acquisition="kl", **options)
        with self.assertRaisesRegex(ValueError, "Mixture has its own"):
            dissent.query(dissent.Mixture(mean, stddev, np.full(5, 0.2)), stddev)
        with self.assertRaisesRegex(ValueError, "probabilities.*host"):
            dissent.query(probabilities=OnACard())
        with self.assertRaisesRegex(ValueError, "once"):
            dissent.query(mean)

    def test_arrays_on_different_devices_are_refused(self):
        for mean, stddev in ((arrays()[0], OnACard()), (OnACard(), 0.5), (OnACard(0), OnACard(1))):
            with self.assertRaisesRegex(ValueError, "same card"):
                dissent.query(mean, stddev, acquisition="kl")

    @unittest.skipIf(HAS_CARD, "there is a card")
    def test_without_a_card_it_says_so(self):
        with self.assertRaisesRegex((OSError, ValueError), "(card|CUDA|driver).*; arrays can be brought to the host"):
            dissent.query(OnACard(), OnACard(), acquisition="kl")

    @unittest.skipIf(HAS_CARD, "there is a card")
    def test_the_last_of_two_axes_is_the_second(self):
        mean, stddev = OnACard(), OnACard()
        mean.ndim, mean.shape = 2, (50, 5)
        for axis in (1, -1):
            with self.assertRaisesRegex((OSError, ValueError), "CUDA|driver|no code for cards"):
                dissent.query(mean, stddev, axis=axis, acquisition="kl")
        mean.ndim, mean.shape = 3, (50, 5, 11)
        with self.assertRaisesRegex(ValueError, "move axis -1 there"):
            dissent.query(mean, stddev, axis=-1, acquisition="kl")

    @unittest.skipUnless(HAS_CARD, "no card, or no torch")
    def test_rows_are_those_of_the_host(self):
        generator = np.random.default_rng(3)
        for dtype, shape in ((np.float32, (3000, 5, 11)), (np.float64, (500, 4, 257)), (np.float32, (800, 9))):
            mean = (0.3 * generator.normal(size=shape)).astype(dtype)
            stddev = np.exp(0.3 * generator.normal(size=shape)).astype(dtype)
            tensors = torch.tensor(mean).cuda(), torch.tensor(stddev).cuda()
            weights = np.full(shape[1], 1 / (shape[1] - 1))
            weights[1] = 0
            for options in (
                {"acquisition": "kl"},
                {"acquisition": "chernoff:0.3", "batch": 3},
                {"acquisition": "kl-joint", "batch": 40},
                {"acquisition": "bhattacharyya-joint", "weights": weights, "random_state": 5},
                {"acquisition": "jeffreys-joint", "ranking": "value", "batch": 2},
            ):
                with self.subTest(shape=shape, **options):
                    rows = dissent.query(*tensors, **options)
                    self.assertIsInstance(rows, np.ndarray)
                    self.assertEqual(rows.dtype.kind, "i")
                    np.testing.assert_array_equal(rows, dissent.query(mean, stddev, **options))
        expected = dissent.query(*tensors, acquisition="kl", weights=weights)
        np.testing.assert_array_equal(
            dissent.query(tensors[0], stddev=tensors[1], acquisition="kl", weights=weights), expected
        )
        np.testing.assert_array_equal(dissent.query(dissent.Mixture(*tensors, weights), acquisition="kl"), expected)

    def test_axes_that_look_swapped_are_doubted(self):
        swapped = OnACard()
        swapped.shape, swapped.ndim = (5, 300, 3), 3
        with self.assertWarnsRegex(UserWarning, r"\[5, 300, 3\].*swap the axes"), self.assertRaises((OSError, ValueError, BufferError)):
            dissent.query(swapped, swapped, acquisition="kl")

    @unittest.skipUnless(HAS_CARD, "no card, or no torch")
    def test_bad_tensors_and_methods_are_refused(self):
        mean, stddev = (torch.tensor(array).cuda() for array in arrays())
        for method in (None, "kl-aim", "mc:100", "random", "badge"):
            with self.assertRaisesRegex(ValueError, "cannot choose rows on a card.*kl-joint.*host"):
                dissent.query(mean, stddev, acquisition=method)
        with self.assertRaisesRegex(ValueError, "contiguous"):
            dissent.query(mean.transpose(0, 1), stddev.transpose(0, 1), acquisition="kl")
        with self.assertRaisesRegex(ValueError, "float32"):
            dissent.query(mean.double(), stddev, acquisition="kl")
        with self.assertRaisesRegex(ValueError, "same card"):
            dissent.query(mean, 0.5, acquisition="kl")
        with self.assertRaisesRegex(ValueError, "51 from 50"):
            dissent.query(mean, stddev, batch=51, acquisition="kl")
        with self.assertRaisesRegex(ValueError, "weights"):
            dissent.query(mean, stddev, acquisition="kl", weights=[0.5, 0.5])
        stddev[7, 2, 3] = -1
        for method in ("kl", "kl-joint"):
            with self.assertRaisesRegex(ValueError, r"stddev\[7, 2, 3\] = -1"):
                dissent.query(mean, stddev, acquisition=method)

    @unittest.skipUnless(HAS_CARD, "no card, or no torch")
    def test_what_is_still_being_written_is_waited_for(self):
        source = [torch.tensor(array).cuda() for array in arrays()]
        expected = dissent.query(*arrays(), acquisition="kl-joint")
        stream = torch.cuda.Stream()
        stream.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(stream):
            target = [torch.zeros_like(tensor) for tensor in source]
            torch.cuda._sleep(100_000_000)  # some 50 ms
            for to, tensor in zip(target, source):
                to.copy_(tensor)
            np.testing.assert_array_equal(dissent.query(*target, acquisition="kl-joint"), expected)

    @unittest.skipUnless(JAX_HAS_CARD, "no card, or no JAX")
    def test_arrays_of_jax_are_chosen_from_where_they_are(self):
        mean, stddev = arrays()
        rows = dissent.query(jax.numpy.asarray(mean), jax.numpy.asarray(stddev), acquisition="kl-joint")
        np.testing.assert_array_equal(rows, dissent.query(mean, stddev, acquisition="kl-joint"))


if __name__ == "__main__":
    unittest.main()
