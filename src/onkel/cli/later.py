"""Modules that other packages import and few commands use: loaded at their first use."""

from __future__ import annotations

import sys
from importlib import import_module
from types import ModuleType
from typing import Any


class _Later(ModuleType):
    """Stands for a module until something of it is asked for."""

    def __getattr__(self, name: str) -> Any:
        if sys.modules.get(self.__name__) is self:
            del sys.modules[self.__name__]
        return getattr(import_module(self.__name__), name)


def import_later(name: str) -> None:
    """Let a module that is not loaded yet be loaded at its first use."""
    if name not in sys.modules:
        sys.modules[name] = _Later(name)
