"""Kernels κ(x, x'): the table of them, and how to add one."""

from __future__ import annotations

from onkel import tables
from onkel.kernels.base import Kernel, normal_directions
from onkel.kernels.cauchy import Cauchy
from onkel.kernels.distances import squared_distances
from onkel.kernels.gaussian import Gaussian
from onkel.kernels.laplacian import Laplacian
from onkel.kernels.linear import Linear
from onkel.kernels.matern import Matern32, Matern52
from onkel.kernels.periodic import Periodic
from onkel.kernels.polynomial import Polynomial
from onkel.kernels.rational_quadratic import RationalQuadratic

__all__ = [
    "KERNELS",
    "Cauchy",
    "Gaussian",
    "Kernel",
    "Laplacian",
    "Linear",
    "Matern32",
    "Matern52",
    "Periodic",
    "Polynomial",
    "RationalQuadratic",
    "make_kernel",
    "normal_directions",
    "register",
    "squared_distances",
]

KERNELS: dict[str, type[Kernel]] = {
    kernel.name: kernel
    for kernel in (
        Gaussian,
        Laplacian,
        Cauchy,
        RationalQuadratic,
        Matern32,
        Matern52,
        Polynomial,
        Linear,
        Periodic,
    )
}


def make_kernel(kernel: str | Kernel) -> Kernel:
    """A kernel object from a name (``"rbf"`` is ``"gaussian"``) or an object."""
    return tables.make("kernel", "gaussian" if kernel == "rbf" else kernel, KERNELS, Kernel)


def register(cls: type[Kernel]) -> type[Kernel]:
    """Add a kernel of your own under its ``name``; may be used as a decorator.

    It can then be named wherever a kernel can, and is saved and loaded with a model; register it
    before loading. See docs/extending.md.
    """
    return tables.add(cls, KERNELS, Kernel)
