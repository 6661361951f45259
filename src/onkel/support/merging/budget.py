"""Merging: two stored rows become one point between them (Gaussian kernel)."""

from __future__ import annotations

import numpy as np

from onkel.kernels import Gaussian, Kernel
from onkel.support.budget import SizedBudget


class Merging(SizedBudget):
    """The lightest row and the partner that suits it best become one point between them.

    Of B + 1 rows the one with the smallest ‖α_m‖ is merged: ``z = h s_m + (1 - h) s_n`` with the
    coefficients ``α_z = α_m κ^((1-h)²) + α_n κ^(h²)``, κ = κ(s_m, s_n), h and n such that f
    changes least. Rows whose coefficients point away from each other are not merged; where no
    partner is left the lightest row is dropped. O(B) time per added row; a matrix of B² numbers is
    kept.

    Parameters
    ----------
    budget : int, default=100
        B ≥ 1.

    Notes
    -----
    Source: Wang, Crammer & Vucetic 2012, merging. The search over h and n is exact. Gaussian
    kernel only: for others the best z need not lie on the line between the two.
    """

    name = "merging"
    family = "merging"

    def needs_gram(self, par: np.ndarray) -> bool:
        return True

    def check_kernel(self, kernel: Kernel) -> None:
        if type(kernel) is not Gaussian:
            raise ValueError(
                f"kernel={kernel.name!r} cannot be used with budget {self.name!r}: only for "
                "'gaussian' does the best point that stands for two rows lie between them; use "
                "budget 'smallest' or 'transfer'"
            )
