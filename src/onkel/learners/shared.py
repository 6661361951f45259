"""Parameters that several learners share."""

from __future__ import annotations

from typing import Any

from onkel.kernels import Kernel
from onkel.learners.base import OnlineEstimator
from onkel.learners.classification import OnlineClassifier
from onkel.learners.declaration import declared, param
from onkel.learners.regression import OnlineRegressor
from onkel.rules import Gradient, Perceptron, Rule

MULTICLASS = "In multiclass the true class against the best wrong one, and softmax."
CLASSIFICATION_LOSSES = '{"hinge", "squared_hinge", "logistic"}'
REGRESSION_LOSSES = '{"squared", "absolute", "epsilon_insensitive"}'
SCHEDULES = '{"constant", "inverse_sqrt", "inverse"} or float'
TUBE = "Half-width ε ≥ 0 of the tube in which nothing is learned or stored, in the target's units."


# ---- kernel and step -----------------------------------------------------------------------------


@declared
class Width(OnlineEstimator):
    """A kernel with a width."""

    gamma: float | str = param(
        default="median",
        kind='float or {"median", "scale"}',
        doc="Width of the kernel: exp(-gamma ‖x - x'‖²) for the Gaussian. The heuristics are "
        "fitted on the first ``n_warmup`` rows.",
    )
    n_warmup: int = param(
        default=256, doc="Number of first rows that a bandwidth heuristic looks at, at least 2."
    )


@declared
class ShiftInvariant(Width):
    """A kernel with a spectrum."""

    kernel: str | Kernel = param(
        default="gaussian",
        doc="A shift-invariant kernel: gaussian, laplacian, cauchy, rational_quadratic, matern32 "
        "or matern52.",
    )


@declared
class Seeded(OnlineEstimator):
    """A learner that draws random numbers."""

    random_state: Any = param(
        default=None,
        kind="int, RandomState or None",
        doc="Seed; the same seed and the same rows give the same model.",
    )


@declared
class GradientSteps(OnlineEstimator):
    """Gradient descent with a step size and an L2 penalty."""

    learning_rate: float = param(
        default=0.5,
        doc="Step size η > 0. In regression in the target's units, and below 2 for the squared "
        "loss.",
    )
    schedule: str | float = param(
        default="constant",
        kind=SCHEDULES,
        doc="η_t = η, η/√t or 1/(αt); a number r in (0, 1] gives η/t^r.",
    )
    alpha: float = param(default=0.0, doc="L2 penalty (α/2)‖f‖², α ≥ 0.")

    def _make_rule(self) -> Rule:
        return Gradient(self.learning_rate, self.schedule, self.alpha)


# ---- losses: over a map --------------------------------------------------------------------------


@declared
class GradientClassifier(OnlineClassifier):
    """A classifier with a choice of losses."""

    loss: str = param(default="hinge", kind=CLASSIFICATION_LOSSES, doc=MULTICLASS)


@declared
class GradientRegressor(OnlineRegressor):
    """A regressor with a choice of losses."""

    loss: str = param(
        default="squared", kind=REGRESSION_LOSSES, doc="The squared loss is (y - f)²/2."
    )
    epsilon: float = param(
        default=0.0,
        doc="Rows with \\|y - f\\| ≤ epsilon are not learned (squared and ε-insensitive loss).",
    )


# ---- losses: over a support set, where a row without a gradient is not stored --------------------


@declared
class StoringClassifier(GradientClassifier):
    """A classifier that stores the rows with a gradient."""

    loss: str = param(
        default="hinge",
        kind=CLASSIFICATION_LOSSES,
        doc=f"{MULTICLASS} The logistic loss stores every row.",
    )


@declared
class StoringRegressor(GradientRegressor):
    """A regressor that stores the rows with a gradient."""

    epsilon: float = param(default=0.1, doc=TUBE)


@declared
class MarginClassifier(OnlineClassifier):
    """A classifier derived for the hinge loss."""

    loss: str = param(default="hinge", kind='{"hinge"}', doc="The step is derived for this loss.")


@declared
class TubeRegressor(OnlineRegressor):
    """A regressor derived for the ε-insensitive loss."""

    loss: str = param(
        default="epsilon_insensitive",
        kind='{"epsilon_insensitive"}',
        doc="The step is derived for this loss.",
    )
    epsilon: float = param(default=0.1, doc=TUBE)


@declared
class _PerceptronSteps(OnlineEstimator):
    """Steps of one size, on mistakes."""

    learning_rate: float = param(
        default=1.0, doc="Step size η > 0; in regression in the target's units."
    )

    def _make_rule(self) -> Rule:
        return Perceptron(self.learning_rate)


@declared
class MistakeClassifier(_PerceptronSteps, OnlineClassifier):
    """A classifier that learns from wrong predictions."""

    loss = "perceptron"
    learning_rate: float = 1.0


@declared
class MistakeRegressor(_PerceptronSteps, OnlineRegressor):
    """A regressor that learns from predictions outside a tube."""

    loss = "epsilon_insensitive"
    learning_rate: float = 0.1
    epsilon: float = param(default=0.1, doc=TUBE)
