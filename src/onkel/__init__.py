"""onkel: online kernel learning.

Nonlinear models from a stream, in one pass, in bounded memory, at the speed of a linear model.
Names are loaded when first used, so ``import onkel`` is quick.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from onkel._version import __version__

_HOMES = {
    "onkel.estimators": (
        "ExplicitKernelClassifier",
        "ExplicitKernelRegressor",
        "FOGDClassifier",
        "FOGDRegressor",
        "KernelRLSClassifier",
        "KernelRLSRegressor",
        "NOGDClassifier",
        "NOGDRegressor",
        "PAClassifier",
        "PARegressor",
        "RRFClassifier",
        "RRFRegressor",
    ),
    "onkel.maps": (
        "FourierFeatures",
        "IdentityFeatures",
        "NystroemFeatures",
        "ReparameterizedFeatures",
    ),
    "onkel.algorithms": ("ALGORITHMS", "make"),
    "onkel.streams": ("OnlineScaler", "open_stream"),
    "onkel.evaluation": ("prequential",),
    "onkel.persistence": ("load", "save"),
    "onkel.pipeline": ("StreamModel",),
    "onkel.errors": ("DataError", "ModelFileError"),
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}

__all__ = [
    "ALGORITHMS",
    "DataError",
    "ExplicitKernelClassifier",
    "ExplicitKernelRegressor",
    "FOGDClassifier",
    "FOGDRegressor",
    "FourierFeatures",
    "IdentityFeatures",
    "KernelRLSClassifier",
    "KernelRLSRegressor",
    "ModelFileError",
    "NOGDClassifier",
    "NOGDRegressor",
    "NystroemFeatures",
    "OnlineScaler",
    "PAClassifier",
    "PARegressor",
    "RRFClassifier",
    "RRFRegressor",
    "ReparameterizedFeatures",
    "StreamModel",
    "__version__",
    "load",
    "make",
    "open_stream",
    "prequential",
    "save",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME_OF:
        raise AttributeError(f"module 'onkel' has no attribute {name!r}")
    value = getattr(importlib.import_module(_HOME_OF[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)


if TYPE_CHECKING:
    from onkel.algorithms import ALGORITHMS, make
    from onkel.errors import DataError, ModelFileError
    from onkel.estimators import (
        ExplicitKernelClassifier,
        ExplicitKernelRegressor,
        FOGDClassifier,
        FOGDRegressor,
        KernelRLSClassifier,
        KernelRLSRegressor,
        NOGDClassifier,
        NOGDRegressor,
        PAClassifier,
        PARegressor,
        RRFClassifier,
        RRFRegressor,
    )
    from onkel.evaluation import prequential
    from onkel.maps import (
        FourierFeatures,
        IdentityFeatures,
        NystroemFeatures,
        ReparameterizedFeatures,
    )
    from onkel.persistence import load, save
    from onkel.pipeline import StreamModel
    from onkel.streams import OnlineScaler, open_stream
