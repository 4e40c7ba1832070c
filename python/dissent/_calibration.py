"""How often values lie where they should: coverage, the calibration curve, and its distances from the diagonal."""
from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ._averages import Value, over_outputs, plain, shares
from ._distributions import Distribution, in_blocks
from ._predictions import read_distribution

_BINS = 100


def coverage(
    y: Any,
    mean: Any = None,
    stddev: Any = None,
    *,
    weights: Any = None,
    samples: Any = None,
    level: Any = 0.9,
    per_output: bool = False,
) -> Value:
    """The share of values within the central interval that should hold a share `level` of them (PICP).

    Several levels give an array (L,), or (L, D) per output.

    >>> dissent.metrics.coverage([0.0, 1.0, 3.0], np.zeros(3), 1.0, level=[0.5, 0.9])
    array([0.33333333, 0.66666667])
    """
    levels = shares(level, "level")
    truth, distribution = read_distribution(y, mean, stddev, weights, samples)
    observed = _observed(distribution, truth, np.ravel(levels), "interval")
    observed = observed if per_output else observed.mean(-1)
    return plain(observed if levels.ndim else observed[0])


class CalibrationCurve(NamedTuple):
    """What :func:`calibration_curve` returns.

    >>> curve = dissent.metrics.calibration_curve([0.0, 1.0, 3.0], np.zeros(3), 1.0, bins=3)
    >>> curve.expected, curve.observed.round(2)
    (array([0. , 0.5, 1. ]), array([0.33, 0.33, 1.  ]))
    """

    expected: np.ndarray  #: (bins,), from 0 to 1
    observed: np.ndarray  #: (bins,), or (bins, D) per output


def calibration_curve(
    y: Any,
    mean: Any = None,
    stddev: Any = None,
    *,
    weights: Any = None,
    samples: Any = None,
    bins: int = _BINS,
    kind: str = "interval",
    per_output: bool = False,
) -> CalibrationCurve:
    """Expected and observed shares of values, at `bins` levels from 0 to 1.

    `kind` is "interval" for shares within central intervals, "quantile" for shares below quantiles.

    >>> curve = dissent.metrics.calibration_curve(np.zeros(4), np.zeros(4), 1.0, bins=5, kind="quantile")
    >>> curve.observed    # every value is the median
    array([0., 0., 1., 1., 1.])
    """
    if kind not in ("interval", "quantile"):
        raise ValueError(f"kind = {kind!r}; it is 'interval' or 'quantile'")
    if bins < 2:
        raise ValueError(f"bins = {bins}; give at least 2")
    truth, distribution = read_distribution(y, mean, stddev, weights, samples)
    expected = np.linspace(0, 1, bins)
    observed = _observed(distribution, truth, expected, kind)
    return CalibrationCurve(expected, observed if per_output else observed.mean(-1))


def rms_calibration_error(
    y: Any,
    mean: Any = None,
    stddev: Any = None,
    *,
    weights: Any = None,
    samples: Any = None,
    bins: int = _BINS,
    kind: str = "interval",
    per_output: bool = False,
) -> Value:
    """The root mean square of observed minus expected shares, over the :func:`calibration_curve`.

    >>> round(dissent.metrics.rms_calibration_error(np.zeros(9), np.zeros(9), 1.0), 3)    # all in every interval
    0.579
    """
    distance = _distance(y, mean, stddev, weights, samples, bins, kind)
    return over_outputs(np.sqrt((distance**2).mean(0)), per_output)


def mean_absolute_calibration_error(
    y: Any,
    mean: Any = None,
    stddev: Any = None,
    *,
    weights: Any = None,
    samples: Any = None,
    bins: int = _BINS,
    kind: str = "interval",
    per_output: bool = False,
) -> Value:
    """The mean distance of observed from expected shares, over the :func:`calibration_curve`.

    >>> round(dissent.metrics.mean_absolute_calibration_error(np.zeros(9), np.zeros(9), 1.0), 3)
    0.5
    """
    distance = _distance(y, mean, stddev, weights, samples, bins, kind)
    return over_outputs(np.abs(distance).mean(0), per_output)


def miscalibration_area(
    y: Any,
    mean: Any = None,
    stddev: Any = None,
    *,
    weights: Any = None,
    samples: Any = None,
    bins: int = _BINS,
    kind: str = "interval",
    per_output: bool = False,
) -> Value:
    """The area between the :func:`calibration_curve` and the diagonal.

    >>> round(dissent.metrics.miscalibration_area(np.zeros(9), np.zeros(9), 1.0), 3)
    0.5
    """
    distance = _distance(y, mean, stddev, weights, samples, bins, kind)
    a, b = distance[:-1], distance[1:]
    size = np.abs(a) + np.abs(b)
    with np.errstate(invalid="ignore", divide="ignore"):
        crossing = (a**2 + b**2) / size  # two triangles that meet at the diagonal
    heights = np.where(a * b < 0, crossing, size) / 2
    return over_outputs(heights.sum(0) / (bins - 1), per_output)


def _distance(
    y: Any, mean: Any, stddev: Any, weights: Any, samples: Any, bins: int, kind: str
) -> np.ndarray:
    """[bins, D]: observed minus expected shares."""
    curve = calibration_curve(
        y, mean, stddev, weights=weights, samples=samples, bins=bins, kind=kind, per_output=True
    )
    return curve.observed - curve.expected[:, None]


def _observed(distribution: Distribution, truth: np.ndarray, levels: np.ndarray, kind: str) -> np.ndarray:
    """[L, D]: the share of values within the central interval of each level, or below its quantile."""
    at = np.empty_like(truth)  # the level of the smallest interval, or quantile, that holds the value
    for part, values, rows in in_blocks(distribution, truth):
        at[rows] = part.cdf(values)
    if kind == "interval":
        at = np.abs(2 * at - 1)
    at.sort(axis=0)
    return np.stack([np.searchsorted(column, levels, side="right") for column in at.T], axis=1) / len(at)
