"""What a model file may hold: classes by name, and states as JSON and named arrays."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from typing import Any, Protocol, Self, runtime_checkable

import numpy as np

from onkel._version import __version__
from onkel.annotations import JSON
from onkel.errors import ModelFileError
from onkel.fields import PLAIN, Field, Sizes, State, Text, check, inside

_MODULES = ("onkel.pipeline", "onkel.learners", "onkel.streams")
"""Classes that these modules list in ``__all__`` and that have a state may come from a file."""


@runtime_checkable
class Saved(Protocol):
    def get_state(self) -> State: ...

    @classmethod
    def from_state(cls, state: State) -> Self: ...


_EXTRA: dict[str, type] = {}


def register(cls: type) -> type:
    """Allow your own class (with ``get_state`` and ``from_state``) in model files; a decorator.

    Files know it by its name. Returns the class itself.
    """
    _EXTRA[cls.__name__] = cls
    return cls


def class_name(obj: object) -> str:
    """Name of an object's class in files; TypeError if it could not be read back."""
    name = type(obj).__name__
    try:
        known = resolve(name) is type(obj)
    except ModelFileError:
        known = False
    if not known:
        raise TypeError(
            f"{type(obj).__module__}.{name} cannot be saved: it is not one of onkel's classes; "
            "call onkel.persistence.register on it first"
        )
    return name


def resolve(name: str) -> type:
    """The class of that name, registered or onkel's own."""
    if name in _EXTRA:
        return _EXTRA[name]
    for module_name in _MODULES:
        try:
            module = import_module(module_name)
        except ModuleNotFoundError as error:
            if error.name != module_name:
                raise
            continue
        found = getattr(module, name) if name in module.__all__ else None
        if isinstance(found, type) and issubclass(found, Saved):
            return found
    raise ModelFileError(f"{name!r} is not a model class of onkel {__version__}")


@dataclass(frozen=True)
class Model(Field):
    """A model as a part of another's state: its class and its state."""

    def check(self, value: object, sizes: Sizes) -> str | None:
        return None if isinstance(value, dict) else f"is {type(value).__name__}, not a model"

    def saved(self, value: Saved) -> State:
        return {"class": class_name(value), "state": value.get_state()}

    def loaded(self, value: State) -> Any:
        check(value, {"class": Text()})
        kind: Any = resolve(value["class"])
        with inside(value, "state") as own:
            return kind.from_state(own)


_TAG = "__onkel__"
"""Key of the small dicts that stand, in the JSON, for what JSON has no word for."""


def flatten(state: State) -> tuple[Any, dict[str, np.ndarray]]:
    """Split a nested state into a JSON-able tree and its arrays, named by slash-joined paths.

    Keys are str without "/". Leaves are arrays, int, float, bool, str, None, NumPy scalars, lists
    and tuples of these; a TypeError names the path of any other. In the tree every array is
    replaced by a reference; the arrays are C-contiguous and numeric.
    """
    arrays: dict[str, np.ndarray] = {}
    return _pack(state, "", arrays), arrays


def unflatten(tree: Any, arrays: dict[str, np.ndarray]) -> Any:
    """Rebuild the state that `flatten` split.

    Its arrays are writable copies in their original memory order.
    """
    if isinstance(tree, list):
        return [unflatten(item, arrays) for item in tree]
    if not isinstance(tree, dict):
        return tree
    if _TAG not in tree:
        return {key: unflatten(value, arrays) for key, value in tree.items()}
    kind, value = tree[_TAG], tree["value"]
    if kind == "array":
        return np.array(arrays[value], order=tree["order"])
    if kind == "labels":
        return np.array(value, dtype=tree["dtype"]).reshape(tree["shape"])
    if kind == "scalar":
        return np.dtype(tree["dtype"]).type(value)
    if kind == "tuple":
        return tuple(unflatten(item, arrays) for item in value)
    raise ValueError(f"unknown kind of value {kind!r}")


def _pack(value: object, path: str, arrays: dict[str, np.ndarray]) -> JSON:
    if isinstance(value, dict):
        return {key: _pack(item, _join(path, key), arrays) for key, item in value.items()}
    if isinstance(value, np.ndarray):
        return _pack_array(value, path, arrays)
    if isinstance(value, np.generic) and value.dtype.kind in "biuf":
        return {_TAG: "scalar", "dtype": value.dtype.str, "value": value.item()}
    if type(value) is list and set(map(type, value)) <= PLAIN:
        return list(value)
    if isinstance(value, list | tuple):
        items = [_pack(item, _join(path, str(i)), arrays) for i, item in enumerate(value)]
        return {_TAG: "tuple", "value": items} if isinstance(value, tuple) else items
    if value is None or isinstance(value, bool | int | float | str):
        return str(value) if isinstance(value, str) else value
    raise TypeError(f"state {path!r}: {type(value).__name__} cannot be written to a model file")


def _join(path: str, key: object) -> str:
    if not isinstance(key, str) or "/" in key or key == _TAG:
        raise TypeError(f"state {path!r}: key {key!r} is not a name (a string without '/')")
    return f"{path}/{key}" if path else key


def _pack_array(array: np.ndarray, path: str, arrays: dict[str, np.ndarray]) -> dict[str, JSON]:
    if array.dtype.kind in "biuf" and array.dtype.isnative:
        # Memory order is kept: BLAS may round differently on the transpose, and a loaded model
        # must continue bit for bit.
        column_major = array.flags.f_contiguous and not array.flags.c_contiguous
        arrays[path] = np.array(array, order="C")
        return {_TAG: "array", "order": "F" if column_major else "C", "value": path}
    labels = [x.item() if isinstance(x, np.generic) else x for x in array.ravel().tolist()]
    if array.dtype.kind in "OU" and all(isinstance(x, str | int | float | bool) for x in labels):
        return {
            _TAG: "labels",
            "dtype": array.dtype.str,
            "shape": list(array.shape),
            "value": labels,
        }
    raise TypeError(f"state {path!r}: arrays of {array.dtype} cannot be written to a model file")
