"""dissent.query as a strategy in the manner of scikit-activeml."""
from __future__ import annotations

import warnings
from typing import Any, Literal, Optional, Tuple, Union, overload

import numpy as np
from sklearn.base import clone
from sklearn.utils import check_array, check_consistent_length

from ._arrays import as_cost, without_tensors
from ._given import DEFAULT
from ._query import query
from ._sklearn import BaseEstimator, allowing_nan


class QueryStrategy(BaseEstimator):
    """:func:`query` with the interface of scikit-activeml's strategies, for loops that are written for those.

    Missing labels are nan in `y`.

    Parameters
    ----------
    acquisition : str
        Any of :func:`acquisitions`, "aim" by default.
    random_state : int, RandomState, Generator or None
    ranking : "deficit" or "value"
        As in :func:`query`.

    Examples
    --------
    >>> x = np.linspace(-3, 3, 61)[:, None]
    >>> y = np.full(61, np.nan)
    >>> y[25:36] = np.sin(x[25:36, 0])    # known in the middle alone
    >>> strategy = dissent.QueryStrategy(random_state=0)
    >>> model = dissent.ProbabilisticEnsemble(epochs=50, random_state=0)
    >>> chosen, utilities = strategy.query(x, y, model, batch_size=3, return_utilities=True)
    >>> chosen.shape, utilities.shape, bool(np.isnan(utilities[:, 25:36]).all())
    ((3,), (3, 61), True)
    """

    def __init__(self, acquisition: str = DEFAULT, *, random_state: Any = None, ranking: str = "deficit"):
        self.acquisition = acquisition
        self.random_state = random_state
        self.ranking = ranking

    @overload
    def query(
        self,
        X: Any,
        y: Any,
        reg: Any,
        fit_reg: bool = ...,
        sample_weight: None = ...,
        candidates: Any = ...,
        batch_size: int = ...,
        return_utilities: Literal[False] = ...,
        *,
        aim: Any = ...,
        cost: Any = ...,
    ) -> np.ndarray: ...
    @overload
    def query(
        self,
        X: Any,
        y: Any,
        reg: Any,
        fit_reg: bool = ...,
        sample_weight: None = ...,
        candidates: Any = ...,
        batch_size: int = ...,
        *,
        return_utilities: Literal[True],
        aim: Any = ...,
        cost: Any = ...,
    ) -> Tuple[np.ndarray, np.ndarray]: ...
    @overload
    def query(
        self,
        X: Any,
        y: Any,
        reg: Any,
        fit_reg: bool = ...,
        sample_weight: None = ...,
        candidates: Any = ...,
        batch_size: int = ...,
        return_utilities: bool = ...,
        *,
        aim: Any = ...,
        cost: Any = ...,
    ) -> Union[np.ndarray, Tuple[np.ndarray, np.ndarray]]: ...
    def query(
        self,
        X: Any,
        y: Any,
        reg: Any,
        fit_reg: bool = True,
        sample_weight: None = None,
        candidates: Any = None,
        batch_size: int = 1,
        return_utilities: bool = False,
        *,
        aim: Any = None,
        cost: Any = None,
    ) -> Union[np.ndarray, Tuple[np.ndarray, np.ndarray]]:
        """The samples to label next.

        Parameters
        ----------
        X : array (N, C)
            All samples, labelled or not.
        y : array (N,) or (N, D)
            Their labels, nan where they are missing.
        reg : an ensemble, such as AutoEnsemble
            Or what holds one, as in :func:`query`.
        fit_reg : bool
            Whether to fit a clone of `reg` to the labelled samples first; it must be fitted otherwise.
        sample_weight : None
            It is here because scikit-activeml has it; a query takes no weights of samples.
        candidates : array, optional
            Indices (K,) of the samples to choose from, or other samples (K, C); by default those without a label.
        batch_size : int
            How many to choose; if fewer are left, all of them, with a warning.
        return_utilities : bool
        aim : array (A, C), optional
            As in :func:`query`.
        cost : array (N,), optional
            What a label of each sample of `X` costs; (K,), for each candidate, if `candidates` holds samples.

        Returns
        -------
        query_indices : array (batch_size,) of int
            Samples in `X`; in `candidates`, if that holds samples.
        utilities : array (batch_size, N or K)
            Only with `return_utilities`: see :func:`query`.

        Examples
        --------
        >>> X = np.linspace(-1, 1, 30)[:, None]
        >>> y = np.where(X[:, 0] < 0, X[:, 0] ** 2, np.nan)    # half of the labels are missing
        >>> model = dissent.ProbabilisticEnsemble(epochs=5, random_state=0)
        >>> dissent.QueryStrategy().query(X, y, model, batch_size=3).shape
        (3,)
        """
        X, y = without_tensors(X, "X"), without_tensors(y, "y")
        y = check_array(y, dtype=np.float64, ensure_2d=False, input_name="y", **allowing_nan(check_array))
        check_consistent_length(X, y)
        if sample_weight is not None:
            raise ValueError("sample_weight: a query knows no weights of samples; give None")
        missing = np.isnan(y.reshape(len(y), -1))
        if (missing.any(1) != missing.all(1)).any():
            raise ValueError("y has rows with some of their labels; give all of a row or none")
        known = np.flatnonzero(~missing.any(1))
        X_known, y_known = _rows(X, known), y[known]
        model = clone(reg).fit(X_known, y_known) if fit_reg else reg
        pool, at = _candidates(X, candidates, np.flatnonzero(missing.any(1)), len(y))
        left = len(pool) if at is None else len(at)
        if batch_size > left:
            warnings.warn(f"batch_size = {batch_size}, but {left} samples are left; all are chosen", stacklevel=2)
            batch_size = left
        costs = as_cost(cost)
        if costs is not None and at is not None:
            check_consistent_length(X, costs)
            costs = costs[at]
        result = query(
            model,
            pool,
            batch_size,
            self.acquisition,
            X_train=X_known,
            y_train=y_known,
            random_state=self.random_state,
            ranking=self.ranking,
            return_utilities=return_utilities,
            aim=aim,
            cost=costs,
        )
        if at is None:
            return result
        if isinstance(result, tuple):
            return at[result[0]], _spread(result[1], at, len(y))
        return at[result]


def _candidates(X: Any, candidates: Any, unlabelled: np.ndarray, count: int) -> Tuple[Any, Optional[np.ndarray]]:
    """The samples to choose from and their indices in X, None for samples that are not in it."""
    if candidates is None:
        if len(unlabelled) == 0:
            raise ValueError("every sample has its label; there is nothing left to choose from")
        return _rows(X, unlabelled), unlabelled
    if np.ndim(candidates) != 1:
        return candidates, None
    at = np.asarray(candidates)
    if at.dtype.kind not in "iu":
        raise ValueError(f"candidates has type {at.dtype}; give indices or samples (K, C)")
    wrong = at[(at < 0) | (at >= count)]
    if len(at) == 0 or len(wrong) > 0:
        raise ValueError(f"candidates: {f'no sample {wrong[0]} among {count}' if len(wrong) else 'there are none'}")
    at = at[np.sort(np.unique(at, return_index=True)[1])]  # each once, in their order
    return _rows(X, at), at


def _rows(X: Any, at: np.ndarray) -> Any:
    return X.iloc[at] if hasattr(X, "iloc") else np.asarray(X)[at]


def _spread(utilities: np.ndarray, rows: np.ndarray, count: int) -> np.ndarray:
    """Columns `rows` of `count`; nan in the others."""
    result = np.full((len(utilities), count), np.nan)
    result[:, rows] = utilities
    return result
