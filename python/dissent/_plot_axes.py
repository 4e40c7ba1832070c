"""What all plots share: axes, colours, and marks that suit 20 points as well as 20,000."""
from __future__ import annotations

from typing import Any, List, Optional, Sequence

import numpy as np

# Okabe and Ito's, which people with any kind of colour vision can tell apart.
COLOURS = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#4D4D4D"]
BLUE, VERMILION, GREEN, GREY = COLOURS[0], COLOURS[1], COLOURS[2], "#4D4D4D"
CROWD = 3000  # with more points, a density says more than dots


def get_axes(ax: Any) -> Any:
    """`ax`, or the current axes."""
    if ax is not None:
        return ax
    try:
        import matplotlib.pyplot as plt
    except ImportError:
        raise ImportError("dissent.plot needs matplotlib, which is not installed") from None
    return plt.gca()


def tidy(ax: Any, xlabel: str, ylabel: str, title: Optional[str] = None) -> None:
    """Labels, a faint grid behind the data, and no frame where there is no scale."""
    ax.set_xlabel(xlabel)
    ax.set_ylabel(ylabel)
    if title:
        ax.set_title(title, loc="left", fontsize="medium")
    ax.grid(True, color="#E6E6E6", linewidth=0.8)
    ax.set_axisbelow(True)
    for side in ("top", "right"):
        ax.spines[side].set_visible(False)
    for side in ("left", "bottom"):
        ax.spines[side].set_color("#8C8C8C")
    ax.tick_params(color="#8C8C8C")


def dot_size(count: int) -> float:
    """The area of a dot, in square points: smaller the more there are."""
    return float(np.clip(700 / np.sqrt(max(count, 1)), 6, 60))


def dot_alpha(count: int) -> float:
    return float(np.clip(12 / np.sqrt(max(count, 1)), 0.25, 0.85))


def dots(
    ax: Any, x: np.ndarray, y: np.ndarray, colour: str = BLUE, label: Optional[str] = None, among: int = 0
) -> Any:
    """A dot per point, sized for `among` points; by default for these."""
    count = among or len(x)
    look = {"s": dot_size(count), "alpha": dot_alpha(count), "linewidths": 0, "zorder": 2.5}
    return ax.scatter(x, y, color=colour, label=label, **look)


def density(ax: Any, x: np.ndarray, y: np.ndarray) -> Any:
    """How many points there are in each place."""
    from matplotlib.colors import LinearSegmentedColormap

    shades = LinearSegmentedColormap.from_list("dissent", ["#D9E8F2", "#56A0CC", BLUE, "#00263B"])
    cells = ax.hexbin(x, y, gridsize=60, bins="log", mincnt=1, cmap=shades, linewidths=0.1, zorder=2.5)
    colour_bar(ax, cells, "points in a cell")
    return cells


def colour_bar(ax: Any, drawn: Any, label: str) -> None:
    bar = ax.figure.colorbar(drawn, ax=ax, label=label, fraction=0.045, pad=0.02)
    bar.solids.set_alpha(1)
    bar.outline.set_visible(False)


def dots_or_density(ax: Any, x: np.ndarray, y: np.ndarray, colour: str = BLUE, label: Optional[str] = None) -> Any:
    return density(ax, x, y) if len(x) > CROWD else dots(ax, x, y, colour, label)


def legend(ax: Any, **options: Any) -> None:
    if ax.get_legend_handles_labels()[0]:
        ax.legend(frameon=True, framealpha=0.9, edgecolor="none", **{"loc": "best", **options})


def note(ax: Any, lines: Sequence[str], right: bool = True) -> None:
    """Numbers in the lower corner of the axes, right or left."""
    ax.text(
        0.98 if right else 0.02,
        0.02,
        "\n".join(lines),
        transform=ax.transAxes,
        ha="right" if right else "left",
        va="bottom",
        fontsize="small",
        color=GREY,
        bbox={"facecolor": "white", "alpha": 0.8, "edgecolor": "none", "pad": 2},
        zorder=5,
    )


def with_unit(name: str, unit: Optional[str]) -> str:
    return f"{name} ({unit})" if unit else name


def column(values: np.ndarray, output: int, names: List[str]) -> np.ndarray:
    """One output of [N, D]."""
    if not 0 <= output < values.shape[1]:
        raise ValueError(f"output = {output}; there are {values.shape[1]}{': ' + ', '.join(names) if names else ''}")
    return values[:, output]
