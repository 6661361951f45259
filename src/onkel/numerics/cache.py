"""Where compiled loops are kept on disk, and what happens where nothing can be kept.

Numba's own places come first (``NUMBA_CACHE_DIR``, beside the source, the user's cache folder).
Where none of them can be written, a private folder among the temporary files is used, and where
that fails, too, every process compiles anew. A file that cannot be read or written never stops
learning. What was given up is said once, as a `CacheWarning`.

No process runs another's code, or that of older sources. Numba numbers the files of a loop. Two
processes that compile it at once for different types may take the same number, and one would run
the code of the other: here the types give the name. Numba compares the loop's own source file with
what was compiled. What the loop calls is compiled into it, often from other files: here all of
these files count.
"""

from __future__ import annotations

import hashlib
import os
import stat
import tempfile
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

from numba.core.caching import (
    CacheImpl,
    CompileResultCacheImpl,
    FunctionCache,
    IndexDataCacheFile,
    _CacheLocator,
    _SourceFileBackedLocatorMixin,
)
from numba.core.dispatcher import Dispatcher
from numba.core.runtime import rtsys


class CompiledFiles(IndexDataCacheFile):  # type: ignore[misc]
    """The index of what a function was compiled to, and a file for each."""

    _stamp: Any = None

    def __init__(self, py_func: Callable[..., object], folder: str, name: str, stamp: Any) -> None:
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


def _stamps(py_func: Callable[..., object]) -> list[tuple[str, int, float]]:
    """The stamp of each source file that is compiled into the function."""
    files = {function.__code__.co_filename: function for function in _compiled_in(py_func)}
    found = [stamp_of(files[name]) for name in sorted(files)]
    return [stamp for stamp in found if stamp is not None]


def stamp_of(py_func: Callable[..., object]) -> tuple[str, int, float] | None:
    """Name, size and time of a function's source file; None if there is no file."""
    name = py_func.__code__.co_filename
    try:
        facts = os.stat(name)
    except OSError:
        return None
    return os.path.basename(name), facts.st_size, facts.st_mtime


def _compiled_in(py_func: Callable[..., object]) -> list[Callable[..., object]]:
    """The function and all compiled functions that it calls, and those that they call."""
    known, todo = {id(py_func): py_func}, [py_func]
    while todo:
        for called in _calls(todo.pop()):
            if id(called) not in known:
                known[id(called)] = called
                todo.append(called)
    return list(known.values())


def _calls(py_func: Callable[..., object]) -> Iterator[Callable[..., object]]:
    names, known = py_func.__code__.co_names, py_func.__globals__
    for name in names:
        value = known.get(name)
        # also function of a module: loops.learn
        inside = [getattr(value, of, None) for of in names] if isinstance(value, ModuleType) else []
        for each in (value, *inside):
            if isinstance(each, Dispatcher):
                yield each.py_func


class CacheWarning(UserWarning):
    """Compiled loops are kept elsewhere than usual, or not at all: programs start slowly."""


def place_of(py_func: Callable[..., object], options: dict[str, Any], stamp: object) -> Any:
    """Where what Numba compiles a function to with these options is kept, if it can be.

    ``stamp``: that of the source when the function was made of it.
    """
    try:
        return _LoopCache(py_func, options, stamp)
    except RuntimeError as error:
        if "no locator available" not in str(error):
            raise
        return _NoCache()


class _TemporaryLocator(_SourceFileBackedLocatorMixin, _CacheLocator):
    """The last resort: a folder of this user's own among the temporary files."""

    def __init__(self, py_func: Callable[..., object], py_file: str) -> None:
        self._py_file = py_file
        self._lineno = py_func.__code__.co_firstlineno

    def get_cache_path(self) -> str:
        return str(_temporary_folder() / self.get_suitable_cache_subpath(self._py_file))

    def ensure_cache_path(self) -> None:
        _check_private(_temporary_folder())
        super().ensure_cache_path()


def _temporary_folder() -> Path:
    user = os.getuid() if os.name == "posix" else os.environ.get("USERNAME", "user")
    return Path(tempfile.gettempdir()) / f"onkel-compiled-{user}"


def _check_private(folder: Path) -> None:
    """Make the folder, or see that no other user can write it: code is loaded from there."""
    folder.mkdir(mode=0o700, exist_ok=True)
    if os.name != "posix":
        return
    found = folder.lstat()
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.getuid() or found.st_mode & 0o077:
        raise PermissionError(f"{folder} is not a private folder of this user")


class _Places(CompileResultCacheImpl):
    _locator_classes = [*CacheImpl._locator_classes, _TemporaryLocator]  # noqa: RUF012


class _LoopCache(FunctionCache):
    """Numba's cache of one function; what goes wrong with its files costs a compilation only."""

    _impl_class = _Places

    def __init__(
        self, py_func: Callable[..., object], options: dict[str, Any], stamp: object
    ) -> None:
        super().__init__(py_func)
        self._cache_file = CompiledFiles(
            py_func,
            self._impl.locator.get_cache_path(),
            self._impl.filename_base,
            (self._impl.locator.get_source_stamp(), stamp),
        )
        named = {k: sorted(v) if isinstance(v, set) else v for k, v in options.items()}
        self._options = repr(sorted(named.items()))

    def _index_key(self, sig: Any, codegen: Any) -> tuple[Any, ...]:
        """The key, with the options: code compiled with others, by another release, is not used."""
        return (*super()._index_key(sig, codegen), self._options)

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """The compiled function; None where there is none, or none that can be read."""
        if isinstance(self._impl.locator, _TemporaryLocator):
            _say("place", f"compiled loops are kept in {_temporary_folder()}: neither the "
                 "installation nor the user's cache folder can be written")  # fmt: skip
        try:
            # what Numba's own does first: allocation. It also registers all that it can compile,
            # which takes a third of a second
            rtsys.initialize(target_context)
            with self._guard_against_spurious_io_errors():
                return self._load_overload(sig, target_context)
        except Exception as error:
            _say("read", f"compiled loops in {self.cache_path} cannot be read ({_why(error)}); "
                 "they are compiled anew")  # fmt: skip
            return None

    def save_overload(self, sig: Any, data: Any) -> None:
        """Keep a compiled function, where that works; a broken index is replaced."""
        try:
            super().save_overload(sig, data)
        except OSError as error:
            self._complain(error)
        except Exception:
            try:
                self.flush()
                super().save_overload(sig, data)
            except Exception as error:
                self._complain(error)

    def _complain(self, error: Exception) -> None:
        _say("write", f"compiled loops cannot be kept in {self.cache_path} ({_why(error)}); "
             "programs compile them anew until they can")  # fmt: skip


class _NoCache:
    """Keeps nothing, and says so when the first function compiles."""

    cache_path = None

    def load_overload(self, sig: Any, target_context: Any) -> None:
        _say("place", "compiled loops cannot be kept: no folder can be written, so every program "
             "compiles them anew; set NUMBA_CACHE_DIR to a folder that can be")  # fmt: skip

    def save_overload(self, sig: Any, data: Any) -> None:
        """Nothing is kept."""

    def flush(self) -> None:
        """There is nothing to remove."""


_said: set[str] = set()


def _say(what: str, text: str) -> None:
    if what not in _said:
        _said.add(what)
        warnings.warn(text, CacheWarning, stacklevel=2)


def _why(error: Exception) -> str:
    return str(error) or type(error).__name__
