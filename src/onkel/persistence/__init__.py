"""Models in one file: safetensors for the arrays, JSON for the rest, never pickle."""

from onkel.persistence.contents import register
from onkel.persistence.files import (
    from_bytes,
    from_bytes_with_info,
    load,
    load_with_info,
    save,
    to_bytes,
)

__all__ = [
    "from_bytes",
    "from_bytes_with_info",
    "load",
    "load_with_info",
    "register",
    "save",
    "to_bytes",
]
