"""scikit-learn's base classes, for type checkers as well.

scikit-learn has no type annotations, and to a checker a class with an unknown base has every method, even a misspelt
one. So checkers see here what the package uses of the two classes, and the interpreter sees the classes themselves.
"""
from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any, Callable, Dict, Self

__all__ = ["BaseEstimator", "RegressorMixin", "allowing_nan", "validate_data"]

if TYPE_CHECKING:

    class BaseEstimator:
        n_features_in_: int
        feature_names_in_: Any  #: (C,), only if X had names

        def __init__(self, **parameters: Any) -> None: ...
        def get_params(self, deep: bool = True) -> Dict[str, Any]: ...
        def set_params(self, **parameters: Any) -> Self: ...
        def __sklearn_tags__(self) -> Any: ...

    class RegressorMixin:
        def score(self, X: Any, y: Any, sample_weight: Any = None) -> float: ...

else:
    from sklearn.base import BaseEstimator, RegressorMixin


def validate_data(estimator: Any, *data: Any, **rules: Any) -> Any:
    """scikit-learn's checks of X and y, which also set n_features_in_: a function since 1.6, before that a method."""
    from sklearn.utils import validation

    if hasattr(validation, "validate_data"):
        return validation.validate_data(estimator, *data, **rules)
    return estimator._validate_data(*data, **rules)


def allowing_nan(check: Callable[..., Any]) -> Dict[str, Any]:
    """The keyword of scikit-learn's checks that lets missing values pass: it was renamed in 1.6."""
    renamed = "ensure_all_finite" in inspect.signature(check).parameters
    return {"ensure_all_finite" if renamed else "force_all_finite": "allow-nan"}
