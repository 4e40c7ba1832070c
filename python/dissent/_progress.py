"""How far a fit is, passed to a function or drawn as a bar."""
from __future__ import annotations

from typing import Any, Callable, NamedTuple, Optional, Union

import numpy as np


class FitProgress(NamedTuple):
    """How far training is; losses are nats per row, `validation_loss` is NaN without held-out rows.

    A Gaussian process counts its outputs instead of epochs, and has no losses on the way: both are NaN.

    >>> X = np.linspace(-1, 1, 30)[:, None]
    >>> seen = []
    >>> model = dissent.ProbabilisticEnsemble(epochs=5, random_state=0).fit(X, X[:, 0], progress=seen.append)
    >>> seen[-1].epoch, seen[-1].epochs
    (5, 5)
    """

    epoch: int
    epochs: int
    loss: float
    validation_loss: float


Progress = Union[None, bool, Callable[[FitProgress], Any]]


class reporter:
    """The function that training calls with its progress, and the bar that may stand behind it."""

    def __init__(self, progress: Progress):
        if progress is not None and not isinstance(progress, bool) and not callable(progress):
            raise TypeError(f"progress must be True or a function, not {type(progress).__name__}")
        self.progress = progress
        self.bar: Any = None

    def __enter__(self) -> Optional[Callable[[int, int, float, float], None]]:
        if self.progress is True:
            from tqdm.auto import tqdm

            self.bar = tqdm(desc="fit", unit="epoch")
            return self._draw
        if callable(self.progress):
            tell = self.progress
            return lambda *state: tell(FitProgress(*state))
        return None

    def _draw(self, epoch: int, epochs: int, loss: float, validation_loss: float) -> None:
        self.bar.total = epochs
        losses = {"loss": loss, "held out": validation_loss}
        known = {name: f"{value:.3f}" for name, value in losses.items() if not np.isnan(value)}
        self.bar.set_postfix(known, refresh=False)
        self.bar.update(epoch - self.bar.n)

    def __exit__(self, *error: Any) -> None:
        if self.bar is not None:
            self.bar.close()
