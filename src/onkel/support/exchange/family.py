"""Budgets that drop a stored row and give its part of f to those that stay.

The new row t is added with the step that it would take without a budget. One row r goes, and
α_r κ_r is projected onto V, the span of some of the rows that stay. Wang & Vucetic 2010 minimise
½‖f' - f‖² + C·loss over such f'. With t in V the projection of κ_r leaves the score of row t as it
is, so the best step is τ of PA-I whatever r is. The residual κ_r - P_V κ_r is orthogonal to V, and
so to κ_t: ‖f' - f‖² = ‖τ c κ_t‖² + ‖α_r‖² ρ_r with ρ_r = ‖κ_r - P_V κ_r‖², and the best r has the
least ‖α_r‖² ρ_r:

* V = all other rows: BPA-P, :mod:`~onkel.support.exchange.bpa_projection`.
* V = {t, nearest neighbour of r}: BPA-NN, :mod:`~onkel.support.exchange.bpa_nearest`.
* V = {t}: BPA-S, :mod:`onkel.support.removal.replace_simple`.

The kernel matrix is taken as κ + λ I, λ above rounding, so that it is never singular.
"""

from __future__ import annotations

from enum import IntEnum

import numpy as np

from onkel.support.budget import SizedBudget


class ExchangeKind(IntEnum):
    """The budgets by number, as the loop knows them."""

    LEAST_CHANGE = 0
    SMALLEST = 1
    NEAREST = 2


class Exchange(SizedBudget):
    """A budget that gives the part of a dropped row to those that stay."""

    family = "exchange"

    def needs_gram(self, par: np.ndarray) -> bool:
        return True

    def needs_inverse(self) -> bool:
        """True when the inverse of κ(S, S) is kept."""
        return True
