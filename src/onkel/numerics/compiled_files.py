"""The files in which a compiled loop is kept: never another's code, nor that of older sources.

Numba numbers the files of a loop. Two processes that compile it at once for different types may
take the same number, and one would run the code of the other. Here the types give the name.

Numba compares the loop's own source file with what was compiled. What the loop calls is compiled
into it, often from other files: here all of these files count.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

from numba.core.caching import IndexDataCacheFile
from numba.core.dispatcher import Dispatcher


class CompiledFiles(IndexDataCacheFile):  # type: ignore[misc]
    """The index of what a function was compiled to, and a file for each."""

    _stamp: Any = None

    def __init__(self, py_func: Callable[..., Any], folder: str, name: str, stamp: Any) -> None:
        self._py_func, self._own_stamp = py_func, stamp
        super().__init__(cache_path=folder, filename_base=name, source_stamp=None)
        self._pattern = f"{name}.{{}}.nbc"

    @property
    def _source_stamp(self) -> Any:
        # when first used: what a module's functions call may be defined below them
        if self._stamp is None:
            self._stamp = self._own_stamp, _stamps(self._py_func)
        return self._stamp

    @_source_stamp.setter
    def _source_stamp(self, stamp: Any) -> None:
        self._stamp = stamp

    def save(self, key: Any, data: Any) -> None:
        """Keep what the function was compiled to for ``key``, in a file of its own."""
        name = self._pattern.format(hashlib.sha256(repr(key).encode()).hexdigest()[:16])
        # the file comes first: what the index names is there
        self._save_data(name, data)
        self._save_index(self._load_index() | {key: name})


def _stamps(py_func: Callable[..., Any]) -> list[tuple[str, int, float]]:
    """Name, size and time of each source file that is compiled into the function."""
    found = []
    for name in sorted({function.__code__.co_filename for function in _compiled_in(py_func)}):
        at = Path(name)
        if at.exists():
            facts = at.stat()
            found.append((at.name, facts.st_size, facts.st_mtime))
    return found


def _compiled_in(py_func: Callable[..., Any]) -> list[Callable[..., Any]]:
    """The function and all compiled functions that it calls, and those that they call."""
    known, todo = {id(py_func): py_func}, [py_func]
    while todo:
        for called in _calls(todo.pop()):
            if id(called) not in known:
                known[id(called)] = called
                todo.append(called)
    return list(known.values())


def _calls(py_func: Callable[..., Any]) -> Iterator[Callable[..., Any]]:
    names, known = py_func.__code__.co_names, py_func.__globals__
    for name in names:
        value = known.get(name)
        # also function of a module: loops.learn
        inside = [getattr(value, of, None) for of in names] if isinstance(value, ModuleType) else []
        for each in (value, *inside):
            if isinstance(each, Dispatcher):
                yield each.py_func
