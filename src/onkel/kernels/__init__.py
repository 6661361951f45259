"""Kernels κ(x, x'): the table of them, and how to add one."""

from __future__ import annotations

from collections.abc import Callable

from onkel.kernels.base import Kernel
from onkel.kernels.base import normal_directions as normal_directions
from onkel.kernels.base import squared_distances as squared_distances
from onkel.kernels.by_column import Cauchy, Laplacian, Periodic
from onkel.kernels.polynomial import Linear, Polynomial
from onkel.kernels.radial import Gaussian, Matern32, Matern52, RationalQuadratic
from onkel.tables import Table

KERNELS: Table[Kernel] = Table("kernel", Kernel, globals())
register: Callable[[type[Kernel]], type[Kernel]] = KERNELS.register


def make_kernel(kernel: str | Kernel) -> Kernel:
    """A kernel object from a name (``"rbf"`` is ``"gaussian"``) or an object, checked."""
    made = KERNELS.make("gaussian" if kernel == "rbf" else kernel)
    made.check_parameters()
    return made
