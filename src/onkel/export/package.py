"""The package ``onnx``, imported when it is first needed."""

from __future__ import annotations

from typing import Any


def onnx() -> Any:
    """The package ``onnx``."""
    try:
        import onnx
        import onnx.checker
        import onnx.helper
        import onnx.numpy_helper
    except ImportError as error:
        raise ImportError(
            f"export to ONNX needs the package onnx ({error}): pip install 'onkel[onnx]'"
        ) from None
    return onnx
