"""Projectron++."""

from __future__ import annotations

from typing import Any

from onkel.budgets import Projection
from onkel.estimators.classification import OnlineClassifier
from onkel.estimators.support import OverSupportSet
from onkel.kernels import Kernel
from onkel.rules import Perceptron

__all__ = ["ProjectronPPClassifier"]


class _ProjectronPP(OverSupportSet):
    """Support set with projection onto its span, margin updates × perceptron."""

    budget: int | None
    eta: float
    learning_rate: float

    def _make_rule(self) -> Perceptron:
        return Perceptron(self.learning_rate)

    def _make_budget(self) -> Projection:
        return Projection(self.budget, self.eta, aggressive=True)


class ProjectronPPClassifier(_ProjectronPP, OnlineClassifier):
    """Projectron++: the Projectron, which learns too from rows that it gets only just right.

    Mistakes as in :class:`ProjectronClassifier`. Where the prediction is right and the hinge loss
    ℓ > 0, ``f ← f + τ y Pκ(x, ·)``, with δ = κ(x, ·) - Pκ(x, ·):

    * η > 0: τ = min(1, ℓ/‖Pκ‖², 2(ℓ - ‖δ‖/η)/‖Pκ‖²), no step where that is negative;
    * η = 0: τ = min(1, ℓ/‖Pκ‖²), if 2ℓ - τ‖Pκ‖² ≥ 2U‖δ‖, U = ¼√((B+1)/ln(B+1)) (LSOKL).

    In multiclass, where two classes move, η > 0 multiplies ‖Pκ‖² by 2 and ‖δ‖ by √2; with η = 0 the
    step is up to twice as long.

    Use it instead of the Projectron where rows are few or labels clean: more rows are learned from,
    and none of them costs memory. O(B·d + B²) a row.

    Parameters
    ----------
    budget : int or None, default=100
        Most rows stored, B ≥ 1; None for no other bound than η.
    eta : float, default=0.0
        Largest residual η ≥ 0 that is projected away before the set is full; with 0 every mistake
        is stored until then (the LSOKL programs). In units of √κ(x, x). A small η makes the margin
        steps small too.
    learning_rate : float, default=1.0
        Step > 0.
    kernel : str or Kernel, default="gaussian"
        Any kernel of :mod:`onkel.kernels`.
    gamma : float or {"median", "scale"}, default="median"
        Width; the heuristics are fitted on the first ``n_warmup`` rows.
    n_warmup : int, default=256
        Rows a bandwidth heuristic looks at.
    class_weight : dict, "balanced" or None, default=None
        Multiplies the step by row; "balanced" uses the counts up to each row.
    dtype : {"float32", "float64"}, default="float32"
        Of the stored rows, the kernel values and the coefficients.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    support_vectors_ : ndarray of shape (n_support_, d)
    coef_ : ndarray of shape (1 or n_classes, n_support_)
    gamma_ : float
    n_support_, n_rows_, n_features_in_, nbytes_ : int

    Raises
    ------
    ValueError
        On ``fit``, for a parameter out of its range: the message names it.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from onkel import ProjectronPPClassifier
    >>> X, y = make_moons(2000, noise=0.2, random_state=0)
    >>> model = ProjectronPPClassifier(gamma=2.0)
    >>> before = model.predict_then_learn(X, y)
    >>> print(f"{(before == y).mean():.2f}")
    0.96

    Notes
    -----
    Source: Orabona, Keshet & Caputo 2009, Projectron++; η = 0 is the form of the LSOKL programs.
    """

    loss = "perceptron"

    def __init__(
        self,
        budget: int | None = 100,
        eta: float = 0.0,
        learning_rate: float = 1.0,
        kernel: str | Kernel = "gaussian",
        gamma: float | str = "median",
        n_warmup: int = 256,
        class_weight: Any = None,
        dtype: str = "float32",
    ) -> None:
        self.budget = budget
        self.eta = eta
        self.learning_rate = learning_rate
        self.kernel = kernel
        self.gamma = gamma
        self.n_warmup = n_warmup
        self.class_weight = class_weight
        self.dtype = dtype
