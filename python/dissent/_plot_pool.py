"""Plots of a pool: where the chosen rows lie, and what kind of uncertainty each row has."""
from __future__ import annotations

from typing import Any, List, Optional, Tuple

import numpy as np

from ._plot_axes import COLOURS, CROWD, VERMILION, colour_bar, dot_size, dots_or_density, get_axes, legend, tidy

_NUMBERED = 30  # up to this many chosen rows have numbers


def pool_map(
    X: Any, chosen: Any = None, *, labelled: Any = None, scores: Any = None, score_name: str = "score", ax: Any = None
) -> Any:
    """The rows of a pool in the plane of their two principal components, with the chosen ones marked in their order.

    Columns are divided by their standard deviations before; a pool of two columns is drawn as it is, of one against its
    row numbers.

    Parameters
    ----------
    X : array or table (N, C)
        Only the numeric columns of a pandas table are used.
    chosen : array of int, optional
        Rows, as :func:`dissent.query` returns them.
    labelled : array or table (L, C), optional
        Rows whose labels are known, in the same columns.
    scores : array (N,), optional
        A number for each row, such as the epistemic uncertainty, shown as its colour.
    score_name : str
        What the scores are, for the colour bar.

    Examples
    --------
    >>> pool = np.random.default_rng(0).normal(size=(300, 5))
    >>> ax = dissent.plot.pool_map(pool, [3, 40, 7])
    >>> ax.get_xlabel()
    'component 1 (24% of the variance)'
    """
    if hasattr(X, "select_dtypes"):
        X = X.select_dtypes("number")
        labelled = labelled[X.columns] if hasattr(labelled, "columns") else labelled
    names = [str(name) for name in X.columns] if hasattr(X, "columns") else None
    rows = _matrix(X, "X")
    known = None if labelled is None else _matrix(labelled, "labelled", rows.shape[1])
    marked = _rows(chosen, len(rows))
    values = None if scores is None else np.asarray(scores, np.float64)
    if values is not None and values.shape != (len(rows),):
        raise ValueError(f"scores has shape {list(values.shape)}; give one for each of the {len(rows)} rows")
    places, known_places, labels = _plane(rows, known, names)
    ax = get_axes(ax)
    _draw_pool(ax, places, values, score_name)
    if known_places is not None:
        look = {"marker": "X", "color": "white", "edgecolors": "black", "linewidths": 0.9}  # no colour of a score
        ax.scatter(*known_places.T, s=40, label="labelled", zorder=3, **look)
    if len(marked):
        _draw_chosen(ax, places[marked])
    tidy(ax, *labels)
    legend(ax)
    return ax


def epistemic_aleatoric(
    uncertainty: Any, X: Any = None, *, chosen: Any = None, estimator: str = "kl", ax: Any = None
) -> Any:
    """What more data would remove against what would remain, a point per row.

    Parameters
    ----------
    uncertainty : Uncertainty
        As :func:`dissent.uncertainty` returns it; or a fitted model, with `X`.
    X : array or table (N, C), optional
        Inputs for a model.
    chosen : array of int, optional
        Rows to mark.
    estimator : str
        For the model's uncertainty.

    Examples
    --------
    >>> u = dissent.uncertainty(np.random.default_rng(0).normal(size=(50, 4)), np.ones((50, 4)))
    >>> ax = dissent.plot.epistemic_aleatoric(u, chosen=u.top(3))
    >>> ax.get_ylabel()
    'epistemic uncertainty (nats)'
    """
    if not hasattr(uncertainty, "epistemic") or callable(uncertainty.epistemic):
        from ._uncertainty import uncertainty as uncertainty_of

        uncertainty = uncertainty_of(uncertainty, X, estimator=estimator)
    epistemic, aleatoric = np.asarray(uncertainty.epistemic), np.asarray(uncertainty.aleatoric)
    marked = _rows(chosen, len(epistemic))
    ax = get_axes(ax)
    dots_or_density(ax, aleatoric, epistemic, label="rows" if len(marked) else None)
    if len(marked):
        _draw_chosen(ax, np.column_stack([aleatoric, epistemic])[marked])
    tidy(ax, "aleatoric uncertainty (nats)", "epistemic uncertainty (nats)")
    ax.set_ylim(bottom=min(0.0, float(epistemic.min())))
    legend(ax)
    return ax


def _matrix(values: Any, name: str, num_columns: Optional[int] = None) -> np.ndarray:
    array = np.asarray(values, np.float64)
    array = array[:, None] if array.ndim == 1 else array
    if array.ndim != 2 or array.size == 0 or (num_columns is not None and array.shape[1] != num_columns):
        wanted = "C" if num_columns is None else num_columns
        raise ValueError(f"{name} has shape {list(np.shape(values))}; it must be [N, {wanted}], with rows")
    if not np.isfinite(array).all():
        raise ValueError(f"{name} has values that are not finite")
    return array


def _rows(chosen: Any, count: int) -> np.ndarray:
    rows = np.empty(0, int) if chosen is None else np.asarray(chosen)
    if rows.size and (rows.dtype.kind not in "iu" or rows.ndim != 1 or rows.min() < 0 or rows.max() >= count):
        raise ValueError(f"chosen must be numbers of rows from 0 to {count - 1}")
    return rows


def _plane(
    rows: np.ndarray, known: Optional[np.ndarray], names: Optional[List[str]]
) -> Tuple[np.ndarray, Optional[np.ndarray], Tuple[str, str]]:
    """Two coordinates of each row, and what they are called."""
    count = rows.shape[1]
    labels = names or [f"x{k}" for k in range(count)]
    if count == 1:
        rows = np.column_stack([rows, np.arange(len(rows))])
        known = None if known is None else np.column_stack([known, np.zeros(len(known))])
        return rows, known, (labels[0], "row")
    if count == 2:
        return rows, known, (labels[0], labels[1])
    center, scale = rows.mean(0), rows.std(0)
    scale[scale == 0] = 1
    standard = (rows - center) / scale
    covariance = standard.T @ standard
    values, vectors = np.linalg.eigh(covariance)
    axes = vectors[:, ::-1][:, :2]
    axes = axes * np.where(axes[np.abs(axes).argmax(0), [0, 1]] < 0, -1, 1)  # the same picture on any machine
    shares = values[::-1][:2] / max(values.sum(), 1e-300)
    texts = [f"component {k + 1} ({share:.0%} of the variance)" for k, share in enumerate(shares)]
    return standard @ axes, None if known is None else (known - center) / scale @ axes, (texts[0], texts[1])


def _draw_pool(ax: Any, places: np.ndarray, scores: Optional[np.ndarray], name: str) -> None:
    if scores is None:
        dots_or_density(ax, places[:, 0], places[:, 1], COLOURS[5], "pool")
        return
    if len(places) > CROWD:
        cells = ax.hexbin(*places.T, C=scores, gridsize=60, cmap="cividis", linewidths=0.1, zorder=2.5)
        colour_bar(ax, cells, f"mean of a cell: {name}")
        return
    order = np.argsort(scores, kind="stable")  # the largest on top
    size = 1.3 * dot_size(len(places))
    points = ax.scatter(*places[order].T, c=scores[order], s=size, cmap="cividis", alpha=0.9, linewidths=0, zorder=2.5)
    colour_bar(ax, points, name)


def _draw_chosen(ax: Any, places: np.ndarray) -> None:
    """Rings, with their numbers in the order of choice unless there are too many."""
    ax.scatter(*places.T, s=70, facecolors="none", edgecolors=VERMILION, linewidths=1.8, label="chosen", zorder=4)
    if len(places) > _NUMBERED:
        return
    from matplotlib import patheffects

    for k, place in enumerate(places):
        ax.annotate(
            str(k + 1),
            place,
            xytext=(5, 5),
            textcoords="offset points",
            fontsize="small",
            color=VERMILION,
            zorder=5,
            path_effects=[patheffects.withStroke(linewidth=2.5, foreground="white")],
        )
