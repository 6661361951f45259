"""Twin vector machine."""

from __future__ import annotations

from typing import Any

from onkel.budgets.twin import Twin
from onkel.estimators.classification import OnlineClassifier
from onkel.estimators.support import OverSupportSet
from onkel.kernels import Kernel
from onkel.rules import Gradient

__all__ = ["TVMClassifier"]


class TVMClassifier(OverSupportSet, OnlineClassifier):
    """Twin vector machine: an SVM over B prototypes, kept optimal while rows come and go.

    A prototype stands for n⁺ rows of one class and n⁻ of the other at one place s. Over these,

        max Σ_j (α⁺_j + α⁻_j) - ½ βᵀκ(S, S)β,  β = α⁺ - α⁻,  0 ≤ α^±_j ≤ C n^±_j

    is solved again after each row that counts, from where it stood. A row counts if its margin is
    below ``margin``: it becomes a prototype. With B + 1 of them, the one farthest from the boundary
    that f does not need goes, or else two are merged into their mean: of one class and near, where
    there are such (Ward's criterion in feature space, with the classes' shares beside).

    Use it where accuracy within a small budget counts more than speed: rows near the boundary cost
    O(B² + B·d). Streams that drift are not for it: prototypes do not age. In multiclass there is
    one SVM for each class against the rest, over the same prototypes.

    Parameters
    ----------
    budget : int, default=100
        Most prototypes, B ≥ 2.
    C : float, default=1.0
        Weight > 0 of a row's hinge loss against ½‖f‖².
    margin : float, default=1.0
        Rows whose margin is at least that (> 0) are passed over.
    tol : float, default=0.05
        The SVM is solved when no coefficient would move by more, > 0.
    max_steps : int, default=100
        Most steps of the solver after one row, ≥ 1.
    kernel : str or Kernel, default="gaussian"
        The Gaussian kernel only.
    gamma : float or {"median", "scale"}, default="median"
        Width; the heuristics are fitted on the first ``n_warmup`` rows.
    loss : {"hinge"}, default="hinge"
    n_warmup : int, default=256
        Rows a bandwidth heuristic looks at.
    class_weight : dict, "balanced" or None, default=None
        Multiplies the weight of a row; "balanced" uses the counts up to each row.
    dtype : {"float32", "float64"}, default="float32"
        Of the prototypes and their coefficients.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    support_vectors_ : ndarray of shape (n_support_, d)
        The prototypes.
    coef_ : ndarray of shape (1 or n_classes, n_support_)
        α⁺ - α⁻.
    gamma_ : float
    n_support_, n_rows_, n_features_in_, nbytes_ : int

    Raises
    ------
    ValueError
        On ``fit``, for a parameter out of its range, or another kernel than the Gaussian.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from onkel import TVMClassifier
    >>> X, y = make_moons(2000, noise=0.2, random_state=0)
    >>> model = TVMClassifier(gamma=2.0)
    >>> before = model.predict_then_learn(X, y)
    >>> print(f"{(before == y).mean():.2f}")
    0.97

    Notes
    -----
    After Wang & Vucetic 2009, "Twin vector machines for online learning on a budget". From the
    paper's abstract: twin vectors and what is known of them, only rows near the boundary, removal
    of the farthest or merging of two near ones, an SVM that is optimal on the prototypes at any
    time. Derived here: the steps of the solver (coordinates of the dual, without an intercept, in
    place of incremental and decremental SVM learning), the choice of the pair, the multiclass form.
    """

    _losses = ("hinge",)

    def __init__(
        self,
        budget: int = 100,
        C: float = 1.0,
        margin: float = 1.0,
        tol: float = 0.05,
        max_steps: int = 100,
        kernel: str | Kernel = "gaussian",
        gamma: float | str = "median",
        loss: str = "hinge",
        n_warmup: int = 256,
        class_weight: Any = None,
        dtype: str = "float32",
    ) -> None:
        self.budget = budget
        self.C = C
        self.margin = margin
        self.tol = tol
        self.max_steps = max_steps
        self.kernel = kernel
        self.gamma = gamma
        self.loss = loss
        self.n_warmup = n_warmup
        self.class_weight = class_weight
        self.dtype = dtype

    def _make_rule(self) -> Gradient:
        # no step of a rule is taken: the solver moves f
        return Gradient()

    def _make_budget(self) -> Twin:
        return Twin(self.budget, self.C, self.margin, self.tol, self.max_steps)
