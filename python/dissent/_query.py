"""Which rows of a pool to label next: as a function, and as a strategy in the manner of scikit-activeml."""
from __future__ import annotations

import warnings
from typing import Any, Callable, List, Literal, NamedTuple, Optional, Tuple, Union, overload

import numpy as np
from sklearn.base import clone
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.pipeline import Pipeline
from sklearn.utils import check_array, check_consistent_length

from . import _core
from ._arguments import seed_of, whole_number
from ._arrays import without_tensors
from ._components import components_of, has_components, refuse_components
from ._estimator import _Ensemble
from ._given import (
    DEFAULT,
    Chosen,
    Given,
    Question,
    choose_by_classes,
    choose_by_mixture,
    is_prediction,
    spread_choice,
)
from ._posterior import choose_by_posterior
from ._sklearn import BaseEstimator
from ._uncertainty import _name


class AcquisitionInfo(NamedTuple):
    """A row of :func:`acquisitions`.

    >>> [(a.name, a.utility) for a in dissent.acquisitions() if a.name == "random"]
    [('random', 'a uniform draw')]
    """

    name: str  #: as typed; ``mc:K`` takes a number for K
    summary: str
    utility: str  #: what the utilities of :func:`query` are


@overload
def query(
    model: Any = ...,
    X_pool: Any = ...,
    batch: Optional[int] = ...,
    acquisition: Optional[str] = ...,
    *,
    stddev: Any = ...,
    probabilities: Any = ...,
    weights: Any = ...,
    aim_mean: Any = ...,
    aim_stddev: Any = ...,
    axis: int = ...,
    X_train: Any = ...,
    y_train: Any = ...,
    candidates: Optional[int] = ...,
    random_state: Any = ...,
    ranking: str = ...,
    return_utilities: Literal[False] = ...,
    n_instances: Optional[int] = ...,
) -> np.ndarray: ...
@overload
def query(
    model: Any = ...,
    X_pool: Any = ...,
    batch: Optional[int] = ...,
    acquisition: Optional[str] = ...,
    *,
    stddev: Any = ...,
    probabilities: Any = ...,
    weights: Any = ...,
    aim_mean: Any = ...,
    aim_stddev: Any = ...,
    axis: int = ...,
    X_train: Any = ...,
    y_train: Any = ...,
    candidates: Optional[int] = ...,
    random_state: Any = ...,
    ranking: str = ...,
    return_utilities: Literal[True],
    n_instances: Optional[int] = ...,
) -> Tuple[np.ndarray, np.ndarray]: ...
@overload
def query(
    model: Any = ...,
    X_pool: Any = ...,
    batch: Optional[int] = ...,
    acquisition: Optional[str] = ...,
    *,
    stddev: Any = ...,
    probabilities: Any = ...,
    weights: Any = ...,
    aim_mean: Any = ...,
    aim_stddev: Any = ...,
    axis: int = ...,
    X_train: Any = ...,
    y_train: Any = ...,
    candidates: Optional[int] = ...,
    random_state: Any = ...,
    ranking: str = ...,
    return_utilities: bool,
    n_instances: Optional[int] = ...,
) -> Union[np.ndarray, Tuple[np.ndarray, np.ndarray]]: ...
def query(
    model: Any = None,
    X_pool: Any = None,
    batch: Optional[int] = None,
    acquisition: Optional[str] = None,
    *,
    stddev: Any = None,
    probabilities: Any = None,
    weights: Any = None,
    aim_mean: Any = None,
    aim_stddev: Any = None,
    axis: int = 1,
    X_train: Any = None,
    y_train: Any = None,
    candidates: Optional[int] = None,
    random_state: Any = 0,
    ranking: str = "deficit",
    return_utilities: bool = False,
    n_instances: Optional[int] = None,
) -> Union[np.ndarray, Tuple[np.ndarray, np.ndarray]]:
    """The rows of a pool whose labels would teach the model most.

    Parameters
    ----------
    model : a fitted ensemble, such as AutoEnsemble
        Or what holds one: a pipeline that ends in it, a grid search, or a learner of modAL, whose query strategy this
        function can be. It may also be an ensemble of scikit-learn or a list of regressors (:func:`components_of` says
        which), or one of its Gaussian processes. Or predictions that are there already: a :class:`Mixture`, or the
        means (N, M, D) of any ensemble, as in :func:`uncertainty`.
    X_pool : array or table (N, C)
        With means: their standard deviations.
    batch : int, optional
        How many rows; 10 by default, 1 for a learner of modAL.
    acquisition : str, optional
        Any of :func:`acquisitions`, "aim" by default. "badge", "bait", "lcmd" and "lcmd-grad" look at layers
        of networks, which other models do not have: that is a ValueError. Of probabilities: "exact" (BALD), a divergence,
        its joint form, or "random"; "bhattacharyya-joint" by default. Of one Gaussian process: "exact", the information
        of each row by itself, or "exact-joint", that of the batch, the default.
    stddev : number, array (D,) or array (N, M, D), optional
        The noise, with means and for models that do not know theirs.
    probabilities : array (N, M, K), optional
        Of K classes, as the components of a classifier give them, in place of a model.
    weights : array (M,), optional
        Of given components; uniform by default.
    aim_mean, aim_stddev : arrays (A, M, D), optional
        With means: the same components where predictions will be needed, for methods that take an aim.
    axis : 0, 1 or -1
        Which axis of given arrays counts components, as in :func:`uncertainty`.
    X_train, y_train : arrays, optional
        What the model was fitted to; "bait", "lcmd" and "lcmd-grad" keep away from those rows, and the noise of scikit-learn's
        ensembles comes from them (:func:`components_of`). A learner of modAL knows its own.
    candidates : int, optional
        Choose among as many rows drawn from the pool; among all by default.
    random_state : int, RandomState, Generator or None
        Of draws and ties.
    ranking : "deficit" or "value"
        What methods rank by that estimate the disagreement. "deficit", -ln(H(w) - estimate), tells rows apart where
        every estimate is ln M to the last bit. "value" is the estimate in single precision, as in the paper.
    return_utilities : bool
        Whether to return the utilities as well.
    n_instances : int, optional
        modAL's name for `batch`.

    Returns
    -------
    indices : array (batch,) of int
        Rows of `X_pool`, in the order of choice.
    utilities : array (batch, N)
        Only with `return_utilities`: what each row was worth at each choice, larger being better; nan for rows chosen
        before and rows that were no candidates. Those of the chosen are ``utilities[range(batch), indices]``.
        A learner of modAL (0.4.2) expects a pair always: without `return_utilities`, those of the chosen (batch,).

    Examples
    --------
    >>> x = np.linspace(-1, 1, 40)[:, None]
    >>> model = dissent.ProbabilisticEnsemble(epochs=50, random_state=0).fit(x, np.sin(3 * x[:, 0]))
    >>> pool = np.linspace(-3, 3, 25)[:, None]
    >>> chosen = dissent.query(model, pool, batch=4)
    >>> bool(abs(pool[chosen]).min() > 1)    # all beyond the data
    True
    >>> chosen, utilities = dissent.query(model, pool, batch=4, return_utilities=True)
    >>> utilities.shape
    (4, 25)
    >>> mean, stddev = np.array([[0.0, 0.1], [0.0, 4.0], [0.0, 2.0]]), np.ones((3, 2))    # of any two components
    >>> dissent.query(mean, stddev, batch=2, acquisition="kl")
    array([1, 2])
    """
    learner = hasattr(model, "X_training")
    if n_instances is not None:
        batch = n_instances
    if X_train is None and y_train is None:
        X_train, y_train = getattr(model, "X_training", None), getattr(model, "y_training", None)
    if (X_train is None) != (y_train is None):
        raise ValueError("query: give both of X_train and y_train, or none")
    question = Question(
        "" if acquisition is None else _name(acquisition, "acquisition"),
        whole_number((1 if learner else 10) if batch is None else batch, "batch", 1),
        seed_of(random_state),
        _name(ranking, "ranking"),
        bool(return_utilities),
        None if candidates is None else whole_number(candidates, "candidates", 1),
    )
    given = Given(X_pool, stddev, weights, (aim_mean, aim_stddev), axis)
    if probabilities is not None:
        if model is not None or X_pool is not None or stddev is not None:
            raise ValueError("query: give probabilities, or a model, or means; not two of them")
        chosen, scores, matrix = choose_by_classes(question, probabilities, weights, axis)
    elif is_prediction(model):
        chosen, scores, matrix = choose_by_mixture(question, model, given)
    else:
        given.check_none()
        chosen, scores, matrix = _choose_by_model(question, model, X_pool, stddev, X_train, y_train)
    if matrix is None:
        return (chosen, scores) if learner else chosen
    return chosen, matrix


def _choose_by_model(question: Question, model: Any, X_pool: Any, stddev: Any, X_train: Any, y_train: Any) -> Chosen:
    estimator, transform = _unwrap(model)
    pool = transform(X_pool)
    if isinstance(estimator, GaussianProcessRegressor):
        return choose_by_posterior(question, estimator, pool, stddev)
    if not isinstance(estimator, _Ensemble):
        known = X_train if X_train is None else transform(X_train)
        mixture = components_of(estimator, pool, stddev=stddev, X_train=known, y_train=y_train)
        return choose_by_mixture(question, mixture)
    if stddev is not None:
        raise ValueError("query: the ensembles of dissent know their noise; leave stddev out")
    pool = estimator._checked(pool)
    training = _training(estimator, transform, X_train, y_train)
    rows = question.draw(len(pool))
    chosen = _core.choose(
        question.acquisition or DEFAULT,
        estimator.model_,
        pool if rows is None else pool[rows],
        *training,
        question.batch,
        question.seed,
        question.ranking,
        question.utilities,
        estimator._threads(),
    )
    return spread_choice(chosen, rows, len(pool))


class QueryStrategy(BaseEstimator):
    """:func:`query` with the interface of scikit-activeml's strategies, for loops that are written for those.

    Labels that are missing are nan in `y`.

    Parameters
    ----------
    acquisition : str
        Any of :func:`acquisitions`.
    random_state : int, RandomState, Generator or None
    ranking : "deficit" or "value"
        As in :func:`query`.

    Examples
    --------
    >>> x = np.linspace(-3, 3, 61)[:, None]
    >>> y = np.full(61, np.nan)
    >>> y[25:36] = np.sin(x[25:36, 0])    # known in the middle alone
    >>> strategy = dissent.QueryStrategy("kl-joint", random_state=0)
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
            Stands where scikit-activeml has it; the ensembles know no weights of samples.
        candidates : array, optional
            Indices (K,) of the samples to choose from, or other samples (K, C); by default those without a label.
        batch_size : int
            All that are left, with a warning, where that is fewer.
        return_utilities : bool

        Returns
        -------
        query_indices : array (batch_size,) of int
            Of samples in `X`; in `candidates`, if that holds samples.
        utilities : array (batch_size, N or K)
            Only with `return_utilities`: see :func:`query`.

        Examples
        --------
        >>> X = np.linspace(-1, 1, 30)[:, None]
        >>> y = np.where(X[:, 0] < 0, X[:, 0] ** 2, np.nan)    # half of the labels are missing
        >>> model = dissent.ProbabilisticEnsemble(epochs=5, random_state=0)
        >>> dissent.QueryStrategy("kl-joint").query(X, y, model, batch_size=3).shape
        (3,)
        """
        X, y = without_tensors(X, "X"), without_tensors(y, "y")
        y = check_array(y, dtype=np.float64, ensure_2d=False, force_all_finite="allow-nan", input_name="y")
        check_consistent_length(X, y)
        if sample_weight is not None:
            raise ValueError("sample_weight: the ensembles know no weights of samples; give None")
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


def _unwrap(model: Any) -> Tuple[Any, Callable[[Any], Any]]:
    """The ensemble inside a learner, a search or a pipeline, and what the pipeline does to X before."""
    steps: List[Any] = []
    while not (isinstance(model, (_Ensemble, GaussianProcessRegressor)) or has_components(model)):
        if hasattr(model, "estimators_"):
            refuse_components(model)  # what it holds is no ensemble, but a part of one
        inner = [name for name in ("best_estimator_", "estimator_", "estimator") if hasattr(model, name)]
        if isinstance(model, Pipeline):
            steps += [model[:-1]] if len(model) > 1 else []
            model = model[-1]
        elif inner:
            model = getattr(model, inner[0])
        else:
            refuse_components(model)

    def transform(X: Any) -> Any:
        for step in steps:
            X = step.transform(X)
        return X

    return model, transform


def _training(
    estimator: _Ensemble, transform: Callable[[Any], Any], X_train: Any, y_train: Any
) -> Tuple[np.ndarray, np.ndarray]:
    if X_train is None:
        return np.empty((0, estimator.n_features_in_)), np.empty((0, estimator.n_outputs_))
    return estimator._checked(transform(X_train), y_train)


def acquisitions() -> List[AcquisitionInfo]:
    """Every way there is to choose rows.

    >>> any(a.name == "kl-joint" for a in dissent.acquisitions())
    True
    """
    return [AcquisitionInfo(*row) for row in _core.acquisitions()]
