"""The exact second-order rules: least squares, and Newton's for the logistic loss."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from onkel.numerics.devices import DEVICES, device_named
from onkel.parameters import one_of, positive
from onkel.rules.base import OWN, Rule, RuleKind, vector


class ExactScalars(NamedTuple):
    """Penalty and forgetting factor of the exact rules."""

    ridge: float
    forgetting: float

    @classmethod
    def of(cls, par: np.ndarray) -> ExactScalars:
        """The scalars of a parameter vector."""
        return cls(*map(float, par[OWN:]))


@dataclass(eq=False, repr=False)
class _Exact(Rule):
    """What the exact rules share."""

    by_feature = True

    ridge: float = 0.01
    forgetting: float = 1.0
    device: str = "cpu"

    def parameters(self) -> np.ndarray:
        device_named(one_of(self, "device", DEVICES))
        ridge, forgetting = positive(self, "ridge"), positive(self, "forgetting")
        if forgetting > 1.0:
            raise ValueError(f"forgetting={self.forgetting!r} must be above 0 and at most 1")
        return vector(*ExactScalars(ridge, forgetting))


class LeastSquares(_Exact):
    """Recursive least squares: after every row, the ridge solution of all rows so far.

    With P = (ridge·I + Σ z zᵀ)⁻¹: ``e = y - w·z``, ``k = P z/(1 + zᵀ P z)``, ``w ← w + k e``,
    ``P ← P - k (P z)ᵀ``. No step size.

    Parameters
    ----------
    ridge : float, default=0.01
        Penalty (ridge/2)‖w‖² > 0.
    forgetting : float, default=1.0
        In (0, 1]: every further row multiplies a row's influence by this; 0.999 remembers about
        1 000 rows.
    device : {"cpu", "cuda"}, default="cpu"
        "cuda": the products of blocks of rows are made on a GPU, by CuPy.

    Notes
    -----
    Source: Plackett 1950; as a kernel method Engel, Mannor & Meir 2004. Classes are learned as
    indicators (two classes: ±1) and share one P. The state is a matrix over the features, so the
    rule needs an explicit map. Where landmarks move (adaptive Nyström), the new features of past
    rows are estimated by regression on the old: exact for rows to come, approximate for past rows.
    Where frequencies are learned (reparameterized), the same holds, but a sample of the past rows
    stays exact; see :mod:`onkel.explicit.learned_spectrum`.
    """

    name = "least_squares"
    kind = RuleKind.LEAST_SQUARES
    own_loss: ClassVar[dict[str, str] | None] = {
        "classification": "squared",
        "regression": "squared",
    }


class LogisticNewton(_Exact):
    """One Newton step on the logistic loss per row, with all curvature so far.

    With t = 1 for the class and 0 otherwise, p = σ(f), f⁺ = w⁺·z: ``w⁺ = w + P z (t - p⁺)``
    minimises the row's loss plus ½(w⁺ - w)ᵀ P⁻¹ (w⁺ - w). Then ``P⁻¹ ← P⁻¹ + h z zᵀ`` with
    h = p⁺(1 - p⁺). P⁻¹ starts at ridge/4·K₀. The gradient is taken where the step ends, so no step
    is too long. With more than two classes each is learned against the others; they share P, with
    the largest h.

    Parameters
    ----------
    ridge : float, default=0.01
        Penalty (ridge/8)‖w‖² > 0; near p = ½ it equals that of least squares on ±1.
    forgetting : float, default=1.0
        In (0, 1]: every further row multiplies a row's influence by this.
    device : {"cpu", "cuda"}, default="cpu"
        As in :class:`LeastSquares`.

    Notes
    -----
    Source: Laplace's approximation row by row (Spiegelhalter & Lauritzen 1990), with the implicit
    step of Kulis & Bartlett 2010; the blocks are ours. The state is a matrix over the features, so
    the rule needs an explicit map. Where features move, past rows are carried over as in
    :class:`LeastSquares`, each with the quadratic approximation of its loss at the time it was
    learned. docs/results/second-order.md compares the rule with least squares on the features of
    the default learner.
    """

    name = "newton"
    kind = RuleKind.NEWTON
    own_loss: ClassVar[dict[str, str] | None] = {"classification": "logistic"}

    def loss_name(self, loss: str, task: str) -> str:
        """ "logistic"; ValueError for regression."""
        if task == "regression":
            raise ValueError(
                "rule 'newton' learns by the logistic loss, which is for classes; "
                "use rule='least_squares' for regression"
            )
        return "logistic"
