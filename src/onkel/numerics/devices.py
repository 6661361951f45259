"""Where large products are made: in the processor, or on a GPU by an array library.

A device has an array library, which has NumPy's functions, and arrays in a memory of its own. What
is large goes there once; what is small comes back: sums, factors and decisions stay in the
processor. So no model holds an array of a device, and a saved one does not depend on it.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from onkel.annotations import DTypeLike


class Device:
    """A memory for arrays, and the library ``xp`` that computes there."""

    # no __dict__: what walks through the parts of a model stops here
    __slots__ = ("name", "xp")

    def __init__(self, name: str, xp: Any) -> None:
        self.name: str = name
        self.xp: Any = xp

    def __reduce__(self) -> tuple[Any, ...]:
        # a library is no data: copies share the device
        return device_named, (self.name,)

    def put(self, A: np.ndarray, dtype: DTypeLike | None = None) -> Any:
        """A copied to the device."""
        return self.xp.array(np.ascontiguousarray(A, dtype))

    def take(self, A: Any) -> np.ndarray:
        """A copied from the device."""
        return np.asarray(self.xp.asnumpy(A))


def _cupy() -> Any:
    """CuPy, where it finds a GPU."""
    try:
        import cupy  # type: ignore[import-not-found,unused-ignore]
    except ImportError as error:
        raise ValueError(f"device='cuda' needs CuPy ({error}): pip install 'onkel[cuda]'") from None
    try:
        found = cupy.cuda.runtime.getDeviceCount()
    except Exception as error:  # CuPy's own, which needs CuPy to be named
        raise ValueError(
            f"device='cuda' needs an NVIDIA GPU and its driver, and CuPy finds none ({error}); "
            "use device='cpu'"
        ) from None
    if not found:
        raise ValueError("device='cuda' needs an NVIDIA GPU, and CuPy finds none; use device='cpu'")
    return cupy


_LIBRARIES: dict[str, Callable[[], Any]] = {"cuda": _cupy}
#: what a parameter ``device`` may be
DEVICES = ("cpu", *_LIBRARIES)


@cache
def device_named(name: str) -> Device | None:
    """The device; None for "cpu". ValueError where it cannot be used on this machine."""
    return None if name == "cpu" else Device(name, _LIBRARIES[name]())
