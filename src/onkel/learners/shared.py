"""Parameters that several learners declare, and components made from them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, TypeVar

from onkel.learners.declaration import param, param_of, with_default
from onkel.rules import Gradient, PassiveAggressive

T = TypeVar("T")

# ---- kernel and representation -------------------------------------------------------------------

GAMMA = param(
    default="median",
    kind='float or {"median", "scale"}',
    doc="Inverse squared width γ > 0: exp(-γ ‖x - x'‖²) for the Gaussian; larger is narrower. Both "
    "names are heuristics over the first ``n_warmup`` rows, 512 at most. "
    '"median": the width is the median distance of two rows, γ = 1/(2·median²). '
    '"scale": γ = 1/(d·Var(X)).',
)
N_WARMUP = param(
    default=256, doc="Number of first rows that a bandwidth heuristic looks at, at least 2."
)
ANY_KERNEL = param(default="gaussian", doc="Any kernel of :mod:`onkel.kernels`.")
SHIFT_INVARIANT_KERNEL = param(
    default="gaussian",
    doc="A shift-invariant kernel: gaussian, laplacian, cauchy, rational_quadratic, matern32 "
    "or matern52.",
)
BUDGET = param(default=100, doc="Most rows stored, B ≥ 1.")
AVERAGE = param(
    default=False,
    doc="Predict with the mean of f after each row so far (Polyak-Ruppert), which is steadier than "
    "the last f where steps are large. ``coef_`` is then the mean, too; what ``partial_fit`` and "
    "``predict_then_learn`` use and return stays the last f. It is refused where the mean cannot "
    "be kept: by budgets that drop rows, by features that move with the loss and by exact rules.",
)
RANDOM_STATE = param(
    default=None,
    kind="int, RandomState or None",
    doc="Seed; the same seed and the same rows give the same model.",
)

# ---- losses --------------------------------------------------------------------------------------

_MULTICLASS = (
    "With more than two classes, the loss compares the true class with the best wrong one. "
    '"logistic" is then softmax, and "margin_logistic" is log(1 + exp(f_s - f_y)), s the best '
    "wrong class."
)
_CLASSIFICATION = '{"hinge", "squared_hinge", "logistic", "margin_logistic"}'
_REGRESSION = '{"squared", "absolute", "epsilon_insensitive"}'

CLASSIFICATION_LOSS = param(default="hinge", kind=_CLASSIFICATION, doc=_MULTICLASS)
REGRESSION_LOSS = param(default="squared", kind=_REGRESSION, doc="The squared loss is (y - f)²/2.")
DEAD_ZONE = param(
    default=0.0,
    doc="Rows with \\|y - f\\| ≤ epsilon are not learned (squared and ε-insensitive loss).",
)
#: for learners that store the rows with a gradient
STORING_LOSS = param(
    default="hinge", kind=_CLASSIFICATION, doc=f"{_MULTICLASS} The logistic losses store every row."
)
TUBE = param(
    default=0.1,
    doc="Half-width ε ≥ 0 of the tube in which nothing is learned or stored, in the target's "
    "units.",
)
#: for steps that are derived for one loss
HINGE_LOSS = param(default="hinge", kind='{"hinge"}', doc="The step is derived for this loss.")
TUBE_LOSS = param(
    default="epsilon_insensitive",
    kind='{"epsilon_insensitive"}',
    doc="The step is derived for this loss.",
)
PEGASOS_REGRESSION_LOSS = with_default(REGRESSION_LOSS, "epsilon_insensitive")

# ---- steps ---------------------------------------------------------------------------------------

LEARNING_RATE = param(
    default=0.5,
    doc="Step size η > 0. In regression in the target's units, and below 2 for the squared loss.",
)
SCHEDULE = param_of(Gradient, "schedule")
ALPHA = param(default=0.0, doc="L2 penalty (α/2)‖f‖², α ≥ 0.")
MISTAKE_STEP = param(default=1.0, doc="Step size η > 0; in regression in the target's units.")
PEGASOS_ALPHA = param(default=0.01, doc="L2 penalty α > 0 (λ in the paper).")
AGGRESSIVENESS = param_of(PassiveAggressive, "C")


# ---- components ----------------------------------------------------------------------------------


def by_name(
    kind: type[T], *, renamed: Mapping[str, str] = MappingProxyType({}), **fixed: object
) -> Callable[[Any], T]:
    """Makes a map, rule or budget for a learner, whose parameters are its own by name.

    ``renamed``: what the learner calls them otherwise; ``fixed``: values that it does not choose. A
    parameter that the learner lacks keeps its default; ``random_state`` comes later, from a map's
    start.
    """

    def make(learner: Any) -> T:
        names: Any = kind._get_param_names()  # type: ignore[attr-defined]
        own = {name: renamed.get(name, name) for name in names if name != "random_state"}
        known = {name: getattr(learner, of) for name, of in own.items() if hasattr(learner, of)}
        return kind(**known | fixed)

    return make
