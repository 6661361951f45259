"""Pieces of loops, which LLVM optimises once: within the loops that they are inlined into.

Numba optimises each function and makes machine code of it. The loop that inlines a piece then
optimises the piece's code anew, so what was made of the piece alone is never used; a third of the
time of a first run went there. A :class:`PieceLibrary` keeps a piece as Numba lowered it.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from numba.core.codegen import JITCodeLibrary
from numba.core.compiler_lock import global_compiler_lock


class PieceLibrary(JITCodeLibrary):  # type: ignore[misc]
    """A piece's module for linking; there is no machine code, and nothing to call."""

    @property
    def codegen(self) -> Any:
        return _WithoutEnvironment(self._codegen)

    def _optimize_final_module(self) -> None:
        """The loop does that."""

    def _finalize_final_module(self) -> None:
        self._finalize_dynamic_globals()
        self._verify_declare_only_symbols()
        self._finalized = True

    def get_pointer_to_function(self, name: str) -> int:
        self._ensure_finalized()
        return 0

    def serialize_using_object_code(self) -> Any:
        return self.serialize_using_bitcode()


class LoopLibraries:
    """The library of a loop; what it calls of Numba's own, such as np.empty, is a piece, too."""

    def __init__(self, loop: str) -> None:
        self._loop = loop

    def __call__(self, codegen: Any, name: str, **more: Any) -> Any:
        return (JITCodeLibrary if name == self._loop else PieceLibrary)(codegen, name, **more)

    def __getattr__(self, name: str) -> Any:
        return getattr(JITCodeLibrary, name)


class _WithoutEnvironment:
    """The code generator; a loop gets the environments of its pieces: :func:`set_environments`."""

    def __init__(self, codegen: Any) -> None:
        self._codegen = codegen

    def __getattr__(self, name: str) -> Any:
        return getattr(self._codegen, name)

    def set_env(self, name: str, environment: Any) -> None:
        """There is no machine code that could use it."""


@contextmanager
def compiled_as(library: Any, context: Any) -> Iterator[None]:
    """Functions that are compiled or loaded become libraries of this class.

    Nothing of what the compiler makes is garbage, so nobody looks for any meanwhile: that is a
    twelfth of the time.
    """
    with global_compiler_lock:
        codegen = context.codegen()
        before, collected = codegen._library_class, gc.isenabled()
        codegen._library_class = library
        gc.disable()
        try:
            yield
        finally:
            codegen._library_class = before
            if collected:
                gc.enable()


def set_environments(loop: Any) -> None:
    """Give the pieces within a compiled loop what they may need of Python."""
    for result in loop.overloads.values():
        for environment in result._find_referenced_environments():
            result.library.codegen.set_env(environment.env_name, environment)
