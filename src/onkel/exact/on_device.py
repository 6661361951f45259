"""The products of least squares that take most of its time, on a device.

A block of rows goes there, and its products come back: factors, and all that a model keeps, stay in
the processor.
"""

from __future__ import annotations

import numpy as np

from onkel.numerics.devices import Device
from onkel.numerics.linalg import BlockFactor, solve_transposed


def gram_on_device(Z: np.ndarray, device: Device) -> np.ndarray:
    """The upper triangle of ZᵀZ (m, m) of rows Z (n, m)."""
    there = device.put(Z)
    return device.take(device.xp.triu(there.T @ there))


class FactorOnDevice:
    """A copy of a factor C, and of the inverses of its diagonal blocks."""

    def __init__(self, factor: BlockFactor, device: Device) -> None:
        self.factor = factor
        self._device = device
        self._C = device.put(factor.C)
        self._blocks = [(part, device.put(inverse)) for part, inverse in factor.blocks]

    def __deepcopy__(self, memo: dict[int, object]) -> FactorOnDevice:
        # it never changes
        return self

    def products(self, Z: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """U = C⁻ᵀ Zᵀ (m, n) of rows Z (n, m), and UᵀU."""
        U = self._device.put(Z.T)
        solve_transposed(self._C, self._blocks, U)
        return self._device.take(U), self._device.take(U.T @ U)
