"""Arguments that only Python has: seeds and counts."""
from __future__ import annotations

import operator
from typing import Any

import numpy as np


def seed_of(random_state: Any) -> int:
    """A whole number is the seed itself; a generator, or None for numpy's global one, draws it."""
    if isinstance(random_state, (int, np.integer)):
        if not 0 <= random_state < 2**64:
            raise ValueError(f"random_state = {random_state}; a seed is a whole number from 0 to 2^64 - 1")
        return int(random_state)
    if isinstance(random_state, np.random.Generator):
        return int(random_state.integers(2**31 - 1))
    if random_state is None or random_state is np.random:
        return int(np.random.randint(2**31 - 1))
    if isinstance(random_state, np.random.RandomState):
        return int(random_state.randint(2**31 - 1))
    raise ValueError(f"random_state = {random_state!r}; give a seed, a numpy generator, or None")


def whole_number(value: Any, name: str, least: int = 0) -> int:
    try:
        number = operator.index(value)
    except TypeError:
        raise TypeError(f"{name} = {value!r}; it must be a whole number") from None
    if not least <= number <= 2**53:
        raise ValueError(f"{name} = {number}; it must be a whole number >= {least}{' and <= 2^53' * (number > 0)}")
    return number
