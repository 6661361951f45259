"""Perceptrons that project a new row onto the stored ones: Projectron and Projectron++."""

from __future__ import annotations

from onkel.budgets import Budget, Projection
from onkel.learners.declaration import Row, declared, learner, param
from onkel.learners.representations import OverSupportSet
from onkel.learners.shared import MistakeClassifier, MistakeRegressor

__all__ = ["ProjectronClassifier", "ProjectronPPClassifier", "ProjectronRegressor"]


@declared
class _Projecting(OverSupportSet):
    """Support set with projection onto its span × perceptron."""

    budget: int | None = param(
        default=100, doc="Most rows stored, B ≥ 1; None: only η bounds the set."
    )
    eta: float = param(
        default=0.0,
        doc="Largest residual η ≥ 0 that is projected away before the set is full; with 0 every "
        "mistake is stored until then (the LSOKL programs). In units of √κ(x, x).",
    )

    def _make_budget(self) -> Budget:
        return Projection(self.budget, self.eta)


@declared
class _Projectron(_Projecting):
    """The Projectron.

    Notes
    -----
    Source: Orabona, Keshet & Caputo 2009.
    """

    _rows = (
        Row(
            "projectron", "Projectron", "perceptron, ε-insensitive", "perceptron",
            "project onto the span", "Orabona et al. 2009", "Projectron",
        ),
    )  # fmt: skip


@learner("gamma=2.0", score="0.95")
class ProjectronClassifier(_Projectron, MistakeClassifier):
    """Projectron: a new row that the stored rows can express only moves their coefficients.

    On a wrong prediction ``f ← f + y Pκ(x, ·)`` if the residual ‖κ(x, ·) - Pκ(x, ·)‖ ≤ η or the set
    is full, P the projection onto the span of the stored rows; else the row is stored, with
    coefficient y. In multiclass +1 for the true class and -1 for the one predicted.

    Use it where nothing learned may be forgotten: no row is ever dropped. On a stream that drifts a
    full set can't follow into new regions. O(B·d + B²) a row.
    """


@learner("gamma=2.0", score="1.00")
class ProjectronRegressor(_Projectron, MistakeRegressor):
    """Projectron for regression; see :class:`ProjectronClassifier`.

    ``f ← f + η sgn(y - f) Pκ(x, ·)`` where \\|y - f\\| > ε, η the learning rate.
    """


@learner("gamma=2.0", score="0.96")
class ProjectronPPClassifier(_Projecting, MistakeClassifier):
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
    Source: Orabona, Keshet & Caputo 2009, Projectron++; η = 0 is the form of the LSOKL programs.
    """

    _rows = (
        Row(
            "projectron++", "Projectron with margin updates", "perceptron, hinge", "perceptron",
            "project onto the span", "Orabona et al. 2009", "Projectron++",
        ),
    )  # fmt: skip

    def _make_budget(self) -> Budget:
        return Projection(self.budget, self.eta, aggressive=True)
