"""The papers' grids: widths, steps and penalties, and which of them a learner has.

Steps as in Lu et al. 2016 ({2, ..., 0.0002}; regression: around 0.1), widths, steps and penalties
as in Nguyen et al. 2017 (section 4.3). The papers' features are not normalised: their η is ours
divided by D, their λ ours times D.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

WIDTHS = tuple(2.0**k for k in (-8, -4, -2, 0, 2, 4, 8))
STEPS = (2.0, 1.0, 0.5, 0.2, 0.1, 0.05, 0.02, 0.01, 0.005, 0.002, 0.001, 0.0005, 0.0002)
FEW_STEPS = (2.0, 0.5, 0.1, 0.02, 0.005, 0.001, 0.0002)
RRF_STEPS = (1e-5, 3e-5, 1e-4, 3e-4, 1e-3, 3e-3, 1e-2)
#: λ times the number of rows
PENALTIES = tuple(2.0**k for k in range(-4, 17, 2))

Grid = dict[str, tuple[Any, ...]]


def rrf_grid(n_components: int, n_rows: int) -> Grid:
    """RRF's: one η for weights and widths, and λ."""
    etas = tuple((eta * n_components, eta) for eta in RRF_STEPS)
    penalties = tuple(penalty / n_rows / n_components for penalty in PENALTIES)
    return {"gamma": WIDTHS, "learning_rate,learning_rate_gamma": etas, "alpha": penalties}


def grid_of(parameters: Mapping[str, Any], n_rows: int) -> Grid:
    """The grid to search for a learner with these parameters, on so many rows.

    Widths where it has one; steps, or else penalties. Steps are multiplied by the number of
    frequencies where features are normalised.

    Examples
    --------
    >>> from onkel import make
    >>> list(grid_of(make("fogd").get_params(), 1000))
    ['gamma', 'learning_rate']
    """
    D = parameters.get("n_components", 1)
    if "learning_rate_gamma" in parameters:
        return rrf_grid(D, n_rows)
    found: Grid = {}
    if "gamma" in parameters:
        found["gamma"] = WIDTHS
    if "learning_rate" in parameters:
        fourier = "orthogonal" in parameters
        found["learning_rate"] = tuple(eta * (D if fourier else 1) for eta in FEW_STEPS)
    elif "alpha" in parameters:
        found["alpha"] = tuple(penalty / n_rows for penalty in PENALTIES)
    if "C" in parameters:
        found["C"] = (0.05, 0.2, 1.0, 5.0)
    return found
