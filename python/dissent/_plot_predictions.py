"""Plots of predictions against observed values: parity, residuals, calibration."""
from __future__ import annotations

from typing import Any, List, NamedTuple, Optional, Tuple

import numpy as np

from ._calibration import calibration_curve, miscalibration_area
from ._distributions import Point
from ._plot_axes import (
    BLUE,
    COLOURS,
    CROWD,
    GREY,
    VERMILION,
    column,
    density,
    dots,
    dots_or_density,
    get_axes,
    legend,
    note,
    tidy,
    with_unit,
)
from ._predictions import read_prediction

_BARS = 400  # up to this many points have their intervals drawn


class _Column(NamedTuple):
    """One output of a prediction."""

    y: np.ndarray  # [N]
    mean: np.ndarray
    low: Optional[np.ndarray]  # of the interval, if there is one
    high: Optional[np.ndarray]
    stddev: Optional[np.ndarray]
    name: str


def _read(
    y: Any, mean: Any, stddev: Any, weights: Any, samples: Any, level: float, output: Optional[int], name: Optional[str]
) -> _Column:
    names = [str(each) for each in y.columns] if hasattr(y, "columns") else []
    if not 0 < level < 1:
        raise ValueError(f"level = {level}; give a share between 0 and 1, as 0.9")
    truth, prediction = read_prediction(y, mean, stddev, weights, samples)
    if output is None and truth.shape[1] > 1:
        raise ValueError(f"there are {truth.shape[1]} outputs; say which to draw, as output=0")
    at = output or 0
    actual = column(truth, at, names)
    name = name or (names[at] if names else getattr(y, "name", None) or ("y" if truth.shape[1] == 1 else f"y{at}"))
    center = prediction.center()[:, at]
    if isinstance(prediction, Point):
        return _Column(actual, center, None, None, None, str(name))
    low, high = prediction.quantile(np.array([0.5 - level / 2, 0.5 + level / 2]))[:, :, at]
    return _Column(actual, center, low, high, prediction.spread()[:, at], str(name))


def parity(
    y: Any,
    mean: Any = None,
    stddev: Any = None,
    *,
    weights: Any = None,
    samples: Any = None,
    level: float = 0.9,
    output: Optional[int] = None,
    name: Optional[str] = None,
    unit: Optional[str] = None,
    ax: Any = None,
) -> Any:
    """Predicted against true values, with the interval of each; values outside their interval stand out.

    Parameters
    ----------
    y, mean, stddev, weights, samples
        As in :mod:`dissent.metrics`. Without a spread there are no intervals.
    level : float
        The level of the interval, 90% by default. Intervals are drawn for up to 400 points, as far as the axes reach:
        they have room for a quarter more than the points need. A note gives the share of points inside theirs.
    output : int, optional
        Which of several outputs to draw.
    name, unit : str, optional
        Of the output, for the axes; a pandas column or table has its own names.

    Examples
    --------
    >>> random = np.random.default_rng(0)
    >>> mean = random.normal(size=50)
    >>> ax = dissent.plot.parity(mean + 0.3 * random.normal(size=50), mean, 0.3, name="density", unit="g/cm3")
    >>> ax.get_xlabel(), ax.get_ylabel()
    ('density (g/cm3)', 'predicted density (g/cm3)')
    """
    data = _read(y, mean, stddev, weights, samples, level, output, name)
    ax = get_axes(ax)
    lines = [f"RMSE {_short(np.sqrt(np.mean((data.mean - data.y) ** 2)))}"]
    ends = [data.y.min(), data.y.max(), data.mean.min(), data.mean.max()]
    if data.low is None or data.high is None:
        dots_or_density(ax, data.y, data.mean)
    else:
        outside = (data.y < data.low) | (data.y > data.high)
        lines.append(f"{1 - outside.mean():.0%} in their {level:.0%} interval")
        if len(data.y) <= _BARS:
            ends = _with_intervals(ends, data.low, data.high)
            ax.vlines(data.y, data.low, data.high, color=BLUE, alpha=0.3, linewidth=1.5, label=f"{level:.0%} interval")
        _two_kinds(ax, data.y, data.mean, outside)
    reach = 0.04 * (max(ends) - min(ends) or 1)
    limits = (min(ends) - reach, max(ends) + reach)  # of both axes, so that the diagonal is one
    ax.plot(limits, limits, color=GREY, linewidth=1, linestyle="--", zorder=2)
    ax.set_xlim(limits)
    ax.set_ylim(limits)
    ax.set_aspect("equal")
    tidy(ax, with_unit(data.name, unit), with_unit(f"predicted {data.name}", unit))
    note(ax, lines)
    legend(ax, loc="upper left")
    return ax


def residuals(
    y: Any,
    mean: Any = None,
    stddev: Any = None,
    *,
    weights: Any = None,
    samples: Any = None,
    level: float = 0.9,
    standardised: bool = False,
    output: Optional[int] = None,
    name: Optional[str] = None,
    unit: Optional[str] = None,
    ax: Any = None,
) -> Any:
    """Observed minus predicted values, against the prediction; values outside their interval stand out.

    Parameters
    ----------
    y, mean, stddev, weights, samples, level, output, name, unit
        As in :func:`parity`.
    standardised : bool
        Whether to divide by the predicted standard deviation: a good forecast then has the same spread everywhere.

    Examples
    --------
    >>> random = np.random.default_rng(0)
    >>> mean = random.normal(size=50)
    >>> ax = dissent.plot.residuals(mean + 0.3 * random.normal(size=50), mean, 0.3, standardised=True)
    >>> ax.get_ylabel()
    'residual / predicted stddev'
    """
    data = _read(y, mean, stddev, weights, samples, level, output, name)
    if standardised and data.stddev is None:
        raise ValueError("residuals: there is no spread to divide by; give stddev, or samples")
    ax = get_axes(ax)
    error = data.y - data.mean
    shown = error / data.stddev if standardised else error
    if data.low is None or data.high is None:
        dots_or_density(ax, data.mean, shown)
    else:
        _two_kinds(ax, data.mean, shown, (data.y < data.low) | (data.y > data.high))
    ax.axhline(0, color=GREY, linewidth=1, linestyle="--", zorder=2)
    at, middle = _running_mean(data.mean, shown)
    if len(at):
        ax.plot(at, middle, color=VERMILION, linewidth=2, label="running mean", zorder=3)
    reach = 1.08 * np.abs(shown).max() or 1
    ax.set_ylim(-reach, reach)
    text = "residual / predicted stddev" if standardised else with_unit(f"{data.name} - predicted", unit)
    tidy(ax, with_unit(f"predicted {data.name}", unit), text)
    note(ax, [f"mean {_short(shown.mean())}, stddev {_short(shown.std())}"])
    legend(ax, loc="upper left")
    return ax


def calibration(
    y: Any,
    mean: Any = None,
    stddev: Any = None,
    *,
    weights: Any = None,
    samples: Any = None,
    kind: str = "interval",
    label: Optional[str] = None,
    ax: Any = None,
) -> Any:
    """The share of values that lie in an interval against the share that should: the diagonal is right.

    Below it intervals are too narrow, above it too wide. Each further call on the same axes adds a curve; the grey band
    is where 95% of calibrated forecasts of as many values would be at each level.

    Parameters
    ----------
    y, mean, stddev, weights, samples
        As in :mod:`dissent.metrics`. Several outputs are taken together.
    kind : "interval" or "quantile"
        Shares in central intervals, or below quantiles.
    label : str, optional
        Of the curve; its miscalibration area is added.

    Examples
    --------
    >>> y = np.random.default_rng(0).normal(size=200)
    >>> ax = dissent.plot.calibration(y, np.zeros(200), 1.0, label="right")
    >>> ax = dissent.plot.calibration(y, np.zeros(200), 0.5, label="too narrow", ax=ax)
    >>> [text.get_text() for text in ax.get_legend().get_texts()]
    ['right, area 0.011', 'too narrow, area 0.206']
    """
    of = {"weights": weights, "samples": samples, "kind": kind}
    expected, observed = calibration_curve(y, mean, stddev, **of)
    area = miscalibration_area(y, mean, stddev, **of)
    ax = get_axes(ax)
    drawn = [line for line in ax.get_lines() if line.get_gid() == "curve"]
    if not drawn:
        _calibrated_band(ax, expected, np.size(y))
        ax.plot([0, 1], [0, 1], color=GREY, linewidth=1, linestyle="--", zorder=2)
    text = f"area {area:.3f}" if label is None else f"{label}, area {area:.3f}"
    colour = COLOURS[len(drawn) % len(COLOURS)]
    ax.plot(expected, observed, color=colour, linewidth=2, label=text, gid="curve", zorder=3)
    ax.set_xlim(0, 1)
    ax.set_ylim(0, 1)
    ax.set_aspect("equal")
    of_what = "within the interval" if kind == "interval" else "below the quantile"
    tidy(ax, f"expected share {of_what}", f"observed share {of_what}")
    legend(ax, loc="upper left")
    return ax


def _with_intervals(ends: List[float], low: np.ndarray, high: np.ndarray) -> List[float]:
    """Room for the intervals, unless a few long ones would press all points into a corner."""
    least, most = min(ends), max(ends)
    room = 0.25 * (most - least)
    return [least, most, max(float(low.min()), least - room), min(float(high.max()), most + room)]


def _calibrated_band(ax: Any, expected: np.ndarray, count: int) -> None:
    reach = 1.96 * np.sqrt(expected * (1 - expected) / max(count, 1))
    ax.fill_between(expected, expected - reach, expected + reach, color=GREY, alpha=0.15, linewidth=0, zorder=1)


def _two_kinds(ax: Any, x: np.ndarray, y: np.ndarray, outside: np.ndarray) -> None:
    """Points inside their interval, and points outside; if there are many, all look alike."""
    if len(x) > CROWD:
        density(ax, x, y)
        return
    dots(ax, x[~outside], y[~outside], BLUE, "inside", len(x))
    if outside.any():
        dots(ax, x[outside], y[outside], VERMILION, "outside", len(x))


def _running_mean(x: np.ndarray, y: np.ndarray) -> Tuple[np.ndarray, np.ndarray]:
    """Over about 15 groups of neighbours, of at least 20 each; none for fewer than 3 groups."""
    groups = min(15, len(x) // 20)
    if groups < 3:
        return np.empty(0), np.empty(0)
    parts = np.array_split(np.argsort(x, kind="stable"), groups)
    return np.array([x[part].mean() for part in parts]), np.array([y[part].mean() for part in parts])


def _short(value: Any) -> str:
    return f"{float(value):.3g}"
