"""Which classes a model file may hold: those of onkel, and those a user registers."""

from __future__ import annotations

from importlib import import_module
from typing import Any, Protocol, runtime_checkable

from onkel._version import __version__
from onkel.errors import ModelFileError
from onkel.state import Text, check, inside

_MODULES = ("onkel.pipeline", "onkel.learners", "onkel.streams")
"""Classes that these modules list in ``__all__`` and that have a state may come from a file."""


@runtime_checkable
class _Saved(Protocol):
    def get_state(self) -> dict[str, Any]: ...

    @classmethod
    def from_state(cls, state: dict[str, Any]) -> Any: ...


_EXTRA: dict[str, type] = {}


def register(cls: type) -> type:
    """Allow your own class (with ``get_state`` and ``from_state``) in model files.

    Parameters
    ----------
    cls : type
        Files know it by its name. `register` can be used as a decorator.

    Returns
    -------
    type
        The class itself.
    """
    _EXTRA[cls.__name__] = cls
    return cls


def class_name(obj: Any) -> str:
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
        if isinstance(found, type) and issubclass(found, _Saved):
            return found
    raise ModelFileError(f"{name!r} is not a model class of onkel {__version__}")


def part_of(model: Any) -> dict[str, Any]:
    """A model as a part of another's state: its class and its state."""
    return {"class": class_name(model), "state": model.get_state()}


def model_of_part(state: dict[str, Any], name: str) -> Any:
    """The model whose :func:`part_of` is ``state[name]``; ModelFileError if there is none."""
    with inside(state, name) as part:
        check(part, {"class": Text()})
        kind: Any = resolve(part["class"])
        with inside(part, "state") as own:
            return kind.from_state(own)
