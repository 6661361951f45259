"""NOLANA: nonlinear online learning with adaptive Nyström approximation."""

from __future__ import annotations

from typing import Any

from onkel.estimators.classification import OnlineClassifier
from onkel.estimators.regression import OnlineRegressor
from onkel.kernels import Kernel
from onkel.maps import AdaptiveNystroem
from onkel.rules import AdaGrad, Gradient

__all__ = ["NOLANAClassifier", "NOLANARegressor"]


class _NOLANA:
    """Adaptive Nyström map × gradient."""

    budget: int
    rank: int | None
    kernel: str | Kernel
    gamma: float | str
    threshold: float | str
    theta: float
    solver: str
    n_iter: int
    weighted: bool
    expire: int | None
    n_warmup: int
    learning_rate: float
    schedule: str | float
    alpha: float

    def _make_map(self) -> AdaptiveNystroem:
        return AdaptiveNystroem(
            budget=self.budget,
            rank=self.rank,
            kernel=self.kernel,
            gamma=self.gamma,
            threshold=self.threshold,
            theta=self.theta,
            solver=self.solver,
            n_iter=self.n_iter,
            weighted=self.weighted,
            expire=self.expire,
            n_warmup=self.n_warmup,
        )

    def _make_rule(self) -> Gradient | AdaGrad:
        if self.schedule == "adagrad":
            return AdaGrad(self.learning_rate, self.alpha)
        return Gradient(self.learning_rate, self.schedule, self.alpha)


class NOLANAClassifier(_NOLANA, OnlineClassifier):
    """Gradient descent over Nyström features whose landmarks follow the rows by online k-means.

    ``z(x) = Λ^-½ Uᵀ κ(S, x)`` with the k leading eigenpairs of κ(S, S). A row is learned by
    ``w ← (1 - η_t α) w - η_t ∂loss/∂f z``. If it lies at ‖x - u_q‖² ≥ threshold from its nearest
    landmark, then ``u_q ← (N_q u_q + x)/(N_q + 1)``, the eigenpairs follow, and the weights go to
    ``argmin_w̄ Σ_i (w·z(u_i) - w̄·z̄(u_i))² + theta ‖w̄‖²``: f stays what it was at the landmarks.
    O(B·d + B·k) a row, O(B²·d + B²·k) a move.

    Use it where :class:`NOGDClassifier` would be right but for its landmarks: few of them, many
    clusters, or a stream that changes (with ``expire``). On a steady stream with some hundreds of
    landmarks the moves gain little and cost most of the time: raise ``threshold``.

    Parameters
    ----------
    budget : int, default=100
        Number of landmarks B ≥ 1: the first B rows, then what becomes of them.
    rank : int or None, default=None
        Number of features k ≤ B; None for the paper's 0.8 B.
    kernel : str or Kernel, default="gaussian"
        Any kernel of :mod:`onkel.kernels`; who is near is said by the Euclidean distance.
    gamma : float or {"median", "scale"}, default="median"
    threshold : float or "auto", default="auto"
        ε ≥ 0, a squared distance: the smaller, the more moves, the slower. "auto": what a quarter
        of the first ``n_warmup`` rows are beyond.
    learning_rate : float, default=0.5
        η > 0.
    loss : {"hinge", "squared_hinge", "logistic"}, default="hinge"
    schedule : {"constant", "inverse_sqrt", "inverse", "adagrad"} or float, default="constant"
        "adagrad": a step of its own for every feature, as in :class:`~onkel.rules.AdaGrad`; often
        the better one, for features of small eigenvalues are small. The paper's accuracy on usps
        (92.07 %) takes it: 92.8 % with B = 100 and k = 80, against 91.8 % by one step for all
        (docs/nolana.md).
    alpha : float, default=0.0
        L2 penalty.
    theta : float, default=1e-6
        θ ≥ 0: every move shrinks the weights by as much.
    solver : {"randomized", "rank_two", "scratch"}, default="randomized"
        How the eigenpairs follow; see :class:`AdaptiveNystroem`.
    n_iter : int, default=2
        p ≥ 1 of "randomized".
    weighted : bool, default=True
        Every row counts in N_q of its landmark, with its weight; False: those that moved it, each
        as one, as the paper's Algorithm 1 is printed.
    expire : int or None, default=None
        Rows after which a landmark that was nearest to none of them gives way to the next row
        beyond the threshold.
    n_warmup : int, default=256
    class_weight : dict, "balanced" or None, default=None
    dtype : {"float32", "float64"}, default="float32"
        float32 suits standardised inputs; raw columns in the thousands need float64.
    random_state : int, RandomState or None, default=None
        Not used: the learner is deterministic.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    coef_ : ndarray of shape (1 or n_classes, k)
    map_ : AdaptiveNystroem
        ``map_.landmarks_`` (B, d) now; ``map_.n_moves_`` so far.
    n_rows_, n_features_in_, nbytes_ : int

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from onkel import NOLANAClassifier
    >>> X, y = make_moons(2000, noise=0.2, random_state=0)
    >>> model = NOLANAClassifier(budget=20, gamma=2.0)
    >>> before = model.predict_then_learn(X, y)
    >>> print(f"{(before == y).mean():.2f}")
    0.96

    Notes
    -----
    Source: Si, Kumar & Li 2018, Algorithm 2; equations 7 (features), 8 (landmarks), 9 and 10
    (eigenpairs), 11 and 12 (weights).
    """

    def __init__(
        self,
        budget: int = 100,
        rank: int | None = None,
        kernel: str | Kernel = "gaussian",
        gamma: float | str = "median",
        threshold: float | str = "auto",
        learning_rate: float = 0.5,
        loss: str = "hinge",
        schedule: str | float = "constant",
        alpha: float = 0.0,
        theta: float = 1e-6,
        solver: str = "randomized",
        n_iter: int = 2,
        weighted: bool = True,
        expire: int | None = None,
        n_warmup: int = 256,
        class_weight: Any = None,
        dtype: str = "float32",
        random_state: Any = None,
    ) -> None:
        self.budget = budget
        self.rank = rank
        self.kernel = kernel
        self.gamma = gamma
        self.threshold = threshold
        self.learning_rate = learning_rate
        self.loss = loss
        self.schedule = schedule
        self.alpha = alpha
        self.theta = theta
        self.solver = solver
        self.n_iter = n_iter
        self.weighted = weighted
        self.expire = expire
        self.n_warmup = n_warmup
        self.class_weight = class_weight
        self.dtype = dtype
        self.random_state = random_state


class NOLANARegressor(_NOLANA, OnlineRegressor):
    """Regression over Nyström features whose landmarks move; see :class:`NOLANAClassifier`.

    Parameters
    ----------
    budget, rank, kernel, gamma, threshold, theta, solver, n_iter, weighted, expire, schedule,
    alpha, n_warmup, dtype, random_state
        As in :class:`NOLANAClassifier`.
    learning_rate : float, default=0.5
        η > 0; below 2 for the squared loss. Targets should be of order 1.
    loss : {"squared", "absolute", "epsilon_insensitive"}, default="squared"
    epsilon : float, default=0.0
        Rows with \\|y - f\\| ≤ epsilon are not learned (squared and ε-insensitive); the paper's ε
        is ``threshold``.

    Examples
    --------
    >>> import numpy as np
    >>> from onkel import NOLANARegressor
    >>> X = np.random.default_rng(0).uniform(-3, 3, (2000, 1))
    >>> y = np.sin(2 * X[:, 0])
    >>> model = NOLANARegressor(budget=20, gamma=2.0).fit(X, y)
    >>> print(f"{model.score(X, y):.2f}")
    1.00

    Notes
    -----
    Source: Si, Kumar & Li 2018, Algorithm 2.
    """

    def __init__(
        self,
        budget: int = 100,
        rank: int | None = None,
        kernel: str | Kernel = "gaussian",
        gamma: float | str = "median",
        threshold: float | str = "auto",
        learning_rate: float = 0.5,
        loss: str = "squared",
        epsilon: float = 0.0,
        schedule: str | float = "constant",
        alpha: float = 0.0,
        theta: float = 1e-6,
        solver: str = "randomized",
        n_iter: int = 2,
        weighted: bool = True,
        expire: int | None = None,
        n_warmup: int = 256,
        dtype: str = "float32",
        random_state: Any = None,
    ) -> None:
        self.budget = budget
        self.rank = rank
        self.kernel = kernel
        self.gamma = gamma
        self.threshold = threshold
        self.learning_rate = learning_rate
        self.loss = loss
        self.epsilon = epsilon
        self.schedule = schedule
        self.alpha = alpha
        self.theta = theta
        self.solver = solver
        self.n_iter = n_iter
        self.weighted = weighted
        self.expire = expire
        self.n_warmup = n_warmup
        self.dtype = dtype
        self.random_state = random_state
