"""DualSGD: a support set and random Fourier features."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from onkel.budgets import Transfer
from onkel.estimators.classification import OnlineClassifier
from onkel.estimators.regression import OnlineRegressor
from onkel.estimators.support import OverSupportSet
from onkel.kernels import Kernel
from onkel.models.transfer import TransferModel
from onkel.rules import Pegasos

__all__ = ["DualSGDClassifier", "DualSGDRegressor"]


class _DualSGD(OverSupportSet):
    """Support set whose lightest rows go on in Fourier features × Pegasos."""

    budget: int
    n_components: int
    n_transfer: int
    alpha: float
    model_: TransferModel

    def _make_rule(self) -> Pegasos:
        return Pegasos(self.alpha, project=False)

    def _make_budget(self) -> Transfer:
        return Transfer(self.budget, self.n_components, self.n_transfer)

    @property
    def feature_coef_(self) -> np.ndarray:
        """w̃, the weights of the Fourier features, (K, 2D)."""
        check_is_fitted(self)
        return self.model_.feature_coef

    @property
    def frequencies_(self) -> np.ndarray:
        """The frequencies of the features, (d, D)."""
        check_is_fitted(self)
        return self.model_.features.frequencies_


class DualSGDClassifier(_DualSGD, OnlineClassifier):
    """Kernel gradient descent in two spaces: recent rows exactly, the others in Fourier features.

    ``f(x) = Σ_j α_j κ(s_j, x) + w̃·z(x)``, ``f ← (1 - 1/t) f + c κ(x, ·)/(αt)`` where the row has a
    loss. A full set first carries its k lightest rows over, ``w̃ ← w̃ + Σ α_i z(s_i)``, and drops
    them; rows without a loss are not stored.

    Use it where a budget alone forgets too much: nothing is lost but the error of the features. α
    must fit the stream: the first steps are 1/α. O(B·d + D·d) a row.

    Parameters
    ----------
    budget : int, default=100
        Most rows stored, B ≥ 1.
    n_components : int, default=200
        Number of frequencies D ≥ 1; z has 2D features. Their error falls as 1/√D.
    n_transfer : int, default=20
        k in 1..B: rows carried over at once. Fewer keep more rows exact; more cost less.
    alpha : float, default=0.01
        L2 penalty α > 0 (λ in the paper).
    kernel : str or Kernel, default="gaussian"
        A shift-invariant kernel of :mod:`onkel.kernels`.
    gamma : float or {"median", "scale"}, default="median"
        Width; the heuristics are fitted on the first ``n_warmup`` rows.
    loss : {"hinge", "squared_hinge", "logistic"}, default="hinge"
    n_warmup : int, default=256
        Rows a bandwidth heuristic looks at.
    class_weight : dict, "balanced" or None, default=None
        Multiplies the step by row; "balanced" uses the counts up to each row.
    dtype : {"float32", "float64"}, default="float32"
        Of the stored rows, the kernel values, the features and the coefficients.
    random_state : int, RandomState or None, default=None
        Of the frequencies.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    support_vectors_ : ndarray of shape (n_support_, d)
    coef_ : ndarray of shape (1 or n_classes, n_support_)
    feature_coef_ : ndarray of shape (1 or n_classes, 2D)
        w̃, the weights of the features.
    frequencies_ : ndarray of shape (d, D)
    gamma_ : float
    n_support_, n_rows_, n_features_in_, nbytes_ : int

    Raises
    ------
    ValueError
        On ``fit``, for a parameter out of its range or a kernel without a spectrum: the message
        says why.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from onkel import DualSGDClassifier
    >>> X, y = make_moons(2000, noise=0.2, random_state=0)
    >>> model = DualSGDClassifier(gamma=2.0, random_state=0)
    >>> before = model.predict_then_learn(X, y)
    >>> print(f"{(before == y).mean():.2f}")
    0.96

    Notes
    -----
    Source: Le, Nguyen, Nguyen & Phung 2016, Algorithms 1 and 2 (k-merging). Frequencies are of the
    kernel's own spectrum, √(2γ) N(0, I) for the Gaussian; the released programs draw 2γ N(0, I).
    """

    def __init__(
        self,
        budget: int = 100,
        n_components: int = 200,
        n_transfer: int = 20,
        alpha: float = 0.01,
        kernel: str | Kernel = "gaussian",
        gamma: float | str = "median",
        loss: str = "hinge",
        n_warmup: int = 256,
        class_weight: Any = None,
        dtype: str = "float32",
        random_state: Any = None,
    ) -> None:
        self.budget = budget
        self.n_components = n_components
        self.n_transfer = n_transfer
        self.alpha = alpha
        self.kernel = kernel
        self.gamma = gamma
        self.loss = loss
        self.n_warmup = n_warmup
        self.class_weight = class_weight
        self.dtype = dtype
        self.random_state = random_state


class DualSGDRegressor(_DualSGD, OnlineRegressor):
    """Kernel regression in two spaces; see :class:`DualSGDClassifier`.

    c = sgn(y - f) where \\|y - f\\| > ε, or -∂loss/∂f of another loss.

    Parameters
    ----------
    budget, n_components, n_transfer, alpha, kernel, gamma, n_warmup, dtype, random_state
        As in :class:`DualSGDClassifier`.
    loss : {"epsilon_insensitive", "absolute", "squared"}, default="epsilon_insensitive"
    epsilon : float, default=0.1
        Half-width ε ≥ 0 of the tube in which nothing is learned or stored, in the target's units.

    Examples
    --------
    >>> import numpy as np
    >>> from onkel import DualSGDRegressor
    >>> X = np.random.default_rng(0).uniform(-3, 3, (2000, 1))
    >>> y = np.sin(2 * X[:, 0])
    >>> model = DualSGDRegressor(gamma=2.0, random_state=0).fit(X, y)
    >>> print(f"{model.score(X, y):.2f}")
    0.99
    """

    def __init__(
        self,
        budget: int = 100,
        n_components: int = 200,
        n_transfer: int = 20,
        alpha: float = 0.01,
        kernel: str | Kernel = "gaussian",
        gamma: float | str = "median",
        loss: str = "epsilon_insensitive",
        epsilon: float = 0.1,
        n_warmup: int = 256,
        dtype: str = "float32",
        random_state: Any = None,
    ) -> None:
        self.budget = budget
        self.n_components = n_components
        self.n_transfer = n_transfer
        self.alpha = alpha
        self.kernel = kernel
        self.gamma = gamma
        self.loss = loss
        self.epsilon = epsilon
        self.n_warmup = n_warmup
        self.dtype = dtype
        self.random_state = random_state
