"""Scores of intervals and quantiles."""
from __future__ import annotations

from typing import Any, Callable, Tuple

import numpy as np

from ._averages import Value, mean_of, shares
from ._distributions import Distribution, in_blocks
from ._predictions import read_distribution


def interval_score(
    y: Any,
    mean: Any = None,
    stddev: Any = None,
    *,
    weights: Any = None,
    samples: Any = None,
    level: Any = None,
    per_output: bool = False,
) -> Value:
    """The width of the central interval, plus 2 / (1 - level) times the distance of a value outside it.

    `level` is one or several; the mean over 0.01, 0.02, ..., 0.99 by default.

    >>> round(dissent.metrics.interval_score([0.0, 3.0], [0.0, 0.0], 1.0, level=0.9), 4)    # 1.355 outside
    16.8412
    """
    levels = np.ravel(shares(_default_levels(level), "level", open_ends=True))

    def scores(part: Distribution, values: np.ndarray) -> np.ndarray:
        low, high = part.quantile(0.5 - levels / 2), part.quantile(0.5 + levels / 2)
        outside = np.maximum(low - values, 0) + np.maximum(values - high, 0)
        return high - low + 2 / (1 - levels)[:, None, None] * outside

    return _by_quantiles(scores, len(levels), read_distribution(y, mean, stddev, weights, samples), per_output)


def check_score(
    y: Any,
    mean: Any = None,
    stddev: Any = None,
    *,
    weights: Any = None,
    samples: Any = None,
    level: Any = None,
    per_output: bool = False,
) -> Value:
    """The pinball loss of quantiles: the mean over 0.01, 0.02, ..., 0.99, unless `level` names one or several.

    >>> round(dissent.metrics.check_score([1.0], [0.0], 1.0, level=0.5), 4)    # half the distance from the median
    0.5
    """
    levels = np.ravel(shares(_default_levels(level), "level", open_ends=True))

    def scores(part: Distribution, values: np.ndarray) -> np.ndarray:
        above = part.quantile(levels) - values
        return ((above >= 0) - levels[:, None, None]) * above

    return _by_quantiles(scores, len(levels), read_distribution(y, mean, stddev, weights, samples), per_output)


def _default_levels(level: Any) -> Any:
    return np.arange(1, 100) / 100 if level is None else level


def _by_quantiles(
    scores: Callable[[Distribution, np.ndarray], np.ndarray],
    num_levels: int,
    prediction: Tuple[np.ndarray, Distribution],
    per_output: bool,
) -> Value:
    """The mean over levels, then rows; scores() gives [L, N, D] of a few rows."""
    truth, distribution = prediction
    means = np.empty_like(truth)
    for part, values, rows in in_blocks(distribution, truth, num_levels):
        means[rows] = scores(part, values).mean(0)
    return mean_of(means, per_output)
