"""Which rows of a pool to label next."""
from __future__ import annotations

import operator
from typing import Any, List, NamedTuple, Optional, Tuple, Union

import numpy as np

from . import _core
from ._ensembles import _Ensemble, _seed_of


class AcquisitionInfo(NamedTuple):
    """A row of :func:`acquisitions`."""

    name: str  #: as typed; ``mc:K`` takes a number for K
    summary: str
    utility: str  #: what the utilities of :func:`query` are


def query(
    model: Any,
    X_pool: Any,
    batch: int = 10,
    acquisition: str = "kl-joint",
    *,
    X_train: Any = None,
    y_train: Any = None,
    candidates: Optional[int] = None,
    random_state: Any = 0,
    return_utilities: bool = False,
) -> Union[np.ndarray, Tuple[np.ndarray, np.ndarray]]:
    """The rows of a pool whose labels would teach the model most.

    Parameters
    ----------
    model : FlowEnsemble or ProbabilisticEnsemble, fitted
        Or an object that holds one as its `estimator`, as modAL's learners do: ``query`` can be their query strategy.
    X_pool : array or table (N, C)
    batch : int
        How many rows.
    acquisition : str
        Any of :func:`acquisitions`.
    X_train, y_train : arrays, optional
        What the model was fitted to; "bait" and "lcmd" keep away from those rows.
    candidates : int, optional
        Choose among as many rows drawn from the pool; among all by default.
    random_state : int, RandomState or None
        Of draws and ties.
    return_utilities : bool
        Whether to return the utilities of the chosen rows as well; larger is better.

    Returns
    -------
    indices : array (batch,) of int
        Rows of `X_pool`, in the order of choice.
    utilities : array (batch,)
        Only with `return_utilities`.

    Examples
    --------
    >>> x = np.linspace(-1, 1, 40)[:, None]
    >>> model = dissent.ProbabilisticEnsemble(epochs=50, random_state=0).fit(x, np.sin(3 * x[:, 0]))
    >>> pool = np.linspace(-3, 3, 25)[:, None]
    >>> chosen = dissent.query(model, pool, batch=4)
    >>> bool(abs(pool[chosen]).min() > 1)    # all beyond the data
    True
    """
    estimator = getattr(model, "estimator", model)
    if not isinstance(estimator, _Ensemble):
        raise TypeError(f"query: model must be a FlowEnsemble or ProbabilisticEnsemble, not {type(estimator).__name__}")
    pool = estimator._checked(X_pool)
    training = _training(estimator, X_train, y_train)
    seed = _seed_of(random_state)
    rows = None
    if candidates is not None:
        rows = np.asarray(_core.draw_candidates(len(pool), operator.index(candidates), seed))
        pool = pool[rows]
    choice = _core.choose(
        acquisition, estimator.model_, pool, *training, operator.index(batch), seed, estimator._threads()
    )
    chosen = choice["rows"] if rows is None else rows[choice["rows"]]
    return (chosen, choice["scores"]) if return_utilities else chosen


def _training(estimator: _Ensemble, X_train: Any, y_train: Any) -> Tuple[np.ndarray, np.ndarray]:
    if (X_train is None) != (y_train is None):
        raise ValueError("query: give both of X_train and y_train, or none")
    if X_train is None:
        return np.empty((0, estimator.n_features_in_)), np.empty((0, estimator.n_outputs_))
    return estimator._checked(X_train, y_train)


def acquisitions() -> List[AcquisitionInfo]:
    """Every way there is to choose rows.

    >>> any(a.name == "kl-joint" for a in dissent.acquisitions())
    True
    """
    return [AcquisitionInfo(*row) for row in _core.acquisitions()]
