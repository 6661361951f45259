"""Folders of data sets: that of ONKEL_DATA, then the user's cache."""

from __future__ import annotations

import os
from pathlib import Path

from platformdirs import user_cache_path


def folders() -> tuple[Path, ...]:
    """Folders searched for data sets; :func:`fetch` writes to the first one."""
    cache = user_cache_path("onkel", appauthor=False) / "data"
    own = os.environ.get("ONKEL_DATA")
    return (Path(own).expanduser(), cache) if own else (cache,)
