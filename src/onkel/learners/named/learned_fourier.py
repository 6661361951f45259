"""Gradient descent over Fourier features that are learned (RRF) or chosen (aligned)."""

from __future__ import annotations

from onkel.annotations import Seed
from onkel.kernels import Kernel
from onkel.learners import shared
from onkel.learners.classification import OnlineClassifier
from onkel.learners.declaration import Row, declared, learner, param, param_of
from onkel.learners.regression import OnlineRegressor
from onkel.learners.representations import OverMap
from onkel.maps import AlignedFourier, ReparameterizedFeatures
from onkel.maps.candidates import FeatureFunction
from onkel.parameters import non_negative
from onkel.rules import Gradient


@declared
class _RRF(OverMap):
    """Reparameterized map × gradient.

    Attributes
    ----------
    map_ : ReparameterizedFeatures
        ``map_.log_width_`` (d,) are the learned log-widths, ``map_.frequencies_`` (d, D) the
        frequencies.

    Notes
    -----
    Mixtures: Wilson & Adams 2013, eq. 12.
    """

    _rows = (
        Row(
            "rrf", "reparameterized random features", "any", "gradient", "reparameterized",
            "Nguyen, Le, Bui & Phung 2017", "Algorithm 1 and section 4.4",
        ),
        Row(
            "rrf-d", "RRF with widths for every frequency", "any", "gradient",
            "reparameterized (each frequency)", "Nguyen, Le, Bui & Phung 2017", "section 3.2",
            {"law": "frequency"},
        ),
        Row(
            "rrf-sm", "RRF of a spectral mixture kernel", "any", "gradient",
            "reparameterized (spectral mixture)", "Wilson & Adams 2013",
            "eq. 12, learned as in RRF", {"law": "mixture"},
        ),
    )  # fmt: skip

    n_components: int = param(default=100, doc="Number of frequencies D ≥ 1 (2D features).")
    gamma: float | str = param(
        default="median",
        kind='float or {"median", "scale"}',
        doc="Width at the start, exp(g) = √(2·gamma) for every input; gamma=0.5 is g = 0.",
    )
    learning_rate_gamma: float = param(
        default=0.01, doc="Step size η_g ≥ 0 of the log-widths; 0 keeps them (FOGD)."
    )
    damping: float = param_of(ReparameterizedFeatures, "damping")
    orthogonal: bool = param_of(ReparameterizedFeatures, "orthogonal")
    law: str = param(
        default="gaussian",
        kind='{"gaussian", "frequency", "mixture"}',
        doc="What the frequencies share: the widths of one Gaussian kernel, as in the paper; "
        "nothing (each frequency has a width of its own for every input); or the widths of the "
        "components of a spectral mixture, whose means and shares move, too.",
    )
    n_mixtures: int = param_of(ReparameterizedFeatures, "n_mixtures")
    learning_rate: float = shared.LEARNING_RATE
    schedule: str | float = shared.SCHEDULE
    alpha: float = shared.ALPHA
    n_warmup: int = shared.N_WARMUP
    random_state: Seed = shared.RANDOM_STATE

    _make_rule = shared.by_name(Gradient)

    def _make_map(self) -> ReparameterizedFeatures:
        # the map would call it learning_rate, which is another parameter here
        non_negative(self, "learning_rate_gamma")
        renamed = {"learning_rate": "learning_rate_gamma"}
        return shared.by_name(ReparameterizedFeatures, renamed=renamed)(self)


@learner("n_components=50, random_state=0", score="0.94")
class RRFClassifier(_RRF, OnlineClassifier):
    """Reparameterized random features: Fourier features that learn a width for every input.

    ``ω_d = exp(g) ∘ e_d`` with fixed noise e_d ~ N(0, I);
    ``w ← (1 - η_t α) w - η_t ∂loss/∂f z`` and ``g ← g - η_g ∂loss/∂g`` by the same loss, both
    gradients at the weights before the update. O(D·d) a row.

    Use it where some inputs matter more than others: with a fourth of FOGD's frequencies it is
    usually more accurate. It takes more time per frequency than FOGD: each row moves the features,
    so a block is not one matrix product. The paper's logistic loss of several classes, ℓ(w_y·z -
    w_s·z) against the best wrong class s, is ``loss="margin_logistic"``; "logistic" is softmax.
    """

    loss: str = shared.CLASSIFICATION_LOSS


@learner("n_components=50, random_state=0", score="1.00")
class RRFRegressor(_RRF, OnlineRegressor):
    """Reparameterized random features for regression; see :class:`RRFClassifier`.

    ``w ← (1 - η_t α) w - η_t ∂loss/∂f z``, ``g ← g - η_g ∂loss/∂g``. Targets should be of order 1.
    The paper's losses ℓ2, ℓ1 and ε are "squared", "absolute" and "epsilon_insensitive".
    """

    loss: str = shared.REGRESSION_LOSS
    epsilon: float = shared.DEAD_ZONE


@declared
class _Aligned(OverMap):
    """Aligned Fourier map × gradient.

    Attributes
    ----------
    map_ : AlignedFourier
        ``map_.weights_`` (M,) are the weights q of the M ≤ n_components features,
        ``map_.alignment_`` is the alignment reached.

    Notes
    -----
    The online form (running sums, a schedule, weights carried over) and regression are ours.
    """

    _rows = (Row(
        "aligned", "aligned random features", "any", "gradient", "aligned random Fourier",
        "Sinha & Duchi 2016", "eq. 4 and Algorithm 1",
    ),)  # fmt: skip

    n_components: int = param(default=200, doc="Number of features D ≥ 1.")
    n_candidates: int = param_of(AlignedFourier, "n_candidates")
    rho: float | None = param_of(AlignedFourier, "rho")
    power: float = param_of(AlignedFourier, "power")
    selection: str = param_of(AlignedFourier, "selection")
    centered: bool = param_of(AlignedFourier, "centered")
    n_align: int | None = param_of(AlignedFourier, "n_align")
    features: FeatureFunction | None = param(
        default=None,
        kind="callable or None",
        doc="φ of your own in place of cosines: features(X, frequencies, offsets) gives (n, N). "
        "See ``phi`` of :class:`AlignedFourier`.",
    )
    learning_rate: float = shared.LEARNING_RATE
    schedule: str | float = shared.SCHEDULE
    alpha: float = shared.ALPHA
    kernel: str | Kernel = shared.SHIFT_INVARIANT_KERNEL
    gamma: float | str = shared.GAMMA
    n_warmup: int = shared.N_WARMUP
    random_state: Seed = shared.RANDOM_STATE

    _make_rule = shared.by_name(Gradient)
    _make_map = shared.by_name(AlignedFourier, renamed={"phi": "features"})


@declared
class AlignedClassifier(_Aligned, OnlineClassifier):
    """Gradient steps over random Fourier features that are chosen by how well they fit the labels.

    ``f(x) = w·z(x)``, z the D of N random cosines whose weights q maximise the alignment
    ``Σ q_m (Σ_i y_i φ_m(x_i))²`` within an f-divergence ball, and
    ``w ← (1 - η_t α) w - η_t ∂loss/∂f z``. The sums are updated with every row; q is solved for
    after rows 32, 64, 128, ... until ``n_align``, and f is carried over.

    Use it where FOGD gets much better with ten times as many features: the kernel does not fit the
    labels, but some of its features do. Each row costs O(N·d) until ``n_align`` rows have come, and
    O(D·d) after that. Where inputs differ only in scale, :class:`RRFClassifier` learns that at less
    cost. For any other rule use :class:`ExplicitKernelClassifier` with
    ``map=AlignedFourier(...)``.

    Examples
    --------
    >>> import numpy as np
    >>> from onkel import AlignedClassifier
    >>> X = np.random.default_rng(0).standard_normal((8000, 8))
    >>> y = np.linalg.norm(X, axis=1) > np.sqrt(8)
    >>> for rho in (0.0, None):  # plain random features, aligned ones
    ...     model = AlignedClassifier(n_components=100, gamma=0.5, rho=rho, random_state=0)
    ...     before = model.predict_then_learn(X, y)
    ...     print(f"{(before == y)[-2000:].mean():.2f}")
    0.68
    0.79
    """

    loss: str = shared.CLASSIFICATION_LOSS


@declared
class AlignedRegressor(_Aligned, OnlineRegressor):
    """Aligned random features for regression; see :class:`AlignedClassifier`.

    ``w ← (1 - η_t α) w - η_t ∂loss/∂f z``, z aligned with the targets, which should be of order 1.

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
    """

    loss: str = shared.REGRESSION_LOSS
    epsilon: float = shared.DEAD_ZONE
