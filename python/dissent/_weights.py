"""Weights of rows: how much each counts.

Whole numbers repeat rows, for every kind of model. Others weight the loss of each row, which only networks can do.
Weights are not in the signature of fit(), where scikit-learn looks for weights of any size. Boosting has such weights:
if it does not find the parameter, it draws rows by them instead, and so works with a Gaussian process.
"""
from __future__ import annotations

from typing import Any, Mapping, NamedTuple, Optional

import numpy as np

from ._arrays import as_array

_MOST_ROWS = 10**7  # that a table may have once its rows are repeated


class Weighed(NamedTuple):
    X: np.ndarray
    y: np.ndarray
    weights: np.ndarray  # of the rows; empty if all count the same


def weights_of(keywords: Mapping[str, Any]) -> Optional[Any]:
    """`sample_weight` among the keywords of a call; any other keyword is a TypeError."""
    for name in keywords:
        if name != "sample_weight":
            raise TypeError(f"fit() got an unexpected keyword argument '{name}'")
    return keywords.get("sample_weight")


def weighed(X: np.ndarray, y: np.ndarray, weights: Optional[Any], weighs_loss: bool) -> Weighed:
    """Each row as often as its weight says if weights are whole numbers; else with its weight beside it."""
    if weights is None:
        return Weighed(X, y, np.empty(0))
    given = np.asarray(as_array(weights, "sample_weight"), np.float64)
    if given.shape != (len(X),):
        raise ValueError(f"sample_weight has shape {list(given.shape)}; give one for each of the {len(X)} rows")
    whole = given == np.floor(given)
    if not weighs_loss:
        _refuse(given, (given >= 0) & whole, "this model repeats rows, a whole number of times >= 0; networks take others")
    _refuse(given, (given >= 0) & np.isfinite(given), "a weight is a finite number >= 0")
    too_many = np.sum(given) > _MOST_ROWS
    if too_many and not weighs_loss:
        raise ValueError(f"sample_weight adds up to {np.sum(given):g} rows; give smaller ones of the same ratios, up to "
                         f"{_MOST_ROWS:,} in all")
    if too_many or not whole.all():
        if np.count_nonzero(given) < 2:
            raise ValueError("sample_weight leaves fewer than 2 rows to fit")
        return Weighed(X, y, np.ascontiguousarray(given))
    if np.sum(given) < 2:
        raise ValueError("sample_weight leaves fewer than 2 rows to fit")
    times = given.astype(np.int64)
    return Weighed(np.repeat(X, times, axis=0), np.repeat(y, times, axis=0), np.empty(0))


def _refuse(weights: np.ndarray, right: np.ndarray, rule: str) -> None:
    wrong = np.flatnonzero(~right)
    if len(wrong) > 0:
        raise ValueError(f"sample_weight[{wrong[0]}] = {weights[wrong[0]]:g}; {rule}")
