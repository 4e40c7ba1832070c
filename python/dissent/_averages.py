"""Means over rows and outputs, as the metrics return them."""
from __future__ import annotations

from typing import Any, Union

import numpy as np

Value = Union[float, np.ndarray]


def mean_of(values: np.ndarray, per_output: bool) -> Value:
    """The mean of [..., N, D] over the rows, and over the outputs unless `per_output`."""
    return values.mean(-2) if per_output else plain(values.mean((-2, -1)))


def over_outputs(values: np.ndarray, per_output: bool) -> Value:
    return values if per_output else float(values.mean())


def plain(value: Any) -> Value:
    return float(value) if np.ndim(value) == 0 else value


def shares(values: Any, name: str, open_ends: bool = False) -> np.ndarray:
    array = np.asarray(values, np.float64)
    inside = (array > 0) & (array < 1) if open_ends else (array >= 0) & (array <= 1)
    if array.size == 0 or array.ndim > 1 or not inside.all():
        raise ValueError(f"{name} = {values!r}; give shares between 0 and 1, as 0.9")
    return array
