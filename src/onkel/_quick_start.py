"""scikit-learn, imported without what it loads for others.

``sklearn.utils.fixes`` imports scipy.stats and pandas for functions that onkel never calls. That is
half of the time in which scikit-learn is imported. So stand-ins take their places while this one
module is executed, and leave ``sys.modules`` after it: who imports pandas gets pandas. A stand-in
loads the module as soon as anything of it is asked for.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module
from importlib.machinery import ModuleSpec, PathFinder
from importlib.util import find_spec
from types import ModuleType
from typing import Any

_WHERE = "sklearn.utils.fixes"
_NOT_NEEDED = ("pandas", "scipy.stats")


class _StandIn(ModuleType):
    def __getattr__(self, name: str) -> Any:
        _leave(self)
        return getattr(import_module(self.__name__), name)


def _leave(stand_in: ModuleType) -> None:
    if sys.modules.get(stand_in.__name__) is stand_in:
        del sys.modules[stand_in.__name__]


@contextmanager
def _stand_ins() -> Iterator[None]:
    absent = [n for n in _NOT_NEEDED if n not in sys.modules and find_spec(n) is not None]
    new = [_StandIn(name) for name in absent]
    sys.modules.update({each.__name__: each for each in new})
    try:
        yield
    finally:
        for each in new:
            _leave(each)


class _Finder:
    """Executes one module, once, with the stand-ins."""

    def find_spec(
        self, name: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if name != _WHERE:
            return None
        sys.meta_path.remove(self)
        found = PathFinder.find_spec(name, path, target)
        if found is not None and found.loader is not None:
            execute = found.loader.exec_module

            def with_stand_ins(module: ModuleType) -> None:
                with _stand_ins():
                    execute(module)

            found.loader.exec_module = with_stand_ins  # type: ignore[method-assign]
        return found


def install() -> None:
    """Watch for the import, if it is still to come."""
    if _WHERE not in sys.modules:
        sys.meta_path.insert(0, _Finder())
