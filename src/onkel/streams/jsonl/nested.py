"""Nested JSON objects as keys with a dot: {"a": {"b": 1}} is {"a.b": 1}."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

_NESTED = re.compile(rb":\s*\{")


def flattened(data: bytes) -> bytes:
    """The same JSON lines, with nested objects rewritten as keys with a dot."""
    if not _NESTED.search(data):
        return data
    return b"\n".join(map(_flat, data.split(b"\n")))


def _flat(line: bytes) -> bytes:
    """A line without nested objects; one that cannot be read stays unchanged."""
    if not _NESTED.search(line):
        return line
    try:
        found = json.loads(line)
        pairs = list(_pairs(found, "")) if isinstance(found, dict) else []
    except (ValueError, RecursionError):
        return line
    names = {name for name, _ in pairs}
    if not pairs or len(names) < len(pairs):
        return line
    return json.dumps(dict(pairs)).encode()


def _pairs(found: dict[str, Any], before: str) -> Iterator[tuple[str, Any]]:
    for name, value in found.items():
        if isinstance(value, dict):
            yield from _pairs(value, f"{before}{name}.")
        else:
            yield before + name, value
