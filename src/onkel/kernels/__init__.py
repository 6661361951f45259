"""Kernels κ(x, x'): the table of them, and how to add one."""

from __future__ import annotations

from onkel.kernels.base import Kernel
from onkel.kernels.base import normal_directions as normal_directions
from onkel.kernels.cauchy import Cauchy
from onkel.kernels.distances import squared_distances as squared_distances
from onkel.kernels.gaussian import Gaussian
from onkel.kernels.laplacian import Laplacian
from onkel.kernels.linear import Linear
from onkel.kernels.matern import Matern32, Matern52
from onkel.kernels.periodic import Periodic
from onkel.kernels.polynomial import Polynomial
from onkel.kernels.rational_quadratic import RationalQuadratic
from onkel.tables import Table

KERNELS: Table[Kernel] = Table(
    "kernel",
    Kernel,
    (
        Gaussian,
        Laplacian,
        Cauchy,
        RationalQuadratic,
        Matern32,
        Matern52,
        Polynomial,
        Linear,
        Periodic,
    ),
)
register = KERNELS.register


def make_kernel(kernel: str | Kernel) -> Kernel:
    """A kernel object from a name (``"rbf"`` is ``"gaussian"``) or an object."""
    return KERNELS.make("gaussian" if kernel == "rbf" else kernel)
