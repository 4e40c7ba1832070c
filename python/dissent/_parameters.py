"""The options of a fit as Python parameters, from the list that the library keeps.

A new option of the library becomes a keyword by itself, with its default and its documentation.
"""
from __future__ import annotations

import functools
import inspect
from typing import Any, Callable, Dict, Iterable, List, NamedTuple, Optional, Sequence, TypeVar, cast

from . import _core

_Class = TypeVar("_Class", bound=type)
_Function = TypeVar("_Function", bound=Callable[..., Any])
_TYPES: Dict[str, Any] = {
    "switch": bool,
    "whole": int,
    "number": float,
    "text": str,
    "wholes": Sequence[int],
    "numbers": Sequence[float],
}
_TYPE_NAMES = {
    "switch": "bool",
    "whole": "int",
    "number": "float",
    "text": "str",
    "wholes": "sequence of int",
    "numbers": "sequence of float",
}


class Parameter(NamedTuple):
    """A keyword of a constructor."""

    name: str
    type: Any
    default: Any
    text: str  #: its documentation


RANDOM_STATE = Parameter(
    "random_state",
    Any,
    None,
    """random_state : int, RandomState, Generator or None
    An int gives the same bits as ``--seed`` on the command line, on any number of threads.""",
)
N_JOBS = Parameter(
    "n_jobs",
    Optional[int],
    None,
    """n_jobs : int, optional
    Threads; None and -1 are one per core. Results do not depend on it.""",
)
DEVICE = Parameter(
    "device",
    str,
    "cpu",
    """device : str, default "cpu"
    Where networks are trained: "cpu", "cuda", or "cuda:1" for the second graphics card.""",
)


def _text(field: Dict[str, Any], default: Any, by_preset: bool) -> str:
    """In numpy's style. The help of a switch says what happens when it is not at its default."""
    *names, last = [f'"{name}"' for name in field["names"]] or [_TYPE_NAMES[field["type"]]]
    values = f"{', '.join(names)} or {last}" if names else last
    if default is not None:
        values += f", default {default!r}".replace("'", '"')
    else:
        values += ", by preset" if by_preset else ", optional"
    sentence = field["help"]
    if field["type"] == "switch":
        sentence = f"{not field['default']}: {sentence[0].lower()}{sentence[1:]}"
    return f"{field['keyword']} : {values}\n    {sentence}."


def _parameter(field: Dict[str, Any], presets: bool = True) -> Parameter:
    """None stands for a list's default and for what a preset sets; any other default is the option's own."""
    if field["keyword"] == RANDOM_STATE.name:
        return RANDOM_STATE
    kind = _TYPES[field["type"]]
    by_preset = presets and field["preset"]
    if field["optional"] or by_preset or isinstance(field["default"], list):
        return Parameter(field["keyword"], Optional[kind], None, _text(field, None, by_preset))
    return Parameter(field["keyword"], kind, field["default"], _text(field, field["default"], by_preset))


def fit_parameters() -> List[Parameter]:
    """All options of a fit."""
    return [_parameter(field) for field in _core.fit_fields()]


def ensemble_parameters(model: str) -> List[Parameter]:
    """The parameters of an estimator for one model: first the one that may be given by position."""
    fields = [field for field in _core.fit_fields() if model in field["models"] and field["name"] != "model"]
    presets = any(field["name"] == "preset" for field in fields)
    trains = any(field["name"] == "hidden" for field in fields)  # networks
    parameters = [*(_parameter(field, presets) for field in fields), N_JOBS, *([DEVICE] if trains else [])]
    return sorted(parameters, key=lambda each: each.name != "n_components")


def training_names(model: str) -> List[str]:
    """The names of those that say how to train: the preset, and what it sets."""
    names = [field["keyword"] for field in _core.fit_fields() if field["preset"] or field["name"] == "preset"]
    return [each.name for each in ensemble_parameters(model) if each.name in names]


def documented(parameters: Iterable[Parameter]) -> Callable[[_Class], _Class]:
    """Puts their text in place of {parameters} in the docstring of a class."""
    lines = "\n".join(each.text for each in parameters)

    def fill(to: _Class) -> _Class:
        to.__doc__ = (to.__doc__ or "").replace("{parameters}", lines.replace("\n", "\n    "))
        return to

    return fill


def takes(parameters: Sequence[Parameter]) -> Callable[[_Function], _Function]:
    """For a function whose ** takes these keywords, None by default: its signature has them, and others are refused."""
    added = [
        inspect.Parameter(each.name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=Optional[each.type])
        for each in parameters
    ]

    def wrap(function: _Function) -> _Function:
        *own, _ = inspect.signature(function).parameters.values()
        signature = inspect.signature(function).replace(parameters=[*own, *added])

        @functools.wraps(function)
        def checked(*arguments: Any, **keywords: Any) -> Any:
            signature.bind(*arguments, **keywords)
            return function(*arguments, **keywords)

        setattr(checked, "__signature__", signature)
        return cast(_Function, checked)

    return wrap
