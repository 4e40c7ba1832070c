"""Weights of rows: how many times each counts.

They are no parameter in the signature of fit(), where scikit-learn looks for weights of any size: boosting, which has
those, draws rows by them instead when it finds none.
"""
from __future__ import annotations

from typing import Any, Mapping, Optional, Tuple

import numpy as np

from ._arrays import as_array


def weights_of(keywords: Mapping[str, Any]) -> Optional[Any]:
    """`sample_weight` among the keywords of a call; any other keyword is a TypeError."""
    for name in keywords:
        if name != "sample_weight":
            raise TypeError(f"fit() got an unexpected keyword argument '{name}'")
    return keywords.get("sample_weight")


def repeated(X: np.ndarray, y: np.ndarray, weights: Any) -> Tuple[np.ndarray, np.ndarray]:
    """Each row as often as its weight says."""
    counts = np.asarray(as_array(weights, "sample_weight"))
    if counts.shape != (len(X),):
        raise ValueError(f"sample_weight has shape {list(counts.shape)}; give one for each of the {len(X)} rows")
    wrong = np.flatnonzero(~((counts >= 0) & (counts == np.floor(counts)) & (counts < 2**31)))
    if len(wrong) > 0:
        raise ValueError(
            f"sample_weight[{wrong[0]}] = {counts[wrong[0]]:g}; a weight is how many times a row counts, "
            "a whole number >= 0"
        )
    if np.sum(counts) < 2:
        raise ValueError("sample_weight leaves fewer than 2 rows to fit")
    times = counts.astype(np.int64)
    return np.repeat(X, times, axis=0), np.repeat(y, times, axis=0)
