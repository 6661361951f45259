"""Whether this machine has compiled loops already."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from numba.extending import is_jitted

from onkel.explicit.loop import grow_block, learn_block
from onkel.explicit.reparameterized import learn_reparameterized


def is_cold() -> bool:
    """True when numba's cache holds no compiled loop yet: the first run on a machine."""
    loops = (learn_block, grow_block, learn_reparameterized)
    return all(map(is_jitted, loops)) and not any(map(_on_disk, loops))


def _on_disk(loop: Any) -> bool:
    if loop.stats.cache_path is None:
        return False
    code = loop.py_func.__code__
    entry = f"*.{code.co_name}-{code.co_firstlineno}.*.nbi"
    return any(Path(loop.stats.cache_path).glob(entry))
