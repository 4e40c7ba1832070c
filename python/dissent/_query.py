"""Which rows of a pool to label next."""
from __future__ import annotations

from functools import partial
from typing import Any, Callable, List, Literal, NamedTuple, Optional, Tuple, Union, overload

import numpy as np
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.pipeline import Pipeline

from . import _core
from ._arguments import seed_of, whole_number
from ._arrays import as_cost
from ._components import components_of, has_components, refuse_components
from ._device_arrays import choose_on_card, on_card
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
    aim: Any = ...,
    cost: Any = ...,
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
    aim: Any = ...,
    cost: Any = ...,
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
    aim: Any = ...,
    cost: Any = ...,
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
    aim: Any = None,
    cost: Any = None,
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
        Or what holds one: a pipeline that ends in it, a grid search, or a modAL learner, which can use this function as
        its query strategy. Or a scikit-learn ensemble or a list of regressors (:func:`components_of` says which), or
        one of scikit-learn's Gaussian processes. Or existing predictions: a :class:`Mixture`, or the means (N, M, D) of
        any ensemble, as in :func:`uncertainty`. Means and standard deviations on a CUDA device (torch, JAX, CuPy,
        anything with DLPack) are read in place, contiguous, as in :func:`score`: see Notes.
    X_pool : array or table (N, C)
        With means: their standard deviations.
    batch : int, optional
        How many rows; 10 by default, 1 for a modAL learner.
    acquisition : str, optional
        Any of :func:`acquisitions`, "aim" by default. "badge", "bait", "lcmd" and "lcmd-grad" look at layers of
        networks; for other models, which have none, they raise a ValueError. With probabilities: "exact" (BALD), a
        divergence, its joint form, or "random"; "bhattacharyya-joint" by default. With one Gaussian process: "exact",
        the information of each row by itself, or "exact-joint", that of the batch, the default.
    stddev : number, array (D,) or array (N, M, D), optional
        The noise, with means and for models that do not know their own.
    probabilities : array (N, M, K), optional
        Of K classes, as the components of a classifier give them, instead of a model.
    weights : array (M,), optional
        Of given components; uniform by default.
    aim : array or table (A, C), optional
        Inputs at which predictions will be needed, for "aim" and the methods that end in "-aim". By default these take
        rows of the pool. Other methods raise a ValueError that lists those that look at an aim.
    cost : array (N,), optional
        What a label of each row of the pool costs, in any unit. Methods that look at each row by itself, or at an aim,
        weigh what a label tells against its cost. Other methods raise a ValueError that lists those.
    aim_mean, aim_stddev : arrays (A, M, D), optional
        With means, instead of `aim`: the same components where predictions will be needed.
    axis : 0, 1 or -1
        Which axis of given arrays counts components, as in :func:`uncertainty`.
    X_train, y_train : arrays, optional
        What the model was fitted to; "bait", "lcmd" and "lcmd-grad" keep away from those rows, and the noise of
        scikit-learn's ensembles comes from them (:func:`components_of`). A modAL learner knows its own.
    candidates : int, optional
        Choose among this many rows drawn from the pool; among all by default.
    random_state : int, RandomState, Generator or None
        For draws and ties.
    ranking : "deficit" or "value"
        What methods that estimate the disagreement rank by. "deficit", -ln(H(w) - estimate), tells rows apart even
        where every estimate is ln M to the last bit. "value" is the estimate in single precision, as in the paper.
    return_utilities : bool
        Whether to return the utilities as well.
    n_instances : int, optional
        modAL's name for `batch`.

    Returns
    -------
    indices : array (batch,) of int
        Rows of `X_pool`, in the order of choice.
    utilities : array (batch, N)
        Only with `return_utilities`: what each row was worth at each choice; larger is better, nan for rows chosen
        before and rows that were not candidates. Those of the chosen rows are ``utilities[range(batch), indices]``. A
        modAL learner (0.4.2) always expects a pair: without `return_utilities` it gets those of the chosen rows
        (batch,).

    Notes
    -----
    Arrays on a CUDA device are read in place. There rows are chosen by a divergence ("kl", "chernoff:0.3") or its joint
    form ("kl-joint"), which must be named as `acquisition`; `weights`, `ranking` and `random_state` work too. The rows
    are those of the same arrays on the host, unless two are worth the same to single precision. With other methods or
    options a ValueError says to bring the arrays to the host.

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
    >>> dissent.query(mean, stddev, batch=1, acquisition="kl", cost=[1, 100, 1])
    array([2])
    >>> mean, stddev = torch.randn(100_000, 5, 257, device="cuda"), ...    # doctest: +SKIP
    >>> rows = dissent.query(mean, stddev, batch=100, acquisition="kl-joint")    # doctest: +SKIP
    >>> aim = np.array([[2.0], [3.0]])    # where predictions will be needed
    >>> bool((pool[dissent.query(model, pool, batch=2, aim=aim)] > 0).all())
    True
    """
    learner = hasattr(model, "X_training")
    if n_instances is not None:
        if batch is not None:
            raise ValueError("query: give batch or n_instances; they are the same")
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
        as_cost(cost),
    )
    given = Given(X_pool, stddev, weights, (aim_mean, aim_stddev), axis)
    if probabilities is not None:
        if model is not None or X_pool is not None or stddev is not None:
            raise ValueError("query: give probabilities, or a model, or means; not two of them")
        if any(value is not None for value in (aim, cost, aim_mean, aim_stddev)):
            raise ValueError("query: no method looks at an aim or costs by probabilities of classes; leave them out")
        if on_card(probabilities):
            raise ValueError("query: probabilities are read on the host; bring them there, as by probabilities.cpu()")
        chosen, scores, matrix = choose_by_classes(question, probabilities, weights, axis)
    elif is_prediction(model):
        if aim is not None:
            raise ValueError("query: with means, give the aim as aim_mean and aim_stddev; aim is inputs for a model")
        if on_card(model, X_pool, stddev):
            chosen, scores, matrix = choose_on_card(question, model, given)
        else:
            chosen, scores, matrix = choose_by_mixture(question, model, given)
    else:
        given.check_none()
        chosen, scores, matrix = _choose_by_model(question, model, X_pool, aim, stddev, X_train, y_train)
    if matrix is None:
        return (chosen, scores) if learner else chosen
    return chosen, matrix


def _choose_by_model(
    question: Question, model: Any, X_pool: Any, aim: Any, stddev: Any, X_train: Any, y_train: Any
) -> Chosen:
    estimator, transform = _unwrap(model)
    pool = transform(X_pool)
    aim = aim if aim is None else transform(aim)
    if isinstance(estimator, GaussianProcessRegressor):
        if aim is not None or question.cost is not None:
            raise ValueError(
                "query: a GaussianProcessRegressor chooses by exact and exact-joint, which look at no aim and no "
                "costs; dissent.GaussianProcessEnsemble chooses by aim, which does"
            )
        return choose_by_posterior(question, estimator, pool, stddev)
    if not isinstance(estimator, _Ensemble):
        known = X_train if X_train is None else transform(X_train)
        of = partial(components_of, estimator, stddev=stddev, X_train=known, y_train=y_train)
        return choose_by_mixture(question, of(pool), Given(aim=(None, None) if aim is None else of(aim)[:2]))
    if stddev is not None:
        raise ValueError("query: the ensembles of dissent know their noise; leave stddev out")
    pool = estimator._checked(pool)
    rows = question.draw(len(pool))
    chosen = _core.choose(
        question.asked(DEFAULT, estimator._threads()),
        estimator.model_,
        pool if rows is None else pool[rows],
        *_training(estimator, transform, X_train, y_train),
        np.empty((0, len(estimator.model_.describe()["inputs"]))) if aim is None else _checked_aim(estimator, aim),
        question.cost_of(rows),
    )
    return spread_choice(chosen, rows, len(pool))


def _checked_aim(estimator: _Ensemble, aim: Any) -> np.ndarray:
    try:
        return estimator._checked(aim)
    except ValueError as error:
        raise ValueError(f"aim: {error}") from None


def _unwrap(model: Any) -> Tuple[Any, Callable[[Any], Any]]:
    """The ensemble inside a learner, a search or a pipeline, and what the pipeline does to X before."""
    steps: List[Any] = []
    while not (isinstance(model, (_Ensemble, GaussianProcessRegressor)) or has_components(model)):
        if hasattr(model, "estimators_"):
            refuse_components(model)  # what it holds is not an ensemble, but part of one
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
        return np.empty((0, len(estimator.model_.describe()["inputs"]))), np.empty((0, estimator.n_outputs_))
    return estimator._checked(transform(X_train), y_train)


def acquisitions() -> List[AcquisitionInfo]:
    """Every way to choose rows.

    >>> any(a.name == "kl-joint" for a in dissent.acquisitions())
    True
    """
    return [AcquisitionInfo(*row) for row in _core.acquisitions()]
