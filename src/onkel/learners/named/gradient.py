"""Gradient descent over a support set: OGD (without a budget), NORMA and BOGD."""

from __future__ import annotations

from onkel.annotations import Seed
from onkel.budgets import BoundedRemoval, NoBudget, OldestRemoval
from onkel.learners import shared
from onkel.learners.classification import OnlineClassifier
from onkel.learners.declaration import Row, declared, learner, param, param_of, with_default
from onkel.learners.regression import OnlineRegressor
from onkel.learners.representations import OverSupportSet
from onkel.rules import Gradient, Norma


@declared
class _OGD(OverSupportSet):
    """Support set without a budget × gradient.

    Notes
    -----
    With α = 0 it is the OGD of Lu et al. 2016.
    """

    _rows = (Row(
        "ogd", "kernel online gradient descent", "any", "gradient", "none",
        "Kivinen, Smola & Williamson 2001", "section 3",
    ),)  # fmt: skip
    learning_rate: float = shared.LEARNING_RATE
    schedule: str | float = shared.SCHEDULE
    alpha: float = shared.ALPHA

    _make_rule = shared.by_name(Gradient)
    _make_budget = shared.by_name(NoBudget)


@learner("gamma=2.0", score="0.96")
class OGDClassifier(_OGD, OnlineClassifier):
    """Kernel online gradient descent: every row with a gradient is stored.

    ``f ← (1 - η_t α) f - η_t ∂loss/∂f κ(x, ·)``.

    Use it as the yardstick of accuracy on streams of up to some ten thousand rows. Memory, and the
    time for a row, grow without bound with the rows stored. On long streams use
    :class:`BOGDClassifier`, or :class:`FOGDClassifier`.
    """

    loss: str = shared.STORING_LOSS


@learner("gamma=2.0", score="0.99")
class OGDRegressor(_OGD, OnlineRegressor):
    """Kernel online gradient descent for regression; see :class:`OGDClassifier`.

    ``f ← (1 - η_t α) f + η_t (y - f) κ(x, ·)`` where \\|y - f\\| > ε, for the squared loss.
    """

    loss: str = shared.REGRESSION_LOSS
    epsilon: float = shared.TUBE
    learning_rate: float = 0.3


@declared
class _NORMA(OverSupportSet):
    """Support set that drops its oldest × NORMA."""

    _rows = (Row(
        "norma", "truncated gradient descent, adaptive margin", "hinge, ε-insensitive", "NORMA",
        "drop the oldest", "Kivinen, Smola & Williamson 2004", "sections III and V",
    ),)  # fmt: skip

    nu: float = param_of(Norma, "nu")
    learning_rate: float = with_default(shared.LEARNING_RATE, 0.1)
    schedule: str | float = shared.SCHEDULE
    alpha: float = with_default(shared.ALPHA, 0.01)
    budget: int = shared.BUDGET

    _make_rule = shared.by_name(Norma)
    _make_budget = shared.by_name(OldestRemoval)


@learner("gamma=2.0", score="0.95")
class NORMAClassifier(_NORMA, OnlineClassifier):
    """NORMA: decaying gradient descent that drops its oldest terms, with an adaptive margin.

    ``f ← (1 - η_t α) f + η_t y κ(x, ·)`` where y f < ρ, and ρ adapts so that a share ν of the rows
    falls short of it. The last B terms are kept: the others have decayed to (1 - ηα)^B at most.

    Use it on streams that drift: old rows fade. With α = 0 nothing fades, so each dropped row is a
    loss.
    """

    loss: str = shared.HINGE_LOSS


@learner("gamma=2.0", score="0.99")
class NORMARegressor(_NORMA, OnlineRegressor):
    """NORMA for regression, with a tube that adapts; see :class:`NORMAClassifier`.

    ``f ← (1 - η_t α) f + η_t sgn(y - f) κ(x, ·)`` where \\|y - f\\| > ε; ``ε ← ε + η_t (1 - ν)``
    there, ``ε ← ε - η_t ν`` elsewhere. ``epsilon`` is where the tube starts.
    """

    loss: str = shared.TUBE_LOSS
    epsilon: float = shared.TUBE


@declared
class _BOGD(OverSupportSet):
    """Support set with bounded random removal × gradient.

    Notes
    -----
    ``bound="all"`` is the form of the LSOKL programs.
    """

    _rows = (Row(
        "bogd", "bounded online gradient descent", "any", "gradient", "bounded random removal",
        "Zhao, Wang, Wu, Jin & Hoi 2012", 'Algorithms 1 ("uniform") and 2 ("nonuniform")',
    ),)  # fmt: skip

    budget: int = param(default=100, doc="Most rows stored, B ≥ 2.")
    removal: str = param(
        default="nonuniform",
        kind='{"uniform", "nonuniform", "oldest"}',
        doc="Which row is dropped: any; more likely one of small weight (BOGD++), which disturbs f "
        "much less; the oldest, and then the others are not scaled up.",
    )
    max_weight: float = param_of(BoundedRemoval, "max_weight")
    bound: str = param_of(BoundedRemoval, "bound")
    learning_rate: float = with_default(shared.LEARNING_RATE, 0.1)
    schedule: str | float = shared.SCHEDULE
    alpha: float = shared.ALPHA
    random_state: Seed = shared.RANDOM_STATE

    _make_rule = shared.by_name(Gradient)
    _make_budget = shared.by_name(BoundedRemoval)


@learner("gamma=2.0, random_state=0", score="0.96")
class BOGDClassifier(_BOGD, OnlineClassifier):
    """Bounded online gradient descent: the rows kept make up for one removed at random.

    ``f ← (1 - η_t α) f - η_t ∂loss/∂f κ(x, ·)``; a full set drops one row at random, with
    p_i = 1 - (B - 1)\\|α_i\\|/Σ_j \\|α_j\\|, multiplies the others by 1/(1 - p_i) and keeps them
    within ±γη. With ``removal="uniform"`` p_i = 1/B.

    Use it as the budgeted form of :class:`OGDClassifier`. With a wide kernel the factor and the
    bound add noise: ``removal="oldest", max_weight=inf`` is steadier there.
    """

    loss: str = shared.STORING_LOSS


@learner("gamma=2.0, random_state=0", score="0.99")
class BOGDRegressor(_BOGD, OnlineRegressor):
    """Bounded online gradient descent for regression; see :class:`BOGDClassifier`.

    ``f ← (1 - η_t α) f + η_t (y - f) κ(x, ·)`` where \\|y - f\\| > ε, for the squared loss.

    Standardise the targets, as :class:`onkel.StreamModel` does: f has no constant term, and the
    bound ±γη of the coefficients suits targets of order 1. A looser one lets the noise of removals
    exceed such targets. With ``removal="oldest", max_weight=inf``, the form of the LSOKL programs,
    there is neither noise nor bound.
    """

    loss: str = shared.REGRESSION_LOSS
    epsilon: float = shared.TUBE
    learning_rate: float = 0.2
    max_weight: float = 1.0
