"""Scores of arrays where they lie: on the host as uncertainty() has them, on a card without a copy."""
import unittest

import numpy as np

import dissent
from support import PackageTest

try:
    import torch

    HAS_CARD = torch.cuda.is_available()
except ImportError:
    HAS_CARD = False


class OnACard:
    """What a tensor on a card that is not there would say."""

    def __init__(self, number=0):
        self.number = number

    def __dlpack_device__(self):
        return (2, self.number)


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
        with self.assertRaisesRegex((OSError, ValueError), "card|CUDA|driver"):
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
        mean[7, 2, 3] = float("nan")
        with self.assertRaisesRegex(ValueError, r"mean\[7, 2, 3\] = nan"):
            dissent.score(mean, stddev)


if __name__ == "__main__":
    unittest.main()
