"""The components of an ensemble at each input."""
from __future__ import annotations

from typing import Any, NamedTuple, Optional, Self, Tuple

import numpy as np

from ._naming import counted


class _Components(NamedTuple):
    mean: np.ndarray  #: (N, M, D)
    stddev: np.ndarray  #: (N, M, D)
    weights: np.ndarray  #: (M,)


class Mixture(_Components):
    """The components at each input, as :func:`uncertainty`, :func:`query` and the metrics take them.

    A named tuple of ``mean`` (N, M, D), ``stddev`` (N, M, D) and ``weights`` (M,), uniform by default. ``space`` says
    where they are: "output" for the units of `y`; "base" before a flow, or if targets are fitted by their logarithms.
    The epistemic uncertainty is the same in both, the aleatoric one is not. ``logarithms`` says which outputs are
    logarithms of `y`: metrics and plots take such a mixture as it is, but not one before a flow.

    >>> X = np.linspace(-1, 1, 30)[:, None]
    >>> model = dissent.ProbabilisticEnsemble(epochs=5, random_state=0).fit(X, X[:, 0] ** 2)
    >>> [part.shape for part in model.predict_mixture(X)]    # 30 inputs, 5 components, 1 output
    [(30, 5, 1), (30, 5, 1), (5,)]
    >>> model.predict_mixture(X).space
    'output'
    """

    space: str = "output"
    logarithms: Tuple[bool, ...] = ()  # of each output; empty: none is

    def __new__(cls, mean: Any, stddev: Any, weights: Optional[Any] = None) -> Self:
        if weights is None:
            shape = np.shape(mean)
            if len(shape) not in (2, 3) or shape[1] == 0:
                raise ValueError(f"Mixture: mean has shape {list(shape)}; it must be [N, M, D], with M > 0 components")
            weights = np.full(shape[1], 1 / shape[1])
        return super().__new__(cls, mean, stddev, weights)

    def __repr__(self) -> str:
        inputs, components, outputs = (*np.shape(self.mean), 1)[:3]
        return (
            f"<Mixture of {counted(components, 'component')} at {counted(inputs, 'input')}, "
            f"{counted(outputs, 'output')}, in {self.space} space>"
        )

    def _replace(self, **changes: Any) -> Self:
        space = changes.pop("space", self.space)
        logarithms = changes.pop("logarithms", self.logarithms)
        changed = super()._replace(**changes)
        changed.space, changed.logarithms = space, logarithms
        return changed


def parts_of(mean: Any, stddev: Any, weights: Any) -> Tuple[Any, Any, Any]:
    """mean, stddev and weights; those of a Mixture if `mean` is one, which then comes alone."""
    if not hasattr(mean, "_asdict"):
        return mean, stddev, weights
    if stddev is not None or weights is not None:
        raise ValueError("a Mixture has its own stddev and weights; leave them out")
    return mean[0], mean[1], mean[2]
