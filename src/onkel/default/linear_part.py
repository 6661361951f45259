"""A linear function of all columns: where there are more than landmarks, or where it wins.

A sum over B landmarks looks at rows in B directions at most. Of a linear function of d > B columns
it sees little more than the share B/d. So a linear function ℓ is learned beside it,

    ℓ(x) = ⟨w, u⟩,   u = (x in units of the first rows, 1),
    w = argmin Σ_t (y_t - ⟨w, u_t⟩)² + σ² Σ_j w_j²/v_j,

each time the rows have grown by a quarter. σ² is the mean squared error of ℓ on the rows since it
was last solved, each predicted before it was learned. The prior variances v follow the weights:

    v_j ← o_j · mean o,   o_j² = w_j² + σ²/(A_jj + σ²/v_j),   A = Σ u uᵀ.

One v for all columns (ridge regression) hides a few columns that matter among many that do not.
v_j = o_j² (automatic relevance determination) loses many columns that matter a little each. The
formula lies half-way, and serves both.

A prediction p becomes p + a (ℓ - p), where a in [0, 1] is the least-squares share so far, less its
standard error, as in :mod:`onkel.default.cells`. Its sums are halved whenever w is solved anew.

Of few columns ℓ is learned where it wins: where ridge regression on the first half of the first
rows predicts the other half better than f did. f is 0 far from all landmarks, and its columns with
heavy tails are curved. So it does not learn a sum of amounts of which some are far larger than the
others, nor a trend that goes on. The columns of an ℓ that has won are not curved. Its share is that
of least squares without the standard error: where a few large rows make most of the errors, that
is always large. When f is a new one, the last rows say what ℓ is worth beside it.

Source: MacKay 1994 and Tipping 2001 (automatic relevance determination); the prior half-way is
ours.
"""

from __future__ import annotations

from typing import ClassVar, Self

import numpy as np
from scipy.linalg.lapack import spotrs

from onkel.annotations import Matrix
from onkel.default.cells import (
    LEFT,
    N_SUMS,
    ROWS,
    learn_share,
    residuals_with_class,
    share,
    share_left,
)
from onkel.default.column_choice import LearnedRows
from onkel.fields import Array, Fields, Flag, Number, Sizes, State, Whole, require
from onkel.maps.landmarks.fitted import OF_UNITS, TailCurves, Units
from onkel.merging import joined, require_same
from onkel.numerics.arrays import as_dense
from onkel.numerics.in_steps import finished
from onkel.numerics.linalg import add_gram, cholesky_upper
from onkel.state import Stateful

#: columns, as a multiple of the landmarks, up to which the matrix of all pairs is kept
MOST = 4
# What is left of the share's sums after some rows: all of them.
_KEPT = np.ones(1)
# Rows that are added to the sums at once: one by one would take several times as long.
_AT_ONCE = 256
_GROWN = 1.25
# Standardised values beyond this are cut off: a linear function grows without bound. One that has
# won was right about the farthest rows.
_FARTHEST, _FARTHEST_WON = 32.0, 1e4
#: rows from which on ℓ may win, and the share of f's squared errors that it leaves then, at most
FEWEST, _LEFT = _AT_ONCE, 0.9
# A row counts as predicted by itself to this share at most.
_MOST_OWN = 0.9
# σ²/v is at most this, in float32.
_LARGEST = 1e30


class LinearPart(Stateful):
    """Sums A (d + 1, d + 1), upper triangle, and b (d + 1, K); weights W; variances v."""

    STATE: ClassVar[Fields] = {
        **OF_UNITS,
        "A": Array(np.float32, ("features", "features")),
        "b": Array(shape=("features", "n_outputs")),
        "W": Array(shape=("features", "n_outputs"), low=-1e150, high=1e150),
        "v": Array(shape=("features",), low=0.0),
        "missed": Number(low=0.0),
        "sums": Array(shape=(N_SUMS,), low=-1e300, high=1e300),
        "rows": Array(np.float32, (_AT_ONCE, "features")),
        "targets": Array(shape=(_AT_ONCE, "n_outputs")),
        "n_waiting": Whole(high=_AT_ONCE - 1),
        "n_rows": Whole(high=2**58),
        "n_solved": Whole(high=2**58),
        # files of before have none
        "won": Flag(optional=True),
    }

    def __init__(
        self, units: Units, n_outputs: int, forgetting: float = 1.0, won: bool = False
    ) -> None:
        self.forgetting: float = forgetting
        #: whether ℓ is here because it predicted better than f
        self.won: bool = won
        self.tails: np.ndarray = units.tails.as_array()
        self.middle: np.ndarray = units.middle
        self.scale: np.ndarray = units.scale
        self.units: Units = units
        features = len(units.middle) + 1
        self.A: np.ndarray = np.zeros((features, features), np.float32)
        self.b: np.ndarray = np.zeros((features, n_outputs))
        self.W: np.ndarray = np.zeros((features, n_outputs))
        #: 0 before the first solution
        self.v: np.ndarray = np.zeros(features)
        #: squared errors, Σ weight ‖y - ℓ‖², of the rows since W was solved
        self.missed: float = 0.0
        self.sums: np.ndarray = np.zeros(N_SUMS)
        #: rows u √weight and y √weight that wait to be added to the sums
        self.rows: np.ndarray = np.zeros((_AT_ONCE, features), np.float32)
        self.targets: np.ndarray = np.zeros((_AT_ONCE, n_outputs))
        self.n_waiting: int = 0
        #: all rows, and those when W was solved
        self.n_rows: int = 0
        self.n_solved: int = 0

    @classmethod
    def begun(cls, X: np.ndarray, n_outputs: int, forgetting: float) -> Self:
        """ℓ = 0, in the units of the rows X (n, d)."""
        return cls(finished(Units.in_steps(X)), n_outputs, forgetting)

    @classmethod
    def of_many(cls, rows: LearnedRows, n_landmarks: int, forgetting: float) -> Self | None:
        """ℓ that has learned the rows; None unless they have more columns than landmarks."""
        if not (n_landmarks < rows.X.shape[1] <= MOST * n_landmarks and len(rows.X)):
            return None
        part = cls.begun(rows.X, rows.Y.shape[1], forgetting)
        part.learn(rows.X, rows.Y, rows.P, rows.weight)
        return part

    @classmethod
    def won_by(cls, rows: LearnedRows, forgetting: float) -> Self | None:
        """As :meth:`of_many`, for few columns: where ℓ is better than f; else None."""
        X, Y, P, weight = rows.X, rows.Y, rows.P, rows.weight
        if len(X) < FEWEST or not _is_better(rows):
            return None
        part = cls(Units.straight(X), Y.shape[1], forgetting, won=True)
        n = max(len(X) // 2, FEWEST)
        part.learn(X[:n], Y[:n], P[:n], weight[:n])
        # until now it was 0
        part.sums[:] = 0.0
        part.learn(X[n:], Y[n:], P[n:], weight[n:])
        return part

    @property
    def farthest(self) -> float:
        """Standardised values beyond this are cut off."""
        return _FARTHEST_WON if self.won else _FARTHEST

    def _features(self, X: Matrix) -> np.ndarray:
        """u (n, d + 1) of rows X, which may have columns that came later."""
        U = self.units(as_dense(X[:, : len(self.middle)]))
        return np.hstack([np.clip(U, -self.farthest, self.farthest), np.ones((len(U), 1))])

    def _covered(self, X: Matrix) -> np.ndarray:
        """1 for each row of which ℓ may say something, else 0, (n,).

        One that has won would be wrong about rows that have a column which came later.
        """
        later = X[:, len(self.middle) :] if self.won else X[:, :0]
        return 1.0 - (as_dense(later) != 0.0).any(axis=1)

    # ---- learning ------------------------------------------------------------------------------

    def learn(self, X: Matrix, Y: np.ndarray, P: np.ndarray, weight: np.ndarray) -> np.ndarray:
        """Learn targets Y (n, K) of rows X; returns a (ℓ - p) (n, K) before each was learned."""
        U, out, done = self._features(X), np.zeros(P.shape), 0
        covered = self._covered(X)
        weight = weight * covered
        while done < len(U):
            part = slice(done, done + _AT_ONCE - self.n_waiting)
            L = U[part] @ self.W
            rows = Y[part] - P[part], L - P[part], weight[part]
            learn_share(*rows, _KEPT, self.sums[None], self._doubt, out[part])
            self.missed += float(weight[part] @ ((Y[part] - L) ** 2).sum(axis=1))
            self._keep(U[part], Y[part], weight[part])
            done += len(L)
        return out * covered[:, None]

    def judge_anew(self, X: Matrix, Y: np.ndarray, P: np.ndarray, weight: np.ndarray) -> None:
        """Let the share follow from some of the rows learned, predicted by P (n, K) without it.

        ℓ has learned them, and its errors there are smaller than on new rows: they are divided by
        1 - h, with h the mean leverage of a row.
        """
        own = min(len(self.W) / max(self.n_rows, 1), _MOST_OWN)
        E = (Y - self._features(X) @ self.W) / (1.0 - own)
        self.sums[:] = 0.0
        of = Y - P, Y - E - P, weight * self._covered(X), _KEPT, self.sums[None], self._doubt
        learn_share(*of, np.empty(P.shape))

    def correction(self, X: Matrix, P: np.ndarray) -> np.ndarray:
        """a (ℓ - p) (n, K) of rows X with predictions P (n, K)."""
        covered = self._covered(X)[:, None]
        return self.share * covered * (self._features(X) @ self.W - P)

    @property
    def _doubt(self) -> float:
        """How many standard errors the share is less."""
        return 0.0 if self.won else 1.0

    @property
    def share(self) -> float:
        """a."""
        return float(share(self.sums, self._doubt))

    @property
    def left(self) -> float:
        """Squared errors after the correction, as a share of those before."""
        return share_left(self.sums)

    @property
    def noise(self) -> float:
        """Mean squared error after the correction; 0 where it is not known, or ℓ has not won."""
        return float(self.sums[LEFT] / max(self.sums[ROWS], 1.0)) if self.won else 0.0

    def _keep(self, U: np.ndarray, Y: np.ndarray, weight: np.ndarray) -> None:
        """Let at most as many rows wait as there is room for; add them where they fill it."""
        root, n = np.sqrt(weight)[:, None], self.n_waiting
        self.rows[n : n + len(U)] = U * root
        self.targets[n : n + len(U)] = Y * root
        self.n_waiting += len(U)
        self.n_rows += len(U)
        if self.n_waiting == _AT_ONCE:
            kept = self.forgetting**_AT_ONCE
            if kept < 1.0:
                self.A *= np.float32(kept)
                self.b *= kept
            add_gram(self.A, self.rows)
            self.b += self.rows.T @ self.targets
            self.n_waiting = 0
            if self.n_rows >= _GROWN * self.n_solved:
                self._solve()

    def _solve(self) -> None:
        """The weights of all rows in the sums, and the prior variances that follow from them."""
        n, K = self.n_rows - self.n_solved, self.b.shape[1]
        # two parts that were both just solved have no errors since: the constant's variance is the
        # noise of their first solution
        noise = self.missed / (n * K) if n else float(self.v[-1])
        self.n_solved, self.missed = self.n_rows, 0.0
        if not self.v.any():
            # the constant may be as large as the targets
            self.v[:-1], self.v[-1] = noise / len(self.v), noise
        if noise <= 0.0 or not self.v.all():
            return
        H, diagonal = self.A.copy(), np.diag(self.A).astype(np.float64)
        H.flat[:: len(H) + 1] += np.minimum(noise / self.v, _LARGEST).astype(np.float32)
        # in a unit, a power of two, in which float32 holds the sums of the largest targets
        unit = int(np.frexp(np.abs(self.b).max())[1])
        b = np.ldexp(self.b, -unit).astype(np.float32)
        W, _ = spotrs(cholesky_upper(H).T, b, lower=1)
        if not np.isfinite(W).all():
            return
        self.W = np.ldexp(W.astype(np.float64), unit)
        own = np.sqrt(np.mean(self.W**2, axis=1) + noise / (diagonal + noise / self.v))[:-1]
        self.v[:-1] = own * own.mean()
        self.sums[: None if self.won else ROWS] *= 0.5

    def add_output(self, position: int) -> None:
        """Make room for a class; one output of targets ±1 becomes two indicators."""
        from_signs = self.b.shape[1] == 1
        self.b, self.W, self.targets = (
            residuals_with_class(of, position) for of in (self.b, self.W, self.targets)
        )
        if from_signs:
            # an indicator is (1 ± y)/2; the products of the constant 1 are the last column of A
            self.b += _of_two(0.5 * self.A[:, -1:].astype(np.float64), position)
            self.W[-1] += _of_two(np.full((1, 1), 0.5), position)[0]
            self.targets += _of_two(0.5 * self.rows[:, -1:].astype(np.float64), position)
            # indicators differ half as much as signs, and there are two of them
            self.v *= 0.25
            self.missed *= 0.5
            self.sums[:ROWS] *= 0.5

    # ---- models of several parts ---------------------------------------------------------------

    def require_alike(self, other: LinearPart) -> None:
        """MergeError where both are of other units."""
        for name in ("tails", "middle", "scale"):
            require_same(
                "the units of the linear part", *(getattr(of, name) for of in (self, other))
            )

    def take_in(self, other: LinearPart, origin: LinearPart | None) -> None:
        """Add the sums of what another learned since both were ``origin``, and solve anew.

        The sums of the share count twice where they are the origin's: it is a ratio, and they fade.
        """
        known = LinearPart(self.units, self.b.shape[1]) if origin is None else origin
        of_all = self, other, known
        kept = self.forgetting ** (other.n_rows - known.n_rows)
        # the rows whose errors both have summed
        since = sum(of.n_rows - of.n_solved for of in (self, other))
        sums = [of._whole_sums() for of in of_all]
        self.A, self.b = (joined(of, kept) for of in zip(*sums, strict=True))
        self.A = self.A.astype(np.float32)
        self.n_waiting, self.n_rows = 0, self.n_rows + other.n_rows - known.n_rows
        self.missed, self.n_solved = self.missed + other.missed, self.n_rows - since
        self.sums = self.sums + other.sums
        self._solve()

    def _whole_sums(self) -> tuple[np.ndarray, np.ndarray]:
        """A and b with the rows that wait."""
        A, rows = self.A.copy(), self.rows[: self.n_waiting]
        add_gram(A, rows)
        return A, self.b + rows.T @ self.targets[: self.n_waiting]

    # ---- state ---------------------------------------------------------------------------------

    def state_sizes(self) -> Sizes:
        return {"n_outputs": self.b.shape[1]}

    def check_state(self, state: State, sizes: Sizes) -> None:
        fits = sizes["features"] == sizes["d"] + 1
        require(fits, f"A: has {sizes['features']} rows, and there are {sizes['d']} columns")
        require(state["n_solved"] <= state["n_rows"], "n_solved: is more than n_rows")

    def state_is_set(self) -> None:
        self.units = Units(TailCurves(*self.tails), self.middle, self.scale)


def _is_better(rows: LearnedRows) -> bool:
    """Whether ridge regression on the first half of the rows predicts the others better than f.

    It must have smaller squared errors, and be nearer to the targets of most rows.
    """
    X, Y, R, weight = rows
    n, root = len(X) // 2, np.sqrt(weight)[:, None]
    with np.errstate(over="ignore", invalid="ignore"):
        U = Units.straight(X[:n])(X)
        U -= np.average(U[:n], axis=0, weights=weight[:n])
        middle = np.average(Y[:n], axis=0, weights=weight[:n])
        first = root[:n] * U[:n]
        A = first.T @ first
        A.flat[:: len(A) + 1] += 1.0
        W = np.linalg.solve(A, first.T @ (root[:n] * (Y[:n] - middle)))
        missed = ((Y[n:] - middle - U[n:] @ W) ** 2).sum(axis=1)
        left = (R[n:] ** 2).sum(axis=1)
        fewer = weight[n:] @ missed < _LEFT * (weight[n:] @ left)
    return bool(fewer and np.mean(missed < left) > 0.5)


def _of_two(first: np.ndarray, position: int) -> np.ndarray:
    """(n, 3): ``first`` (n, 1) for each of two classes, and 0 for the new one at ``position``."""
    return np.insert(np.hstack([first, first]), position, 0.0, axis=1)
