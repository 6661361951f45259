"""The explicit representation: weights over a feature map, moved row by row."""

from __future__ import annotations

from typing import Any

import numpy as np

from onkel._dense import as_dense, with_zero_columns
from onkel._workspace import scratch
from onkel.losses import Loss
from onkel.maps.base import FeatureMap
from onkel.models import aligning, growing, learned_spectrum, loops, moving
from onkel.models.base import Model
from onkel.models.labels import outputs_with_class
from onkel.models.learned_spectrum import LearnedSpectrum
from onkel.models.newton import RecursiveNewton
from onkel.models.recursive import RecursiveLeastSquares
from onkel.models.reparameterized import learn_reparameterized
from onkel.models.threads import one_blas_thread
from onkel.models.warmup import Warmup
from onkel.rules.base import Rule, RuleKind

__all__ = ["ExplicitModel"]

# Features of a sub-block are to stay in a core's second-level cache while its rows are walked.
_CACHE_BYTES = 1 << 20
_MOST_ROWS, _FEWEST_ROWS = 512, 16


class ExplicitModel(Model):
    """f_k(x) = w_k · z(x) for K outputs: a map, a rule and a loss, with all their state.

    Parameters
    ----------
    feature_map : FeatureMap
        Started for the data's columns; the model drives and owns it.
    rule : Rule
    loss : Loss
    epsilon : float
        Half-width of the tube in which a regression row is not learned.
    n_outputs : int
        1 for binary and regression, else the number of classes.
    """

    def __init__(
        self, feature_map: FeatureMap, rule: Rule, loss: Loss, epsilon: float, n_outputs: int
    ) -> None:
        super().__init__(rule, loss, epsilon, n_outputs)
        self.map = feature_map
        self._check_pair()
        self.matrix: RecursiveLeastSquares | None = None
        self.spectrum: LearnedSpectrum | None = None
        rows = feature_map.warmup_rows()
        self.warmup = Warmup(rows, feature_map.next_fit) if rows else None
        if self.warmup is None:
            self.map.fit_first(np.empty((0, feature_map.n_features_in_), feature_map.dtype_))
            self._reset()

    def _check_pair(self) -> None:
        """A rule whose state belongs to features cannot begin in the kernel's space."""
        if self.rule.kind == RuleKind.GRADIENT or self.rule.kind == RuleKind.PASSIVE_AGGRESSIVE:
            return
        if self.map.grows:
            raise ValueError(
                f"rule {self.rule.name!r} works feature by feature and cannot learn in the "
                "kernel's space while landmarks='support' are gathered; use landmarks='first'"
            )

    # ---- state ---------------------------------------------------------------------------------

    def _fit_first(self, X: np.ndarray, y: np.ndarray, weight: np.ndarray) -> None:
        if self.map.supervised:
            self.map.fit_labelled(X, self.targets(y), weight)
        else:
            self.map.fit_first(X)

    def _reset(self) -> None:
        """f = 0 over the map as it is now."""
        growing = self.map.grows
        m = self.map.budget if growing else self.map.n_features_out_  # type: ignore[attr-defined]
        dtype = self.map.dtype_
        exact = self.rule.kind.exact
        self.W = np.zeros((self.n_outputs, m), np.float64 if exact else dtype)
        ridge, forgetting = self.par[:2]
        self.matrix = None
        if exact:
            newton = self.rule.kind == RuleKind.NEWTON
            matrix = RecursiveNewton if newton else RecursiveLeastSquares
            self.matrix = matrix(m, self.n_outputs, ridge, forgetting, self.map.prior())
        if exact and self.map.learns:
            self.spectrum = LearnedSpectrum(self.map, self.rule.kind, forgetting)  # type: ignore[arg-type]
        adaptive = self.rule.kind == RuleKind.ADAGRAD
        self.H = np.zeros((self.n_outputs, m) if adaptive else (0, 0), dtype)
        self.state = self._new_state(loops.N_STATE)
        self.support = np.empty((0, self.map.n_features_in_), dtype)

    @property
    def seed(self) -> int:
        """What every random choice comes from."""
        return self.map.seed_

    @seed.setter
    def seed(self, value: int) -> None:
        self.map.seed_ = value

    @property
    def ready(self) -> bool:
        """False before the first row of a map that is fitted on first rows."""
        return hasattr(self, "W")

    @property
    def coef(self) -> np.ndarray:
        """Weights (K, m), or coefficients of the support set (K, |S|) while it grows."""
        W = self.W[:, : len(self.support)] if self.map.grows else self.W
        return W * self.W.dtype.type(self.state[loops.SCALE])

    def get_state(self) -> dict[str, Any]:
        """Named arrays and scalars from which :meth:`set_state` goes on bit for bit."""
        out: dict[str, Any] = {"n_outputs": self.n_outputs}
        if self.ready:
            out |= {"W": self.W, "H": self.H, "state": self.state, "support": self.support}
            out["map"] = self.map.get_state()
            if self.matrix is not None:
                out["matrix"] = self.matrix.get_state()
            if self.spectrum is not None:
                out["spectrum"] = self.spectrum.get_state()
        if self.warmup is not None:
            out["warmup"] = self.warmup.get_state()
        return out

    def set_state(self, state: dict[str, Any]) -> None:
        """Take the state of a model of the same map, rule and loss."""
        self.n_outputs = state["n_outputs"]
        if "W" in state:
            self.map.set_state(state["map"])
            self._reset()
            if self.matrix is not None:
                self.matrix.set_state(state["matrix"])
            if self.spectrum is not None:
                self.spectrum.set_state(state["spectrum"])
            for name in ("W", "H", "state", "support"):
                setattr(self, name, np.array(state[name]))
        self.warmup = None
        if "warmup" in state:
            self.warmup = Warmup.from_state(state["warmup"], self.map.next_fit)

    def add_output(self, position: int) -> None:
        """Make room for a class with zero scores at ``position``.

        One output f (two classes) becomes three: -f/2, f/2 and the new one, whose differences,
        and so whose decisions and margins, are those of f.
        """
        if self.ready and self.matrix is not None:
            self.W = self.matrix.add_output(position)
        elif self.ready:
            self.W = outputs_with_class(self.W, position)
            if self.H.size:
                H = np.tile(self.H, (2, 1)) if self.n_outputs == 1 else self.H
                self.H = np.ascontiguousarray(np.insert(H, position, 0, axis=0))
            if self.n_outputs == 1:
                # ‖-f/2‖² + ‖f/2‖²
                self.state[loops.SQUARED_NORM] *= 0.5
        if self.ready and self.map.aligns:
            self.map.sums_.add_class(position)  # type: ignore[attr-defined]
        if self.ready and self.spectrum is not None:
            self.spectrum.kept.add_class(position, from_signs=self.n_outputs == 1)
        if self.warmup is not None:
            self.warmup.add_class(position, from_signs=self.n_outputs == 1)
        self.n_outputs = 3 if self.n_outputs == 1 else self.n_outputs + 1

    def add_columns(self, n: int) -> None:
        new = self.map.add_columns(n)
        super().add_columns(n)
        if not self.ready:
            return
        self.support = with_zero_columns(self.support, n)
        if self.spectrum is not None:
            self.spectrum.add_columns(n)
        if new is None:
            return
        where = [new] * n
        self.W = np.insert(self.W, where, 0, axis=1)
        if self.H.size:
            self.H = np.insert(self.H, where, 0, axis=1)
        if self.matrix is not None:
            self.matrix.add_features(where)

    # ---- prediction ----------------------------------------------------------------------------

    def scores(self, X: Any) -> np.ndarray:
        """f(x) of each row, (n, K) in float64."""
        out = np.zeros((X.shape[0], self.n_outputs))
        if self.ready:
            coef = self.coef
            if coef.shape[1] == 0:
                return out
            with one_blas_thread(X.shape[0]):
                for a, b in self._sub_blocks(X.shape[0]):
                    out[a:b] = self._features(X[a:b]) @ coef.T
        return out

    def _features(self, X: Any) -> np.ndarray:
        if self.map.grows:
            return self.map.kernel_rows(X, self.support)  # type: ignore[attr-defined,no-any-return]
        return self._block_features(X)

    def _sub_blocks(self, n: int) -> list[tuple[int, int]]:
        width = max(self.W.shape[1], self.map.n_features_in_) * self.map.dtype_.itemsize
        rows = min(max(_CACHE_BYTES // width, _FEWEST_ROWS, self.map.fewest_rows), _MOST_ROWS)
        first = rows
        if self.matrix is not None:
            # a block that an anchor cuts in two is solved in two parts
            period, missing = self.matrix.period, self.matrix.until_anchor
            rows = -(-period // -(-period // rows))
            first = missing % rows or rows
        starts = [0, *range(first, n, rows)] if n else []
        return list(zip(starts, [*starts[1:], n], strict=False))

    def variance(self, X: Any) -> np.ndarray:
        """Predictive variance (n,) of least squares."""
        if self.matrix is None:
            return np.full(X.shape[0], np.nan)
        out = np.empty(X.shape[0])
        for a, b in self._sub_blocks(X.shape[0]):
            out[a:b] = self.matrix.variance(self._block_features(X[a:b]))
        return out

    # ---- learning ------------------------------------------------------------------------------

    def _walk(self, X: Any, y: np.ndarray, weight: np.ndarray, P: np.ndarray) -> None:
        for a, b in self._sub_blocks(X.shape[0]):
            if self.map.grows:
                a += growing.learn(self, X[a:b], y[a:b], weight[a:b], P[a:b])
            if self.map.aligns:
                a += aligning.learn(self, X[a:b], y[a:b], weight[a:b], P[a:b])
            if a < b:
                self._walk_block(X[a:b], y[a:b], weight[a:b], P[a:b])

    def _walk_block(self, X: Any, y: np.ndarray, weight: np.ndarray, P: np.ndarray) -> None:
        if self.map.moves:
            moving.learn(self, X, y, weight, P)
        elif self.spectrum is not None:
            learned_spectrum.learn(self, X, y, weight, P)
        elif self.map.learns:
            m: Any = self.map
            law = (*m.parameters(), m.widths_par_)
            learn_reparameterized(as_dense(X), y, weight, *law, self.W, self.H, *self.how(), P)
        else:
            self.learn_features(self._block_features(X), y, weight, P)

    def learn_features(
        self, Z: np.ndarray, y: np.ndarray, weight: np.ndarray, P: np.ndarray
    ) -> None:
        """Learn rows of features Z (n, m), in order; P (n, K) gets the scores before each."""
        if self.matrix is not None:
            P[:] = self.matrix.learn(Z, self.targets(y), weight, self.W)
            self.state[loops.T] += np.count_nonzero(weight)
        else:
            loops.learn_block(Z, y, weight, self.W, self.H, *self.how(), P)

    def targets(self, y: np.ndarray) -> np.ndarray:
        """Targets (n, K) as numbers: y itself, or the indicators of the classes."""
        if self.n_outputs == 1:
            return y[:, None]
        return (y[:, None] == np.arange(self.n_outputs)).astype(np.float64)

    def _block_features(self, X: Any) -> np.ndarray:
        shape = (X.shape[0], self.W.shape[1])
        return self.map.features(X, scratch("features", shape, self.map.dtype_))

    def refresh_norm(self) -> None:
        """‖f‖² from the weights, where its recursion was interrupted."""
        self.state[loops.SQUARED_NORM] = float(np.sum(self.coef.astype(np.float64) ** 2))
