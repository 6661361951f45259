"""Perceptrons: without a budget, budget perceptron, RBP and Forgetron."""

from __future__ import annotations

from onkel.budgets import (
    Budget,
    MostRedundantRemoval,
    NoBudget,
    RandomRemoval,
    ShrinkOldest,
)
from onkel.learners.declaration import Row, declared, learner, param
from onkel.learners.representations import Budgeted, OverSupportSet
from onkel.learners.shared import MistakeClassifier, MistakeRegressor, Seeded

__all__ = [
    "BudgetPerceptronClassifier",
    "BudgetPerceptronRegressor",
    "ForgetronClassifier",
    "ForgetronRegressor",
    "KernelPerceptronClassifier",
    "KernelPerceptronRegressor",
    "RBPClassifier",
    "RBPRegressor",
]

_LOSSES = "perceptron, ε-insensitive"


@declared
class _KernelPerceptron(OverSupportSet):
    """Support set without a budget × perceptron.

    Notes
    -----
    Source: Freund & Schapire 1999; ties are decided as in the LSOKL programs.
    """

    _rows = (
        Row(
            "perceptron", "kernel perceptron", _LOSSES, "perceptron", "none",
            "Freund & Schapire 1999", "section 3",
        ),
    )  # fmt: skip

    def _make_budget(self) -> Budget:
        return NoBudget()


@learner("gamma=2.0", score="0.95")
class KernelPerceptronClassifier(_KernelPerceptron, MistakeClassifier):
    """Kernel perceptron: every mistake is stored.

    ``f ← f + η y κ(x, ·)`` on a wrong prediction (a score of 0 predicts +1); in multiclass +1 for
    the true class and -1 for the one predicted.

    Use it as the yardstick for the budgeted perceptrons, on streams with few mistakes. Memory, and
    the time for a row, grow without bound with the mistakes made.
    """


@learner("gamma=2.0", score="1.00")
class KernelPerceptronRegressor(_KernelPerceptron, MistakeRegressor):
    """Kernel perceptron for regression; see :class:`KernelPerceptronClassifier`.

    ``f ← f + η sgn(y - f) κ(x, ·)`` where \\|y - f\\| > ε.
    """


@declared
class _BudgetPerceptron(Budgeted):
    """Support set that drops the most redundant × perceptron.

    Notes
    -----
    Source: Crammer, Kandola & Singer 2003, Figure 2 (margin 0).
    """

    _rows = (
        Row(
            "budget-perceptron", "budget perceptron", _LOSSES, "perceptron",
            "drop the most redundant", "Crammer et al. 2003", "Figure 2",
        ),
    )  # fmt: skip

    def _make_budget(self) -> Budget:
        return MostRedundantRemoval(self.budget)


@learner("gamma=2.0", score="0.95")
class BudgetPerceptronClassifier(_BudgetPerceptron, MistakeClassifier):
    """Kernel perceptron that drops the most redundant row.

    ``f ← f + η y κ(x, ·)`` on a wrong prediction, as :class:`KernelPerceptronClassifier`. With B
    rows stored, the row with the largest margin without its own term is dropped,
    ``argmax_j y_j (f(s_j) - α_j κ(s_j, s_j))``.

    Use it on clean streams. A wrong label is never redundant and is never dropped: on noisy streams
    use :class:`RBPClassifier` or :class:`ForgetronClassifier`. O(B·d) a row, with B² kernel values
    kept.
    """


@learner("gamma=2.0", score="1.00")
class BudgetPerceptronRegressor(_BudgetPerceptron, MistakeRegressor):
    """Budget perceptron for regression; see :class:`BudgetPerceptronClassifier`.

    ``f ← f + η sgn(y - f) κ(x, ·)`` where \\|y - f\\| > ε. The row that is predicted best without
    itself is dropped.
    """


@declared
class _RBP(Budgeted, Seeded):
    """Support set with random removal × perceptron.

    Notes
    -----
    Source: Cavallanti, Cesa-Bianchi & Gentile 2007, Figure 3. The new row is never the one dropped.
    """

    _rows = (
        Row(
            "rbp", "randomised budget perceptron", _LOSSES, "perceptron", "drop at random",
            "Cavallanti et al. 2007", "Figure 3",
        ),
    )  # fmt: skip

    def _make_budget(self) -> Budget:
        return RandomRemoval(self.budget)


@learner("gamma=2.0, random_state=0", score="0.95")
class RBPClassifier(_RBP, MistakeClassifier):
    """Randomised budget perceptron: a full set drops one of its rows at random.

    ``f ← f + η y κ(x, ·)`` on a wrong prediction, as :class:`KernelPerceptronClassifier`.

    Use it as the simplest budget, on streams that drift slowly. O(B·d) a row.
    """


@learner("gamma=2.0, random_state=0", score="1.00")
class RBPRegressor(_RBP, MistakeRegressor):
    """Randomised budget perceptron for regression; see :class:`RBPClassifier`.

    ``f ← f + η sgn(y - f) κ(x, ·)`` where \\|y - f\\| > ε.
    """


@declared
class _Forgetron(Budgeted):
    """Support set that shrinks and drops its oldest × perceptron.

    Notes
    -----
    Source: Dekel, Shalev-Shwartz & Singer 2008, sections 4 and 5; "greedy" as in the Cognitive
    Foundry. The quadratic for φ is solved for its first crossing whatever the sign of its leading
    coefficient. Programs that take the other root let coefficients grow; so does "lsokl".
    """

    _rows = (
        Row(
            "forgetron", "Forgetron", _LOSSES, "perceptron", "shrink, drop the oldest",
            "Dekel et al. 2008", "sections 4, 5",
        ),
    )  # fmt: skip

    variant: str = param(
        default="self-tuned",
        kind='{"self-tuned", "basic", "greedy", "lsokl"}',
        doc="How far f shrinks: as far as the mistakes allow, or by a factor of B and ‖f‖ alone. "
        '"greedy" first looks for a row, from the oldest on, that can go without shrinking. '
        '"lsokl" repeats the numbers of Lu et al. 2016 (see the notes).',
    )

    def _make_budget(self) -> Budget:
        return ShrinkOldest(self.budget, self.variant)


@learner("gamma=2.0", score="0.95")
class ForgetronClassifier(_Forgetron, MistakeClassifier):
    """Forgetron: f shrinks before its oldest row is dropped, so that little is lost.

    ``f ← f + η y κ(x, ·)`` on a wrong prediction, as :class:`KernelPerceptronClassifier`. With B
    rows stored ``f ← φ f`` and the oldest is dropped; φ ≤ 1 is the largest factor that keeps the
    damage of all removals below 15/32 of the mistakes.

    Use it on streams that drift, and where a mistake bound counts. O(B·d) a row, with B² kernel
    values kept.
    """


@learner("gamma=2.0", score="1.00")
class ForgetronRegressor(_Forgetron, MistakeRegressor):
    """Forgetron for regression; see :class:`ForgetronClassifier`.

    ``f ← f + η sgn(y - f) κ(x, ·)`` where \\|y - f\\| > ε.
    """
