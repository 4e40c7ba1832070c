"""Runs the program under test; its path is in the environment variable DISSENT_PROGRAM."""

import os
import resource
import subprocess
import tempfile
import unittest

import numpy as np

PROGRAM = os.environ["DISSENT_PROGRAM"]
SANITIZED = os.environ.get("DISSENT_SANITIZED") == "1"  # such programs reserve terabytes of address space


def dissent(*arguments, cwd=None, limit=None, **options):
    """Runs it; `limit` = (resource, bytes) is set in the child."""

    def prepare():
        if limit is not None:
            resource.setrlimit(limit[0], (limit[1], limit[1]))

    options.setdefault("stdout", subprocess.PIPE)
    command = [PROGRAM, *map(str, arguments)]
    return subprocess.run(command, cwd=cwd, stderr=subprocess.PIPE, text=True, preexec_fn=prepare, **options)


def mixture(n=50, m=4, d=3, seed=1, dtype="f8"):
    random = np.random.default_rng(seed)
    mean = random.normal(size=(n, m, d)).astype(dtype)
    stddev = np.exp(0.3 * random.normal(size=(n, m, d))).astype(dtype)
    return mean, stddev


def kl_reference(mean, stddev, weights=None):
    """Epistemic, aleatoric and log_deficit by the plain formulas, in float64."""
    mean, stddev = mean.astype("f8"), stddev.astype("f8")
    m, d = mean.shape[1:]
    w = np.full(m, 1 / m) if weights is None else np.asarray(weights)
    mi, mj = mean[:, :, None], mean[:, None, :]
    si, sj = stddev[:, :, None], stddev[:, None, :]
    kl = (np.log(sj / si) + (si**2 + (mi - mj) ** 2) / (2 * sj**2) - 0.5).sum(-1)
    epistemic = -(w * np.log((w[None, None, :] * np.exp(-kl)).sum(-1))).sum(-1)
    used = np.flatnonzero(w)
    others = [sum(w[j] / w[i] * np.exp(-kl[:, i, j]) for j in used if j != i) for i in used]
    deficit = sum(w[i] * np.log1p(other) for i, other in zip(used, others))  # H(w) - epistemic, without cancelling
    aleatoric = (w * (0.5 * d * np.log(2 * np.pi * np.e) + np.log(stddev).sum(-1))).sum(-1)
    return epistemic, aleatoric, np.log(deficit)


class CliTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.dir = folder.name

    def path(self, name):
        return os.path.join(self.dir, name)

    def save(self, name="in.npz", **arrays):
        np.savez(self.path(name), **arrays)
        return self.path(name)

    def run_ok(self, *arguments, **options):
        result = dissent(*arguments, cwd=self.dir, **options)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(result.stderr, "")
        return result.stdout

    def run_bad(self, code, *arguments, says=(), **options):
        """Fails with `code` and one line on stderr that contains each of `says`; leaves no file behind."""
        before = sorted(os.listdir(self.dir))
        result = dissent(*arguments, cwd=self.dir, **options)
        self.assertEqual(result.returncode, code, result.stderr)
        self.assertRegex(result.stderr, r"\Adissent[^\n]*: [^\n]+\n\Z")
        for text in [says] if isinstance(says, str) else says:
            self.assertIn(text, result.stderr)
        self.assertEqual(sorted(os.listdir(self.dir)), before)
        return result

    def read_csv(self, name):
        return np.genfromtxt(self.path(name), delimiter=",", names=True)
