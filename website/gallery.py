"""The gallery: scripts in ``examples/`` run, and become pages with their output and pictures."""

from __future__ import annotations

from typing import Any


def nav() -> list[Any]:
    return []


def pages() -> dict[str, str | bytes]:
    return {}
