"""scikit-learn, SciPy and Numba, imported without what they load for others.

``sklearn.utils.fixes`` imports scipy.stats and pandas for functions that onkel never calls, and
other modules do the like. That is half of the time in which scikit-learn is imported. So stand-ins
take their places while such a module is executed, and leave ``sys.modules`` after it: who imports
pandas gets pandas. A stand-in loads the module as soon as anything of it is asked for.

SciPy also reads the docs of its functions at import, and adds a table to each. In the command
line, where nobody asks for them, that is left out, too.
"""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from importlib import import_module
from importlib.machinery import ModuleSpec, PathFinder
from importlib.util import find_spec
from types import ModuleType
from typing import Any

_TABLES = ("narwhals", "narwhals.stable", "narwhals.stable.v2")
# of NumPy, which loads them on first use
_SELDOM = tuple(f"numpy.{name}" for name in ("ctypeslib", "f2py", "ma", "polynomial", "testing"))
#: what is not needed while a module is executed; a package comes before what it holds
_NOT_NEEDED = {
    "sklearn.utils.fixes": ("pandas", "scipy.stats"),
    "sklearn.utils.validation": _TABLES,
    "sklearn.utils._indexing": _TABLES,
    # these copy each name of NumPy; the last two are of SciPy 1.18 and of earlier ones
    "sklearn.externals.array_api_compat.numpy": _SELDOM,
    "scipy._external.array_api_compat.numpy": _SELDOM,
    "scipy._lib.array_api_compat.numpy": _SELDOM,
    "scipy.optimize._shgo": ("scipy.spatial",),
    "numba.core.config": ("yaml",),
    "joblib.memory": ("asyncio",),
}


# Numba makes thousands of errors while it looks for what a function means, and colours them
_ABSENT = {"numba.core.errors": "colorama"}
# These import all that the learners need. None of it is garbage: to look for any meanwhile would
# take a seventh of the time.
_LARGE = ("onkel.evaluation", "onkel.learners", "onkel.pipeline")


class _StandIn(ModuleType):
    def __getattr__(self, name: str) -> Any:
        _leave(self)
        return getattr(import_module(self.__name__), name)


def _held_by(name: str) -> tuple[dict[str, Any], str]:
    """Where the package of a module holds it, if there is one, and under which name."""
    package, _, own = name.rpartition(".")
    return (vars(sys.modules[package]) if package in sys.modules else {}), own


def _leave(stand_in: ModuleType) -> None:
    for held, name in ((sys.modules, stand_in.__name__), _held_by(stand_in.__name__)):
        if held.get(name) is stand_in:
            del held[name]


@contextmanager
def _stand_ins(names: Sequence[str]) -> Iterator[None]:
    # to look for a module within a package would import the package
    there = [n for n in names if n not in sys.modules and find_spec(n.partition(".")[0])]
    new = [_StandIn(name) for name in there]
    for each in new:
        sys.modules[each.__name__] = each
        held, own = _held_by(each.__name__)
        held[own] = each
    try:
        yield
    finally:
        for each in new:
            _leave(each)


_WITH_DOCS = "scipy._lib._array_api"


class _Finder:
    """Executes some modules in another way than usual."""

    def __init__(
        self, ways: Mapping[str, Callable[[ModuleType, Callable[..., None]], None]]
    ) -> None:
        self._ways = ways

    def find_spec(
        self, name: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if name not in self._ways:
            return None
        found = PathFinder.find_spec(name, path, target)
        if found is not None and found.loader is not None:
            way, execute = self._ways[name], found.loader.exec_module
            found.loader.exec_module = lambda module: way(module, execute)  # type: ignore[method-assign]
        return found


def _with_stand_ins(module: ModuleType, execute: Callable[..., None]) -> None:
    with _stand_ins(_NOT_NEEDED[module.__name__]):
        execute(module)


def _without(module: ModuleType, execute: Callable[..., None]) -> None:
    name = _ABSENT[module.__name__]
    known = sys.modules.get(name)
    sys.modules[name] = None  # type: ignore[assignment]
    try:
        execute(module)
    finally:
        del sys.modules[name]
        if known is not None:
            sys.modules[name] = known


def _uncollected(module: ModuleType, execute: Callable[..., None]) -> None:
    collected = gc.isenabled()
    gc.disable()
    try:
        execute(module)
    finally:
        if collected:
            if not gc.get_freeze_count():
                # all that there is counts as old now: the next look is not at it
                gc.freeze()
                gc.unfreeze()
            gc.enable()


def _without_docs(module: ModuleType, execute: Callable[..., None]) -> None:
    execute(module)
    own = vars(module)
    if "FunctionDoc" in own:
        own["FunctionDoc"] = partial(own["FunctionDoc"], doc="")


def install() -> None:
    """Watch for the imports that are still to come."""
    ways = dict.fromkeys(_NOT_NEEDED, _with_stand_ins) | dict.fromkeys(_ABSENT, _without)
    sys.meta_path.insert(0, _Finder(ways | dict.fromkeys(_LARGE, _uncollected)))


def leave_out_docs() -> None:
    """Import SciPy without its docs, if it is still to come."""
    sys.meta_path.insert(0, _Finder({_WITH_DOCS: _without_docs}))
