"""One Gaussian process of scikit-learn: what a label tells about it has a closed form.

A label at x tells 1/2 ln(1 + v(x) / noise) about the function, where v is its posterior variance. A batch tells
1/2 ln det(I + V / noise), where V is the posterior covariance of its rows: pick by pick, each is worth
1/2 ln(1 + v / noise), with v given the picks before it. With several outputs, each tells the same.
"""
from __future__ import annotations

from typing import Any, List, Optional, Tuple

import numpy as np
from scipy.linalg import solve_triangular

from ._given import Chosen, Question, spread_choice

_BLOCK = 256  # rows at a time


def choose_by_posterior(question: Question, gp: Any, X: Any, stddev: Optional[float]) -> Chosen:
    name = question.acquisition or "exact-joint"
    if name not in ("exact", "exact-joint"):
        raise ValueError(f"acquisition {name!r} compares components, and one Gaussian process has none: its own are "
                         "exact and exact-joint")
    if not hasattr(gp, "X_train_"):
        raise ValueError("this GaussianProcessRegressor is not fitted; call fit() first")
    X = np.asarray(X, np.float64)
    rows = question.draw(len(X))
    pool = X if rows is None else X[rows]
    if question.batch > len(pool):
        raise ValueError(
            f"a batch of {question.batch} from {len(pool)} candidates; there must be as many candidates as picks"
        )
    ties = np.random.default_rng(question.seed).random(len(pool))
    picks, worth = _greedy(gp, pool, question.batch, name == "exact-joint", stddev, ties)
    scores = worth[np.arange(question.batch), picks]
    return spread_choice((picks, scores, worth if question.utilities else None), rows, len(X))


def _greedy(
    gp: Any, X: np.ndarray, batch: int, joint: bool, stddev: Optional[float], ties: np.ndarray
) -> Tuple[np.ndarray, np.ndarray]:
    """Rows in the order of choice, and what each row was worth at each pick (batch, N); nan once it is taken."""
    outputs = 1 if np.ndim(gp.y_train_) == 1 else np.shape(gp.y_train_)[1]
    explained = solve_triangular(gp.L_, gp.kernel_(gp.X_train_, X), lower=True)  # [rows of the fit, N]
    prior, white = _prior(gp.kernel_, X)
    noise = white + np.mean(gp.alpha) if stddev is None else (stddev / np.mean(gp._y_train_std)) ** 2
    variance = np.maximum(prior - np.sum(explained**2, axis=0), 0)
    if not np.all(noise > 0):
        raise ValueError("the process has no noise, so that a label tells without end; give stddev")
    noise = np.broadcast_to(noise, variance.shape)
    picked = np.zeros((0, len(X)))  # columns of the picks' Cholesky factor
    rows: List[int] = []
    utilities = np.empty((batch, len(X)))
    for k in range(batch):
        worth = 0.5 * outputs * np.log1p(variance / noise)
        worth[rows] = np.nan
        utilities[k] = worth
        best = int(np.lexsort((ties, np.where(np.isnan(worth), -np.inf, worth)))[-1])
        rows.append(best)
        if joint:
            covariance = gp.kernel_(X, X[best : best + 1])[:, 0] - explained.T @ explained[:, best]
            column = (covariance - picked.T @ picked[:, best]) / np.sqrt(variance[best] + noise[best])
            picked = np.vstack([picked, column])
            variance = np.maximum(variance - column**2, 0)
    return np.array(rows), utilities


def _prior(kernel: Any, X: np.ndarray) -> Tuple[np.ndarray, np.ndarray]:
    """Variances of the function before any data, and of white noise in the kernel, at each row.

    A kernel between two sets of rows leaves white noise out; its diagonal does not.
    """
    blocks = [X[begin : begin + _BLOCK] for begin in range(0, len(X), _BLOCK)]
    function = np.concatenate([np.diag(kernel(block, block)) for block in blocks])
    return function, np.maximum(kernel.diag(X) - function, 0)
