"""Projected gradient descent over a support set (OLK): of unbounded, slowly growing, fixed size."""

from __future__ import annotations

from onkel.annotations import Seed
from onkel.budgets import BoundedRemoval, Budget, FixedRandom, NoBudget, StochasticInsertion
from onkel.learners import shared
from onkel.learners.classification import OnlineClassifier
from onkel.learners.declaration import Row, declared, learner, param, param_of, with_default
from onkel.learners.regression import OnlineRegressor
from onkel.learners.representations import OverSupportSet
from onkel.rules import ProjectedGradient, Rule

_RADIUS = param(default=10.0, doc="U > 0: f stays in the ball ‖f‖ ≤ U.")
_LEARNING_RATE = param(default=2.0, doc="Step size η > 0.")
_SCHEDULE = with_default(shared.SCHEDULE, "inverse_sqrt")


@declared
class _OLK(OverSupportSet):
    """Support set without a budget × projected gradient."""

    _rows = (Row(
        "olk", "projected online learning with kernels", "any", "projected gradient", "none",
        "He & Kwok 2014", "Algorithm 1",
    ),)  # fmt: skip

    radius: float = _RADIUS
    learning_rate: float = _LEARNING_RATE
    schedule: str | float = _SCHEDULE

    _make_rule = shared.by_name(ProjectedGradient)
    _make_budget = shared.by_name(NoBudget)


@learner("gamma=2.0", score="0.97")
class OLKClassifier(_OLK, OnlineClassifier):
    """Projected online gradient descent in the kernel space, without a budget.

    ``f ← Π(f - η_t ∂loss/∂f κ(x, ·))`` with Π the projection onto the ball ‖f‖ ≤ U; a scalar
    recursion keeps ‖f‖².

    Use it as the yardstick for :class:`OLKGrowingClassifier` and :class:`OLKFixedClassifier`: its
    regret against the best f in the ball is O(√T). Memory grows with the rows stored.
    """

    loss: str = shared.STORING_LOSS


@learner("gamma=2.0", score="0.99")
class OLKRegressor(_OLK, OnlineRegressor):
    """OLK for regression; see :class:`OLKClassifier`.

    ``f ← Π(f - η_t ∂loss/∂f κ(x, ·))`` for rows with \\|y - f\\| > ε.
    """

    loss: str = shared.REGRESSION_LOSS
    epsilon: float = shared.TUBE


@declared
class _OLKGrowing(OverSupportSet):
    """Support set that thins its insertions × projected gradient.

    Notes
    -----
    The public text breaks off before the algorithm; this form is derived from its Proposition 1 and
    has the guarantees it states.
    """

    _rows = (Row(
        "olk-growing", "OLK with stochastic insertion", "any", "projected gradient",
        "stochastic insertion", "He & Kwok 2014", "first strategy",
    ),)  # fmt: skip

    thinning: float = param_of(StochasticInsertion, "thinning")
    radius: float = _RADIUS
    learning_rate: float = _LEARNING_RATE
    random_state: Seed = shared.RANDOM_STATE

    def _make_rule(self) -> Rule:
        self._make_budget().parameters()  # checks that γ is a number between 0 and 1
        return ProjectedGradient(self.radius, self.learning_rate, 0.5 * (1.0 + self.thinning))

    _make_budget = shared.by_name(StochasticInsertion)


@learner("gamma=2.0, random_state=0", score="0.95")
class OLKGrowingClassifier(_OLKGrowing, OnlineClassifier):
    """OLK that stores fewer and fewer rows: each with probability t^-γ.

    ``f ← Π(f - [row kept] η_t/p_t ∂loss/∂f κ(x, ·))`` with p_t = t^-γ and η_t = η t^(-(1+γ)/2). The
    expected size of the set is O(T^(1-γ)), the expected regret O(T^((1+γ)/2)).

    Use it where the length of the stream is unknown and memory may grow slowly. Early steps are
    large and late ones rare: where the length is known, a budget learns faster.
    """

    loss: str = shared.STORING_LOSS


@learner("gamma=2.0, random_state=0", score="0.99")
class OLKGrowingRegressor(_OLKGrowing, OnlineRegressor):
    """OLK with stochastic insertion for regression; see :class:`OLKGrowingClassifier`.

    ``f ← Π(f - [row kept] η_t/p_t ∂loss/∂f κ(x, ·))`` for rows with \\|y - f\\| > ε.
    """

    loss: str = shared.REGRESSION_LOSS
    epsilon: float = shared.TUBE


@declared
class _OLKFixed(OverSupportSet):
    """Support set with unbiased random removal × projected gradient.

    Notes
    -----
    The public text breaks off before the algorithm; both forms are derived from its Proposition 1:
    no change of f in expectation. "weighted" shows the regret stated there, O(√T) with a budget of
    order √T, on targets without noise; with noise it takes a budget of order T^(3/4)
    (docs/results/regret.md).
    """

    _rows = (Row(
        "olk-fixed", "OLK with a fixed budget", "any", "projected gradient",
        "unbiased random removal", "He & Kwok 2014", "second strategy",
    ),)  # fmt: skip

    removal: str = param(
        default="weighted",
        kind='{"weighted", "uniform"}',
        doc='"weighted": of the B stored rows one of small weight is likely to go, with the '
        "probabilities that disturb f least, p_i = 1 - (B-1)‖α_i κ_i‖/Σ_j‖α_j κ_j‖; needs B ≥ 2. "
        "O(B·d) a row that is added, once all terms are of one size. More before: ‖f‖ takes a row "
        "of κ(S, S) for each term of a size of its own. "
        '"uniform": any of the B + 1 goes with the same chance, and the others are multiplied by '
        "(B+1)/B: terms that stay long grow until the ball bounds them, and regret is all but "
        "linear (docs/results/regret.md).",
    )
    budget: int = shared.BUDGET
    radius: float = _RADIUS
    learning_rate: float = _LEARNING_RATE
    schedule: str | float = _SCHEDULE
    random_state: Seed = shared.RANDOM_STATE

    _make_rule = shared.by_name(ProjectedGradient)

    def _make_budget(self) -> Budget:
        if self.removal == "uniform":
            return FixedRandom(self.budget)
        if self.removal == "weighted":
            return BoundedRemoval(self.budget, "nonuniform", max_weight=float("inf"))
        raise ValueError(f"removal={self.removal!r} must be 'uniform' or 'weighted'")


@learner("gamma=2.0, random_state=0", score="0.96")
class OLKFixedClassifier(_OLKFixed, OnlineClassifier):
    """OLK within a budget: a full set drops one of its terms at random.

    ``f ← Π(Σ_{i≠r} α_i/(1 - p_i) κ_i - η_t ∂loss/∂f κ(x, ·))``, r drawn with the probabilities p.
    The removal leaves f unchanged in expectation; f is then projected onto ‖f‖ ≤ U. A removal adds
    noise to f: use a small radius with a small budget.

    Use it where f must be unbiased within a budget. O(B) memory: up to B = 512 the kernel values of
    the stored rows are kept, for speed; beyond, a removal computes one row of them anew.
    """

    loss: str = shared.STORING_LOSS


@learner("gamma=2.0, random_state=0", score="0.99")
class OLKFixedRegressor(_OLKFixed, OnlineRegressor):
    """OLK within a budget for regression; see :class:`OLKFixedClassifier`.

    ``f ← Π(Σ_{i≠r} α_i/(1 - p_i) κ_i - η_t ∂loss/∂f κ(x, ·))`` for rows with \\|y - f\\| > ε.
    """

    loss: str = shared.REGRESSION_LOSS
    epsilon: float = shared.TUBE
    learning_rate: float = 0.5
