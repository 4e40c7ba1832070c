"""How good predictions are, whoever made them: errors, calibration, sharpness and proper scores.

Every function takes the true values `y` (N,) or (N, D), and the prediction as

- ``mean, stddev`` (N,) or (N, D): Gaussians;
- ``mean, stddev`` (N, M) or (N, M, D), and perhaps ``weights`` (M,): mixtures of M Gaussians, as those of an ensemble's
  components; a :class:`dissent.Mixture` has all three;
- ``samples=`` (N, S) or (N, D, S): draws.

`stddev` may be one number, or one per output. The result is the mean over rows and outputs; with ``per_output=True`` an
array (D,). Smaller is better, except for coverage, which should equal its level. The definitions are those of
uncertainty-toolbox where it has them.

>>> random = np.random.default_rng(0)
>>> y = random.normal(size=1000)
>>> round(dissent.metrics.crps(y, np.zeros(1000), 1.0), 2)    # of the best forecast there is
0.55
>>> round(dissent.metrics.coverage(y, np.zeros(1000), 1.0, level=0.9), 2)
0.91
"""
from __future__ import annotations

from typing import Any, Callable, Dict

import numpy as np

from ._averages import Value, mean_of, over_outputs, plain
from ._calibration import (
    CalibrationCurve,
    calibration_curve,
    coverage,
    mean_absolute_calibration_error,
    miscalibration_area,
    rms_calibration_error,
)
from ._distributions import Point, Samples, in_blocks
from ._predictions import read_distribution, read_prediction
from ._quantile_scores import check_score, interval_score

__all__ = [
    "CalibrationCurve",
    "calibration_curve",
    "check_score",
    "coverage",
    "crps",
    "evaluate",
    "interval_score",
    "mae",
    "mean_absolute_calibration_error",
    "miscalibration_area",
    "nll",
    "rms_calibration_error",
    "rmse",
    "sharpness",
]


def rmse(
    y: Any,
    mean: Any = None,
    stddev: Any = None,
    *,
    weights: Any = None,
    samples: Any = None,
    per_output: bool = False,
) -> Value:
    """The root mean square of the mean's errors.

    >>> dissent.metrics.rmse([0.0, 0.0], [3.0, -3.0])
    3.0
    """
    truth, prediction = read_prediction(y, mean, stddev, weights, samples)
    return plain(np.sqrt(mean_of((prediction.center() - truth) ** 2, per_output)))


def mae(
    y: Any,
    mean: Any = None,
    stddev: Any = None,
    *,
    weights: Any = None,
    samples: Any = None,
    per_output: bool = False,
) -> Value:
    """The mean absolute error of the mean.

    >>> dissent.metrics.mae([0.0, 0.0], [3.0, -1.0])
    2.0
    """
    truth, prediction = read_prediction(y, mean, stddev, weights, samples)
    return mean_of(np.abs(prediction.center() - truth), per_output)


def crps(
    y: Any,
    mean: Any = None,
    stddev: Any = None,
    *,
    weights: Any = None,
    samples: Any = None,
    per_output: bool = False,
) -> Value:
    """The continuous ranked probability score, in the units of `y`: the absolute error if a forecast is certain.

    In closed form for Gaussians and mixtures. For draws it is that of the distribution that they make up themselves.

    >>> dissent.metrics.crps([0.0], [1.0], 1e-9), round(dissent.metrics.crps([0.0], [0.0], 1.0), 4)
    (0.9999999994358104, 0.2337)
    >>> dissent.metrics.crps([0.0, 0.0], samples=[[-1.0, 1.0], [0.0, 0.0]], per_output=True)
    array([0.25])
    """
    truth, distribution = read_distribution(y, mean, stddev, weights, samples)
    scores = np.empty_like(truth)
    for part, values, rows in in_blocks(distribution, truth):
        scores[rows] = part.crps(values)
    return mean_of(scores, per_output)


def nll(
    y: Any,
    mean: Any = None,
    stddev: Any = None,
    *,
    weights: Any = None,
    samples: Any = None,
    per_output: bool = False,
) -> Value:
    """Minus the logarithm of the density at `y`, in nats; draws have none.

    With several outputs it is the mean over the outputs, each by itself, not of all of them together.

    >>> round(dissent.metrics.nll([0.0], [0.0], 1.0), 4)    # ln(2 pi) / 2
    0.9189
    """
    truth, distribution = read_distribution(y, mean, stddev, weights, samples)
    return mean_of(-distribution.log_density(truth), per_output)


def sharpness(
    y: Any,
    mean: Any = None,
    stddev: Any = None,
    *,
    weights: Any = None,
    samples: Any = None,
    per_output: bool = False,
) -> Value:
    """The root mean square of the predicted standard deviations, whatever `y` is.

    uncertainty-toolbox defines it the same way. The ``sharpness`` of a model's own ``metrics`` is their mean, as in
    ``dissent evaluate`` and ``dissent report``.

    >>> round(dissent.metrics.sharpness([0.0, 0.0], [0.0, 0.0], [3.0, 4.0]), 4)
    3.5355
    """
    _, distribution = read_distribution(y, mean, stddev, weights, samples)
    return plain(np.sqrt(mean_of(distribution.spread() ** 2, per_output)))


def evaluate(
    y: Any, mean: Any = None, stddev: Any = None, *, weights: Any = None, samples: Any = None, per_output: bool = False
) -> Dict[str, Value]:
    """All of them by name, and for the mean also its median and relative errors, R2 and its correlation with `y`.

    Those that need a spread are left out if there is none; so is `nll` for draws.

    >>> scores = dissent.metrics.evaluate([0.0, 1.0, 3.0], [0.0, 1.5, 2.5], 0.5)
    >>> sorted(scores)[:4], round(scores["r2"], 3)
    (['check_score', 'correlation', 'coverage_90', 'crps'], 0.893)
    """
    truth, prediction = read_prediction(y, mean, stddev, weights, samples)
    scores = _errors(truth, prediction.center(), per_output)
    if isinstance(prediction, Point):
        return scores
    if isinstance(prediction, Samples):
        samples = prediction.draws  # sorted once
    given: Dict[str, Any] = {"weights": weights, "samples": samples, "per_output": per_output}
    functions: Dict[str, Callable[..., Value]] = {
        "sharpness": sharpness,
        "coverage_90": coverage,
        "rms_calibration_error": rms_calibration_error,
        "mean_absolute_calibration_error": mean_absolute_calibration_error,
        "miscalibration_area": miscalibration_area,
        "crps": crps,
        "check_score": check_score,
        "interval_score": interval_score,
        **({"nll": nll} if samples is None else {}),
    }
    for name, function in functions.items():
        scores[name] = function(y, mean, stddev, **given)
    return scores


def _errors(truth: np.ndarray, center: np.ndarray, per_output: bool) -> Dict[str, Value]:
    """Errors of the mean [N, D]. R2 and correlation are nan where `truth` does not vary."""
    error = center - truth
    about = truth - truth.mean(0)
    with np.errstate(invalid="ignore", divide="ignore"):
        relative = 2 * np.abs(error) / (np.abs(center) + np.abs(truth))
        r2 = 1 - (error**2).sum(0) / (about**2).sum(0)
        along = center - center.mean(0)
        correlation = (about * along).sum(0) / np.sqrt((about**2).sum(0) * (along**2).sum(0))
    return {
        "rmse": plain(np.sqrt(mean_of(error**2, per_output))),
        "mae": mean_of(np.abs(error), per_output),
        "median_absolute_error": over_outputs(np.median(np.abs(error), axis=0), per_output),
        "relative_error_percent": mean_of(100 * np.where(error == 0, 0, relative), per_output),
        "r2": over_outputs(r2, per_output),
        "correlation": over_outputs(correlation, per_output),
    }
