"""What takes long to make is kept in ``.gallery/``, until its source or the package changes."""

from __future__ import annotations

import hashlib
import os
import pickle
import sys
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
#: how all pictures look
STYLE = str(Path(__file__).with_name("gallery.mplstyle"))
_FOLDER = ROOT / ".gallery"
_PARTS = ("gallery.mplstyle", "gallery.py", "kept.py", "portraits.py")


def made(
    kind: str, make: Callable[[str], Any], names: list[str], source: Callable[[str], bytes]
) -> dict[str, Any]:
    """What ``make`` gives for each name; made anew if its source or the package has changed."""
    package = _digest(
        *(path.read_bytes() for path in sorted((ROOT / "src" / "onkel").rglob("*.py"))),
        *(Path(__file__).with_name(part).read_bytes() for part in _PARTS),
    )
    kept = {name: _FOLDER / f"{kind}-{name}-{package}-{_digest(source(name))}" for name in names}
    missing = [name for name in names if not kept[name].exists()]
    if missing:
        _FOLDER.mkdir(exist_ok=True)
        jobs = min(2, os.cpu_count() or 1)
        with ProcessPoolExecutor(jobs, mp_context=get_context("spawn")) as pool:
            for name, found in zip(missing, pool.map(make, missing), strict=True):
                for old in _FOLDER.glob(f"{kind}-{name}-????????????-*"):
                    old.unlink()
                kept[name].write_bytes(pickle.dumps(found))
                print(f"made {kind} {name}", file=sys.stderr)
    # written by this function, into a folder of the repository
    return {name: pickle.loads(path.read_bytes()) for name, path in kept.items()}


def _digest(*contents: bytes) -> str:
    found = hashlib.sha256()
    for content in contents:
        found.update(content)
    return found.hexdigest()[:12]
