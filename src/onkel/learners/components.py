"""Parameters as plain data: kernels, maps, rules and budgets inside a saved model."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from onkel.budgets import BUDGETS
from onkel.errors import ModelFileError
from onkel.kernels import KERNELS
from onkel.maps import MAPS
from onkel.rules import RULES

_PLAIN = (str, int, float, bool, type(None), np.ndarray)


def _classes() -> dict[str, type[BaseEstimator]]:
    """The classes that a file may hold, including those that a user registered."""
    tables: tuple[dict[str, Any], ...] = (BUDGETS, KERNELS, MAPS, RULES)
    return {cls.__name__: cls for table in tables for cls in table.values()}


def _encode(name: str, value: Any) -> Any:
    if isinstance(value, np.generic):
        value = value.item()
    if _classes().get(type(value).__name__) is type(value):
        return {"class": type(value).__name__, "params": params_to_state(value)}
    if name == "random_state" and not isinstance(value, (int, type(None))):
        # a generator has been drawn from; the seed drawn is in the fitted state
        return None
    if name == "class_weight" and isinstance(value, dict):
        return {"pairs": [[_item(label), float(weight)] for label, weight in value.items()]}
    if isinstance(value, (list, tuple)):
        return np.asarray(value)
    if not isinstance(value, _PLAIN):
        raise ModelFileError(
            f"parameter {name}={value!r} cannot be saved: it is neither plain data nor a kernel, "
            "map, rule or budget that is known by name; register one of your own"
        )
    return value


def _item(label: Any) -> Any:
    return label.item() if isinstance(label, np.generic) else label


def _decode(value: Any) -> Any:
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


def params_to_state(owner: BaseEstimator) -> dict[str, Any]:
    """The constructor's parameters of ``owner`` as plain data."""
    return {name: _encode(name, value) for name, value in owner.get_params(deep=False).items()}


def params_from_state(state: dict[str, Any]) -> dict[str, Any]:
    """The inverse of :func:`params_to_state`."""
    return {name: _decode(value) for name, value in state.items()}
