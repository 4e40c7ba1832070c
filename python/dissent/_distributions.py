"""Predicted distributions of each output by itself, for the metrics and plots: Gaussians, mixtures of them, draws.

N rows, D outputs. cdf, crps and log_density take y [N, D] and return [N, D]; quantile takes levels [Q] and returns
[Q, N, D]. What is exact for the distribution is computed in closed form; only the quantiles of a mixture are searched
for, to rounding.
"""
from __future__ import annotations

from typing import Iterator, NamedTuple, Tuple, Union

import numpy as np
from scipy.special import erf, logsumexp, ndtr, ndtri

_LOG_SQRT_2PI = 0.5 * np.log(2 * np.pi)
_BLOCK = 2**20  # numbers at a time


class Gaussian(NamedTuple):
    mean: np.ndarray  # [N, D]
    stddev: np.ndarray  # [N, D]

    def center(self) -> np.ndarray:
        return self.mean

    def spread(self) -> np.ndarray:
        return self.stddev

    def cdf(self, y: np.ndarray) -> np.ndarray:
        return ndtr((y - self.mean) / self.stddev)

    def quantile(self, levels: np.ndarray) -> np.ndarray:
        return self.mean + ndtri(levels)[:, None, None] * self.stddev

    def crps(self, y: np.ndarray) -> np.ndarray:
        return _mean_distance(y - self.mean, self.stddev) - self.stddev / np.sqrt(np.pi)

    def log_density(self, y: np.ndarray) -> np.ndarray:
        return -0.5 * ((y - self.mean) / self.stddev) ** 2 - np.log(self.stddev) - _LOG_SQRT_2PI

    def part(self, rows: slice) -> Gaussian:
        return Gaussian(self.mean[rows], self.stddev[rows])

    def size(self) -> int:
        return self.mean.size


class GaussianMixture(NamedTuple):
    mean: np.ndarray  # [N, M, D]
    stddev: np.ndarray  # [N, M, D]
    weights: np.ndarray  # [M]

    def center(self) -> np.ndarray:
        return np.einsum("m,nmd->nd", self.weights, self.mean)

    def spread(self) -> np.ndarray:
        around = self.mean - self.center()[:, None]
        return np.sqrt(np.einsum("m,nmd->nd", self.weights, self.stddev**2 + around**2))

    def cdf(self, y: np.ndarray) -> np.ndarray:
        return np.einsum("m,nmd->nd", self.weights, ndtr((y[:, None] - self.mean) / self.stddev))

    def quantile(self, levels: np.ndarray) -> np.ndarray:
        """By Newton's method, kept between the least and the largest quantile of a component."""
        levels = levels[:, None, None]
        of_components = self.mean + ndtri(levels)[..., None] * self.stddev  # [Q, N, M, D]
        low, high = of_components.min(2), of_components.max(2)
        x = np.einsum("m,qnmd->qnd", self.weights, of_components)
        for _ in range(200):
            z = (x[:, :, None] - self.mean) / self.stddev
            excess = np.einsum("m,qnmd->qnd", self.weights, ndtr(z)) - levels
            density = np.einsum("m,qnmd->qnd", self.weights, np.exp(-0.5 * z**2) / self.stddev) / np.sqrt(2 * np.pi)
            low, high = np.where(excess < 0, x, low), np.where(excess > 0, x, high)
            with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
                step = x - excess / density
            # beyond the bracket, or where the density is 0, halve it
            after = np.where((step >= low) & (step <= high), step, 0.5 * (low + high))
            done = np.abs(after - x) <= 4e-16 * np.abs(x) + 1e-14 * (high - low)
            x = after
            if done.all():
                break
        return x

    def crps(self, y: np.ndarray) -> np.ndarray:
        """E|X - y| - E|X - X'| / 2 over components and pairs of them (Grimit et al., 2006)."""
        to_value = np.einsum("m,nmd->nd", self.weights, _mean_distance(y[:, None] - self.mean, self.stddev))
        between = np.zeros_like(to_value)
        for m, weight in enumerate(self.weights):
            apart = self.mean - self.mean[:, m : m + 1]
            both = np.hypot(self.stddev, self.stddev[:, m : m + 1])
            between += weight * np.einsum("m,nmd->nd", self.weights, _mean_distance(apart, both))
        return to_value - 0.5 * between

    def log_density(self, y: np.ndarray) -> np.ndarray:
        parts = Gaussian(self.mean, self.stddev).log_density(y[:, None])
        return logsumexp(parts, axis=1, b=self.weights[:, None])

    def part(self, rows: slice) -> GaussianMixture:
        return GaussianMixture(self.mean[rows], self.stddev[rows], self.weights)

    def size(self) -> int:
        return self.mean.size


class Samples(NamedTuple):
    draws: np.ndarray  # [N, D, S], sorted

    def center(self) -> np.ndarray:
        return self.draws.mean(-1)

    def spread(self) -> np.ndarray:
        return self.draws.std(-1)

    def cdf(self, y: np.ndarray) -> np.ndarray:
        return (self.draws <= y[..., None]).mean(-1)

    def quantile(self, levels: np.ndarray) -> np.ndarray:
        return np.quantile(self.draws, levels, axis=-1)

    def crps(self, y: np.ndarray) -> np.ndarray:
        """Of the distribution that has the draws as its values, each as likely: exact, and biased for few draws."""
        count = self.draws.shape[-1]
        ranks = 2.0 * np.arange(count) + 1 - count
        return np.abs(self.draws - y[..., None]).mean(-1) - self.draws @ ranks / count**2

    def log_density(self, y: np.ndarray) -> np.ndarray:
        raise ValueError("draws have no density; give mean and stddev, or use crps")

    def part(self, rows: slice) -> Samples:
        return Samples(self.draws[rows])

    def size(self) -> int:
        return self.draws.size


class Point(NamedTuple):
    """A mean without a spread: for errors of the mean alone."""

    mean: np.ndarray  # [N, D]

    def center(self) -> np.ndarray:
        return self.mean


Distribution = Union[Gaussian, GaussianMixture, Samples]


def _mean_distance(shift: np.ndarray, stddev: np.ndarray) -> np.ndarray:
    """E|Z| of a Gaussian Z with this mean and this standard deviation."""
    z = shift / stddev
    return stddev * np.sqrt(2 / np.pi) * np.exp(-0.5 * z**2) + shift * erf(z / np.sqrt(2))


def in_blocks(
    distribution: Distribution, y: np.ndarray, levels: int = 1
) -> Iterator[Tuple[Distribution, np.ndarray, slice]]:
    """A few rows at a time, so that `levels` quantiles of each fit into memory."""
    num_rows = len(y)
    step = max(1, int(_BLOCK * num_rows / max(1, distribution.size() * levels)))
    for begin in range(0, num_rows, step):
        rows = slice(begin, begin + step)
        yield distribution.part(rows), y[rows], rows
