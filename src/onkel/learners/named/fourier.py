"""Gradient descent over random Fourier features: FOGD (and ORF), Fastfood, doubly stochastic."""

from __future__ import annotations

from onkel import maps
from onkel.annotations import Seed
from onkel.kernels import Kernel
from onkel.learners import shared
from onkel.learners.classification import OnlineClassifier
from onkel.learners.declaration import Row, declared, learner, param
from onkel.learners.regression import OnlineRegressor
from onkel.learners.representations import OverMap
from onkel.parameters import whole
from onkel.rules import DoublyStochastic, Gradient, Rule


@declared
class _FOGD(OverMap):
    """Random Fourier map × gradient.

    Notes
    -----
    Features as in Rahimi & Recht 2007, normalised (‖z‖ = 1): a step of η in programs that leave out
    1/√D is η·D here.
    """

    _rows = (
        Row(
            "fogd", "Fourier online gradient descent", "any", "gradient", "random Fourier",
            "Lu, Hoi, Wang, Zhao & Liu 2016",
            "Algorithms 1 (binary), 3 (multiclass) and 5 (regression)",
        ),
        Row(
            "orf", "gradient descent over orthogonal random features", "any", "gradient",
            "orthogonal random Fourier",
            "Yu, Suresh, Choromanski, Holtmann-Rice & Kumar 2016", "the product S Q",
            {"orthogonal": True},
        ),
    )  # fmt: skip

    n_components: int = param(default=400, doc="Number of frequencies D ≥ 1 (2D features).")
    orthogonal: bool = param(default=False, doc="Draw orthogonal frequencies: smaller variance.")
    learning_rate: float = shared.LEARNING_RATE
    schedule: str | float = shared.SCHEDULE
    alpha: float = shared.ALPHA
    kernel: str | Kernel = shared.SHIFT_INVARIANT_KERNEL
    gamma: float | str = shared.GAMMA
    n_warmup: int = shared.N_WARMUP
    random_state: Seed = shared.RANDOM_STATE

    _make_rule = shared.by_name(Gradient)
    _make_map = shared.by_name(maps.FourierFeatures)


@learner("n_components=100, gamma=2.0, random_state=0", score="0.96")
class FOGDClassifier(_FOGD, OnlineClassifier):
    """Fourier online gradient descent: a fixed random map of the kernel and a linear model on it.

    ``z = [cos ω·x, sin ω·x]/√D``, ``w ← (1 - η_t α) w - η_t ∂loss/∂f z``. O(D·d) a row, at the
    speed of one matrix product; memory O(D·d).

    Use it on fast streams of numbers with a known or fitted bandwidth. With few frequencies
    :class:`RRFClassifier` is more accurate; on inputs that fill a small part of space,
    :class:`NOGDClassifier`.
    """

    loss: str = shared.CLASSIFICATION_LOSS


@learner("n_components=100, gamma=2.0, random_state=0", score="1.00")
class FOGDRegressor(_FOGD, OnlineRegressor):
    """Fourier online gradient descent for regression; see :class:`FOGDClassifier`.

    ``w ← (1 - η_t α) w - η_t ∂loss/∂f z``. The target should be of order 1 (the command-line tool
    scales it): steps are in its units.
    """

    loss: str = shared.REGRESSION_LOSS
    epsilon: float = shared.DEAD_ZONE


@declared
class _Fastfood(OverMap):
    """Fastfood map × gradient.

    Notes
    -----
    These are the features; they are learned over as in Lu et al. 2016, Algorithms 1, 3 and 5.
    """

    _rows = (Row(
        "fastfood", "gradient descent over Fastfood features", "any", "gradient", "Fastfood",
        "Le, Sarlos & Smola 2013", "the product V",
    ),)  # fmt: skip

    n_components: int = param(
        default=400,
        doc="Number of frequencies D ≥ 1 (2D features); with fewer than d columns, part of each "
        "transform is wasted.",
    )
    kernel: str | Kernel = param(
        default="gaussian",
        doc="A radial kernel: gaussian, rational_quadratic, matern32 or matern52.",
    )
    learning_rate: float = shared.LEARNING_RATE
    schedule: str | float = shared.SCHEDULE
    alpha: float = shared.ALPHA
    gamma: float | str = shared.GAMMA
    n_warmup: int = shared.N_WARMUP
    random_state: Seed = shared.RANDOM_STATE

    _make_rule = shared.by_name(Gradient)
    _make_map = shared.by_name(maps.FastfoodFeatures)


@learner("n_components=100, gamma=2.0, random_state=0", score="0.96")
class FastfoodClassifier(_Fastfood, OnlineClassifier):
    """Online gradient descent over Fastfood features: random Fourier features without a matrix.

    ``z = [cos v, sin v]/√D`` with ``v = √(2γ) S H G Π H B x/√m``,
    ``w ← (1 - η_t α) w - η_t ∂loss/∂f z``. O(D log d) a row and O(D) memory.

    Use it for rows of hundreds of columns and more, with at least as many frequencies, where it is
    faster than :class:`FOGDClassifier` and needs 1/d of its memory. For fewer columns FOGD is
    faster and a little more accurate.
    """

    loss: str = shared.CLASSIFICATION_LOSS


@learner("n_components=100, gamma=2.0, random_state=0", score="1.00")
class FastfoodRegressor(_Fastfood, OnlineRegressor):
    """Online gradient descent over Fastfood features for regression; see the classifier.

    ``w ← (1 - η_t α) w - η_t ∂loss/∂f z`` as in :class:`FastfoodClassifier`. The target should be
    of order 1 (the command-line tool scales it): steps are in its units.
    """

    loss: str = shared.REGRESSION_LOSS
    epsilon: float = shared.DEAD_ZONE


@declared
class _DoublySGD(OverMap):
    """Regenerated Fourier map × doubly stochastic gradient.

    Notes
    -----
    There the model grows with every step for ever, rows are drawn at random and learned in
    mini-batches, and the authors' program preconditions each block of features. Here rows come in a
    stream, once, each predicted by all weights before it is learned, and the number of features is
    bounded: the limit of learning is the best f over D random features, not over the whole space.
    """

    _rows = (Row(
        "doubly-sgd", "doubly stochastic gradient descent", "any", "doubly stochastic",
        "random Fourier (regenerated)", "Dai, Xie, He, Liang, Raj, Balcan & Song 2014",
        "Algorithms 1 and 2",
    ),)  # fmt: skip

    n_components: int = param(
        default=2048,
        doc="Number of frequencies D ≥ 1 (2D features), at which the model stops growing.",
    )
    n_per_row: int = param(
        default=128,
        doc="Number b ≥ 1 of frequencies that a row moves; raised to the next divisor of D. Fewer "
        "need a smaller learning rate, because the direction is noisier; D is the plain gradient.",
    )
    learning_rate: float = param(
        default=0.5, doc="Step size η > 0 (θ in the paper); in regression well below 2."
    )
    decay: float = param(
        default=1e-5, doc="At least 0 (θ' in the paper): the step is half of η after 1/decay rows."
    )
    alpha: float = param(default=0.0, doc="L2 penalty α ≥ 0 (ν in the paper).")
    kernel: str | Kernel = shared.SHIFT_INVARIANT_KERNEL
    gamma: float | str = shared.GAMMA
    n_warmup: int = shared.N_WARMUP
    random_state: Seed = shared.RANDOM_STATE

    _make_map = shared.by_name(maps.RegeneratedFeatures)

    def _make_rule(self) -> Rule:
        n = whole(self, "n_components")
        parts = max(n // whole(self, "n_per_row"), 1)
        # parts must divide n: then the cosine and the sine of a frequency are in the same part
        while n % parts:
            parts -= 1
        return DoublyStochastic(self.learning_rate, self.decay, self.alpha, parts)


@learner("n_components=256, n_per_row=32, gamma=2.0, random_state=0", score="0.96")
class DoublySGDClassifier(_DoublySGD, OnlineClassifier):
    """Doubly stochastic gradient descent: each row moves the weights of a few random features.

    ``w ← (1 - η_t α) w``, then ``w_s ← w_s - η_t ∂loss/∂f (D/b) z_s`` for the b frequencies s of
    row t, with ``η_t = η/(1 + decay·t)``. The first D/b rows bring b new frequencies each. Once
    there are D, later rows reuse the oldest in turn. Frequencies are drawn from their seed whenever
    they are needed, so the model holds its 2D weights and nothing else, whatever the number of
    columns. O(D·d) a row.

    Use it with many thousands of frequencies on wide rows, where the matrix of a
    :class:`FOGDClassifier` would not fit, and in blocks: one row at a time, drawing takes nearly
    all of the time. With fewer, FOGD and :class:`FastfoodClassifier` are faster and as accurate.
    """

    loss: str = shared.CLASSIFICATION_LOSS


@learner("n_components=256, n_per_row=32, gamma=2.0, random_state=0", score="1.00")
class DoublySGDRegressor(_DoublySGD, OnlineRegressor):
    """Doubly stochastic gradient descent for regression; see :class:`DoublySGDClassifier`.

    ``w_s ← w_s - η_t ∂loss/∂f (D/b) z_s``. The target should be of order 1 (the command-line tool
    scales it): steps are in its units.
    """

    loss: str = shared.REGRESSION_LOSS
    epsilon: float = shared.DEAD_ZONE
