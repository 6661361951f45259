"""The support-set representation: coefficients over stored rows."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from onkel.kernels import Kernel
from onkel.losses import Loss
from onkel.maps.bandwidth import check_gamma, fit_gamma
from onkel.model.contract import Model
from onkel.model.labels import outputs_with_class, with_class
from onkel.model.warmup import Warmup
from onkel.numerics.dense import with_zero_columns
from onkel.numerics.random import new_state
from onkel.numerics.threads import one_blas_thread
from onkel.rules import base as places
from onkel.rules.base import Rule
from onkel.state import Array, Field, Number, Whole, check, require
from onkel.support.budget import N_INFO, TARGET
from onkel.support.slots import BORN, N_COUNTS, SIZE

#: rows of a sub-block at the most
MOST_ROWS = 256
#: the axis of an array that grows with the stored rows
SLOTS = "slots"
# Slots allocated at first; a set that outgrows them doubles.
_FIRST_CAPACITY = 64


class SupportModel(Model):
    """f_k(x) = Σ_j α_kj κ(s_j, x) for K outputs, over stored rows s_j.

    Parameters
    ----------
    kernel : Kernel
    gamma : float or {"median", "scale"}
        A heuristic is fitted on the first ``n_warmup`` rows.
    n_warmup : int
    limit : int or None
        The largest size of the support set.
    rule : Rule or None
        None for a model that no rule moves.
    loss : Loss
    epsilon : float
        Half-width of the tube in which a regression row is not learned.
    n_outputs : int
        1 for binary and regression, else the number of classes.
    d : int
        Columns of a row.
    dtype : dtype
        Of the stored rows, the kernel values and the coefficients.
    seed : int
        Where random choices come from.
    """

    A: np.ndarray
    S: np.ndarray
    info: np.ndarray
    gram: np.ndarray
    outputs: np.ndarray

    def __init__(
        self,
        kernel: Kernel,
        gamma: float | str,
        n_warmup: int,
        limit: int | None,
        rule: Rule | None,
        loss: Loss,
        epsilon: float,
        n_outputs: int,
        d: int,
        dtype: Any,
        seed: int,
    ) -> None:
        super().__init__(rule, loss, epsilon, n_outputs)
        check_gamma(gamma)
        self.gamma_ = math.nan
        self.kernel, self.gamma, self.limit = kernel, gamma, limit
        self.d, self.dtype, self.seed = d, np.dtype(dtype), seed
        self.warmup = Warmup(n_warmup) if isinstance(gamma, str) else None
        if self.warmup is None:
            self._fit_first(np.empty((0, d), self.dtype), np.empty(0), np.empty(0))
            self._reset()

    # ---- state ---------------------------------------------------------------------------------

    def arrays(self) -> dict[str, Array]:
        """The arrays over the slots: their dtypes, and their axes by name or length."""
        return {
            "A": Array(dtype=self.dtype, shape=("n_outputs", SLOTS)),
            "S": Array(dtype=self.dtype, shape=(SLOTS, "d")),
            "info": Array(dtype=np.float64, shape=(N_INFO, SLOTS)),
            "gram": Array(dtype=self.dtype, shape=(0, 0)),
            "outputs": Array(dtype=np.float64, shape=("n_outputs", 0)),
        }

    def _fields(self) -> dict[str, Field]:
        """All that the state of a ready model holds."""
        return {
            "gamma": Number(low=0.0),
            "rng": Array(dtype=np.uint64, shape=(1,), low=1),
            "counts": Array(dtype=np.int64, shape=(N_COUNTS,), low=0, high=2**62),
            "state": Array(dtype=np.float64, shape=(len(self._new_state()),)),
            **self.arrays(),
        }

    def _fit_first(self, X: np.ndarray, y: np.ndarray, weight: np.ndarray) -> None:
        self.gamma_ = fit_gamma(self.gamma, self.kernel, X)

    def _reset(self) -> None:
        """f = 0 and no row stored."""
        most = self.most_slots
        first = _FIRST_CAPACITY if most is None else min(most, _FIRST_CAPACITY)
        sizes = {"n_outputs": self.n_outputs, SLOTS: first, "d": self.d}
        for name, array in self.arrays().items():
            shape = [sizes[n] if isinstance(n, str) else n for n in array.shape]
            setattr(self, name, np.zeros(shape, array.dtype))
        self.rng = new_state(self.seed)
        self.counts = np.zeros(N_COUNTS, np.int64)
        self.state = self._new_state()

    @property
    def ready(self) -> bool:
        """False before the first row of a model whose gamma is fitted on first rows."""
        return not math.isnan(self.gamma_)

    @property
    def most_slots(self) -> int | None:
        """The largest number of slots; None where they grow."""
        return self.limit

    @property
    def size(self) -> int:
        """Number of stored rows."""
        return int(self.counts[SIZE]) if self.ready else 0

    @property
    def support(self) -> np.ndarray:
        """The stored rows (size, d)."""
        return self.S[: self.size] if self.ready else np.empty((0, self.d), self.dtype)

    @property
    def coef(self) -> np.ndarray:
        """Coefficients (K, size) of the stored rows."""
        if not self.ready:
            return np.empty((self.n_outputs, 0), self.dtype)
        return self.A[:, : self.size] * self.A.dtype.type(self.state[places.SCALE])

    def get_state(self) -> dict[str, Any]:
        """Named arrays and scalars from which :meth:`set_state` goes on bit for bit."""
        out: dict[str, Any] = {"n_outputs": self.n_outputs}
        if self.ready:
            out |= {"gamma": self.gamma_, "rng": self.rng, "counts": self.counts}
            out |= {"state": self.state}
            out |= {name: self._used(name) for name in self.arrays()}
        if self.warmup is not None:
            out["warmup"] = self.warmup.get_state()
        return out

    def _used(self, name: str) -> np.ndarray:
        """The part of an array that belongs to slots in use, of which one is kept at least."""
        used = slice(max(self.size, 1))
        axes = self.arrays()[name].shape
        part: np.ndarray = getattr(self, name)[
            tuple(used if n == SLOTS else slice(None) for n in axes)
        ]
        return part.copy()

    def set_state(self, state: dict[str, Any]) -> None:
        """Take the state of a model of the same kernel, budget, rule and loss.

        Raises
        ------
        ModelFileError
            Where it is no state that :meth:`get_state` could have given.
        """
        check(state, {"n_outputs": Whole(low=1, high=2**31)})
        require("A" in state or "warmup" in state, "A: is missing, and so are the first rows")
        self.n_outputs = int(state["n_outputs"])
        if "A" in state:
            self._check_state(state)
            self.gamma_ = state["gamma"]
            self._reset()
            self.counts = np.array(state["counts"])
            self._reserve(0)
            self.rng, self.state = np.array(state["rng"]), np.array(state["state"])
            for name in self.arrays():
                saved = state[name]
                getattr(self, name)[tuple(slice(m) for m in saved.shape)] = saved
        self.warmup = Warmup.from_state(state["warmup"]) if "warmup" in state else None

    def _check_state(self, state: dict[str, Any]) -> None:
        """ModelFileError where the arrays don't belong together; the loops check no index."""
        sizes = check(state, self._fields(), n_outputs=self.n_outputs, d=self.d)
        size, most = int(state["counts"][SIZE]), self.most_slots
        require(
            sizes[SLOTS] == max(size, 1) and (most is None or size <= most),
            f"counts: holds a size of {size}; there are {sizes[SLOTS]} rows, and {most} at most",
        )
        require(
            state["counts"][BORN] >= size, "counts: holds fewer rows ever stored than are there"
        )
        scale = state["state"][places.SCALE]
        require(scale > 0.0, f"state: holds a scale of {scale}; it must be above 0")
        if self.n_outputs > 1 and "info" in state:
            codes = state["info"][TARGET, :size]
            require(
                np.isin(codes, np.arange(self.n_outputs)).all(),
                f"info: holds labels that are no class code from 0 to {self.n_outputs - 1}",
            )

    def _reserve(self, n: int) -> None:
        """Room for n more rows, within the budget."""
        have, need, most = len(self.S), self.size + n, self.most_slots
        if most is not None:
            need = min(need, most)
        if need <= have:
            return
        room = max(need, 2 * have)
        room = room if most is None else min(room, most)
        for name, array in self.arrays().items():
            pad = [(0, (room - have) * (axis == SLOTS)) for axis in array.shape]
            setattr(self, name, np.pad(getattr(self, name), pad))

    # ---- what the guard asks -------------------------------------------------------------------

    def is_finite(self) -> bool:
        return not self.ready or bool(np.isfinite(self.A.sum()) and np.isfinite(self.state.sum()))

    # ---- classes and columns that come later ---------------------------------------------------

    def add_output(self, position: int) -> None:
        """Make room for a class with zero scores at ``position``.

        One output f (two classes) becomes three: -f/2, f/2 and the new one, whose differences,
        and so whose decisions and margins, are those of f.
        """
        one = self.n_outputs == 1
        if self.ready:
            for name in ("A", "outputs"):
                setattr(self, name, outputs_with_class(getattr(self, name), position))
            self.info[TARGET] = with_class(self.info[TARGET], position, from_signs=one)
            if one:
                # ‖-f/2‖² + ‖f/2‖²
                self.state[places.SQUARED_NORM] *= 0.5
        if self.warmup is not None:
            self.warmup.add_class(position, from_signs=one)
        self.n_outputs = 3 if one else self.n_outputs + 1

    def add_columns(self, n: int) -> None:
        super().add_columns(n)
        self.d += n
        if self.ready:
            self.S = with_zero_columns(self.S, n)

    # ---- prediction ----------------------------------------------------------------------------

    def scores(self, X: Any) -> np.ndarray:
        """f(x) of each row, (n, K) in float64."""
        out = np.zeros((X.shape[0], self.n_outputs))
        if self.size:
            weights = np.ascontiguousarray(self._weights().T)
            with one_blas_thread(X.shape[0]):
                for a in range(0, X.shape[0], MOST_ROWS):
                    K = self.kernel.gram(X[a : a + MOST_ROWS], self.support, self.gamma_)
                    out[a : a + MOST_ROWS] = self._coordinates(K) @ weights
        return out

    def _weights(self) -> np.ndarray:
        """What the coordinates of a row are weighed by, (K, size)."""
        return self.coef

    def _coordinates(self, K: np.ndarray) -> np.ndarray:
        """The coordinates of rows with kernel values K (n, size), which it may overwrite."""
        return K
