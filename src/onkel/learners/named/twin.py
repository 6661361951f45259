"""The twin vector machine (TVM), outside the grid of rules and budgets."""

from __future__ import annotations

from onkel.kernels import Kernel
from onkel.learners import shared
from onkel.learners.classification import OnlineClassifier
from onkel.learners.declaration import Row, learner, param
from onkel.learners.representations import OverSupportSet
from onkel.losses import Loss
from onkel.rules import Gradient, Rule
from onkel.support.twin.twin_model import TwinModel, TwinVectors


@learner("gamma=2.0", score="0.97")
class TVMClassifier(OverSupportSet, OnlineClassifier):
    """Twin vector machine: an SVM over B prototypes, kept optimal while rows come and go.

    It lies outside the grid of rules and budgets: a solver moves f. A prototype stands for n⁺ rows
    of one class and n⁻ of the other at one place s. Over these,

        max Σ_j (α⁺_j + α⁻_j) - ½ βᵀκ(S, S)β,  β = α⁺ - α⁻,  0 ≤ α^±_j ≤ C n^±_j

    is solved again, from the last solution, after each row whose margin is below ``margin``; the
    row becomes a prototype. With B + 1 prototypes, of those that f does not need the one farthest
    from the boundary is dropped. If f needs all, two are merged into their mean: near ones of one
    class, if there are any (Ward's criterion in feature space, with the shares of the classes as
    further coordinates).

    Use it where accuracy within a small budget counts more than speed: rows near the boundary cost
    O(B² + B·d). Not for streams that drift: prototypes do not age. In multiclass there is one SVM
    for each class against the rest, over the same prototypes.

    Attributes
    ----------
    support_vectors_ : ndarray of shape (n_support_, d)
        The prototypes.
    coef_ : ndarray of shape (1 or n_classes, n_support_)
        α⁺ - α⁻.

    Notes
    -----
    From the paper's abstract: twin vectors and what they stand for, only rows near the boundary,
    removal of the farthest or merging of two near ones, an SVM that is optimal on the prototypes at
    any time. Derived here: the steps of the solver (coordinates of the dual, without an intercept,
    in place of incremental and decremental SVM learning), the choice of the pair, the multiclass
    form.
    """

    _losses = ("hinge",)
    _rows = (Row(
        "tvm", "twin vector machine", "hinge", "SVM kept optimal", "merge two of one class",
        "Wang & Vucetic 2009", "after its abstract",
    ),)  # fmt: skip

    loss: str = shared.HINGE_LOSS
    budget: int = param(default=100, doc="Most prototypes, B ≥ 2.")
    C: float = param(default=1.0, doc="Weight > 0 of a row's hinge loss against ½‖f‖².")
    margin: float = param(
        default=1.0, doc="Rows whose margin is at least that (> 0) are passed over."
    )
    tol: float = param(
        default=0.05, doc="The SVM is solved when no coefficient would move by more, > 0."
    )
    max_steps: int = param(default=100, doc="Most steps of the solver after one row, ≥ 1.")
    kernel: str | Kernel = param(default="gaussian", doc="The Gaussian kernel only.")

    def _make_rule(self) -> Rule:
        # only to check the loss; it takes no step
        return Gradient()

    def _make_model(
        self, d: int, rule: Rule, loss: Loss, epsilon: float, n_outputs: int
    ) -> TwinModel:
        if self.average:
            raise ValueError("average=True cannot be used here: f is solved anew after every row")
        return TwinModel(self._space(d), shared.by_name(TwinVectors)(self), n_outputs)
