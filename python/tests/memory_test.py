"""No copies, no leaks, and 1,000 strange calls that end in a result or in a clean exception."""
import resource
import unittest
import warnings

import numpy as np

import dissent
from support import PackageTest, mixture


def peak_growth_mib(body):
    """How far the resident memory rises while body() runs."""
    with open("/proc/self/clear_refs", "w") as file:
        file.write("5")  # the peak starts anew
    before = resident_mib()
    body()
    with open("/proc/self/status") as file:
        peak = next(int(line.split()[1]) for line in file if line.startswith("VmHWM:"))
    return peak / 1024 - before


def resident_mib():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * resource.getpagesize() / 2**20


class NoCopy(PackageTest):
    def test_a_large_float32_input_is_read_where_it_lies(self):
        """103 MB in two arrays: results and scratch take a tenth of one; where a copy is needed, it shows."""
        shape = (10000, 5, 257)
        mean = np.random.default_rng(0).standard_normal(shape, dtype=np.float32)
        stddev = np.full(shape, 0.5, dtype=np.float32)
        dissent.epistemic(mean[:100], stddev[:100])
        self.assertLess(peak_growth_mib(lambda: dissent.uncertainty(mean, stddev)), 5)
        self.assertGreater(peak_growth_mib(lambda: dissent.uncertainty(mean[::-1], stddev)), 45)

    def test_results_own_their_memory(self):
        mean, stddev = mixture(1000)
        columns = [dissent.uncertainty(mean, stddev).epistemic for _ in range(3)]
        columns[0][:] = 0
        self.assertTrue((columns[1] == columns[2]).all() and (columns[1] > 0).any())


class Fuzz(PackageTest):
    """Each call is drawn from a fixed seed: shapes, types, strides, bad values, read-only, empty, wrong kinds."""

    def draw(self, random):
        n, m, d = (int(random.choice([1, 2, 3, 7, 65])) if random.random() < 0.95 else 0 for _ in range(3))
        mean, stddev = mixture(n, m, d, seed=int(random.integers(100)))
        spread = {"stddev": stddev}
        if random.random() < 0.2:
            spread = {"covariance": stddev[..., None] ** 2 * np.eye(d)}
        arguments = {"mean": mean, **spread}
        for name in list(arguments):
            arguments[name] = self.disturb(arguments[name], random)
        strange = [None, "kl", 3, [], [[]], object(), b"bytes", np.array("x"), np.float32(1), {}, np.zeros(3, "M8[s]")]
        choices = {
            "weights": [None, np.full(max(m, 1), 1 / max(m, 1)), [1, 2, 3], np.zeros(m), "half", [[1]], [np.nan] * m],
            "estimator": [
                "kl",
                "bounds",
                "chernoff:0.5",
                "epkl",
                "mc:3",
                "refine:2",
                "",
                "mc",
                "mc:-1",
                "kl:1",
                5,
                None,
            ],
            "axis": [1, 0, -1, 3, "x", None],
            "seed": [0, 2**64 - 1, 2**64, -1, "a", None],
            "threads": [None, 1, 2, 0, -5, 2**40, 1.5],
        }
        for name, values in choices.items():
            if random.random() < 0.15:
                arguments[name] = values[int(random.integers(len(values)))]
        if random.random() < 0.1:
            name = list(arguments)[int(random.integers(len(arguments)))]
            arguments[name] = strange[int(random.integers(len(strange)))]
        return arguments

    def disturb(self, values, random):
        kind = random.integers(20)
        if kind == 0 and values.size:
            values = values.copy()
            values.flat[int(random.integers(values.size))] = random.choice(
                [np.nan, np.inf, -np.inf, 0, -1, 1e308, 1e-308]
            )
        if kind == 1:
            return values.astype(random.choice(["f2", "f4", "f8", ">f8", "i4", "u1", "?", "c16", "O", "U5", "f16"]))
        if kind == 2:
            return np.asfortranarray(values)
        if kind == 3:
            return np.repeat(values, 2, axis=-1)[..., ::2]
        if kind == 4:
            return values[::-1]
        if kind == 5:
            values = values.copy()
            values.flags.writeable = False
        if kind == 6:
            return values.tolist()
        if kind == 7:
            return values[..., 0] if values.shape[-1] else values
        if kind == 8:
            return np.broadcast_to(values[:1], values.shape) if len(values) else values
        if kind == 9:
            return values[None]
        return values

    def run_calls(self, random, count):
        outcomes = {"result": 0, "error": 0}
        for _ in range(count):
            arguments = self.draw(random)
            function = [dissent.uncertainty, dissent.epistemic][int(random.integers(2))]
            try:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")  # of unusual shapes
                    result = function(**arguments)
            except (ValueError, TypeError) as error:
                self.assertTrue(str(error))
                outcomes["error"] += 1
            else:
                epistemic = result if isinstance(result, np.ndarray) else result.epistemic
                self.assertEqual(epistemic.dtype, np.float64)
                self.assertFalse(np.isnan(epistemic).any())
                outcomes["result"] += 1
        return outcomes

    def test_a_thousand_calls_end_well(self):
        outcomes = self.run_calls(np.random.default_rng(0), 1000)
        self.assertGreater(min(outcomes.values()), 200, outcomes)

    def test_nothing_is_leaked(self):
        """The same calls again and again: memory that grew with each would show as megabytes."""
        self.run_calls(np.random.default_rng(1), 300)
        mean, stddev = mixture(2000)
        bad = stddev.copy()
        bad[1999] = -1

        def both():
            dissent.uncertainty(mean, stddev)
            with self.assertRaises(ValueError):
                dissent.uncertainty(mean, bad)

        for _ in range(50):
            both()
        before = resident_mib()
        for _ in range(400):  # 400 results of 64 kB, were they kept, are 25 MB
            both()
        self.run_calls(np.random.default_rng(1), 300)
        self.assertLess(resident_mib() - before, 6)


if __name__ == "__main__":
    unittest.main()
