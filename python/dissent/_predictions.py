"""Reads predictions (arrays, mixtures or draws) and the values to compare them with."""
from __future__ import annotations

from typing import Any, Optional, Tuple, Union

import numpy as np

from ._arrays import as_array
from ._distributions import Distribution, Gaussian, GaussianMixture, LogMixture, Point, Samples

Shape = Tuple[int, ...]


def read_prediction(
    y: Any, mean: Any, stddev: Any = None, weights: Any = None, samples: Any = None
) -> Tuple[np.ndarray, Union[Distribution, Point]]:
    """y [N, D], and the distribution predicted for it; a Point if its spread is not given."""
    truth = _numbers(y, "y")
    if truth.ndim not in (1, 2) or truth.size == 0:
        raise ValueError(f"y has shape {list(truth.shape)}; it must be [N] or [N, D], with at least one row")
    shape = truth.shape if truth.ndim == 2 else (len(truth), 1)
    if (mean is None) == (samples is None):
        raise ValueError("give mean and stddev, or samples")
    prediction: Union[Distribution, Point]
    if samples is None:
        logarithms = _logarithms(mean)
        if hasattr(mean, "_asdict"):
            mean, stddev, weights = _parts(mean, stddev, weights)
        prediction = _read_gaussians(_numbers(mean, "mean"), stddev, weights, shape)
        if any(logarithms) and isinstance(prediction, GaussianMixture):
            prediction = LogMixture(prediction, np.array(logarithms))
    elif stddev is None and weights is None:
        prediction = _read_samples(samples, shape)
    else:
        raise ValueError("samples have a spread of their own; leave stddev and weights out")
    return truth.reshape(shape), prediction


def read_distribution(
    y: Any, mean: Any, stddev: Any = None, weights: Any = None, samples: Any = None
) -> Tuple[np.ndarray, Distribution]:
    """The same, but the spread must be known."""
    truth, prediction = read_prediction(y, mean, stddev, weights, samples)
    if isinstance(prediction, Point):
        raise ValueError("the mean alone has no spread; give stddev as well, or samples")
    return truth, prediction


def _parts(mixture: Any, stddev: Any, weights: Any) -> Tuple[Any, Any, Any]:
    if stddev is not None or weights is not None:
        raise ValueError("a Mixture has its own stddev and weights; leave them out")
    if getattr(mixture, "space", "output") != "output" and not _logarithms(mixture):
        raise ValueError(
            "this Mixture is not in the units of y (its space is 'base'); give samples=model.sample_y(X, 1000), "
            "or use model.metrics(X, y)"
        )
    return mixture[0], mixture[1], mixture[2]


def _logarithms(mixture: Any) -> Tuple[bool, ...]:
    return tuple(getattr(mixture, "logarithms", ()))


def _numbers(values: Any, name: str) -> np.ndarray:
    array = np.asarray(as_array(values, name), np.float64)
    return _checked(array, np.isfinite(array), name, "is not finite")


def _checked(array: np.ndarray, right: np.ndarray, name: str, fault: str) -> np.ndarray:
    wrong = np.argwhere(~right)
    if len(wrong) > 0:
        at = tuple(int(k) for k in wrong[0])
        raise ValueError(f"{name}{list(at) if at else ''} = {array[at]:g} {fault}")
    return array


def _read_samples(samples: Any, shape: Shape) -> Samples:
    draws = _numbers(samples, "samples")
    full = draws[:, None] if draws.ndim == 2 and shape[1] == 1 else draws
    if full.ndim != 3 or full.shape[:2] != shape or full.shape[2] == 0:
        raise ValueError(
            f"samples has shape {list(draws.shape)}; for y {list(shape)} give [N, D, S], without D if it is 1"
        )
    return Samples(np.sort(full, axis=-1, kind="stable"))  # fast if they are sorted


def _read_gaussians(
    mean: np.ndarray, stddev: Any, weights: Any, shape: Shape
) -> Union[Gaussian, GaussianMixture, Point]:
    one = shape[1] == 1
    if mean.shape == shape or (one and mean.shape == shape[:1]):
        if weights is not None:
            raise ValueError("weights are for components, and this mean has none: [N, D] is a Gaussian")
        center = mean.reshape(shape)
        return Point(center) if stddev is None else Gaussian(center, _read_stddev(stddev, mean, shape))
    full = mean[:, :, None] if mean.ndim == 2 and one else mean
    if full.ndim != 3 or full.shape[::2] != shape or full.shape[1] == 0:
        raise ValueError(
            f"mean has shape {list(mean.shape)}; for y {list(shape)} give [N, D], or [N, M, D] for M components, "
            "without D if it is 1"
        )
    shares = _read_weights(weights, full.shape[1])
    if stddev is None:
        return Point(np.einsum("m,nmd->nd", shares, full))
    return GaussianMixture(full, _read_stddev(stddev, mean, full.shape), shares)


def _read_stddev(stddev: Any, mean: np.ndarray, shape: Shape) -> np.ndarray:
    """As many as means; or one for all, or one per output."""
    array = _numbers(stddev, "stddev")
    _checked(array, array > 0, "stddev", "is not positive")
    if array.ndim == 0 or (array.shape == shape[-1:] and shape[-1] > 1):
        return np.broadcast_to(array, shape)
    without_axis = shape[:-1] if shape[-1] == 1 else shape
    if array.shape not in (mean.shape, shape, without_axis):
        raise ValueError(f"stddev has shape {list(array.shape)}, but the mean {list(mean.shape)}")
    return array.reshape(shape)


def _read_weights(weights: Optional[Any], count: int) -> np.ndarray:
    if weights is None:
        return np.full(count, 1 / count)
    array = _numbers(weights, "weights")
    if array.shape != (count,) or (array < 0).any() or abs(array.sum() - 1) > 1e-6:
        raise ValueError(f"weights must be {count} numbers >= 0 that sum to 1, one for each component")
    return array / array.sum()
