"""Chooses rows by existing predictions: arrays of means and standard deviations, or of probabilities."""
from __future__ import annotations

from typing import Any, NamedTuple, Optional, Tuple

import numpy as np

from . import _core
from ._arrays import as_mixture, as_probabilities, as_weights, warn_of_shape
from ._mixture import parts_of

DEFAULT = _core.default_acquisition()
Chosen = Tuple[np.ndarray, np.ndarray, Optional[np.ndarray]]  # rows, scores, utilities


class Question(NamedTuple):
    """What a choice is asked for, whatever the components are."""

    acquisition: str  # empty: the default
    batch: int
    seed: int
    ranking: str
    utilities: bool
    candidates: Optional[int]
    cost: Optional[np.ndarray]  # [N] of the pool

    def asked(self, default: str, threads: int = 0) -> _core.Asked:
        return _core.Asked(self.acquisition or default, self.batch, self.seed, self.ranking, self.utilities, threads)

    def draw(self, num_rows: int) -> Optional[np.ndarray]:
        """The rows to choose among; None for all."""
        if self.cost is not None and len(self.cost) != num_rows:
            raise ValueError(f"cost has {len(self.cost)} values for a pool of {num_rows} rows")
        if self.candidates is None:
            return None
        return np.asarray(_core.draw_candidates(num_rows, self.candidates, self.seed))

    def cost_of(self, rows: Optional[np.ndarray]) -> np.ndarray:
        """The costs of the rows drawn; empty if all cost the same."""
        if self.cost is None:
            return np.empty(0)
        return self.cost if rows is None else self.cost[rows]


class Given(NamedTuple):
    """What comes with given means."""

    second: Any = None  # the second argument of query(), the stddev
    stddev: Any = None
    weights: Any = None
    aim: Tuple[Any, Any] = (None, None)
    axis: int = 1

    def components(self, mean: Any) -> Tuple[Any, Any, Any]:
        """mean, stddev and weights; `mean` may be a Mixture, which has its own stddev and weights."""
        if hasattr(mean, "_asdict"):
            return parts_of(mean, self.stddev if self.second is None else self.second, self.weights)
        if (self.second is None) == (self.stddev is None):
            raise ValueError("query: give the stddev of the means, once")
        return mean, self.second if self.stddev is None else self.stddev, self.weights

    def check_none(self) -> None:
        """Refuses these for a model, which has its own components."""
        if self.weights is not None or self.aim[0] is not None or self.aim[1] is not None or self.axis != 1:
            raise ValueError("query: weights, aim_mean, aim_stddev and axis are for given arrays; leave them out")


def is_prediction(model: Any) -> bool:
    """Whether these are the means of components, or a Mixture of them."""
    if isinstance(model, np.ndarray) or hasattr(model, "_asdict") or hasattr(model, "__dlpack__"):
        return True
    return isinstance(model, (list, tuple)) and len(model) > 0 and not hasattr(model[0], "predict")


def choose_by_mixture(question: Question, mean: Any, given: Given = Given()) -> Chosen:
    is_array = not hasattr(mean, "_asdict")
    mean, stddev, weights = given.components(mean)
    pool = _full_shape(mean, stddev, given.axis)
    if is_array:
        warn_of_shape(pool[0], given.axis, given=mean)
    count = len(pool[0])
    rows = question.draw(count)
    if rows is not None:
        pool = (pool[0][rows], pool[1][rows])
    if (given.aim[0] is None) != (given.aim[1] is None):
        raise ValueError("query: give both of aim_mean and aim_stddev, or none")
    if given.aim[0] is None:
        aim = (np.empty((0, *pool[0].shape[1:])),) * 2
    else:
        aim = _full_shape(*given.aim, given.axis)
    chosen = _core.choose_given(question.asked(DEFAULT), *pool, *aim, as_weights(weights), question.cost_of(rows))
    return spread_choice(chosen, rows, count)


def choose_by_classes(question: Question, probabilities: Any, weights: Any, axis: int) -> Chosen:
    array = as_probabilities(probabilities, axis)
    warn_of_shape(array, axis)
    rows = question.draw(len(array))
    part = array if rows is None else np.ascontiguousarray(array[rows])
    asked = question.asked("bhattacharyya-joint")  # finite where a component excludes a class, unlike kl
    return spread_choice(_core.choose_classes(asked, part, as_weights(weights)), rows, len(array))


def _full_shape(mean: Any, stddev: Any, axis: int) -> Tuple[np.ndarray, np.ndarray]:
    """Both [N, M, D] in float64."""
    mean, stddev, _ = as_mixture(mean, stddev, None, axis)
    shape = mean.shape if mean.ndim == 3 else (*mean.shape, 1)
    if mean.ndim not in (2, 3) or mean.shape != stddev.shape:
        _core.estimate("min", mean, stddev, False, np.empty(0), 1, 0)  # which says what is wrong with the shapes
    mean, stddev = (np.require(array.reshape(shape), np.float64, ["C", "A"]) for array in (mean, stddev))
    return mean, stddev


def spread_choice(chosen: Chosen, rows: Optional[np.ndarray], count: int) -> Chosen:
    """The choice in rows of the whole pool, of which `rows` were candidates; utilities are nan at the others."""
    if rows is None:
        return chosen
    picks, scores, utilities = chosen
    if utilities is not None:
        all_rows = np.full((len(utilities), count), np.nan)
        all_rows[:, rows] = utilities
        utilities = all_rows
    return rows[picks], scores, utilities
