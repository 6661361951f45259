"""Gradient descent over Nyström features: NOGD (landmarks stay) and NOLANA (landmarks move)."""

from __future__ import annotations

from onkel.kernels import Kernel
from onkel.learners import shared
from onkel.learners.classification import OnlineClassifier
from onkel.learners.declaration import Row, declared, learner, param, param_of
from onkel.learners.regression import OnlineRegressor
from onkel.learners.representations import OverMap
from onkel.maps import AdaptiveNystroem, NystroemFeatures
from onkel.rules import AdaGrad, Gradient, Rule


@declared
class _NOGD(OverMap):
    """Nyström map over the first support vectors × gradient.

    Attributes
    ----------
    coef_ : ndarray
        (K, k) weights, or (K, stored) coefficients of the support set until it is full.

    Notes
    -----
    float32 suits standardised inputs; raw columns in the thousands need float64, because distances
    are differences of large numbers.
    """

    _rows = (Row(
        "nogd", "Nyström online gradient descent", "any", "gradient",
        "Nyström (first support vectors)", "Lu, Hoi, Wang, Zhao & Liu 2016",
        "Algorithms 2 (binary), 4 (multiclass) and 6 (regression)",
    ),)  # fmt: skip

    n_components: int = param(
        default=100, doc="Number of landmarks B ≥ 1: the support vectors that are kept."
    )
    rank: int | None = param(
        default=None,
        doc="Number of eigenpairs k ≤ B that are kept; None for all. The paper keeps a fifth (20 "
        "of 100): faster, coarser.",
    )
    kernel: str | Kernel = shared.ANY_KERNEL
    learning_rate: float = shared.LEARNING_RATE
    schedule: str | float = shared.SCHEDULE
    alpha: float = shared.ALPHA
    gamma: float | str = shared.GAMMA
    n_warmup: int = shared.N_WARMUP

    _make_rule = shared.by_name(Gradient)
    _make_map = shared.by_name(NystroemFeatures, landmarks="support")


@learner("n_components=50, gamma=2.0", score="0.96")
class NOGDClassifier(_NOGD, OnlineClassifier):
    """Nyström online gradient descent: the first B support vectors become the landmarks of a map.

    Kernel OGD runs until B support vectors S are stored and one more is due. Then
    ``κ(S, S) = V Λ Vᵀ`` (top k), ``z(x) = Λ^-½ Vᵀ κ(S, x)``; ``w₀ = α V Λ^½`` carries the model
    over, and ``w ← (1 - η_t α) w - η_t ∂loss/∂f z`` follows. O(B·d + B·k) a row.

    Use it for any kernel (also polynomial), and where the data fill a small part of space. The
    landmarks are the *first* hard rows (with the logistic loss, the first B rows): for a stream
    that changes later, use :class:`NOLANAClassifier`.
    """

    loss: str = shared.CLASSIFICATION_LOSS


@learner("n_components=50, gamma=2.0", score="1.00")
class NOGDRegressor(_NOGD, OnlineRegressor):
    """Nyström online gradient descent for regression; see :class:`NOGDClassifier`.

    ``w ← (1 - η_t α) w - η_t ∂loss/∂f z``. Targets should be of order 1: steps are in their units.
    """

    loss: str = shared.REGRESSION_LOSS
    epsilon: float = shared.DEAD_ZONE


@declared
class _NOLANA(OverMap):
    """Adaptive Nyström map × gradient.

    Attributes
    ----------
    map_ : AdaptiveNystroem
        ``map_.landmarks_`` (B, d) are the landmarks now, ``map_.n_moves_`` counts their moves.

    Notes
    -----
    Equations 7 (features), 8 (landmarks), 9 and 10 (eigenpairs), 11 and 12 (weights). The paper's ε
    is ``threshold``. float32 suits standardised inputs; raw columns in the thousands need float64.
    """

    _rows = (Row(
        "nolana", "adaptive Nyström gradient descent", "any", "gradient",
        "Nyström (landmarks that move)", "Si, Kumar & Li 2018", "Algorithm 2",
    ),)  # fmt: skip

    n_components: int = param(
        default=100, doc="Number of landmarks B ≥ 1. They begin as the first B rows, and move."
    )
    rank: int | None = param_of(AdaptiveNystroem, "rank")
    kernel: str | Kernel = param(
        default="gaussian",
        doc="Any kernel of :mod:`onkel.kernels`; the Euclidean distance says which landmark is "
        "nearest.",
    )
    threshold: float | str = param_of(AdaptiveNystroem, "threshold")
    schedule: str | float = param(
        default="constant",
        kind='{"constant", "inverse_sqrt", "inverse", "adagrad"} or float',
        doc="As in :class:`onkel.rules.Gradient`, or "
        '"adagrad": a step size for every feature, as in :class:`onkel.rules.AdaGrad`; often '
        "better, because features of small eigenvalues are small. The paper's accuracy on usps "
        "(92.07 %) takes it: 92.8 % with B = 100 and k = 80, against 91.8 % with one step size for "
        "all (docs/results/nolana.md).",
    )
    theta: float = param_of(AdaptiveNystroem, "theta")
    solver: str = param_of(AdaptiveNystroem, "solver")
    n_iter: int = param_of(AdaptiveNystroem, "n_iter")
    weighted: bool = param_of(AdaptiveNystroem, "weighted")
    expire: int | None = param_of(AdaptiveNystroem, "expire")
    learning_rate: float = shared.LEARNING_RATE
    alpha: float = shared.ALPHA
    gamma: float | str = shared.GAMMA
    n_warmup: int = shared.N_WARMUP

    _make_map = shared.by_name(AdaptiveNystroem)

    def _make_rule(self) -> Rule:
        return shared.by_name(AdaGrad if self.schedule == "adagrad" else Gradient)(self)


@learner("n_components=20, gamma=2.0", score="0.96")
class NOLANAClassifier(_NOLANA, OnlineClassifier):
    """Gradient descent over Nyström features whose landmarks follow the rows by online k-means.

    ``z(x) = Λ^-½ Uᵀ κ(S, x)`` with the k leading eigenpairs of κ(S, S). A row is learned by
    ``w ← (1 - η_t α) w - η_t ∂loss/∂f z``. If it lies at ‖x - u_q‖² ≥ threshold from its nearest
    landmark, then ``u_q ← (N_q u_q + x)/(N_q + 1)``, the eigenpairs follow, and the weights go to
    ``argmin_w̄ Σ_i (w·z(u_i) - w̄·z̄(u_i))² + theta ‖w̄‖²``, which keeps f at the landmarks.
    O(B·d + B·k) a row, O(B²·d + B²·k) a move.

    Use it instead of :class:`NOGDClassifier` where landmarks are few, clusters many, or the stream
    changes (with ``expire``). On a steady stream with hundreds of landmarks the moves gain little
    and take most of the time: raise ``threshold``.
    """

    loss: str = shared.CLASSIFICATION_LOSS


@learner("n_components=20, gamma=2.0", score="1.00")
class NOLANARegressor(_NOLANA, OnlineRegressor):
    """Regression over Nyström features whose landmarks move; see :class:`NOLANAClassifier`.

    ``w ← (1 - η_t α) w - η_t ∂loss/∂f z``. Targets should be of order 1: steps are in their units.
    """

    loss: str = shared.REGRESSION_LOSS
    epsilon: float = shared.DEAD_ZONE
