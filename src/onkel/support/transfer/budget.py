"""Transfer: rows that leave the support set are carried over into random Fourier features."""

from __future__ import annotations

import numpy as np

from onkel.kernels import Kernel
from onkel.parameters import whole
from onkel.rules.base import RADIUS, Rule
from onkel.support.budget import Budget


class Transfer(Budget):
    """The k lightest rows of a full set are carried over into a weight vector.

    ``w̃ ← w̃ + Σ α_i z(s_i)`` over the k rows of the smallest ‖α_i‖, which are then dropped, with
    ``f(x) = Σ_j α_j κ(s_j, x) + w̃·z(x)`` and random Fourier features z: f changes by no more than
    their error. O(B + D·d) time per added row.

    Parameters
    ----------
    budget : int, default=100
        B ≥ 1.
    n_components : int, default=200
        Number of frequencies D ≥ 1; z has 2D features. The error falls as 1/√D.
    n_transfer : int, default=20
        k in 1..B: rows carried over at once. Fewer keep more rows exact.
    orthogonal : bool, default=False
        Orthogonal frequencies: smaller error; radial kernels only.

    Notes
    -----
    Source: Le, Nguyen, Nguyen & Phung 2016, Algorithms 1 and 2 (k-merging). Frequencies are of the
    kernel's own spectrum (for the Gaussian √(2γ) N(0, I)). Shift-invariant kernels only.
    """

    name = "transfer"
    family = "transfer"

    def __init__(
        self,
        budget: int = 100,
        n_components: int = 200,
        n_transfer: int = 20,
        orthogonal: bool = False,
    ) -> None:
        self.budget = budget
        self.n_components = n_components
        self.n_transfer = n_transfer
        self.orthogonal = orthogonal

    def limit(self) -> int | None:
        limit = whole(self, "budget")
        whole(self, "n_components")
        if whole(self, "n_transfer") > limit:
            raise ValueError(f"n_transfer={self.n_transfer!r} must be at most budget={limit}")
        return limit

    def needs_gram(self, par: np.ndarray) -> bool:
        return False

    def needs_norm(self, par: np.ndarray) -> bool:
        return False

    def check_rule(self, rule: Rule) -> None:
        super().check_rule(rule)
        if rule.parameters()[RADIUS] > 0.0:
            raise ValueError(
                f"rule {rule.name!r} projects f onto a ball, which budget {self.name!r} cannot: "
                "f lives in two spaces, and its norm is not kept; use 'gradient', or "
                "Pegasos(project=False)"
            )

    def check_kernel(self, kernel: Kernel) -> None:
        if not kernel.shift_invariant:
            raise ValueError(
                f"kernel={kernel.name!r} cannot be used with budget {self.name!r}: it is not "
                "shift-invariant and has no random Fourier features that could carry its rows over"
            )
