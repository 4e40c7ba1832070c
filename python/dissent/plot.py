"""Plots in one line, with matplotlib.

Each function draws on `ax` (the current axes by default) and returns it. Colours are Okabe and Ito's, which people with
any kind of colour vision can tell apart. Thousands of points are drawn as a density.
"""
from __future__ import annotations

from typing import Any, Mapping, Optional

import numpy as np

from ._plot_axes import COLOURS, get_axes, legend, tidy
from ._plot_pool import epistemic_aleatoric, pool_map
from ._plot_predictions import calibration, parity, residuals

__all__ = [
    "calibration",
    "epistemic_aleatoric",
    "learning_curves",
    "parity",
    "pool_map",
    "residuals",
    "uncertainty_1d",
]

_MARKS = ["o", "s", "^", "D", "v", "P", "X"]


def uncertainty_1d(
    model: Any, X: Any, y: Any = None, *, grid: int = 300, margin: float = 0.25, estimator: str = "kl", ax: Any = None
) -> Any:
    """A fitted model of one input and one output: mean, 90% interval, draws, data; epistemic uncertainty below.

    Parameters
    ----------
    model : a fitted ensemble, such as AutoEnsemble
        Or a pipeline or a search that ends in one.
    X, y : arrays (N,) or (N, 1)
        The data; only `X` sets the range.
    margin : float
        How far to look beyond the data, as a share of their range.
    estimator : str
        For the epistemic uncertainty, drawn on its own axis at the right.

    Examples
    --------
    >>> x = np.linspace(-1, 1, 50)
    >>> model = dissent.ProbabilisticEnsemble(epochs=5, random_state=0).fit(x[:, None], x**2)
    >>> ax = dissent.plot.uncertainty_1d(model, x, x**2)
    >>> ax.get_ylabel()
    'y'
    """
    from ._query import _unwrap

    ensemble, transform = _unwrap(model)
    if model.n_features_in_ != 1 or ensemble.n_outputs_ != 1:
        raise ValueError(
            f"uncertainty_1d: the model has {model.n_features_in_} inputs and {ensemble.n_outputs_} outputs; "
            "one of each can be drawn"
        )
    ax = get_axes(ax)
    x = np.asarray(X, dtype=float).ravel()
    reach = margin * (x.max() - x.min())
    at = np.linspace(x.min() - reach, x.max() + reach, grid)
    rows = transform(_named(model, at))
    mean = np.ravel(ensemble.predict(rows))
    low, high = ensemble.predict_quantiles(rows, (0.05, 0.95)).reshape(grid, 2).T
    ax.fill_between(at, low, high, color=COLOURS[0], alpha=0.15, linewidth=0, label="90% interval")
    draws = ensemble.sample_y(rows, 15).ravel()  # show shapes that an interval hides, such as two branches
    ax.plot(np.repeat(at, 15), draws, ".", color=COLOURS[0], alpha=0.25, markersize=2, markeredgewidth=0)
    ax.plot(at, mean, color=COLOURS[0], label="mean")
    if y is not None:
        ax.plot(x, np.ravel(y), ".", color=COLOURS[-1], markersize=5, label="data")
    right = ax.twinx()
    epistemic = ensemble.epistemic(rows, estimator=estimator)
    right.fill_between(at, 0, epistemic, color=COLOURS[1], alpha=0.35, linewidth=0)
    right.set_ylim(0, 4 * max(float(epistemic.max()), 1e-12))  # the lowest quarter
    right.set_ylabel("epistemic uncertainty (nats)", color=COLOURS[1])
    names = getattr(model, "feature_names_in_", ["x"])
    for side in ("top", "left", "bottom"):
        right.spines[side].set_visible(False)
    right.spines["right"].set_color("#8C8C8C")
    right.tick_params(color="#8C8C8C", labelcolor=COLOURS[1])
    tidy(ax, str(names[0]), ensemble.model_.describe()["targets"][0])
    legend(ax)
    ax.figure.sca(ax)  # twinx made the right-hand axes the current ones
    return ax


def learning_curves(
    curves: Mapping[str, Any],
    *,
    rows: Optional[Any] = None,
    metric: str = "rmse",
    band: str = "error",
    log: bool = True,
    ax: Any = None,
) -> Any:
    """How an error falls as data are acquired, a line per method with a band around it.

    Parameters
    ----------
    curves : mapping from a method's name to an array (rounds,) or (repeats, rounds)
    rows : array (rounds,), optional
        The number of training rows at each round.
    metric : str
        What the values are, for the axis.
    band : "error" or "range"
        Of repeats: one standard error of their mean, or from the smallest to the largest.
    log : bool
        Whether the vertical axis is logarithmic; it is linear anyway if a mean is not positive.

    Examples
    --------
    >>> ax = dissent.plot.learning_curves({"kl": [[3, 2, 1], [4, 2, 1]], "random": [[3, 3, 2], [4, 3, 3]]})
    >>> [text.get_text() for text in ax.get_legend().get_texts()]
    ['kl', 'random']
    """
    ax = get_axes(ax)
    if band not in ("error", "range"):
        raise ValueError(f"band = {band!r}; it is 'error' or 'range'")
    if not curves:
        raise ValueError("learning_curves: there are no curves")
    positive = True
    for k, (name, values) in enumerate(curves.items()):
        try:
            repeats = np.atleast_2d(np.asarray(values, dtype=float))
        except ValueError as error:  # repeats of different lengths, texts
            wanted = "an array (rounds,) or (repeats, rounds)"
            raise ValueError(f"learning_curves: '{name}' is not {wanted}: {error}") from None
        at = np.arange(repeats.shape[1]) if rows is None else np.asarray(rows, dtype=float)
        if repeats.ndim != 2 or at.shape != repeats.shape[1:]:
            raise ValueError(f"learning_curves: '{name}' has shape {list(np.shape(values))}, rows {list(at.shape)}")
        mean = repeats.mean(0)
        positive = positive and not (mean <= 0).any()
        colour, mark = COLOURS[k % len(COLOURS)], _MARKS[k % len(_MARKS)]
        shown = mark if len(at) <= 30 else None
        ax.plot(at, mean, color=colour, marker=shown, markersize=4.5, linewidth=2, label=name, zorder=3)
        if len(repeats) > 1:
            low, high = _band(repeats, mean, band)
            ax.fill_between(at, low, high, color=colour, alpha=0.18, linewidth=0, zorder=2)
    if log and positive:
        ax.set_yscale("log")
    tidy(ax, "round" if rows is None else "training rows", metric)
    if rows is None:
        ax.xaxis.get_major_locator().set_params(integer=True)
    _plain_ticks(ax)
    legend(ax)
    return ax


def _band(repeats: np.ndarray, mean: np.ndarray, band: str) -> Any:
    if band == "range":
        return repeats.min(0), repeats.max(0)
    error = repeats.std(0, ddof=1) / np.sqrt(len(repeats))
    return mean - error, mean + error


def _plain_ticks(ax: Any) -> None:
    """0.3 instead of 3 x 10^-1 if a logarithmic axis spans less than two decades."""
    low, high = ax.get_ylim()
    if ax.get_yscale() == "log" and high / low < 100:
        from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

        ax.yaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 3.0, 5.0)))
        ax.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
        ax.yaxis.set_minor_formatter(NullFormatter())


def _named(model: Any, values: np.ndarray) -> Any:
    """As a table when the model was fitted to one, so that scikit-learn does not warn about missing names."""
    names = getattr(model, "feature_names_in_", None)
    if names is None:
        return values[:, np.newaxis]
    import pandas as pd

    return pd.DataFrame({names[0]: values})
