"""The uncertainty of a model that may sit in a pipeline or a search, which pass on only scikit-learn's methods."""
from __future__ import annotations

from typing import Any

from sklearn.gaussian_process import GaussianProcessRegressor

from ._components import components_of, knows_noise
from ._estimator import _Ensemble
from ._query import _unwrap
from ._uncertainty import Uncertainty, uncertainty


def uncertainty_of(model: Any, X: Any, estimator: str) -> Uncertainty:
    if X is None:
        raise ValueError("give the inputs X (N, C) after the model")
    ensemble, transform = _unwrap(model)
    rows = transform(X)
    if isinstance(ensemble, _Ensemble):
        return ensemble.uncertainty(rows, estimator)
    if isinstance(ensemble, GaussianProcessRegressor):
        raise ValueError("one GaussianProcessRegressor has no components; give several, or choose by dissent.query")
    if not knows_noise(ensemble):
        raise ValueError(
            f"the components of {type(ensemble).__name__} have no noise of their own: give uncertainty() what "
            "dissent.components_of(model, X, stddev=...) returns"
        )
    return uncertainty(components_of(ensemble, rows), estimator=estimator)
