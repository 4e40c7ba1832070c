"""Mixtures, rows and tables to test with, and the command line program that results are compared with."""
import os
import signal
import subprocess
import tempfile
import unittest

import numpy as np
import pandas as pd

import dissent

PROGRAM = os.environ.get("DISSENT_PROGRAM", "dissent")
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

NETWORKS = (dissent.FlowEnsemble, dissent.ProbabilisticEnsemble)
EVERY = (*NETWORKS, dissent.GaussianProcessEnsemble, dissent.AutoEnsemble)


def mixture(n=50, m=4, d=3, seed=1, dtype="f8"):
    random = np.random.default_rng(seed)
    mean = random.normal(size=(n, m, d)).astype(dtype)
    stddev = np.exp(0.3 * random.normal(size=(n, m, d))).astype(dtype)
    return mean, stddev


def covariances(n=20, m=3, d=2, seed=1, dtype="f8"):
    random = np.random.default_rng(seed)
    factor = np.tril(random.normal(size=(n, m, d, d))) + 2 * np.eye(d)
    covariance = factor @ np.swapaxes(factor, -1, -2)
    return random.normal(size=(n, m, d)).astype(dtype), ((covariance + np.swapaxes(covariance, -1, -2)) / 2).astype(
        dtype
    )


def make(kind, epochs, **options):
    """Networks with as many epochs; a Gaussian process has none."""
    return kind(**options) if kind is dissent.GaussianProcessEnsemble else kind(epochs=epochs, **options)


def rows(n=60, d=1, seed=0):
    random = np.random.default_rng(seed)
    x = random.uniform(-1, 1, size=(n, 2))
    y = np.sin(3 * x[:, :1]) + x[:, 1:] * np.arange(1, d + 1) + 0.1 * random.normal(size=(n, d))
    return x, y[:, 0] if d == 1 else y


def tables(seed=0):
    random = np.random.default_rng(seed)
    labelled = pd.DataFrame(random.uniform(-1, 1, size=(30, 2)), columns=["a", "b"])
    labelled["y"] = np.sin(3 * labelled.a) + labelled.b
    pool = pd.DataFrame(random.uniform(-2, 2, size=(200, 2)), columns=["a", "b"])
    return labelled, pool


def dissent_program(*arguments, cwd=None):
    return subprocess.run([PROGRAM, *map(str, arguments)], cwd=cwd, capture_output=True, text=True)


class ActiveLearner:
    """What the ActiveLearner of modAL 0.4.2 does with an estimator and a query strategy, since Debian lacks modAL."""

    def __init__(self, estimator, query_strategy, X_training, y_training):
        self.estimator, self.query_strategy = estimator, query_strategy
        self.X_training, self.y_training = X_training, y_training
        estimator.fit(X_training, y_training)

    def query(self, X_pool, *arguments, return_metrics=False, **options):
        try:  # an array of two rows would be taken for a pair
            rows, metrics = self.query_strategy(self, X_pool, *arguments, **options)
        except Exception:
            rows, metrics = self.query_strategy(self, X_pool, *arguments, **options), None
        instances = X_pool.iloc[rows] if hasattr(X_pool, "iloc") else X_pool[rows]
        return (rows, instances, metrics) if return_metrics else (rows, instances)

    def teach(self, X, y):
        self.X_training = np.concatenate([self.X_training, X])
        self.y_training = np.concatenate([self.y_training, y])
        self.estimator.fit(self.X_training, self.y_training)


class FolderTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def path(self, *names):
        return os.path.join(self.folder, *names)

    def program(self, *arguments):
        run = dissent_program(*arguments, cwd=self.folder)
        self.assertEqual(run.returncode, 0, run.stderr)
        return run.stdout


class PackageTest(unittest.TestCase):
    """A test of the package; CMake registers each class that derives from this."""

    def assert_interrupted(self, call):
        """Ctrl-C ends a call from within.

        A timer's signals are heard first, and Ctrl-C follows when three of them were heard at the same place in Python:
        while that place waited for C++. Python moves on between two signals, and a call that looks for them only when
        it is done hears one of them.
        """
        places = []

        def tick(number, frame):
            places.append((frame, frame.f_lasti))
            if places[-3:] == 3 * places[-1:]:
                signal.raise_signal(signal.SIGINT)

        before = signal.signal(signal.SIGALRM, tick)
        signal.setitimer(signal.ITIMER_REAL, 0.05, 0.05)
        try:
            with self.assertRaises(KeyboardInterrupt):
                call()
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
            signal.signal(signal.SIGALRM, before)

    def assert_same_bits(self, a, b):
        a, b = np.asarray(a), np.asarray(b)
        self.assertEqual((a.shape, a.dtype), (b.shape, b.dtype))
        self.assertEqual(a.tobytes(), b.tobytes())
