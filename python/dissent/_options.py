"""The options of a fit: from Python's names and values to the texts that the library reads."""
from __future__ import annotations

import operator
from typing import Any, Dict, Mapping

import numpy as np

from . import _core

_NAMES = {
    "model": "--model",
    "n_components": "--components",
    "hidden": "--hidden",
    "keep_probability": "--keep-probability",
    "weights": "--weights",
    "scaling": "--scaling",
    "flow_hidden": "--flow-hidden",
    "n_flow_layers": "--flow-layers",
    "preset": "--preset",
    "epochs": "--epochs",
    "batch_size": "--batch-size",
    "learning_rate": "--learning-rate",
    "validation": "--validation",
}
_WORDS = ("model", "scaling", "preset")
_SWITCHES = {  # the value that switches something, and the command line's name for it
    "bootstrap": (False, "--no-bootstrap"),
    "own_initial_weights": (False, "--same-weights"),
    "share_weights": (True, "--share-weights"),
}


def fit_settings(given: Mapping[str, Any]) -> Dict[str, str]:
    """Options by their names on the command line. What is None is left out; ValueError for what cannot be."""
    settings: Dict[str, str] = {}
    for name, value in given.items():
        if value is None:
            continue
        if name in _SWITCHES:
            switched, option = _SWITCHES[name]
            if not isinstance(value, (bool, np.bool_)):
                raise ValueError(f"{name} = {value!r}; it must be True or False")
            if bool(value) is switched:
                settings[option] = ""
            continue
        if isinstance(value, str) != (name in _WORDS):
            raise ValueError(f"{name} = {value!r}; it must be {'a name' if name in _WORDS else 'a number, or several'}")
        text = _text(name, value)
        try:
            _core.check_setting(_NAMES[name], text)
        except ValueError as error:
            raise ValueError(f"{name} = {value!r}: {str(error).partition(': ')[2]}") from None
        settings[_NAMES[name]] = text
    return settings


def fit_values(given: Mapping[str, Any]) -> Dict[str, Any]:
    """Options by their names in the library, checked. What is None is left out."""
    fit_settings(given)
    return {name[2:] if name.startswith("n_") else name: _plain(value) for name, value in given.items() if value is not None}


def training_parameters(settings: Mapping[str, Any]) -> Dict[str, Any]:
    """How `settings` train, as parameters of an estimator: what a model file does not tell."""
    names = ("preset", "epochs", "batch_size", "learning_rate", "validation")
    return {name: settings[name] for name in names if settings[name] is not None}


def _plain(value: Any) -> Any:
    """Without numpy's types: a bool, a number, a text or a list of numbers."""
    if isinstance(value, (np.generic, np.ndarray)):
        return value.tolist()
    return value if isinstance(value, (bool, int, float, str)) else [_plain(item) for item in value]


def _text(name: str, value: Any) -> str:
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, str):
        return value
    if isinstance(value, (int, float)):
        return repr(value)
    try:
        return ",".join(_text(name, item) for item in value)
    except TypeError:
        raise ValueError(f"{name} = {value!r}; it must be a number, or several") from None


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
    number = operator.index(value)
    if not least <= number <= 2**53:
        raise ValueError(f"{name} = {number}; it must be a whole number >= {least}{' and <= 2^53' * (number > 0)}")
    return number
