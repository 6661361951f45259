"""The public learners, in scikit-learn's form: those imported here."""

from typing import TYPE_CHECKING

from onkel.learners.base import OnlineEstimator as OnlineEstimator
from onkel.learners.classification import OnlineClassifier as OnlineClassifier
from onkel.learners.compose import ExplicitKernelClassifier as ExplicitKernelClassifier
from onkel.learners.compose import ExplicitKernelRegressor as ExplicitKernelRegressor
from onkel.learners.compose import SupportKernelClassifier as SupportKernelClassifier
from onkel.learners.compose import SupportKernelRegressor as SupportKernelRegressor
from onkel.learners.named.fourier import DoublySGDClassifier as DoublySGDClassifier
from onkel.learners.named.fourier import DoublySGDRegressor as DoublySGDRegressor
from onkel.learners.named.fourier import FastfoodClassifier as FastfoodClassifier
from onkel.learners.named.fourier import FastfoodRegressor as FastfoodRegressor
from onkel.learners.named.fourier import FOGDClassifier as FOGDClassifier
from onkel.learners.named.fourier import FOGDRegressor as FOGDRegressor
from onkel.learners.named.gradient import BOGDClassifier as BOGDClassifier
from onkel.learners.named.gradient import BOGDRegressor as BOGDRegressor
from onkel.learners.named.gradient import NORMAClassifier as NORMAClassifier
from onkel.learners.named.gradient import NORMARegressor as NORMARegressor
from onkel.learners.named.gradient import OGDClassifier as OGDClassifier
from onkel.learners.named.gradient import OGDRegressor as OGDRegressor
from onkel.learners.named.learned_fourier import AlignedClassifier as AlignedClassifier
from onkel.learners.named.learned_fourier import AlignedRegressor as AlignedRegressor
from onkel.learners.named.learned_fourier import RRFClassifier as RRFClassifier
from onkel.learners.named.learned_fourier import RRFRegressor as RRFRegressor
from onkel.learners.named.least_squares import KernelRLSClassifier as KernelRLSClassifier
from onkel.learners.named.least_squares import KernelRLSRegressor as KernelRLSRegressor
from onkel.learners.named.linear import AdaGradClassifier as AdaGradClassifier
from onkel.learners.named.linear import AdaGradRegressor as AdaGradRegressor
from onkel.learners.named.linear import PAClassifier as PAClassifier
from onkel.learners.named.linear import PARegressor as PARegressor
from onkel.learners.named.nystroem import NOGDClassifier as NOGDClassifier
from onkel.learners.named.nystroem import NOGDRegressor as NOGDRegressor
from onkel.learners.named.nystroem import NOLANAClassifier as NOLANAClassifier
from onkel.learners.named.nystroem import NOLANARegressor as NOLANARegressor
from onkel.learners.named.olk import OLKClassifier as OLKClassifier
from onkel.learners.named.olk import OLKFixedClassifier as OLKFixedClassifier
from onkel.learners.named.olk import OLKFixedRegressor as OLKFixedRegressor
from onkel.learners.named.olk import OLKGrowingClassifier as OLKGrowingClassifier
from onkel.learners.named.olk import OLKGrowingRegressor as OLKGrowingRegressor
from onkel.learners.named.olk import OLKRegressor as OLKRegressor
from onkel.learners.named.online_kernel import OnlineKernelClassifier as OnlineKernelClassifier
from onkel.learners.named.online_kernel import OnlineKernelRegressor as OnlineKernelRegressor
from onkel.learners.named.passive_aggressive import BPANNClassifier as BPANNClassifier
from onkel.learners.named.passive_aggressive import BPANNRegressor as BPANNRegressor
from onkel.learners.named.passive_aggressive import BPAPClassifier as BPAPClassifier
from onkel.learners.named.passive_aggressive import BPAPRegressor as BPAPRegressor
from onkel.learners.named.passive_aggressive import BPASClassifier as BPASClassifier
from onkel.learners.named.passive_aggressive import BPASRegressor as BPASRegressor
from onkel.learners.named.pegasos import BSGDMClassifier as BSGDMClassifier
from onkel.learners.named.pegasos import BSGDMRegressor as BSGDMRegressor
from onkel.learners.named.pegasos import BSGDPClassifier as BSGDPClassifier
from onkel.learners.named.pegasos import BSGDPRegressor as BSGDPRegressor
from onkel.learners.named.pegasos import BSGDRClassifier as BSGDRClassifier
from onkel.learners.named.pegasos import BSGDRRegressor as BSGDRRegressor
from onkel.learners.named.pegasos import DualSGDClassifier as DualSGDClassifier
from onkel.learners.named.pegasos import DualSGDRegressor as DualSGDRegressor
from onkel.learners.named.perceptrons import (
    BudgetPerceptronClassifier as BudgetPerceptronClassifier,
)
from onkel.learners.named.perceptrons import BudgetPerceptronRegressor as BudgetPerceptronRegressor
from onkel.learners.named.perceptrons import ForgetronClassifier as ForgetronClassifier
from onkel.learners.named.perceptrons import ForgetronRegressor as ForgetronRegressor
from onkel.learners.named.perceptrons import (
    KernelPerceptronClassifier as KernelPerceptronClassifier,
)
from onkel.learners.named.perceptrons import KernelPerceptronRegressor as KernelPerceptronRegressor
from onkel.learners.named.perceptrons import ProjectronClassifier as ProjectronClassifier
from onkel.learners.named.perceptrons import ProjectronPPClassifier as ProjectronPPClassifier
from onkel.learners.named.perceptrons import ProjectronRegressor as ProjectronRegressor
from onkel.learners.named.perceptrons import RBPClassifier as RBPClassifier
from onkel.learners.named.perceptrons import RBPRegressor as RBPRegressor
from onkel.learners.named.twin import TVMClassifier as TVMClassifier
from onkel.learners.regression import OnlineRegressor as OnlineRegressor

if not TYPE_CHECKING:  # type checkers take what is imported
    __all__ = [name for name, value in globals().items() if isinstance(value, type)]
