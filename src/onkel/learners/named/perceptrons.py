"""Perceptrons: without a budget, budget perceptron, RBP, Forgetron, Projectron and its ++."""

from __future__ import annotations

from onkel import budgets
from onkel.annotations import Seed
from onkel.learners import shared
from onkel.learners.classification import OnlineClassifier
from onkel.learners.declaration import Row, declared, learner, param, param_of
from onkel.learners.regression import OnlineRegressor
from onkel.learners.representations import OverSupportSet
from onkel.rules import Perceptron

_LOSSES = "perceptron, ε-insensitive"


@declared
class _KernelPerceptron(OverSupportSet):
    """Support set without a budget × perceptron.

    Notes
    -----
    Ties are decided as in the LSOKL programs.
    """

    _rows = (Row(
        "perceptron", "kernel perceptron", _LOSSES, "perceptron", "none",
        "Freund & Schapire 1999", "section 3",
    ),)  # fmt: skip
    learning_rate: float = shared.MISTAKE_STEP

    _make_rule = shared.by_name(Perceptron)
    _make_budget = shared.by_name(budgets.NoBudget)


@learner("gamma=2.0", score="0.95")
class KernelPerceptronClassifier(_KernelPerceptron, OnlineClassifier):
    """Kernel perceptron: every mistake is stored.

    ``f ← f + η y κ(x, ·)`` on a wrong prediction (a score of 0 predicts +1); in multiclass +1 for
    the true class and -1 for the one predicted.

    Use it as the yardstick for the budgeted perceptrons, on streams with few mistakes. Memory, and
    the time for a row, grow without bound with the mistakes made.
    """

    loss = "perceptron"


@learner("gamma=2.0", score="1.00")
class KernelPerceptronRegressor(_KernelPerceptron, OnlineRegressor):
    """Kernel perceptron for regression; see :class:`KernelPerceptronClassifier`.

    ``f ← f + η sgn(y - f) κ(x, ·)`` where \\|y - f\\| > ε.
    """

    loss = "epsilon_insensitive"
    learning_rate: float = 0.1
    epsilon: float = shared.TUBE


@declared
class _BudgetPerceptron(OverSupportSet):
    """Support set that drops the most redundant × perceptron."""

    _rows = (Row(
        "budget-perceptron", "budget perceptron", _LOSSES, "perceptron",
        "drop the most redundant", "Crammer, Kandola & Singer 2003", "Figure 2 (margin 0)",
    ),)  # fmt: skip
    learning_rate: float = shared.MISTAKE_STEP
    budget: int = shared.BUDGET

    _make_rule = shared.by_name(Perceptron)
    _make_budget = shared.by_name(budgets.MostRedundantRemoval)


@learner("gamma=2.0", score="0.95")
class BudgetPerceptronClassifier(_BudgetPerceptron, OnlineClassifier):
    """Kernel perceptron that drops the most redundant row.

    ``f ← f + η y κ(x, ·)`` on a wrong prediction, as :class:`KernelPerceptronClassifier`. With B
    rows stored, the row with the largest margin without its own term is dropped,
    ``argmax_j y_j (f(s_j) - α_j κ(s_j, s_j))``.

    Use it on clean streams. A wrong label is never redundant and is never dropped: on noisy streams
    use :class:`RBPClassifier` or :class:`ForgetronClassifier`. O(B·d) a row, with B² kernel values
    kept.
    """

    loss = "perceptron"


@learner("gamma=2.0", score="1.00")
class BudgetPerceptronRegressor(_BudgetPerceptron, OnlineRegressor):
    """Budget perceptron for regression; see :class:`BudgetPerceptronClassifier`.

    ``f ← f + η sgn(y - f) κ(x, ·)`` where \\|y - f\\| > ε. The row that is predicted best without
    itself is dropped.
    """

    loss = "epsilon_insensitive"
    learning_rate: float = 0.1
    epsilon: float = shared.TUBE


@declared
class _RBP(OverSupportSet):
    """Support set with random removal × perceptron.

    Notes
    -----
    The new row is never the one dropped.
    """

    _rows = (Row(
        "rbp", "randomised budget perceptron", _LOSSES, "perceptron", "drop at random",
        "Cavallanti, Cesa-Bianchi & Gentile 2007", "Figure 3",
    ),)  # fmt: skip
    learning_rate: float = shared.MISTAKE_STEP
    budget: int = shared.BUDGET
    random_state: Seed = shared.RANDOM_STATE

    _make_rule = shared.by_name(Perceptron)
    _make_budget = shared.by_name(budgets.RandomRemoval)


@learner("gamma=2.0, random_state=0", score="0.95")
class RBPClassifier(_RBP, OnlineClassifier):
    """Randomised budget perceptron: a full set drops one of its rows at random.

    ``f ← f + η y κ(x, ·)`` on a wrong prediction, as :class:`KernelPerceptronClassifier`.

    Use it as the simplest budget, on streams that drift slowly. Do not use it where every stored
    row matters: it drops any of them. O(B·d) a row.
    """

    loss = "perceptron"


@learner("gamma=2.0, random_state=0", score="1.00")
class RBPRegressor(_RBP, OnlineRegressor):
    """Randomised budget perceptron for regression; see :class:`RBPClassifier`.

    ``f ← f + η sgn(y - f) κ(x, ·)`` where \\|y - f\\| > ε.
    """

    loss = "epsilon_insensitive"
    learning_rate: float = 0.1
    epsilon: float = shared.TUBE


@declared
class _Forgetron(OverSupportSet):
    """Support set that shrinks and drops its oldest × perceptron.

    Notes
    -----
    "greedy" is that of the Cognitive Foundry. The quadratic for φ is solved for its first crossing
    whatever the sign of its leading coefficient. Programs that take the other root let coefficients
    grow; so does "lsokl".
    """

    _rows = (Row(
        "forgetron", "Forgetron", _LOSSES, "perceptron", "shrink, drop the oldest",
        "Dekel, Shalev-Shwartz & Singer 2008", "sections 4 and 5",
    ),)  # fmt: skip

    variant: str = param_of(budgets.ShrinkOldest, "variant")
    learning_rate: float = shared.MISTAKE_STEP
    budget: int = shared.BUDGET

    _make_rule = shared.by_name(Perceptron)
    _make_budget = shared.by_name(budgets.ShrinkOldest)


@learner("gamma=2.0", score="0.95")
class ForgetronClassifier(_Forgetron, OnlineClassifier):
    """Forgetron: f shrinks before its oldest row is dropped, so that little is lost.

    ``f ← f + η y κ(x, ·)`` on a wrong prediction, as :class:`KernelPerceptronClassifier`. With B
    rows stored ``f ← φ f`` and the oldest is dropped; φ ≤ 1 is the largest factor that keeps the
    damage of all removals below 15/32 of the mistakes.

    Use it on streams that drift, and where a mistake bound counts. Do not use it where old rows
    stay true: it drops them first. O(B·d) a row, with B² kernel values kept.
    """

    loss = "perceptron"


@learner("gamma=2.0", score="1.00")
class ForgetronRegressor(_Forgetron, OnlineRegressor):
    """Forgetron for regression; see :class:`ForgetronClassifier`.

    ``f ← f + η sgn(y - f) κ(x, ·)`` where \\|y - f\\| > ε.
    """

    loss = "epsilon_insensitive"
    learning_rate: float = 0.1
    epsilon: float = shared.TUBE


_SPAN_BUDGET = param(default=100, doc="Most rows stored, B ≥ 1; None: only η bounds the set.")
_ETA = param_of(budgets.Projection, "eta")


@declared
class _Projectron(OverSupportSet):
    """The Projectron."""

    _rows = (Row(
        "projectron", "Projectron", "perceptron, ε-insensitive", "perceptron",
        "project onto the span", "Orabona, Keshet & Caputo 2009", "Projectron",
    ),)  # fmt: skip

    budget: int | None = _SPAN_BUDGET
    eta: float = _ETA
    learning_rate: float = shared.MISTAKE_STEP

    _make_rule = shared.by_name(Perceptron)
    _make_budget = shared.by_name(budgets.Projection)


@learner("gamma=2.0", score="0.95")
class ProjectronClassifier(_Projectron, OnlineClassifier):
    """Projectron: a new row that the stored rows can express only moves their coefficients.

    On a wrong prediction ``f ← f + y Pκ(x, ·)`` if the residual ‖κ(x, ·) - Pκ(x, ·)‖ ≤ η or the set
    is full, P the projection onto the span of the stored rows; else the row is stored, with
    coefficient y. In multiclass +1 for the true class and -1 for the one predicted.

    Use it where nothing learned may be forgotten: no row is ever dropped. On a stream that drifts a
    full set can't follow into new regions. O(B·d + B²) a row.
    """

    loss = "perceptron"


@learner("gamma=2.0", score="1.00")
class ProjectronRegressor(_Projectron, OnlineRegressor):
    """Projectron for regression; see :class:`ProjectronClassifier`.

    ``f ← f + η sgn(y - f) Pκ(x, ·)`` where \\|y - f\\| > ε, η the learning rate.
    """

    loss = "epsilon_insensitive"
    learning_rate: float = 0.1
    epsilon: float = shared.TUBE


@learner("gamma=2.0", score="0.96")
class ProjectronPPClassifier(OverSupportSet, OnlineClassifier):
    """Projectron++: a Projectron that also learns from correct predictions within the margin.

    Mistakes as in :class:`ProjectronClassifier`. Where the prediction is right and the hinge loss
    ℓ > 0, ``f ← f + τ y Pκ(x, ·)``, with δ = κ(x, ·) - Pκ(x, ·):

    * η > 0: τ = min(1, ℓ/‖Pκ‖², 2(ℓ - ‖δ‖/η)/‖Pκ‖²), no step where that is negative;
    * η = 0: τ = min(1, ℓ/‖Pκ‖²), if 2ℓ - τ‖Pκ‖² ≥ 2U‖δ‖, U = ¼√((B+1)/ln(B+1)) (LSOKL).

    In multiclass, where two classes move, η > 0 multiplies ‖Pκ‖² by 2 and ‖δ‖ by √2; with η = 0 the
    step is up to twice as long. A small η makes the margin steps small, too.

    Use it instead of the Projectron where rows are few or labels clean: it learns from more rows,
    and none of them costs memory. O(B·d + B²) a row.

    Notes
    -----
    η = 0 is the form of the LSOKL programs.
    """

    _rows = (Row(
        "projectron++", "Projectron with margin updates", "perceptron, hinge", "perceptron",
        "project onto the span", "Orabona, Keshet & Caputo 2009", "Projectron++",
    ),)  # fmt: skip
    loss = "perceptron"

    budget: int | None = _SPAN_BUDGET
    eta: float = _ETA
    learning_rate: float = shared.MISTAKE_STEP

    _make_rule = shared.by_name(Perceptron)
    _make_budget = shared.by_name(budgets.Projection, aggressive=True)
