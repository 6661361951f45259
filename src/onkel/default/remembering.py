"""A timeless model and what the labels so far add to its predictions of the next rows.

The model predicts a row from its columns alone. A memory (:mod:`onkel.memory`) corrects that by
what the labels so far say. Where memory clearly helps, a second model learns the residuals of both,
from the row's columns and columns of the past together: what a last value means may depend on the
row. The model, the memory, and the memory with the second model are experts of one mixture. Where
the past says nothing, the mixture becomes the model alone. Where classes seldom change, the last
class may be the better prediction (:class:`onkel.memory.LastClass`).
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Hashable, Iterator
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp
from scipy.special import expit, logit

from onkel.annotations import Ahead, Matrix
from onkel.fields import Fields, Number, Sizes, State, Whole, require
from onkel.memory import ClassMemory, Experts, Gain, LastClass, ValueMemory
from onkel.numerics.arrays import end_of_counted
from onkel.state import Part, Stateful

# Probabilities keep this far from 0 and 1 before they are turned into log-odds.
_SURE = 1e-9
# The place, in what a memory of classes gives for a row, of the class that came last.
_CAME_LAST = 2

# A target is far from the scale of the losses where it is so many times larger: above 2^250 the
# squares of squared errors are not finite.
_FAR = 2.0**100
_TINY = float(np.finfo(np.float64).tiny)


class Remembering(Stateful):
    """Predictions of the next rows, from those of a timeless model and the labels so far.

    ``second`` makes a least squares model of one output, given the number of columns; rows have d.
    ``n_classes`` is None for targets that are numbers. ``log_odds``: the model's scores of classes
    are log-odds. ``most`` groups are remembered: those seen last.
    """

    STATE: ClassVar[Fields] = {
        "scale": Number(),
        "memory": Part(),
        "gain": Part(),
        "experts": Part(),
        "last_class": Part(),
        "second": Part(lambda memory: memory._new_second(), anew=True, optional=True),
        "width": Whole(low=1, beside="second"),
        "seed": Whole(high=math.inf, beside="second"),
    }

    def __init__(
        self,
        second: Callable[[int], Any],
        d: int,
        n_classes: int | None,
        log_odds: bool = False,
        most: int = 1,
    ) -> None:
        self.make_second: Callable[[int], Any] = second
        self.log_odds: bool = log_odds
        #: whether targets are classes
        self.classes: bool = n_classes is not None
        self.memory: Any = ValueMemory(most) if n_classes is None else ClassMemory(n_classes, most)
        self.gain: Gain = Gain()
        self.second: Any = None
        #: columns of a row, and those when the second model began, with its seed
        self.d: int = d
        self.width: int = 0
        self.seed: int | None = None
        self.experts: Experts = Experts(3)
        self.last_class: LastClass = LastClass()
        #: for numbers: about 1/|y| of the first target y ≠ 0, or of a much larger one since; 0
        #: before. Squared errors are taken in this scale.
        self.scale: float = 0.0

    @property
    def grouped(self) -> bool | None:
        """Whether rows have been learned by group; None before the first."""
        memory = self.memory
        return bool(memory.groups.slots) if memory.n_rows else None

    @property
    def _one_output(self) -> bool:
        """Numbers, or two classes: a second model can learn the residuals."""
        return not self.classes or self.memory.n_classes == 2

    # ---- learning ------------------------------------------------------------------------------

    def learn(
        self,
        X: Matrix,
        P: np.ndarray,
        y: np.ndarray,
        weight: np.ndarray,
        keys: list[Hashable] | None = None,
    ) -> np.ndarray:
        """Learn rows X in order: the model's scores P (n, K) before each; values or class codes y.

        ``keys``: the group of each row. Groups have pasts of their own and share all else.
        Returns the scores (n, K) with memory before each row's label was known.
        """
        F, out, done, one = self._inputs(P), [], 0, self._one_output
        while done < len(y):
            end = len(y)
            if one and self.second is None:
                end = end_of_counted(weight, done, self.gain.until_test)
            part = slice(done, end)
            own = None if keys is None else keys[part]
            known = self.memory.learn(F[part], y[part], weight[part], own)
            found = known[:, 0]
            if one:
                found = self._learn_known(X[part], F[part], known, y[part], weight[part])
            if self.classes:
                found = self.last_class.learn(found, known[:, _CAME_LAST], y[part], weight[part])
            out.append(found)
            done = end
        return self._outputs(np.concatenate(out) if out else F)

    def _learn_known(
        self, X: Matrix, F: np.ndarray, known: np.ndarray, y: np.ndarray, weight: np.ndarray
    ) -> np.ndarray:
        """Learn rows, given what memory gave for them; returns the predictions before each."""
        f, m, control, columns = self._as_numbers(F, known)
        target = 2.0 * y - 1.0 if self.classes else y
        p = m
        if self.second is not None:
            p = m + self.second.learn(_beside(columns, m, X), target - m, weight)[:, 0]
        experts, out = (f, m, self._within(p)), np.empty(len(f))
        for part in self._in_one_scale(target, weight):
            scale, y, kept = self.scale or 1.0, target[part], weight[part]
            E = np.empty((len(y), 3, 1))
            for i, expert in enumerate(experts):
                E[:, i, 0] = expert[part] * scale
            out[part] = self.experts.learn(E, (scale * y)[:, None], kept)[:, 0] / scale
            if self.second is None:
                some = kept > 0.0
                before, with_memory = scale * (control[part] - y), scale * (m[part] - y)
                if self.gain.add(before[some] ** 2, with_memory[some] ** 2):
                    self.width = self.d
                    self.second = self._new_second()
        return _of_two(out) if self.classes else out

    def _in_one_scale(self, target: np.ndarray, weight: np.ndarray) -> Iterator[slice]:
        """Parts of rows whose losses are taken in one scale, which is set before each.

        So targets may be of any size. The scale begins at the first target, and follows those
        that are much larger.
        """
        n, done = len(target), 0
        size = None if self.classes else np.where(weight > 0.0, np.abs(target), 0.0)
        while size is not None:
            other = size[done:] > (_FAR / self.scale if self.scale else 0.0)
            row = done + int(other.argmax()) if other.any() else n
            if row > done:
                yield slice(done, row)
            if row == n:
                return
            self._follow(float(size[row]))
            done = row
        yield slice(0, n)

    def _follow(self, size: float) -> None:
        """From now on take losses in a scale for targets of this size."""
        if not self.scale:
            self.scale = 1.0 / max(size, _TINY)
            return
        # powers of two: sums in the new scale are exact
        by = -(math.frexp(size)[1] + math.frexp(self.scale)[1])
        self.scale = math.ldexp(self.scale, by)
        self.experts.rescale(by)
        self.gain.rescale(by)

    # ---- prediction ----------------------------------------------------------------------------

    def predict(
        self, X: Matrix, P: np.ndarray, ahead: Ahead = 0, keys: list[Hashable] | None = None
    ) -> np.ndarray:
        """Scores (n, K) with memory of rows X in order, whose labels are not known.

        For the next row (of a group) memory counts in full. For each row after it, memory counts
        less, by the correlation of the model's residuals from row to row; far ahead only P is
        left. The first row of X comes ``ahead`` rows after the next.
        """
        M, share = self.ask(X, P, ahead, keys)
        return share * M + (1.0 - share) * P

    def ask(
        self, X: Matrix, P: np.ndarray, ahead: Ahead, keys: list[Hashable] | None
    ) -> tuple[np.ndarray, np.ndarray]:
        """Scores (n, K) with memory, were each row the next, and how much they count (n, 1)."""
        F = self._inputs(P)
        known = self.memory.predict(F, keys)
        M = known[:, 0]
        if self._one_output:
            f, m, _, columns = self._as_numbers(F, known)
            p = m
            if self.second is not None:
                p = m + self.second.scores(_beside(columns, m, X))[:, 0]
            E = np.stack([f, m, self._within(p)], axis=1)[:, :, None]
            M = self.experts.predict(E)[:, 0]
            M = _of_two(M) if self.classes else M
        if self.classes:
            M = self.last_class.predict(M, known[:, _CAME_LAST])
        steps = np.arange(len(P)) if keys is None else _counted(keys)
        return self._outputs(M), self.memory.lasting ** (ahead + steps)[:, None]

    # ---- scores and what memories take ----------------------------------------------------------

    def _inputs(self, P: np.ndarray) -> np.ndarray:
        """Values (n,), or a share of each class (n, K), from the model's scores."""
        if not self.classes:
            return np.ascontiguousarray(P[:, 0])
        if self.log_odds:
            P = expit(P) if P.shape[1] > 1 else 2.0 * expit(P) - 1.0
        return _of_two(P[:, 0]) if P.shape[1] == 1 else P

    def _outputs(self, M: np.ndarray) -> np.ndarray:
        """The inverse of :meth:`_inputs`."""
        if not self.classes:
            return M[:, None]
        two = self.memory.n_classes == 2
        M = M[:, 1:] if two else M
        if self.log_odds:
            return np.asarray(logit(np.clip(M, _SURE, 1.0 - _SURE)))
        return 2.0 * M - 1.0 if two else M

    def _as_numbers(self, F: np.ndarray, known: np.ndarray) -> tuple[np.ndarray, ...]:
        """f, memory, control (n,) and columns (n, c): values, or ±1 for the two classes."""
        if not self.classes:
            return F, known[:, 0], known[:, 1], known[:, 2:]
        known = 2.0 * known[:, :, 1] - 1.0
        return self._within(2.0 * F[:, 1] - 1.0), known[:, 0], known[:, 1], known[:, 2:]

    def _within(self, p: np.ndarray) -> np.ndarray:
        return np.minimum(np.maximum(p, -1.0), 1.0) if self.classes else p

    # ---- the rest ------------------------------------------------------------------------------

    def rows_before_fit(self) -> float:
        """As of the second model; before it, the rows until it may begin."""
        if self.second is not None:
            return float(self.second.rows_before_fit())
        return self.gain.until_test if self._one_output else math.inf

    def fit_ahead(self) -> bool:
        """As of the second model."""
        return self.second is not None and bool(self.second.fit_ahead())

    def add_class(self, position: int) -> None:
        """Make room for a class never seen; a second model, which is of two classes, is dropped."""
        self.memory.add_class(position)
        self.second, self.gain, self.experts = None, Gain(), Experts(3)

    def add_columns(self, n: int) -> None:
        """Take rows with n columns more, 0 so far, that may matter."""
        self.d += n
        if self.second is not None:
            self.second.add_columns(n)

    def widen(self, n: int) -> None:
        """Take rows with n columns more, 0 so far, and go on."""
        self.d += n
        if self.second is not None:
            self.second.widen(n)

    def check_state(self, state: State, sizes: Sizes) -> None:
        width = state.get("width", 0)
        require(width <= self.d, f"width: is {width}, more than the {self.d} columns of a row")

    def _new_second(self) -> Any:
        """A second model that has learned nothing and began with rows of ``width`` columns."""
        second = self.make_second(self.memory.n_columns + 1 + self.width)
        if self.d > self.width:
            second.add_columns(self.d - self.width)
        self.seed = second.seed if self.seed is None else self.seed
        second.seed = self.seed
        return second


def _of_two(p: np.ndarray) -> np.ndarray:
    """Shares (n, 2) of two classes, from numbers p (n,) in [-1, 1]."""
    shares = np.empty((len(p), 2))
    shares[:, 0], shares[:, 1] = 1.0 - p, 1.0 + p
    shares /= 2.0
    return shares


def _counted(keys: list[Hashable]) -> np.ndarray:
    """How many of the keys before each key equal it."""
    seen: Counter[Hashable] = Counter()
    steps = np.empty(len(keys), np.int64)
    for t, key in enumerate(keys):
        steps[t] = seen[key]
        seen[key] += 1
    return steps


def _beside(columns: np.ndarray, m: np.ndarray, X: Matrix) -> Matrix:
    """Columns of the past, the memory's prediction, and the row's own columns."""
    past = np.column_stack([columns, m])
    if sp.issparse(X):
        return sp.hstack([past, X], format="csr")
    return np.hstack([past, X.astype(np.float64)])
