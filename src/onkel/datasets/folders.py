"""Where data sets lie: the folder of ONKEL_DATA, then the user's cache."""

from __future__ import annotations

import os
from pathlib import Path

from platformdirs import user_cache_path


def folders() -> tuple[Path, ...]:
    """Folders looked through for data sets, first the one that :func:`fetch` writes to."""
    cache = user_cache_path("onkel", appauthor=False) / "data"
    own = os.environ.get("ONKEL_DATA")
    return (Path(own).expanduser(), cache) if own else (cache,)
