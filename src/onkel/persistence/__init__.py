"""Models in one file: safetensors for the arrays, JSON for the rest, never pickle."""

from onkel.persistence.contents import register
from onkel.persistence.files import load, load_with_info, save

__all__ = ["load", "load_with_info", "register", "save"]
