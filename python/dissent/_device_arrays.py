"""Scores of arrays on a graphics card, and rows chosen by them, without a copy."""
from __future__ import annotations

import functools
import operator
import sys
from typing import Any, Dict, NamedTuple, Tuple, Union

import numpy as np

from . import _core
from ._arrays import as_weights, checked_axis, warn_of_shape
from ._given import DEFAULT, Chosen, Given, Question
from ._mixture import parts_of
from ._uncertainty import Uncertainty, uncertainty

_CUDA = 2  # DLPack's number for CUDA devices


class DeviceUncertainty(NamedTuple):
    """What :func:`score` returns for arrays on a card: arrays (N,) of float64 that stay there.

    Each has ``__dlpack__``, for ``torch.from_dlpack`` and the like, and ``numpy()``, which copies it to the host. Where
    one array is wanted, the whole stands for its first, epistemic.
    """

    epistemic: _core.DeviceArray
    aleatoric: _core.DeviceArray
    total: _core.DeviceArray
    log_deficit: _core.DeviceArray
    extras: Dict[str, _core.DeviceArray]

    def __repr__(self) -> str:
        return f"<DeviceUncertainty of {len(self.epistemic)} inputs on card {self.__dlpack_device__()[1]}>"

    def __dlpack__(self, **how: Any) -> Any:
        return self.epistemic.__dlpack__(**how)

    def __dlpack_device__(self) -> Tuple[int, int]:
        return self.epistemic.__dlpack_device__()

    def top(self, k: int) -> np.ndarray:
        """The indices of the `k` most uncertain inputs, the most uncertain first, chosen on the card."""
        k = operator.index(k)
        if k < 0:
            raise ValueError(f"top: k = {k} is negative")
        return np.array(self.log_deficit.top(self.epistemic, k), dtype=np.int64)

    def numpy(self) -> Uncertainty:
        """The same on the host."""
        return Uncertainty(
            self.epistemic.numpy(),
            self.aleatoric.numpy(),
            self.total.numpy(),
            self.log_deficit.numpy(),
            {name: values.numpy() for name, values in self.extras.items()},
        )


def score(
    mean: Any, stddev: Any = None, estimator: str = "kl", *, weights: Any = None
) -> Union[DeviceUncertainty, Uncertainty]:
    """The uncertainty of an ensemble's predictions, computed where the arrays are.

    Parameters
    ----------
    mean, stddev : arrays (N, M, D), or (N, M) for one output
        Of N inputs, M components and D outputs, float32 or float64. On a CUDA device (torch, JAX, CuPy, anything with
        DLPack) they must be contiguous; they are read in place and the result stays there. On the host this is
        :func:`uncertainty` with these arguments. Or a :class:`Mixture` of them, alone.
    estimator : str
        Any of :func:`estimators` that has a kernel: all pairwise ones except "min" and "max", "epkl", and for up to 8
        components "bounds" and "mc:K".
    weights : array (M,), optional
        Of the components; they sum to 1. Uniform by default.

    Returns
    -------
    DeviceUncertainty
        For arrays on the card; :class:`Uncertainty` for arrays on the host.

    Examples
    --------
    >>> mean, stddev = np.array([[0.0, 0.1], [0.0, 5.0]]), np.ones((2, 2))    # on the host
    >>> dissent.score(mean, stddev).epistemic.round(3)
    array([0.002, 0.693])
    >>> mean, stddev = torch.randn(10_000, 5, 257, device="cuda"), ...    # doctest: +SKIP
    >>> epistemic = torch.from_dlpack(dissent.score(mean, stddev, "bhattacharyya"))    # doctest: +SKIP
    """
    mean, stddev, weights = parts_of(mean, stddev, weights)
    places = [_place(array) for array in (mean, stddev)]
    if all(place[0] != _CUDA for place in places):
        return uncertainty(mean, stddev, estimator=estimator, weights=weights)
    card = _shared_card(mean, stddev)
    queue = card.queue()
    columns = card.estimate(estimator, _capsule(mean, queue), _capsule(stddev, queue), as_weights(weights))
    return DeviceUncertainty(
        columns.pop("epistemic"), columns.pop("aleatoric"), columns.pop("total"), columns.pop("log_deficit"), columns
    )


def on_card(*values: Any) -> bool:
    """Whether one of these is an array on a card, or a Mixture of such arrays."""
    return any(on_card(*value[:2]) if hasattr(value, "_asdict") else _place(value)[0] == _CUDA for value in values)


def choose_on_card(question: Question, mean: Any, given: Given) -> Chosen:
    """choose_by_mixture() of arrays on a card, which are read in place."""
    host = ", or bring the arrays to the host"
    is_array = not hasattr(mean, "_asdict")
    mean, stddev, weights = given.components(mean)
    if question.cost is not None:
        raise ValueError(f"query: on a card all rows cost the same; leave out cost{host}")
    if given.aim[0] is not None or given.aim[1] is not None:
        raise ValueError(f"query: no method on a card looks at an aim; leave out aim_mean and aim_stddev{host}")
    if question.candidates is not None:
        raise ValueError(f"query: on a card all rows are candidates; leave out candidates{host}")
    if question.utilities:
        raise ValueError(f"query: a card gives no utilities; leave out return_utilities{host}")
    axis = checked_axis(given.axis)
    if axis != 1 and not (axis == -1 and getattr(mean, "ndim", 3) == 2):
        raise ValueError(
            f"query: on a card components are the second axis; move axis {given.axis} there and make the arrays "
            f"contiguous{host}"
        )
    if is_array and hasattr(mean, "ndim"):  # DLPack alone does not tell the shape
        warn_of_shape(mean, given.axis, "swap the axes if components come first")
    card = _shared_card(mean, stddev)
    queue = card.queue()
    return card.choose(question.asked(DEFAULT), _capsule(mean, queue), _capsule(stddev, queue), as_weights(weights))


@functools.lru_cache(maxsize=None)
def _card(number: int) -> _core.Card:
    """The card, opened once: its queue must live from when arrays are handed over until they are scored."""
    try:
        return _core.Card(number)
    except (OSError, ValueError) as error:
        raise type(error)(f"{error}; arrays can be brought to the host") from None


def _shared_card(mean: Any, stddev: Any) -> _core.Card:
    """The card on which both arrays lie."""
    places = _place(mean), _place(stddev)
    if places[0] != places[1]:
        raise ValueError("mean and stddev must lie on the same card, as arrays of the same shape")
    return _card(places[0][1])


def _place(array: Any) -> Tuple[int, int]:
    """Kind and number of the device; the host for an array that does not say."""
    if not hasattr(array, "__dlpack_device__"):
        return (1, 0)
    try:
        kind, number = array.__dlpack_device__()
    except Exception:  # on a device that DLPack does not know; whoever reads it on the host says what to do
        return (1, 0)
    return (int(kind), int(number))


def _capsule(array: Any, queue: int) -> Any:
    """The array for work in this queue, which waits for what is still being written to it."""
    torch = sys.modules.get("torch")
    if torch is not None and isinstance(array, torch.Tensor):
        with torch.cuda.device(array.device):  # torch looks for what is being written on the current card alone
            return array.detach().__dlpack__(stream=queue)
    return array.__dlpack__(stream=queue)
