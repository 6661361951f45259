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
        "BOGDClassifier",
        "BOGDRegressor",
        "BPANNClassifier",
        "BPANNRegressor",
        "BPAPClassifier",
        "BPAPRegressor",
        "BPASClassifier",
        "BPASRegressor",
        "BSGDMClassifier",
        "BSGDMRegressor",
        "BSGDPClassifier",
        "BSGDPRegressor",
        "BSGDRClassifier",
        "BSGDRRegressor",
        "BudgetPerceptronClassifier",
        "BudgetPerceptronRegressor",
        "DualSGDClassifier",
        "DualSGDRegressor",
        "ExplicitKernelClassifier",
        "ExplicitKernelRegressor",
        "FOGDClassifier",
        "FOGDRegressor",
        "ForgetronClassifier",
        "ForgetronRegressor",
        "KernelPerceptronClassifier",
        "KernelPerceptronRegressor",
        "KernelRLSClassifier",
        "KernelRLSRegressor",
        "NOGDClassifier",
        "NOGDRegressor",
        "NOLANAClassifier",
        "NOLANARegressor",
        "NORMAClassifier",
        "NORMARegressor",
        "OGDClassifier",
        "OGDRegressor",
        "OLKClassifier",
        "OLKFixedClassifier",
        "OLKFixedRegressor",
        "OLKGrowingClassifier",
        "OLKGrowingRegressor",
        "OLKRegressor",
        "PAClassifier",
        "PARegressor",
        "ProjectronClassifier",
        "ProjectronPPClassifier",
        "ProjectronRegressor",
        "RBPClassifier",
        "RBPRegressor",
        "RRFClassifier",
        "RRFRegressor",
        "SupportKernelClassifier",
        "SupportKernelRegressor",
    ),
    "onkel.maps": (
        "AdaptiveNystroem",
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
    "onkel.errors": ("DataError", "DivergenceError", "ModelFileError"),
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}

__all__ = [
    "ALGORITHMS",
    "AdaptiveNystroem",
    "BOGDClassifier",
    "BOGDRegressor",
    "BPANNClassifier",
    "BPANNRegressor",
    "BPAPClassifier",
    "BPAPRegressor",
    "BPASClassifier",
    "BPASRegressor",
    "BSGDMClassifier",
    "BSGDMRegressor",
    "BSGDPClassifier",
    "BSGDPRegressor",
    "BSGDRClassifier",
    "BSGDRRegressor",
    "BudgetPerceptronClassifier",
    "BudgetPerceptronRegressor",
    "DataError",
    "DivergenceError",
    "DualSGDClassifier",
    "DualSGDRegressor",
    "ExplicitKernelClassifier",
    "ExplicitKernelRegressor",
    "FOGDClassifier",
    "FOGDRegressor",
    "ForgetronClassifier",
    "ForgetronRegressor",
    "FourierFeatures",
    "IdentityFeatures",
    "KernelPerceptronClassifier",
    "KernelPerceptronRegressor",
    "KernelRLSClassifier",
    "KernelRLSRegressor",
    "ModelFileError",
    "NOGDClassifier",
    "NOGDRegressor",
    "NOLANAClassifier",
    "NOLANARegressor",
    "NORMAClassifier",
    "NORMARegressor",
    "NystroemFeatures",
    "OGDClassifier",
    "OGDRegressor",
    "OLKClassifier",
    "OLKFixedClassifier",
    "OLKFixedRegressor",
    "OLKGrowingClassifier",
    "OLKGrowingRegressor",
    "OLKRegressor",
    "OnlineScaler",
    "PAClassifier",
    "PARegressor",
    "ProjectronClassifier",
    "ProjectronPPClassifier",
    "ProjectronRegressor",
    "RBPClassifier",
    "RBPRegressor",
    "RRFClassifier",
    "RRFRegressor",
    "ReparameterizedFeatures",
    "StreamModel",
    "SupportKernelClassifier",
    "SupportKernelRegressor",
    "__version__",
    "evaluate",
    "load",
    "make",
    "open_stream",
    "prequential",
    "save",
]


def __getattr__(name: str) -> Any:
    if name == "evaluate":
        # the package of prequential evaluation, under the verb
        value = importlib.import_module("onkel.evaluation")
        globals()[name] = value
        return value
    if name not in _HOME_OF:
        raise AttributeError(f"module 'onkel' has no attribute {name!r}")
    value = getattr(importlib.import_module(_HOME_OF[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)


if TYPE_CHECKING:
    from onkel import evaluation as evaluate
    from onkel.algorithms import ALGORITHMS, make
    from onkel.errors import DataError, DivergenceError, ModelFileError
    from onkel.estimators import (
        BOGDClassifier,
        BOGDRegressor,
        BPANNClassifier,
        BPANNRegressor,
        BPAPClassifier,
        BPAPRegressor,
        BPASClassifier,
        BPASRegressor,
        BSGDMClassifier,
        BSGDMRegressor,
        BSGDPClassifier,
        BSGDPRegressor,
        BSGDRClassifier,
        BSGDRRegressor,
        BudgetPerceptronClassifier,
        BudgetPerceptronRegressor,
        DualSGDClassifier,
        DualSGDRegressor,
        ExplicitKernelClassifier,
        ExplicitKernelRegressor,
        FOGDClassifier,
        FOGDRegressor,
        ForgetronClassifier,
        ForgetronRegressor,
        KernelPerceptronClassifier,
        KernelPerceptronRegressor,
        KernelRLSClassifier,
        KernelRLSRegressor,
        NOGDClassifier,
        NOGDRegressor,
        NOLANAClassifier,
        NOLANARegressor,
        NORMAClassifier,
        NORMARegressor,
        OGDClassifier,
        OGDRegressor,
        OLKClassifier,
        OLKFixedClassifier,
        OLKFixedRegressor,
        OLKGrowingClassifier,
        OLKGrowingRegressor,
        OLKRegressor,
        PAClassifier,
        PARegressor,
        ProjectronClassifier,
        ProjectronPPClassifier,
        ProjectronRegressor,
        RBPClassifier,
        RBPRegressor,
        RRFClassifier,
        RRFRegressor,
        SupportKernelClassifier,
        SupportKernelRegressor,
    )
    from onkel.evaluation import prequential
    from onkel.maps import (
        AdaptiveNystroem,
        FourierFeatures,
        IdentityFeatures,
        NystroemFeatures,
        ReparameterizedFeatures,
    )
    from onkel.persistence import load, save
    from onkel.pipeline import StreamModel
    from onkel.streams import OnlineScaler, open_stream
