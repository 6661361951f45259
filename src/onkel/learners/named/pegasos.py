"""Pegasos over a support set: BSGD-R (removes), BSGD-P (projects), BSGD-M (merges), DualSGD."""

from __future__ import annotations

import numpy as np

from onkel import budgets
from onkel.annotations import Seed
from onkel.kernels import Kernel
from onkel.learners import shared
from onkel.learners.classification import OnlineClassifier
from onkel.learners.declaration import Row, declared, learner, param, param_of
from onkel.learners.regression import OnlineRegressor
from onkel.learners.representations import OverSupportSet
from onkel.parameters import one_of
from onkel.rules import Pegasos

_REMOVALS = {"smallest": budgets.SmallestRemoval, "random": budgets.RandomRemoval}


@declared
class _BSGDR(OverSupportSet):
    """A full set drops one of its rows.

    Notes
    -----
    ``removal="random"`` is the BSGD-R of Lu et al. 2016.
    """

    _rows = (Row(
        "bsgd-r", "budgeted Pegasos, removing", "any", "Pegasos", "drop the smallest",
        "Wang, Crammer & Vucetic 2012", "BSGD with removal",
    ),)  # fmt: skip
    alpha: float = shared.PEGASOS_ALPHA
    budget: int = shared.BUDGET
    removal: str = param(
        default="smallest",
        kind='{"smallest", "random"}',
        doc="Which stored row is dropped: that of the smallest Σ_k α_k² κ(s, s), or any, each with "
        "the same probability.",
    )
    random_state: Seed = shared.RANDOM_STATE

    _make_rule = shared.by_name(Pegasos, project=False)

    def _make_budget(self) -> budgets.Budget:
        return _REMOVALS[one_of(self, "removal", _REMOVALS)](self.budget)


@learner("gamma=2.0", score="0.94")
class BSGDRClassifier(_BSGDR, OnlineClassifier):
    """Budgeted stochastic gradient descent that drops one of its rows.

    ``f ← (1 - 1/t) f + c κ(x, ·)/(αt)`` where the row has a loss; for it a full set drops the row
    with the smallest Σ_k α_k² κ(s, s). Pegasos gives all rows the same coefficient except for
    rounding; of equal ones the oldest is dropped. ``removal="random"`` drops any.

    Use it as the baseline of :class:`BSGDMClassifier`, or with a kernel that cannot merge. α must
    fit the stream: the first steps are 1/α. O(B·d) a row.
    """

    loss: str = shared.CLASSIFICATION_LOSS


@learner("gamma=2.0, alpha=0.01", score="0.99")
class BSGDRRegressor(_BSGDR, OnlineRegressor):
    """Budgeted Pegasos with removal, for regression; see :class:`BSGDRClassifier`.

    c = sgn(y - f) where \\|y - f\\| > ε, or -∂loss/∂f of another loss. The first steps are 1/α, and
    the B terms vanish as 1/(αt): choose α for the length of the stream, or use
    :class:`BSGDMRegressor`.
    """

    loss: str = shared.PEGASOS_REGRESSION_LOSS
    epsilon: float = shared.TUBE
    alpha: float = 0.03


@declared
class _BSGDP(OverSupportSet):
    """A full set projects its smallest row onto the others."""

    _rows = (Row(
        "bsgd-p", "budgeted Pegasos, projecting", "any", "Pegasos", "project the smallest",
        "Wang, Crammer & Vucetic 2012", "BSGD with projection",
    ),)  # fmt: skip
    alpha: float = shared.PEGASOS_ALPHA
    budget: int = shared.BUDGET

    _make_rule = shared.by_name(Pegasos, project=False)
    _make_budget = shared.by_name(budgets.SmallestProjection)


@learner("gamma=2.0", score="0.96")
class BSGDPClassifier(_BSGDP, OnlineClassifier):
    """Budgeted stochastic gradient descent that projects its smallest row onto the others.

    ``f ← (1 - 1/t) f + c κ(x, ·)/(αt)`` where the row has a loss; a full set then drops the row
    with the smallest Σ_k α_k² κ(s, s), old or new, and projects its part of f onto the others.

    Use it as a support vector machine with a known L2 penalty and little memory. α must fit the
    stream: the first steps are 1/α. O(B·d) a row, O(B²) a row with a loss.
    """

    loss: str = shared.CLASSIFICATION_LOSS
    alpha: float = 0.001


@learner("gamma=2.0", score="0.99")
class BSGDPRegressor(_BSGDP, OnlineRegressor):
    """Budgeted Pegasos with projection, for regression; see :class:`BSGDPClassifier`.

    c = sgn(y - f) where \\|y - f\\| > ε, or -∂loss/∂f of another loss.
    """

    loss: str = shared.PEGASOS_REGRESSION_LOSS
    epsilon: float = shared.TUBE
    alpha: float = 0.03


@declared
class _BSGDM(OverSupportSet):
    """A full set merges two of its rows."""

    _rows = (Row(
        "bsgd-m", "budgeted Pegasos, merging", "any", "Pegasos", "merge two",
        "Wang, Crammer & Vucetic 2012", "BSGD with merging",
    ),)  # fmt: skip

    kernel: str | Kernel = param(
        default="gaussian", doc="The Gaussian kernel only: no other kernel can merge."
    )
    alpha: float = shared.PEGASOS_ALPHA
    budget: int = shared.BUDGET

    _make_rule = shared.by_name(Pegasos, project=False)
    _make_budget = shared.by_name(budgets.Merging)


@learner("gamma=2.0", score="0.96")
class BSGDMClassifier(_BSGDM, OnlineClassifier):
    """Budgeted stochastic gradient descent that merges two rows of a full set.

    ``f ← (1 - 1/t) f + c κ(x, ·)/(αt)`` where the row has a loss; of B + 1 rows the lightest m and
    its best partner n then become ``z = h s_m + (1 - h) s_n`` with the coefficients
    ``α_m κ^((1-h)²) + α_n κ^(h²)``, κ = κ(s_m, s_n), h in [0, 1] such that f changes least.

    Use it as a support vector machine in little memory: usually the most accurate of the budgeted
    ones, as nothing is thrown away. α must fit the stream: the first steps are 1/α. Gaussian kernel
    only. O(B·d) a row.
    """

    loss: str = shared.CLASSIFICATION_LOSS


@learner("gamma=2.0", score="0.99")
class BSGDMRegressor(_BSGDM, OnlineRegressor):
    """Budgeted Pegasos with merging, for regression; see :class:`BSGDMClassifier`.

    c = sgn(y - f) where \\|y - f\\| > ε, or -∂loss/∂f of another loss.
    """

    loss: str = shared.PEGASOS_REGRESSION_LOSS
    epsilon: float = shared.TUBE
    alpha: float = 0.03


@declared
class _DualSGD(OverSupportSet):
    """Support set that transfers its lightest rows to Fourier features × Pegasos.

    Attributes
    ----------
    feature_coef_ : ndarray of shape (1 or n_classes, 2D)
        w̃, the weights of the features.
    frequencies_ : ndarray of shape (d, D)
        The frequencies of the features.

    Notes
    -----
    Frequencies are drawn from the kernel's spectrum, √(2γ) N(0, I) for the Gaussian; the released
    programs draw 2γ N(0, I).
    """

    _rows = (Row(
        "dualsgd", "kernel gradient descent in two spaces", "any", "Pegasos",
        "transfer to Fourier features", "Le, Nguyen, Nguyen & Phung 2016",
        "Algorithms 1 and 2 (k-merging)",
    ),)  # fmt: skip

    n_components: int = param_of(budgets.Transfer, "n_components")
    n_transfer: int = param_of(budgets.Transfer, "n_transfer")
    kernel: str | Kernel = shared.SHIFT_INVARIANT_KERNEL
    alpha: float = shared.PEGASOS_ALPHA
    budget: int = shared.BUDGET
    random_state: Seed = shared.RANDOM_STATE

    _make_rule = shared.by_name(Pegasos, project=False)
    _make_budget = shared.by_name(budgets.Transfer)

    @property
    def feature_coef_(self) -> np.ndarray:
        """w̃, the weights of the Fourier features, (K, 2D)."""
        return self._support_model().feature_coef

    @property
    def frequencies_(self) -> np.ndarray:
        """The frequencies of the features, (d, D)."""
        return self._support_model().features.frequencies_


@learner("gamma=2.0, random_state=0", score="0.96")
class DualSGDClassifier(_DualSGD, OnlineClassifier):
    """Kernel gradient descent in two spaces: recent rows exactly, the others in Fourier features.

    ``f(x) = Σ_j α_j κ(s_j, x) + w̃·z(x)``, ``f ← (1 - 1/t) f + c κ(x, ·)/(αt)`` where the row has a
    loss. A full set first transfers its k lightest rows, ``w̃ ← w̃ + Σ α_i z(s_i)``, and drops
    them; rows without a loss are not stored.

    Use it where a budget alone forgets too much: a transferred row adds only the approximation
    error of the features. Do not use it where the D features must be few: that error is then
    large. α must fit the stream: the first steps are 1/α. O(B·d + D·d) a row.
    """

    loss: str = shared.CLASSIFICATION_LOSS


@learner("gamma=2.0, random_state=0", score="0.99")
class DualSGDRegressor(_DualSGD, OnlineRegressor):
    """Kernel regression in two spaces; see :class:`DualSGDClassifier`.

    c = sgn(y - f) where \\|y - f\\| > ε, or -∂loss/∂f of another loss.
    """

    loss: str = shared.PEGASOS_REGRESSION_LOSS
    epsilon: float = shared.TUBE
    alpha: float = 0.03
