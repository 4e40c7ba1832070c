"""Predicted distributions of each output by itself, for the metrics and plots: Gaussians, mixtures of Gaussians, also
of logarithms, and draws.

N rows, D outputs. cdf, crps and log_density take y [N, D] and return [N, D]; quantile takes levels [Q] and returns
[Q, N, D]. All of these have closed forms except the quantiles of a mixture, which are searched for, to rounding.
"""
from __future__ import annotations

from typing import Iterator, NamedTuple, Tuple, Union

import numpy as np
from scipy.special import erf, logsumexp, ndtr, ndtri

_LOG_SQRT_2PI = 0.5 * np.log(2 * np.pi)
_BLOCK = 2**20  # numbers at a time
_GRID = 48  # values that bracket the quantiles of a mixture


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

    def cost(self, levels: int) -> int:
        """How many numbers `levels` quantiles take, or the metrics if there are none."""
        return self.mean.size * max(levels, 1)


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
        """A grid of values brackets each quantile; Newton's method then finds it."""
        mean, stddev = (np.swapaxes(part, 1, 2) for part in (self.mean, self.stddev))  # [N, D, M]
        ends = ndtri(np.array([levels.min(), levels.max()]))
        first = (mean + ends[0] * stddev).min(-1)
        last = (mean + ends[1] * stddev).max(-1)
        grid = first[..., None] + (last - first)[..., None] * np.linspace(0, 1, _GRID)  # [N, D, G]
        shares = ndtr((grid[..., None] - mean[:, :, None]) / stddev[:, :, None]) @ self.weights
        shape = (len(levels), *first.shape)
        found = np.empty(shape)
        for k, level in enumerate(levels):
            cell = np.clip((shares < level).sum(-1), 1, _GRID - 1)[..., None]
            low, high = (np.take_along_axis(grid, at, -1)[..., 0] for at in (cell - 1, cell))
            found[k] = _newton(mean, stddev, self.weights, level, low, high)
        return found

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

    def cost(self, levels: int) -> int:
        return self.mean.size * (_GRID + levels)


class LogMixture(NamedTuple):
    """Outputs whose logarithms are mixtures of Gaussians, and others that are mixtures themselves."""

    base: GaussianMixture
    is_log: np.ndarray  # [D]

    def _parts(self) -> Tuple[np.ndarray, np.ndarray]:
        """Means and stddevs of the logarithms; standard Gaussians for the other outputs."""
        return np.where(self.is_log, self.base.mean, 0), np.where(self.is_log, self.base.stddev, 1)

    def _means(self, power: int = 1) -> np.ndarray:
        """The mean of each component's value to this power: [N, M, D]."""
        mean, stddev = self._parts()
        with np.errstate(over="ignore"):
            return np.exp(power * mean + 0.5 * (power * stddev) ** 2)

    def logs(self, y: np.ndarray) -> np.ndarray:
        """y [N, D] in the space of the base; -inf for the logarithm of values that are not positive."""
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(self.is_log, np.where(y > 0, np.log(y), -np.inf), y)

    def center(self) -> np.ndarray:
        return np.where(self.is_log, np.einsum("m,nmd->nd", self.base.weights, self._means()), self.base.center())

    def spread(self) -> np.ndarray:
        around = np.einsum("m,nmd->nd", self.base.weights, self._means(2)) - self.center() ** 2
        return np.where(self.is_log, np.sqrt(np.maximum(around, 0)), self.base.spread())

    def cdf(self, y: np.ndarray) -> np.ndarray:
        return self.base.cdf(self.logs(y))

    def quantile(self, levels: np.ndarray) -> np.ndarray:
        found = self.base.quantile(levels)
        return np.where(self.is_log, np.exp(np.where(self.is_log, found, 0)), found)

    def crps(self, y: np.ndarray) -> np.ndarray:
        """As for the mixture; the distances of log-normal variables have closed forms too."""
        (mean, stddev), weights = self._parts(), self.base.weights
        means = self._means()
        logs = self.logs(y)[:, None]
        to_value = y[:, None] * (2 * ndtr((logs - mean) / stddev) - 1)
        to_value += means * (1 - 2 * ndtr((logs - mean) / stddev - stddev))
        total = np.einsum("m,nmd->nd", weights, to_value)
        for m, weight in enumerate(weights):
            apart, both = mean - mean[:, m : m + 1], np.hypot(stddev, stddev[:, m : m + 1])
            larger = means * ndtr(apart / both + stddev**2 / both)
            larger += means[:, m : m + 1] * ndtr(-apart / both + stddev[:, m : m + 1] ** 2 / both)
            total -= 0.5 * weight * np.einsum("m,nmd->nd", weights, 2 * larger - means - means[:, m : m + 1])
        return np.where(self.is_log, total, self.base.crps(y))

    def log_density(self, y: np.ndarray) -> np.ndarray:
        logs = self.logs(y)
        inside = np.where(np.isfinite(logs), logs, 0)
        density = self.base.log_density(inside) - np.where(self.is_log, inside, 0)
        return np.where(np.isfinite(logs), density, -np.inf)

    def part(self, rows: slice) -> LogMixture:
        return LogMixture(self.base.part(rows), self.is_log)

    def cost(self, levels: int) -> int:
        return self.base.cost(levels)


class Samples(NamedTuple):
    draws: np.ndarray  # [N, D, S], sorted

    def center(self) -> np.ndarray:
        return self.draws.mean(-1)

    def spread(self) -> np.ndarray:
        return self.draws.std(-1)

    def cdf(self, y: np.ndarray) -> np.ndarray:
        return (self.draws <= y[..., None]).mean(-1)

    def quantile(self, levels: np.ndarray) -> np.ndarray:
        """Linear between draws, as in numpy."""
        place = levels * (self.draws.shape[-1] - 1)
        below = np.minimum(place.astype(int), max(self.draws.shape[-1] - 2, 0))
        low, high = self.draws[..., below], self.draws[..., np.minimum(below + 1, self.draws.shape[-1] - 1)]
        return np.moveaxis(low + (place - below) * (high - low), -1, 0)

    def crps(self, y: np.ndarray) -> np.ndarray:
        """Of the distribution that takes each draw with the same probability: exact, and biased for few draws."""
        count = self.draws.shape[-1]
        ranks = 2.0 * np.arange(count) + 1 - count
        return np.abs(self.draws - y[..., None]).mean(-1) - self.draws @ ranks / count**2

    def log_density(self, y: np.ndarray) -> np.ndarray:
        raise ValueError("draws have no density; give mean and stddev, or use crps")

    def part(self, rows: slice) -> Samples:
        return Samples(self.draws[rows])

    def cost(self, levels: int) -> int:
        return self.draws.size + 3 * levels * len(self.draws) * self.draws.shape[1]


class Point(NamedTuple):
    """A mean without a spread: only for errors of the mean."""

    mean: np.ndarray  # [N, D]

    def center(self) -> np.ndarray:
        return self.mean


Distribution = Union[Gaussian, GaussianMixture, LogMixture, Samples]


def _newton(
    mean: np.ndarray, stddev: np.ndarray, weights: np.ndarray, level: float, low: np.ndarray, high: np.ndarray
) -> np.ndarray:
    """The quantile between `low` and `high` of each mixture [..., M]; a step that leaves the bracket halves it."""
    shape, count = low.shape, mean.shape[-1]
    mean, stddev, low, high = mean.reshape(-1, count), stddev.reshape(-1, count), low.ravel(), high.ravel()
    found = 0.5 * (low + high)
    tolerance = 1e-13 * (high - low) + 4e-16 * np.abs(found)
    open_rows = np.arange(len(found))
    for _ in range(200):
        x, at, spread = found[open_rows], mean[open_rows], stddev[open_rows]
        z = (x[:, None] - at) / spread
        excess = ndtr(z) @ weights - level
        density = (np.exp(-0.5 * z**2) / spread) @ weights / np.sqrt(2 * np.pi)
        low[open_rows] = np.where(excess < 0, x, low[open_rows])
        high[open_rows] = np.where(excess > 0, x, high[open_rows])
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            step = x - excess / density
        inside = (step >= low[open_rows]) & (step <= high[open_rows])
        after = np.where(inside, step, 0.5 * (low[open_rows] + high[open_rows]))
        found[open_rows] = after
        open_rows = open_rows[np.abs(after - x) > tolerance[open_rows]]
        if len(open_rows) == 0:
            break
    return found.reshape(shape)


def _mean_distance(shift: np.ndarray, stddev: np.ndarray) -> np.ndarray:
    """E|Z| of a Gaussian Z with this mean and this standard deviation."""
    z = shift / stddev
    return stddev * np.sqrt(2 / np.pi) * np.exp(-0.5 * z**2) + shift * erf(z / np.sqrt(2))


def in_blocks(
    distribution: Distribution, y: np.ndarray, levels: int = 0
) -> Iterator[Tuple[Distribution, np.ndarray, slice]]:
    """A few rows at a time, so that `levels` quantiles of each fit into memory."""
    num_rows = len(y)
    step = max(1, int(_BLOCK * num_rows / distribution.cost(levels)))
    for begin in range(0, num_rows, step):
        rows = slice(begin, begin + step)
        yield distribution.part(rows), y[rows], rows
