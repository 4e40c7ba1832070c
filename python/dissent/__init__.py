"""How much the components of an ensemble disagree, in nats, in closed form; and where to measure next.

>>> import numpy as np, dissent
>>> mean = np.array([[0.0, 0.1], [0.0, 5.0]])        # 2 inputs, 2 components
>>> stddev = np.ones((2, 2))
>>> dissent.epistemic(mean, stddev).round(3)
array([0.002, 0.693])

Arrays are [N inputs, M components, D outputs]; a single output may drop its axis. Bad input raises ValueError.
"""
from typing import TYPE_CHECKING, Any

from ._core import version as __version__
from ._uncertainty import (
    Bounds,
    EstimatorInfo,
    Uncertainty,
    bounds,
    divergence,
    epistemic,
    estimators,
    uncertainty,
)

if TYPE_CHECKING:
    from . import metrics, plot
    from ._campaign import Campaign
    from ._components import components_of
    from ._device_arrays import score
    from ._ensembles import AutoEnsemble, FlowEnsemble, GaussianProcessEnsemble, Mixture, ProbabilisticEnsemble
    from ._progress import FitProgress
    from ._query import AcquisitionInfo, acquisitions, query
    from ._recalibration import spread_factors
    from ._strategy import QueryStrategy

__all__ = [
    "AcquisitionInfo",
    "AutoEnsemble",
    "Bounds",
    "Campaign",
    "EstimatorInfo",
    "FitProgress",
    "FlowEnsemble",
    "GaussianProcessEnsemble",
    "Mixture",
    "ProbabilisticEnsemble",
    "QueryStrategy",
    "Uncertainty",
    "acquisitions",
    "bounds",
    "components_of",
    "divergence",
    "epistemic",
    "estimators",
    "metrics",
    "plot",
    "query",
    "score",
    "spread_factors",
    "uncertainty",
]

# Names that need more than numpy are imported when first asked for.
_LAZY = {
    "AutoEnsemble": "_ensembles",
    "Campaign": "_campaign",
    "FitProgress": "_progress",
    "FlowEnsemble": "_ensembles",
    "GaussianProcessEnsemble": "_ensembles",
    "Mixture": "_ensembles",
    "ProbabilisticEnsemble": "_ensembles",
    "components_of": "_components",
    "AcquisitionInfo": "_query",
    "QueryStrategy": "_strategy",
    "acquisitions": "_query",
    "query": "_query",
    "score": "_device_arrays",
    "spread_factors": "_recalibration",
}
_MODULES = ("metrics", "plot")


if not TYPE_CHECKING:  # a type checker would think that the package has every name

    def __getattr__(name: str) -> Any:
        import importlib

        if name not in _LAZY and name not in _MODULES:
            raise AttributeError(f"module 'dissent' has no attribute '{name}'")
        try:
            module = importlib.import_module("." + _LAZY.get(name, name), __name__)
            value = module if name in _MODULES else getattr(module, name)
        except ModuleNotFoundError as error:
            raise ImportError(f"dissent.{name} needs {error.name}, which is not installed") from error
        globals()[name] = value
        return value


def __dir__() -> "list[str]":
    return [*__all__, "__doc__", "__version__"]
