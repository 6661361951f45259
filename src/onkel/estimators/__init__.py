"""The public learners, in scikit-learn's form."""

from onkel.estimators.base import OnlineEstimator
from onkel.estimators.bogd import BOGDClassifier, BOGDRegressor
from onkel.estimators.bpann import BPANNClassifier, BPANNRegressor
from onkel.estimators.bpap import BPAPClassifier, BPAPRegressor
from onkel.estimators.bpas import BPASClassifier, BPASRegressor
from onkel.estimators.bsgdm import BSGDMClassifier, BSGDMRegressor
from onkel.estimators.bsgdp import BSGDPClassifier, BSGDPRegressor
from onkel.estimators.bsgdr import BSGDRClassifier, BSGDRRegressor
from onkel.estimators.budget_perceptron import BudgetPerceptronClassifier, BudgetPerceptronRegressor
from onkel.estimators.classification import OnlineClassifier
from onkel.estimators.dualsgd import DualSGDClassifier, DualSGDRegressor
from onkel.estimators.explicit import ExplicitKernelClassifier, ExplicitKernelRegressor
from onkel.estimators.fogd import FOGDClassifier, FOGDRegressor
from onkel.estimators.forgetron import ForgetronClassifier, ForgetronRegressor
from onkel.estimators.kernel_perceptron import KernelPerceptronClassifier, KernelPerceptronRegressor
from onkel.estimators.krls import KernelRLSClassifier, KernelRLSRegressor
from onkel.estimators.nogd import NOGDClassifier, NOGDRegressor
from onkel.estimators.nolana import NOLANAClassifier, NOLANARegressor
from onkel.estimators.norma import NORMAClassifier, NORMARegressor
from onkel.estimators.ogd import OGDClassifier, OGDRegressor
from onkel.estimators.olk import OLKClassifier, OLKRegressor
from onkel.estimators.olk_fixed import OLKFixedClassifier, OLKFixedRegressor
from onkel.estimators.olk_growing import OLKGrowingClassifier, OLKGrowingRegressor
from onkel.estimators.pa import PAClassifier, PARegressor
from onkel.estimators.projectron import ProjectronClassifier, ProjectronRegressor
from onkel.estimators.projectronpp import ProjectronPPClassifier
from onkel.estimators.rbp import RBPClassifier, RBPRegressor
from onkel.estimators.regression import OnlineRegressor
from onkel.estimators.rrf import RRFClassifier, RRFRegressor
from onkel.estimators.support import SupportKernelClassifier, SupportKernelRegressor

__all__ = [
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
    "OnlineClassifier",
    "OnlineEstimator",
    "OnlineRegressor",
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
]
