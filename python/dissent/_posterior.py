"""One Gaussian process of scikit-learn: what a label tells about it has a closed form.

A label at x tells 1/2 ln(1 + v(x) / noise) about the function, v being its posterior variance. A batch tells
1/2 ln det(I + V / noise), V the posterior covariance of its rows: pick after pick, each is worth 1/2 ln(1 + v / noise)
with v given the picks before it. Each output of several tells the same.
"""
from __future__ import annotations

from typing import Any, Optional, Tuple

import numpy as np
from scipy.linalg import solve_triangular

_BLOCK = 256  # rows at a time


def query_posterior(
    gp: Any, X: Any, batch: int, joint: bool, stddev: Optional[float], random: np.random.Generator
) -> Tuple[np.ndarray, np.ndarray]:
    """Rows in the order of choice, and what each row was worth at each pick (batch, N); nan once it is taken."""
    X = np.asarray(X, np.float64)
    if not hasattr(gp, "X_train_"):
        raise ValueError("this GaussianProcessRegressor is not fitted; call fit() first")
    if not batch <= len(X):
        raise ValueError(f"a batch of {batch} from {len(X)} candidates; there must be as many candidates as picks")
    outputs = 1 if np.ndim(gp.y_train_) == 1 else np.shape(gp.y_train_)[1]
    explained = solve_triangular(gp.L_, gp.kernel_(gp.X_train_, X), lower=True)  # [rows of the fit, N]
    prior, white = _prior(gp.kernel_, X)
    noise = white + np.mean(gp.alpha) if stddev is None else (stddev / np.mean(gp._y_train_std)) ** 2
    variance = np.maximum(prior - np.sum(explained**2, axis=0), 0)
    if not np.all(noise > 0):
        raise ValueError("the process has no noise, so that a label tells without end; give stddev")
    noise = np.broadcast_to(noise, variance.shape)
    ties = random.random(len(X))
    picked = np.zeros((0, len(X)))  # columns of the picks' Cholesky factor
    rows, utilities = [], np.empty((batch, len(X)))
    for k in range(batch):
        worth = 0.5 * outputs * np.log1p(variance / noise)
        worth[rows] = np.nan
        utilities[k] = worth
        best = np.lexsort((ties, np.where(np.isnan(worth), -np.inf, worth)))[-1]
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
