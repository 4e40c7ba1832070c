"""pandas tables whose columns are not all numbers: texts, categories, booleans, dates, missing cells.

The library turns them into features, and the model keeps how (docs/tables.md). Tables with only numbers, and arrays, go
through scikit-learn's checks.
"""
from __future__ import annotations

import warnings
from typing import Any, List, NamedTuple

import numpy as np

from . import _core


class Encoded(NamedTuple):
    """A table as numbers, and how it became them."""

    encoding: str
    columns: List[str]  # without those that tell nothing
    features: List[str]
    values: np.ndarray  # [N, F]
    told: List[str]  # a line for each column that is not a plain number or is left out


def needs_encoding(X: Any) -> bool:
    """Whether this is a pandas table with a column that is not numeric, or with a missing cell."""
    if not (hasattr(X, "columns") and hasattr(X, "dtypes") and hasattr(X, "to_csv")):
        return False
    return any(kind.kind not in "iufb" for kind in map(_kind, X.dtypes)) or bool(X.isna().to_numpy().any())


def _kind(dtype: Any) -> np.dtype:
    """The numpy type; object for types that numpy does not have, such as categories."""
    return dtype if isinstance(dtype, np.dtype) else np.dtype(object)


def encode(X: Any) -> Encoded:
    """For a fit. As in the program, columns that only tell rows apart (names, notes) are left out and reported."""
    column_names(X)
    return Encoded(*_core.fit_table(csv_of(X), text_columns(X), _orders(X)))


def apply(model: _core.Ensemble, X: Any) -> np.ndarray:
    """[N, F] for a model that was fitted to such a table; warns of what it never saw."""
    names = model.describe()["columns"]
    if not hasattr(X, "to_csv"):
        raise ValueError(
            f"the model was fitted to a table of columns {', '.join(names[:5])}{', ...' * (len(names) > 5)}, not all of "
            "them numbers; give a pandas DataFrame with those"
        )
    missing = [name for name in names if name not in column_names(X)]
    if missing:
        raise ValueError(f"X has no column {missing[0]!r}; the model was fitted to {', '.join(names)}")
    values, told = _core.encode_table(model, csv_of(X), text_columns(X))
    for line in told:
        warnings.warn(line, stacklevel=4)
    return values


def column_names(X: Any) -> List[str]:
    names = [str(name) for name in X.columns]
    if len(set(names)) != len(names):
        raise ValueError("X has two columns of the same name")
    return names


def csv_of(X: Any) -> str:
    """As CSV; spans of time are numbers of days."""
    spans = [name for name, dtype in X.dtypes.items() if dtype.kind == "m"]
    if spans:
        X = X.copy()
    for name in spans:
        X[name] = X[name] / np.timedelta64(1, "D")
    return X.to_csv(index=False)


def text_columns(X: Any) -> List[str]:
    """Columns of text or categories in pandas: digits are not numbers there, and "NA" is a text like any other."""
    return [str(name) for name in X.columns if _is_text(X[name])]


def _is_text(column: Any) -> bool:
    if column.dtype.name.startswith(("category", "str", "large_string")):
        return True
    return column.dtype.kind == "O" and any(isinstance(cell, str) for cell in column)


def _orders(X: Any) -> List[str]:
    """Ordered categories of pandas, in the form of `order`: "cut=Fair", "Good", ..."""
    texts: List[str] = []
    for name, dtype in zip(X.columns, X.dtypes):
        if getattr(dtype, "ordered", False):
            first, *rest = [str(level) for level in dtype.categories]
            texts += [f"{name}={first}", *rest]
    return texts
