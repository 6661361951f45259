"""onkel: online kernel learning.

Nonlinear models from a stream, in one pass, in bounded memory.
Names load on first use, so ``import onkel`` is quick. :mod:`onkel.public` lists them.
"""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from onkel._quick_start import install
from onkel._version import __version__ as __version__

install()
del install

if TYPE_CHECKING:
    from onkel import evaluation as _evaluation
    from onkel.public import *

    # an alias by `import` would not be exported
    evaluate = _evaluation
else:
    _OF_FILES = ("load", "from_bytes", "save")

    def __getattr__(name: str) -> Any:
        if name == "__all__":
            value = [name for name in vars(import_module("onkel.public")) if name[0] != "_"]
        elif name == "evaluate":
            # onkel.evaluate is the package of prequential evaluation
            value = import_module("onkel.evaluation")
        elif name.startswith("_") or find_spec(f"onkel.{name}") is not None:
            # a submodule becomes an attribute when it is imported
            raise AttributeError(f"module 'onkel' has no attribute {name!r}")
        elif name in _OF_FILES:
            # a process that loads a model to predict needs nothing of evaluation
            value = getattr(import_module("onkel.persistence"), name)
        elif name in __getattr__("__all__"):
            value = getattr(import_module("onkel.public"), name)
        else:
            raise AttributeError(f"module 'onkel' has no attribute {name!r}")
        globals()[name] = value
        return value

    def __dir__() -> list[str]:
        return sorted([*__getattr__("__all__"), "evaluate", "__version__"])
