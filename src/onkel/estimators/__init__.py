"""The public learners, in scikit-learn's form."""

from onkel.estimators.base import OnlineEstimator
from onkel.estimators.classification import OnlineClassifier
from onkel.estimators.explicit import ExplicitKernelClassifier, ExplicitKernelRegressor
from onkel.estimators.fogd import FOGDClassifier, FOGDRegressor
from onkel.estimators.krls import KernelRLSClassifier, KernelRLSRegressor
from onkel.estimators.nogd import NOGDClassifier, NOGDRegressor
from onkel.estimators.pa import PAClassifier, PARegressor
from onkel.estimators.regression import OnlineRegressor
from onkel.estimators.rrf import RRFClassifier, RRFRegressor

__all__ = [
    "ExplicitKernelClassifier",
    "ExplicitKernelRegressor",
    "FOGDClassifier",
    "FOGDRegressor",
    "KernelRLSClassifier",
    "KernelRLSRegressor",
    "NOGDClassifier",
    "NOGDRegressor",
    "OnlineClassifier",
    "OnlineEstimator",
    "OnlineRegressor",
    "PAClassifier",
    "PARegressor",
    "RRFClassifier",
    "RRFRegressor",
]
