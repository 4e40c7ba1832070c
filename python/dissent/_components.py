"""The components of ensembles that scikit-learn fitted, as arrays of means and standard deviations."""
from __future__ import annotations

import inspect
from typing import Any, List, NoReturn, Optional, Tuple

import numpy as np
from sklearn.base import BaseEstimator, is_classifier
from sklearn.ensemble import BaggingRegressor, VotingRegressor
from sklearn.ensemble._forest import ForestRegressor
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.utils import check_random_state

from ._arrays import broadcast_stddev
from ._estimator import _Ensemble
from ._mixture import Mixture


def components_of(estimator: Any, X: Any, *, stddev: Any = None, X_train: Any = None, y_train: Any = None) -> Mixture:
    """What each component of an ensemble predicts at the rows of X, for :func:`query` and :func:`uncertainty`.

    Parameters
    ----------
    estimator : fitted regressor, or a list of fitted regressors
        A random forest or extra trees (its trees are the components), bagging or voting, a list of regressors (Gaussian
        processes, or anything with ``predict``), or an ensemble of dissent.
    X : array (N, C)
    stddev : number, array (D,) or array (N, M, D), optional
        The noise around a component's mean, in the units of `y`. Regressors whose ``predict`` takes ``return_std`` have
        their own; for all others give this, or `X_train` and `y_train`.
    X_train, y_train : arrays, optional
        Labelled rows to estimate the noise from, one standard deviation per output. With bags (``bootstrap=True``),
        give the rows that the ensemble was fitted to: each is predicted by the components that did not see it. Without
        bags, give rows that it has not seen.

    Returns
    -------
    Mixture
        ``mean`` and ``stddev`` (N, M, D), and ``weights`` (M,).

    Examples
    --------
    >>> from sklearn.ensemble import RandomForestRegressor
    >>> x = np.linspace(-1, 1, 60)[:, None]
    >>> y = np.sin(4 * x[:, 0])
    >>> forest = RandomForestRegressor(20, random_state=0).fit(x, y)
    >>> mixture = dissent.components_of(forest, x, X_train=x, y_train=y)
    >>> mixture.mean.shape, mixture.stddev.shape
    ((60, 20, 1), (60, 20, 1))
    >>> bool(0 < mixture.stddev[0, 0, 0] < 0.2)    # out-of-bag residuals
    True
    """
    if isinstance(estimator, _Ensemble):
        return estimator.predict_mixture(X)
    parts, weights = _parts(estimator)
    if stddev is None and all(map(_knows_spread, parts)):
        means, spreads = zip(*(_mean_and_spread(part, X) for part in parts))
        return Mixture(np.stack(means, axis=1), np.stack(spreads, axis=1), weights)
    mean = np.stack([_matrix(predict(X)) for predict in _predictors(estimator, parts)], axis=1)
    if stddev is None:
        stddev = _residual_spread(estimator, parts, weights, X_train, y_train)
    spread = broadcast_stddev(np.asarray(stddev, np.float64), mean)
    if spread.shape == mean.shape[:2] and mean.shape[2] == 1:
        spread = spread[:, :, None]
    if spread.shape != mean.shape:
        raise ValueError(
            f"stddev has shape {list(spread.shape)}; for means {list(mean.shape)} give that shape, one number, or one "
            "for each output"
        )
    return Mixture(mean, spread, weights)


def has_components(estimator: Any) -> bool:
    """Whether components_of() takes it."""
    if isinstance(estimator, (list, tuple)):
        return len(estimator) > 0 and all(hasattr(part, "predict") and not _classifies(part) for part in estimator)
    return isinstance(estimator, (ForestRegressor, BaggingRegressor, VotingRegressor))


def _classifies(part: Any) -> bool:
    """For scikit-learn's own: from 1.7 on, is_classifier() takes nothing else."""
    return isinstance(part, BaseEstimator) and bool(is_classifier(part))


def knows_noise(estimator: Any) -> bool:
    """Whether the components' own predictions say how large the noise is."""
    return all(map(_knows_spread, _parts(estimator)[0]))


def refuse_components(estimator: Any) -> NoReturn:
    """The error for an estimator that has none."""
    name = type(estimator).__name__
    if isinstance(estimator, (list, tuple)) and any(map(_classifies, estimator)):
        raise TypeError(
            f"{type(next(filter(_classifies, estimator))).__name__} predicts classes; give query() and uncertainty() "
            "the probabilities= of all, as in np.stack([part.predict_proba(X) for part in models], axis=1)"
        )
    if hasattr(estimator, "estimators_") and is_classifier(estimator):
        raise TypeError(
            f"{name} predicts classes; give query() and uncertainty() their probabilities=, as in "
            "np.stack([part.predict_proba(X) for part in model.estimators_], axis=1)"
        )
    raise TypeError(
        f"model must be an ensemble of dissent, or hold one, not {name}; of scikit-learn it may be a forest, bagging "
        "or voting regressor, a list of regressors, or a GaussianProcessRegressor"
    )


def _parts(estimator: Any) -> Tuple[List[Any], np.ndarray]:
    """The components and their weights."""
    if not has_components(estimator):
        refuse_components(estimator)
    parts = list(estimator) if isinstance(estimator, (list, tuple)) else getattr(estimator, "estimators_", None)
    if parts is None:
        raise ValueError(f"this {type(estimator).__name__} is not fitted; call fit() first")
    given = getattr(estimator, "weights", None) if isinstance(estimator, VotingRegressor) else None
    weights = np.ones(len(parts)) if given is None else np.asarray(given, np.float64)
    return list(parts), weights / weights.sum()


def _predictors(estimator: Any, parts: List[Any]) -> List[Any]:
    """The predict function of each component; bagging may have shown it only some columns."""
    columns = getattr(estimator, "estimators_features_", None)
    if columns is not None:
        return [lambda X, p=p, c=c: p.predict(np.asarray(X)[:, c]) for p, c in zip(parts, columns)]
    if isinstance(estimator, ForestRegressor):  # trees do not know the names of columns
        return [lambda X, p=p: p.predict(np.asarray(X)) for p in parts]
    return [part.predict for part in parts]


def _matrix(values: Any) -> np.ndarray:
    """[N, D]."""
    array = np.asarray(values, np.float64)
    return array[:, None] if array.ndim == 1 else array


def _knows_spread(part: Any) -> bool:
    return "return_std" in inspect.signature(part.predict).parameters


def _mean_and_spread(part: Any, X: Any) -> Tuple[np.ndarray, np.ndarray]:
    mean, std = part.predict(X, return_std=True)
    mean, std = _matrix(mean), _matrix(std)
    if isinstance(part, GaussianProcessRegressor):  # alpha is noise that its predictions leave out
        std = np.sqrt(std**2 + np.mean(part.alpha) * np.asarray(getattr(part, "_y_train_std", 1.0)) ** 2)
    return mean, np.broadcast_to(std, mean.shape)


def _residual_spread(estimator: Any, parts: List[Any], weights: np.ndarray, X: Any, y: Any) -> np.ndarray:
    """Root mean squares of the residuals, one per output."""
    if X is None or y is None:
        raise ValueError(
            f"the components of {type(estimator).__name__} have no noise of their own: give stddev, "
            "or X_train and y_train"
        )
    truth = _matrix(y)
    mean = np.stack([_matrix(predict(X)) for predict in _predictors(estimator, parts)], axis=1)
    if len(truth) != len(mean):
        raise ValueError(f"X_train has {len(mean)} rows, y_train {len(truth)}")
    out = _out_of_bag(estimator, parts, len(truth))
    share = np.broadcast_to(weights, mean.shape[:2]) if out is None else out * weights
    seen = share.sum(1) > 0
    if not seen.any():
        raise ValueError("no row is out of the bag of any component; fit more of them, or give stddev")
    predicted = np.einsum("nm,nmd->nd", share[seen] / share[seen].sum(1, keepdims=True), mean[seen])
    spread = np.sqrt(np.mean((truth[seen] - predicted) ** 2, axis=0))
    if not (spread > 1e-9 * np.abs(truth).max(axis=0)).all():  # beyond rounding
        raise ValueError("the residuals at X_train are 0; without bags, give rows that the model has not seen")
    return spread


def _out_of_bag(estimator: Any, parts: List[Any], num_rows: int) -> Optional[np.ndarray]:
    """[N, M]: 1 where the component was not fitted to the row; None for estimators without bags."""
    if not getattr(estimator, "bootstrap", False):
        return None
    if isinstance(estimator, BaggingRegressor):
        bags = estimator.estimators_samples_
        fitted = estimator._n_samples
    else:
        size, fitted = _bag_size(estimator, num_rows), num_rows
        bags = [check_random_state(tree.random_state).randint(0, num_rows, size) for tree in parts]
        _check_bags(estimator, parts, bags, num_rows)
    if fitted != num_rows:
        raise ValueError(f"X_train has {num_rows} rows; the model was fitted to {fitted}, and has bags of those")
    out = np.ones((num_rows, len(parts)))
    for m, bag in enumerate(bags):
        out[bag, m] = 0
    return out


def _check_bags(forest: Any, trees: List[Any], bags: List[np.ndarray], num_rows: int) -> None:
    """Refuses rows if the forest was fitted to another number of them: these draws are then not its bags.

    A tree knows how many distinct rows it has. It does not count rows of weight 0, but then the weights of whole bags
    differ.
    """
    drawn = np.array([len(np.unique(bag)) for bag in bags])
    seen = np.array([tree.tree_.n_node_samples[0] for tree in trees])
    weight = np.array([tree.tree_.weighted_n_node_samples[0] for tree in trees])
    same_weight = bool((weight == weight[0]).all())
    if (seen > drawn).any() or (same_weight and (seen != drawn).any()):
        known = same_weight and forest.max_samples is None and weight[0] != num_rows
        fitted = f"{weight[0]:.0f}" if known else "another number"
        raise ValueError(f"X_train has {num_rows} rows; the model was fitted to {fitted}, and has bags of those")


def _bag_size(forest: Any, num_rows: int) -> int:
    """How many draws a tree's bag is made of."""
    most = forest.max_samples
    if most is None:
        return num_rows
    return int(most) if isinstance(most, (int, np.integer)) else max(round(num_rows * most), 1)
