"""Rows chosen by predictions that are there already: arrays of means and standard deviations, or of probabilities."""
from __future__ import annotations

from typing import Any, NamedTuple, Optional, Tuple

import numpy as np

from . import _core
from ._arrays import as_mixture, as_probabilities, as_weights
from ._arguments import whole_number

Chosen = Tuple[np.ndarray, np.ndarray, Optional[np.ndarray]]  # rows, scores, utilities


class Question(NamedTuple):
    """What is asked of a choice, whatever the components are."""

    acquisition: str
    batch: int
    seed: int
    ranking: str
    utilities: bool
    candidates: Optional[int]

    def asked(self) -> _core.Asked:
        return _core.Asked(self.acquisition, self.batch, self.seed, self.ranking, self.utilities, 0)

    def draw(self, num_rows: int) -> Optional[np.ndarray]:
        """The rows to choose among; None for all."""
        if self.candidates is None:
            return None
        return np.asarray(_core.draw_candidates(num_rows, whole_number(self.candidates, "candidates", 1), self.seed))


def choose_by_mixture(question: Question, mean: Any, stddev: Any, weights: Any, aim: Tuple[Any, Any], axis: int) -> Chosen:
    pool = _full_shape(mean, stddev, axis)
    rows = question.draw(len(pool[0]))
    if rows is not None:
        pool = (pool[0][rows], pool[1][rows])
    if (aim[0] is None) != (aim[1] is None):
        raise ValueError("query: give both of aim_mean and aim_stddev, or none")
    if aim[0] is None:
        aim_arrays = (np.empty((0, *pool[0].shape[1:])),) * 2
    else:
        aim_arrays = _full_shape(aim[0], aim[1], axis)
    return _spread(_core.choose_given(question.asked(), *pool, *aim_arrays, as_weights(weights)), rows, len(mean))


def choose_by_classes(question: Question, probabilities: Any, weights: Any, axis: int) -> Chosen:
    array = as_probabilities(probabilities, axis)
    rows = question.draw(len(array))
    part = array if rows is None else np.ascontiguousarray(array[rows])
    return _spread(_core.choose_classes(question.asked(), part, as_weights(weights)), rows, len(array))


def _full_shape(mean: Any, stddev: Any, axis: int) -> Tuple[np.ndarray, np.ndarray]:
    """Both [N, M, D] in float64."""
    mean, stddev, _ = as_mixture(mean, stddev, None, axis)
    shape = mean.shape if mean.ndim == 3 else (*mean.shape, 1)
    if mean.ndim not in (2, 3) or mean.size != stddev.size:
        _core.estimate("min", mean, stddev, False, np.empty(0), 1, 0)  # which says what is wrong with the shapes
    return tuple(np.require(array.reshape(shape), np.float64, ["C", "A"]) for array in (mean, stddev))


def _spread(chosen: Chosen, rows: Optional[np.ndarray], count: int) -> Chosen:
    """Rows of the whole, of which `rows` were candidates; utilities are nan at the others."""
    if rows is None:
        return chosen
    picks, scores, utilities = chosen
    if utilities is not None:
        all_rows = np.full((len(utilities), count), np.nan)
        all_rows[:, rows] = utilities
        utilities = all_rows
    return rows[picks], scores, utilities
