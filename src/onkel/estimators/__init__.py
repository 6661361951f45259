"""The public learners, in scikit-learn's form."""

from onkel.estimators.aligned import AlignedClassifier, AlignedRegressor
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
from onkel.estimators.doubly_sgd import DoublySGDClassifier, DoublySGDRegressor
from onkel.estimators.dualsgd import DualSGDClassifier, DualSGDRegressor
from onkel.estimators.explicit import ExplicitKernelClassifier, ExplicitKernelRegressor
from onkel.estimators.fastfood import FastfoodClassifier, FastfoodRegressor
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
from onkel.estimators.online_kernel import OnlineKernelClassifier, OnlineKernelRegressor
from onkel.estimators.pa import PAClassifier, PARegressor
from onkel.estimators.projectron import ProjectronClassifier, ProjectronRegressor
from onkel.estimators.projectronpp import ProjectronPPClassifier
from onkel.estimators.rbp import RBPClassifier, RBPRegressor
from onkel.estimators.regression import OnlineRegressor
from onkel.estimators.rrf import RRFClassifier, RRFRegressor
from onkel.estimators.support import SupportKernelClassifier, SupportKernelRegressor
from onkel.estimators.tvm import TVMClassifier

__all__ = [
    "AlignedClassifier",
    "AlignedRegressor",
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
    "DoublySGDClassifier",
    "DoublySGDRegressor",
    "DualSGDClassifier",
    "DualSGDRegressor",
    "ExplicitKernelClassifier",
    "ExplicitKernelRegressor",
    "FOGDClassifier",
    "FOGDRegressor",
    "FastfoodClassifier",
    "FastfoodRegressor",
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
    "OnlineKernelClassifier",
    "OnlineKernelRegressor",
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
    "TVMClassifier",
]
