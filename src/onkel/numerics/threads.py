"""BLAS threads where blocks are small.

A block's matrix products take microseconds; handing them to a second thread costs more than it
saves (measured: up to 50 times slower), so the learners run them on one.
"""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from functools import cache

from threadpoolctl import ThreadpoolController

# Below this many rows a product is too small for BLAS to thread, and the switch would cost more.
_FEW_ROWS = 16


@cache
def _controller() -> ThreadpoolController:
    return ThreadpoolController()


def _threads() -> list[int]:
    """Of each BLAS that is loaded: asking takes a microsecond, the switch a hundred."""
    return [lib.num_threads for lib in _controller().lib_controllers if lib.user_api == "blas"]


def one_blas_thread(n_rows: int = _FEW_ROWS) -> AbstractContextManager[object]:
    """A context in which BLAS uses one thread; with fewer rows it may use what it likes."""
    if n_rows < _FEW_ROWS or all(n == 1 for n in _threads()):
        return nullcontext()
    return _controller().limit(limits=1, user_api="blas")
