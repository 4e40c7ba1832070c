"""What a campaign is given (tables, columns, row numbers), in the form that the library takes."""
from __future__ import annotations

import csv
import io
import os
from typing import Any, List, Mapping, Optional, Sequence, Tuple, Union

import numpy as np

from ._arrays import as_array
from ._tables import csv_of

Path = Union[str, "os.PathLike[str]"]
Table = Union[Path, Mapping[str, Any], Any]  # a file, columns by name, or a pandas DataFrame


def names(columns: Union[str, Sequence[str], None]) -> List[str]:
    return [columns] if isinstance(columns, str) else list(columns or [])


def orders(order: Optional[Mapping[str, Sequence[str]]]) -> List[List[str]]:
    """As on the command line: ["cut=Fair", "Good", "Ideal"] for each column."""
    if order is not None and not isinstance(order, Mapping):
        raise TypeError(f"order must be a mapping from columns to their categories, not {type(order).__name__}")
    orders = []
    for column, levels in (order or {}).items():
        texts = names(levels)
        if not texts:
            raise ValueError(f"order: '{column}' has no categories")
        orders.append([f"{column}={texts[0]}", *(str(text) for text in texts[1:])])
    return orders


def conditions(given: Union[str, Sequence[str], None]) -> Optional[str]:
    return given if given is None or isinstance(given, str) else ",".join(given)


def row_numbers(rows: Any) -> List[int]:
    array = np.ravel(as_array(rows, "rows"))
    if array.dtype.kind not in "iu" and array.size > 0:
        raise ValueError(f"rows has type {array.dtype}; row numbers are required")
    if (array < 0).any():
        raise ValueError(f"row {array.min()} is negative; rows are counted from 0")
    return [int(row) for row in array]


def as_column(values: Any, name: str) -> np.ndarray:
    """Numbers, or texts in which None is a missing value."""
    if isinstance(values, (list, tuple)) and any(isinstance(value, str) for value in values):
        return np.array(values, dtype=object)
    if isinstance(values, np.ndarray) and values.dtype.kind in "UO":
        return values
    return as_array(values, name)


def cells(column: np.ndarray, missing: bool) -> List[Any]:
    return ["" if value is None or (missing and value != value) else value for value in column.tolist()]


def as_table(table: Table, name: str, missing: bool = False) -> Tuple[str, str]:
    """A file by its path, anything else as CSV text; `missing` says whether nan in a mapping is an empty field."""
    if isinstance(table, (str, os.PathLike)):
        return "file", os.fspath(table)
    if hasattr(table, "to_csv"):
        return "text", csv_of(table)
    if not isinstance(table, Mapping):
        raise TypeError(f"{name} must be a file, a DataFrame or a mapping, not {type(table).__name__}")
    columns = {str(key): as_column(column, f"{name}['{key}']") for key, column in table.items()}
    if any(column.ndim != 1 for column in columns.values()) or len({len(column) for column in columns.values()}) > 1:
        raise ValueError(f"{name}: columns must be one-dimensional and of equal length")
    text = io.StringIO(newline="")
    writer = csv.writer(text)
    writer.writerow(columns)
    writer.writerows(zip(*(cells(column, missing) for column in columns.values())))
    return "text", text.getvalue()
