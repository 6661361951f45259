"""Tables from a class to what builds its part of a graph."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from onkel.errors import ExportError

Builder = Callable[..., Any]


class Builders:
    """Builders by the class of what they export; ``what`` says what these classes are.

    A subclass may compute something else, so a builder stands for its class alone.
    """

    def __init__(self, what: str, builders: dict[type, Builder]) -> None:
        self.what, self._builders = what, builders

    def register(self, cls: type, builder: Builder) -> None:
        """Export parts of a class of your own by ``builder``; see docs/onnx.md."""
        self._builders[cls] = builder

    def of(self, part: Any) -> Builder:
        """The builder for ``part``.

        Raises
        ------
        ExportError
            There is none for its class: what there is.
        """
        if type(part) not in self._builders:
            known = ", ".join(cls.__name__ for cls in self._builders)
            raise ExportError(
                f"no ONNX graph is known for the {self.what} {type(part).__name__}. There is: "
                f"{known}. Register a builder for a class of your own (docs/onnx.md)"
            )
        return self._builders[type(part)]
