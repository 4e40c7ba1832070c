"""Arrays from anywhere (numpy, torch, DLPack, buffers, pandas, lists) as the contiguous ones that _core reads.

Contiguous float32 and float64 arrays are used in place; anything else is converted once.
"""
from __future__ import annotations

import numbers
import operator
import sys
import warnings
from typing import Any, List, Optional, Tuple

import numpy as np

from . import _core


def as_array(values: Any, name: str) -> np.ndarray:
    """`values` as a numpy array of real numbers, sharing memory if possible."""
    if isinstance(values, np.ndarray):
        array = values
    elif hasattr(values, "__dlpack__"):
        array = _from_dlpack(values, name)
    elif _has_tensors(values):
        array = _stacked([as_array(item, f"{name}[{k}]") for k, item in enumerate(values)], name)
    else:
        try:
            array = np.asarray(values)
        except ValueError as error:  # a list of lists of different lengths
            raise ValueError(f"{name} is not an array: {error}") from None
    if isinstance(array, np.ma.MaskedArray) and np.ma.is_masked(array):
        raise ValueError(f"{name} has masked values; numbers are required everywhere")
    if array.dtype.kind == "O" and all(isinstance(value, numbers.Real) for value in array.flat):
        array = array.astype(np.float64)  # of a table with several types of numbers
    if array.dtype.kind not in "fiub":
        raise ValueError(f"{name} has type {array.dtype}; real numbers are required")
    return np.asarray(array)


def without_tensors(values: Any, name: str) -> Any:
    """Tensors, alone or in lists, as numpy arrays without their gradients; anything else as it is."""
    if not isinstance(values, np.ndarray) and (hasattr(values, "__dlpack__") or _has_tensors(values)):
        return as_array(values, name)
    return values


def _has_tensors(values: Any) -> bool:
    """Whether these are lists of arrays, perhaps nested; numpy itself cannot read tensors with gradients there."""
    return isinstance(values, (list, tuple)) and any(hasattr(v, "__dlpack__") or _has_tensors(v) for v in values)


def _stacked(items: List[np.ndarray], name: str) -> np.ndarray:
    shapes = {item.shape for item in items}
    if len(shapes) > 1:
        raise ValueError(f"{name} is not an array: its items have shapes {', '.join(map(str, sorted(shapes)))}")
    return np.stack(items)


def _from_dlpack(values: Any, name: str) -> np.ndarray:
    if hasattr(values, "detach"):  # torch refuses to export what it would differentiate
        values = values.detach()
    try:
        return np.from_dlpack(values)
    except Exception as error:  # whatever the exporter raises: another device, a type numpy does not have
        if hasattr(values, "cpu"):
            hint = f"; pass {name}.cpu().float()"
        else:
            hint = ""
        raise ValueError(f"{name} cannot be read by numpy ({error}){hint}") from None


def checked_axis(axis: int) -> int:
    axis = operator.index(axis)
    if axis not in (0, 1, -1):
        raise ValueError(f"axis = {axis}: components are the first axis (0), the second (1) or the last (-1)")
    return axis


def as_mixture(mean: Any, stddev: Any, covariance: Any, axis: int) -> Tuple[np.ndarray, np.ndarray, bool]:
    """mean and stddev [N, M, D] or [N, M], or mean and covariance [N, M, D, D]; and whether it is the latter."""
    if (stddev is None) == (covariance is None):
        raise ValueError("give exactly one of stddev and covariance")
    full = stddev is None
    arrays = [as_array(mean, "mean"), as_array(covariance, "covariance") if full else as_array(stddev, "stddev")]
    axis = checked_axis(axis)
    arrays = [np.moveaxis(array, axis, 1) if array.ndim >= 2 else array for array in arrays]
    if not full:
        arrays[1] = broadcast_stddev(arrays[1], arrays[0])
    narrow = all(array.dtype.kind == "f" and array.dtype.itemsize <= 4 for array in arrays)
    dtype = np.float32 if narrow else np.float64
    return np.require(arrays[0], dtype, ["C", "A"]), np.require(arrays[1], dtype, ["C", "A"]), full


def broadcast_stddev(stddev: np.ndarray, mean: np.ndarray) -> np.ndarray:
    """One number for all, or one per output [D], as an array like `mean`; any other shape as it is."""
    if stddev.ndim == 0 or (mean.ndim == 3 and stddev.shape == mean.shape[2:]):
        return np.broadcast_to(stddev, mean.shape)
    return stddev


def as_probabilities(probabilities: Any, axis: int) -> np.ndarray:
    """[N, M, K] in float64."""
    array = as_array(probabilities, "probabilities")
    if array.ndim != 3:
        raise ValueError(
            f"probabilities has shape {list(array.shape)}; it must be [N, M, K] (inputs, components, classes)"
        )
    array = np.moveaxis(array, checked_axis(axis), 1)
    return np.require(array, np.float64, ["C", "A"])


def warn_of_shape(
    array: Any, axis: int, hint: str = "pass axis=0 if components come first", given: Any = None
) -> None:
    """Warns if [N, M, ...] is allowed but its axes are more likely in another order. `given`: what the array is made
    of; a list of longer arrays is likely to have one of each component."""
    doubt = _core.shape_doubt(*array.shape[:2]) if array.ndim >= 2 else ""
    if not doubt and axis == 1 and _has_arrays(given) and array.shape[0] < array.shape[1]:
        doubt = f"read as N = {array.shape[0]} inputs of M = {array.shape[1]} components"
    if doubt:
        advice = f"; {hint}" if axis == 1 and array.shape[1] > 1 else ""
        level = 2
        while _is_ours(level):
            level += 1
        warnings.warn(f"an array {list(array.shape)} is {doubt}{advice}", stacklevel=level)


def _has_arrays(values: Any) -> bool:
    return isinstance(values, (list, tuple)) and all(getattr(value, "ndim", 0) > 0 for value in values)


def _is_ours(level: int) -> bool:
    """Whether the caller `level` levels up is a function of this package."""
    try:
        return str(sys._getframe(level).f_globals.get("__name__", "")).startswith(f"{__package__}.")
    except ValueError:  # no such level
        return False


def as_targets(y: Any, num_rows: int, names: List[str]) -> np.ndarray:
    """`y` (n,) or (n, D) for n rows of the targets `names`; the columns of a pandas table are taken by their names."""
    if hasattr(y, "columns") and list(y.columns) != list(range(len(names))):
        missing = [name for name in names if name not in y.columns]
        if missing:
            raise ValueError(f"y has columns {list(y.columns)}, but not the target {missing[0]!r}")
        y = y[names]
    array = as_array(np.asarray(y, np.float64) if hasattr(y, "to_numpy") else y, "y")
    shapes = [(num_rows, len(names))] + [(num_rows,)] * (len(names) == 1)
    if array.shape not in shapes:
        wanted = " or ".join(str(list(shape)) for shape in reversed(shapes))
        raise ValueError(f"y has shape {list(array.shape)}; for {num_rows} rows and {len(names)} targets give {wanted}")
    return np.require(array, np.float64, ["C", "A"])


def as_weights(weights: Optional[Any]) -> np.ndarray:
    """One weight per component; empty for None, which means uniform."""
    if weights is None:
        return np.empty(0)
    array = as_array(weights, "weights")
    if array.ndim != 1:
        raise ValueError(f"weights has shape {list(array.shape)}; it must be [M]")
    if len(array) == 0:
        raise ValueError("weights: there are none; give one per component")
    return np.require(array, np.float64, ["C", "A"])


def as_cost(cost: Optional[Any]) -> Optional[np.ndarray]:
    """What a label of each row costs: [N], finite and > 0; None if all cost the same."""
    if cost is None:
        return None
    array = np.require(as_array(cost, "cost"), np.float64, ["C", "A"])
    if array.ndim != 1:
        raise ValueError(f"cost has shape {list(array.shape)}; it must be [N], one for each row to choose from")
    wrong = np.flatnonzero(~(np.isfinite(array) & (array > 0)))
    if len(wrong) > 0:
        raise ValueError(f"cost[{wrong[0]}] = {array[wrong[0]]:g}; a cost must be finite and > 0")
    return array
