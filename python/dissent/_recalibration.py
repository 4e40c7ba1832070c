"""Spreads that fit held-out rows, for predictions from anywhere."""
from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from . import _core
from ._distributions import GaussianMixture, LogMixture, Samples
from ._predictions import read_distribution


def spread_factors(y: Any, mean: Any, stddev: Any = None, *, weights: Any = None) -> np.ndarray:
    """What to multiply the standard deviations of each output by, so that they fit rows the model was not trained on.

    One factor per output (D,): the one with the highest likelihood of `y`, from 0.001 to 1000, with a warning at these
    limits. At least 10 rows are needed; the relative error of a factor is about 1 / sqrt(2 N). Ensembles of this
    package do it themselves: ``model.recalibrate(X, y)``.

    Parameters
    ----------
    y, mean, stddev, weights
        As in :mod:`dissent.metrics`: Gaussians, mixtures, or a :class:`Mixture`.

    Examples
    --------
    >>> y = np.random.default_rng(0).normal(size=400)
    >>> dissent.spread_factors(y, np.zeros(400), 0.5).round(1)    # half of the true spread was predicted
    array([2.])
    """
    truth, distribution = read_distribution(y, mean, stddev, weights)
    if isinstance(distribution, Samples):
        raise ValueError("spread_factors: draws have no stddev to scale")
    if isinstance(distribution, LogMixture):  # the same factors maximise the likelihoods of y and its logarithm
        if (distribution.logs(truth) == -np.inf).any():
            raise ValueError("spread_factors: y has values that are not positive, where its logarithm is predicted")
        truth, distribution = distribution.logs(truth), distribution.base
    if isinstance(distribution, GaussianMixture):
        parts = distribution
    else:
        parts = GaussianMixture(distribution.mean[:, None], distribution.stddev[:, None], np.ones(1))
    arrays = [np.require(array, np.float64, ["C", "A"]) for array in (parts.mean, parts.stddev, truth)]
    factors = _core.spread_factors(arrays[0], arrays[1], parts.weights, arrays[2])
    warn_of_limits(factors)
    return factors


def warn_of_limits(factors: np.ndarray) -> None:
    """Warns of factors beyond which something else than the spread is wrong."""
    for number in np.flatnonzero([_core.is_factor_limit(factor) for factor in factors]):
        warnings.warn(
            f"the spread of output {number} is off by a factor of 1000 or more; is y in the units of the predictions?",
            stacklevel=3,
        )
