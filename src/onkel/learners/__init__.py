"""The public learners, in scikit-learn's form.

A file of learners lists its classes in its ``__all__``, and nowhere else.
"""

from typing import TYPE_CHECKING

from onkel.learners.base import OnlineEstimator as OnlineEstimator
from onkel.learners.classification import OnlineClassifier as OnlineClassifier
from onkel.learners.compose import *
from onkel.learners.named.fourier import *
from onkel.learners.named.gradient import *
from onkel.learners.named.learned_fourier import *
from onkel.learners.named.least_squares import *
from onkel.learners.named.linear import *
from onkel.learners.named.nystroem import *
from onkel.learners.named.olk import *
from onkel.learners.named.online_kernel import *
from onkel.learners.named.passive_aggressive import *
from onkel.learners.named.pegasos import *
from onkel.learners.named.perceptrons import *
from onkel.learners.named.twin import *
from onkel.learners.regression import OnlineRegressor as OnlineRegressor

if not TYPE_CHECKING:  # type checkers take what is imported
    __all__ = [name for name, value in globals().items() if isinstance(value, type)]
