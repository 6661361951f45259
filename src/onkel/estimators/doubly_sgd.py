"""Doubly stochastic gradients: random rows, random features that are never stored."""

from __future__ import annotations

from typing import Any

from onkel.estimators.classification import OnlineClassifier
from onkel.estimators.regression import OnlineRegressor
from onkel.kernels import Kernel
from onkel.maps import RegeneratedFeatures
from onkel.maps.fourier import check_count
from onkel.rules import DoublyStochastic

__all__ = ["DoublySGDClassifier", "DoublySGDRegressor"]


class _DoublySGD:
    """Regenerated Fourier map × doubly stochastic gradient."""

    n_components: int
    n_per_row: int
    kernel: str | Kernel
    gamma: float | str
    n_warmup: int
    learning_rate: float
    decay: float
    alpha: float

    def _make_map(self) -> RegeneratedFeatures:
        return RegeneratedFeatures(self.n_components, self.kernel, self.gamma, self.n_warmup)

    def _make_rule(self) -> DoublyStochastic:
        n = check_count(self, "n_components")
        parts = max(n // check_count(self, "n_per_row"), 1)
        # where they divide D, the cosine and the sine of a frequency are in the same part
        while n % parts:
            parts -= 1
        return DoublyStochastic(self.learning_rate, self.decay, self.alpha, parts)


class DoublySGDClassifier(_DoublySGD, OnlineClassifier):
    """Doubly stochastic gradient descent: each row moves the weights of a few random features.

    ``w ← (1 - η_t α) w``, then ``w_s ← w_s - η_t ∂loss/∂f (D/b) z_s`` for the b frequencies s of
    row t, with ``η_t = η/(1 + decay·t)``. The first D/b rows bring b new frequencies each; when
    there are D, the bound, the next ones are the oldest, in turn. Frequencies are drawn from their
    seed whenever they are needed, so the model is its 2D weights and nothing else, whatever the
    number of columns. O(D·d) a row.

    Use it with many thousands of frequencies of wide rows, where the matrix of a
    :class:`FOGDClassifier` would not fit, and in blocks: one row at a time nearly all of the work
    is drawing. For less, FOGD is faster and as accurate; so is :class:`FastfoodClassifier`.

    Parameters
    ----------
    n_components : int, default=2048
        Number of frequencies D ≥ 1 (2D features), the bound at which the model stops growing.
    n_per_row : int, default=128
        b ≥ 1, frequencies that a row moves; raised to the next divisor of D. Fewer need a smaller
        learning rate, for the direction is noisier; D is the plain gradient.
    kernel : str or Kernel, default="gaussian"
        A shift-invariant kernel: gaussian, laplacian, cauchy, rational_quadratic, matern32,
        matern52.
    gamma : float or {"median", "scale"}, default="median"
        Width: exp(-gamma ‖x - x'‖²) for the Gaussian. "median" and "scale" are fitted on the first
        ``n_warmup`` rows.
    learning_rate : float, default=0.5
        η > 0 (θ in the paper).
    decay : float, default=1e-5
        At least 0 (θ' in the paper): the step is half of η after 1/decay rows.
    loss : {"hinge", "squared_hinge", "logistic"}, default="hinge"
        In multiclass the true class against the best wrong one, and softmax.
    alpha : float, default=0.0
        L2 penalty (ν in the paper).
    n_warmup : int, default=256
        Rows a bandwidth heuristic looks at.
    class_weight : dict, "balanced" or None, default=None
        "balanced" uses the counts up to each row.
    dtype : {"float32", "float64"}, default="float32"
        Of the features and weights.
    random_state : int, RandomState or None, default=None

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    coef_ : ndarray of shape (1 or n_classes, 2 * n_components)
    map_ : RegeneratedFeatures
    n_rows_ : int
        Rows learned (weight above 0).
    n_features_in_ : int
    nbytes_ : int
        Size of the model.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from onkel import DoublySGDClassifier
    >>> X, y = make_moons(2000, noise=0.2, random_state=0)
    >>> model = DoublySGDClassifier(n_components=256, n_per_row=32, gamma=2.0, random_state=0)
    >>> before = model.predict_then_learn(X, y)
    >>> print(f"{(before == y).mean():.2f}")
    0.96

    Notes
    -----
    Source: Dai, Xie, He, Liang, Raj, Balcan & Song 2014, Algorithms 1 and 2. There the model grows
    with every step for ever, rows are drawn at random and learned in mini-batches, and the
    authors' program preconditions each block of features. Here rows come in a stream, once, each
    predicted by all weights before it is learned, and the number of features is bounded: the limit
    of learning is the best f over D random features, not over the whole space.
    """

    def __init__(
        self,
        n_components: int = 2048,
        n_per_row: int = 128,
        kernel: str | Kernel = "gaussian",
        gamma: float | str = "median",
        learning_rate: float = 0.5,
        decay: float = 1e-5,
        loss: str = "hinge",
        alpha: float = 0.0,
        n_warmup: int = 256,
        class_weight: Any = None,
        dtype: str = "float32",
        random_state: Any = None,
    ) -> None:
        self.n_components = n_components
        self.n_per_row = n_per_row
        self.kernel = kernel
        self.gamma = gamma
        self.learning_rate = learning_rate
        self.decay = decay
        self.loss = loss
        self.alpha = alpha
        self.n_warmup = n_warmup
        self.class_weight = class_weight
        self.dtype = dtype
        self.random_state = random_state


class DoublySGDRegressor(_DoublySGD, OnlineRegressor):
    """Doubly stochastic gradient descent for regression; see :class:`DoublySGDClassifier`.

    The target should be of order 1 (the command-line tool scales it): steps are in its units.

    Parameters
    ----------
    n_components, n_per_row, kernel, gamma, decay, alpha, n_warmup, dtype, random_state
        As in :class:`DoublySGDClassifier`.
    learning_rate : float, default=0.5
        η > 0; well below 2 for the squared loss.
    loss : {"squared", "absolute", "epsilon_insensitive"}, default="squared"
        The squared loss is (y - f)²/2.
    epsilon : float, default=0.0
        Rows with \\|y - f\\| ≤ epsilon are not learned (squared and ε-insensitive).

    Examples
    --------
    >>> import numpy as np
    >>> from onkel import DoublySGDRegressor
    >>> X = np.random.default_rng(0).uniform(-3, 3, (2000, 1))
    >>> y = np.sin(2 * X[:, 0])
    >>> model = DoublySGDRegressor(256, 32, gamma=2.0, random_state=0).fit(X, y)
    >>> print(f"{model.score(X, y):.2f}")
    1.00

    Notes
    -----
    Source: Dai, Xie, He, Liang, Raj, Balcan & Song 2014, Algorithms 1 and 2.
    """

    def __init__(
        self,
        n_components: int = 2048,
        n_per_row: int = 128,
        kernel: str | Kernel = "gaussian",
        gamma: float | str = "median",
        learning_rate: float = 0.5,
        decay: float = 1e-5,
        loss: str = "squared",
        epsilon: float = 0.0,
        alpha: float = 0.0,
        n_warmup: int = 256,
        dtype: str = "float32",
        random_state: Any = None,
    ) -> None:
        self.n_components = n_components
        self.n_per_row = n_per_row
        self.kernel = kernel
        self.gamma = gamma
        self.learning_rate = learning_rate
        self.decay = decay
        self.loss = loss
        self.epsilon = epsilon
        self.alpha = alpha
        self.n_warmup = n_warmup
        self.dtype = dtype
        self.random_state = random_state
