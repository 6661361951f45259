"""Aligned random features: the random features that agree with the labels, found online."""

from __future__ import annotations

from typing import Any

from onkel.estimators.classification import OnlineClassifier
from onkel.estimators.regression import OnlineRegressor
from onkel.kernels import Kernel
from onkel.maps import AlignedFourier
from onkel.rules import Gradient

__all__ = ["AlignedClassifier", "AlignedRegressor"]


class _Aligned:
    """Aligned Fourier map × gradient."""

    n_components: int
    n_candidates: int
    kernel: str | Kernel
    gamma: float | str
    rho: float | None
    power: float
    selection: str
    centered: bool
    n_align: int | None
    n_warmup: int
    learning_rate: float
    schedule: str
    alpha: float

    def _make_map(self) -> AlignedFourier:
        return AlignedFourier(
            self.n_components,
            self.n_candidates,
            self.kernel,
            self.gamma,
            self.rho,
            self.power,
            self.selection,
            self.centered,
            self.n_align,
            self.n_warmup,
        )

    def _make_rule(self) -> Gradient:
        return Gradient(self.learning_rate, self.schedule, self.alpha)


class AlignedClassifier(_Aligned, OnlineClassifier):
    """Random Fourier features chosen by how well they agree with the labels, and gradient steps.

    ``f(x) = w·z(x)``, z the D of N random cosines whose weights q maximise the alignment
    ``Σ q_m (Σ_i y_i φ_m(x_i))²`` within an f-divergence ball, and
    ``w ← (1 - η_t α) w - η_t ∂loss/∂f z``. The sums run along with the stream; q is solved for
    after rows 32, 64, 128, ... until ``n_align``, and f is carried over.

    Use it where FOGD with the same number of features is far from what it reaches with ten times as
    many: the kernel is not the labels', but some of its features are. Each row costs O(N·d)
    until ``n_align`` rows have come, and O(D·d) after that. Where inputs only differ in scale,
    :class:`RRFClassifier` finds it out more cheaply. With ``map=AlignedFourier(...)``
    :class:`ExplicitKernelClassifier` moves the weights by any other rule.

    Parameters
    ----------
    n_components : int, default=200
        Number of features D ≥ 1.
    n_candidates : int, default=2000
        Number of random features N ≥ D they are chosen from.
    kernel : str or Kernel, default="gaussian"
        A shift-invariant kernel: the base distribution.
    gamma : float or {"median", "scale"}, default="median"
        Its width.
    rho : float or None, default=None
        Radius of the divergence ball; None for as many effective features as are used. See
        :class:`AlignedFourier`.
    power : float, default=2.0
        k > 1 of the divergence t^k - 1; 2 is χ².
    selection : {"largest", "sample"}, default="largest"
        The features with the largest weights, or draws by weight.
    centered : bool, default=True
        Align with the labels less their mean.
    n_align : int or None, default=16384
        Rows after which the features stand; None: never.
    learning_rate : float, default=0.5
        η > 0 (features are normalised, E‖z‖² = 1).
    loss : {"hinge", "squared_hinge", "logistic"}, default="hinge"
    schedule : {"constant", "inverse_sqrt", "inverse"}, default="constant"
    alpha : float, default=0.0
        L2 penalty.
    n_warmup : int, default=256
        Rows that a heuristic for gamma looks at.
    class_weight : dict, "balanced" or None, default=None
    dtype : {"float32", "float64"}, default="float32"
    random_state : int, RandomState or None, default=None

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    coef_ : ndarray of shape (1 or n_classes, M)
        Weights of the M ≤ n_components features.
    map_ : AlignedFourier
        ``map_.weights_`` (M,) are q, ``map_.alignment_`` is what was reached.
    n_rows_, n_features_in_, nbytes_ : int

    Examples
    --------
    >>> import numpy as np
    >>> from onkel import AlignedClassifier
    >>> X = np.random.default_rng(0).standard_normal((8000, 8))
    >>> y = np.linalg.norm(X, axis=1) > np.sqrt(8)
    >>> for rho in (0.0, None):  # plain random features, aligned ones
    ...     model = AlignedClassifier(100, gamma=0.5, rho=rho, random_state=0)
    ...     before = model.predict_then_learn(X, y)
    ...     print(f"{(before == y)[-2000:].mean():.2f}")
    0.68
    0.79

    Notes
    -----
    Source: Sinha & Duchi 2016, eq. 4 and Algorithm 1; the online form (running sums, a schedule,
    weights carried over) is ours.
    """

    def __init__(
        self,
        n_components: int = 200,
        n_candidates: int = 2000,
        kernel: str | Kernel = "gaussian",
        gamma: float | str = "median",
        rho: float | None = None,
        power: float = 2.0,
        selection: str = "largest",
        centered: bool = True,
        n_align: int | None = 16_384,
        learning_rate: float = 0.5,
        loss: str = "hinge",
        schedule: str = "constant",
        alpha: float = 0.0,
        n_warmup: int = 256,
        class_weight: Any = None,
        dtype: str = "float32",
        random_state: Any = None,
    ) -> None:
        self.n_components = n_components
        self.n_candidates = n_candidates
        self.kernel = kernel
        self.gamma = gamma
        self.rho = rho
        self.power = power
        self.selection = selection
        self.centered = centered
        self.n_align = n_align
        self.learning_rate = learning_rate
        self.loss = loss
        self.schedule = schedule
        self.alpha = alpha
        self.n_warmup = n_warmup
        self.class_weight = class_weight
        self.dtype = dtype
        self.random_state = random_state


class AlignedRegressor(_Aligned, OnlineRegressor):
    """Aligned random features for regression; see :class:`AlignedClassifier`.

    Parameters
    ----------
    n_components, n_candidates, kernel, gamma, rho, power, selection, centered, n_align, schedule,
    alpha, n_warmup, dtype, random_state
        As in :class:`AlignedClassifier`; the alignment is with the targets.
    learning_rate : float, default=0.5
        η > 0. Targets should be of order 1.
    loss : {"squared", "absolute", "epsilon_insensitive"}, default="squared"
    epsilon : float, default=0.0
        Rows with \\|y - f\\| ≤ epsilon are not learned (squared and ε-insensitive).

    Examples
    --------
    >>> import numpy as np
    >>> from onkel import AlignedRegressor
    >>> X = np.random.default_rng(0).standard_normal((8000, 5))
    >>> y = np.cos(3 * X[:, 0])
    >>> for rho in (0.0, None):  # plain random features, aligned ones
    ...     model = AlignedRegressor(gamma=0.5, rho=rho, learning_rate=0.1, random_state=0)
    ...     print(f"{model.fit(X, y).score(X, y):.2f}")
    0.47
    0.87

    Notes
    -----
    Source: Sinha & Duchi 2016, eq. 4 and Algorithm 1; regression and the online form are ours.
    """

    def __init__(
        self,
        n_components: int = 200,
        n_candidates: int = 2000,
        kernel: str | Kernel = "gaussian",
        gamma: float | str = "median",
        rho: float | None = None,
        power: float = 2.0,
        selection: str = "largest",
        centered: bool = True,
        n_align: int | None = 16_384,
        learning_rate: float = 0.5,
        loss: str = "squared",
        epsilon: float = 0.0,
        schedule: str = "constant",
        alpha: float = 0.0,
        n_warmup: int = 256,
        dtype: str = "float32",
        random_state: Any = None,
    ) -> None:
        self.n_components = n_components
        self.n_candidates = n_candidates
        self.kernel = kernel
        self.gamma = gamma
        self.rho = rho
        self.power = power
        self.selection = selection
        self.centered = centered
        self.n_align = n_align
        self.learning_rate = learning_rate
        self.loss = loss
        self.epsilon = epsilon
        self.schedule = schedule
        self.alpha = alpha
        self.n_warmup = n_warmup
        self.dtype = dtype
        self.random_state = random_state
