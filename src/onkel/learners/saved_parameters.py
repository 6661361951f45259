"""The parameters of a learner as plain data, with kernels, maps, rules and budgets among them.

A file holds no code: classes and functions of a user's own must be registered.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from onkel.budgets import BUDGETS
from onkel.errors import ModelFileError
from onkel.fields import State
from onkel.kernels import KERNELS
from onkel.maps import MAPS
from onkel.maps.candidates import FEATURE_FUNCTIONS
from onkel.rules import RULES
from onkel.sklearn_bases import BaseEstimator

_PLAIN = (str, int, float, bool, type(None), np.ndarray)
# Parameters that say where a machine computes, and not what: no file holds them.
_OF_MACHINE = ("device",)


def params_to_state(owner: BaseEstimator) -> State:
    """The constructor's parameters of ``owner`` as plain data."""
    params = owner.get_params(deep=False).items()
    return {name: _encode(name, value) for name, value in params if name not in _OF_MACHINE}


def params_from_state(state: State) -> State:
    """The inverse of :func:`params_to_state`."""
    return {name: _decode(value) for name, value in state.items()}


def _encode(name: str, value: object) -> Any:
    if isinstance(value, np.generic):
        value = value.item()
    if _classes().get(type(value).__name__) is type(value):
        return {"class": type(value).__name__, "params": params_to_state(value)}
    if name == "random_state" and not isinstance(value, (int, type(None))):
        # a generator has been drawn from; the seed drawn is in the fitted state
        return None
    if name == "class_weight" and isinstance(value, dict):
        pairs = [(k.item() if isinstance(k, np.generic) else k, v) for k, v in value.items()]
        return {"pairs": [[label, float(weight)] for label, weight in pairs]}
    if isinstance(value, (list, tuple)):
        return np.asarray(value)
    if callable(value):
        return {"function": _name_of(name, value)}
    if not isinstance(value, _PLAIN):
        raise ModelFileError(
            f"parameter {name}={value!r} cannot be saved: it is neither plain data nor a kernel, "
            "map, rule or budget that is known by name; register one of your own"
        )
    return value


def _name_of(name: str, function: object) -> str:
    """The name of a registered feature function."""
    known = getattr(function, "__name__", "")
    if FEATURE_FUNCTIONS.get(known) is not function:
        raise ModelFileError(
            f"parameter {name}={function!r} cannot be saved: a file holds no code. Define the "
            "function by 'def', and call onkel.maps.register_features on it before you save, and "
            "in the program that loads"
        )
    return str(known)


def _decode(value: object) -> Any:
    if isinstance(value, dict) and "function" in value:
        function = FEATURE_FUNCTIONS.get(value["function"])
        if function is None:
            raise ModelFileError(
                f"the model uses the feature function {value['function']!r}; call "
                "onkel.maps.register_features on it before the model is loaded"
            )
        return function
    if isinstance(value, dict) and "class" in value:
        cls = _classes().get(value["class"])
        if cls is None:
            raise ModelFileError(
                f"the model uses {value['class']!r}, which this onkel doesn't have; a class of "
                "your own must be registered before the model is loaded"
            )
        return cls(**params_from_state(value["params"]))
    if isinstance(value, dict) and "pairs" in value:
        return dict(value["pairs"])
    return value


def _classes() -> dict[str, type[BaseEstimator]]:
    """The classes that a file may hold, including those that a user registered."""
    tables: tuple[Mapping[str, type], ...] = (BUDGETS, KERNELS, MAPS, RULES)
    return {cls.__name__: cls for table in tables for cls in table.values()}
