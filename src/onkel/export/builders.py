"""Tables from a class to the function that builds its part of a graph."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from onkel.errors import ExportError

Builder = Callable[..., Any]


class Builders:
    """Builders by the class they export; ``what`` names the kind of class, such as "kernel".

    A subclass may compute something else, so a builder serves its exact class only.
    """

    def __init__(self, what: str, builders: dict[type, Builder]) -> None:
        self.what, self._builders = what, builders

    def register(self, cls: type, builder: Builder) -> None:
        """Use ``builder`` to export a class of your own; see docs/onnx.md."""
        self._builders[cls] = builder

    def of(self, part: Any) -> Builder:
        """The builder for ``part``.

        Raises
        ------
        ExportError
            Its class has no builder; the error lists those that have.
        """
        if type(part) not in self._builders:
            known = ", ".join(cls.__name__ for cls in self._builders)
            raise ExportError(
                f"no ONNX graph is known for the {self.what} {type(part).__name__}. There is: "
                f"{known}. Register a builder for a class of your own (docs/onnx.md)"
            )
        return self._builders[type(part)]
