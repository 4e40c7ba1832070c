"""The constructors of the ensembles.

The build writes what type checkers see of them, _constructors.pyi, from the same parameters.
"""
from __future__ import annotations

import dataclasses
from typing import Any

from ._parameters import ensemble_parameters


def _constructor(name: str, model: str) -> Any:
    """A class whose constructor takes the parameters and keeps them as they are, as scikit-learn wants it."""
    fields = [
        (each.name, each.type, dataclasses.field(default=each.default, kw_only=place > 0))
        for place, each in enumerate(ensemble_parameters(model))
    ]
    return dataclasses.make_dataclass(name, fields, eq=False, repr=False, namespace={"__module__": __name__})


# Named like the classes that have them, for error messages.
FlowParameters = _constructor("FlowEnsemble", "flow")
ProbabilisticParameters = _constructor("ProbabilisticEnsemble", "pne")
GaussianProcessParameters = _constructor("GaussianProcessEnsemble", "gp")
AutoParameters = _constructor("AutoEnsemble", "auto")
