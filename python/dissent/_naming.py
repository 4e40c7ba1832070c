"""Names of columns, and short texts that say what an object is."""
from __future__ import annotations

from typing import Any, List, Sequence

import numpy as np


def counted(count: int, noun: str) -> str:
    return f"{count} {noun}{'' if count == 1 else 's'}"


def listed(names: Sequence[str], most: int = 3) -> str:
    """The first names, in a line."""
    return ", ".join([*map(str, names[:most]), *(["..."] if len(names) > most else [])])


def span_text(values: np.ndarray) -> str:
    """The range of the values."""
    known = values[~np.isnan(values)]
    return f"{known.min():.3g} to {known.max():.3g}" if len(known) else "unknown"


def target_names(y: Any, count: int, inputs: List[str]) -> List[str]:
    """The names of a pandas table or column, for the model file.

    If there are none to use: y, or y0, y1, ..., with _ if an input has that name.
    """
    if hasattr(y, "columns"):
        names = list(y.columns)
    else:
        names = [getattr(y, "name", None)]
    usable = len({*names, *inputs}) == count + len(inputs) and all(isinstance(name, str) and name for name in names)
    if usable and len(names) == count:
        return names
    stem = "y"
    while True:
        names = [stem] if count == 1 else [f"{stem}{k}" for k in range(count)]
        if not set(names) & set(inputs):
            return names
        stem += "_"
