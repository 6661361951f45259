"""Memory of a target that is a number.

The features are the prediction f of a timeless model and what the labels so far say: the last 26
values, levels at five rates, f's own last residuals, and the values a period ago where a period
shows. Recursive least squares over them, with and without forgetting, start from "the last value
again" and go no farther from it than f does, or than the largest step so far between two labels.
They, f itself and the last value are experts of one mixture (:mod:`onkel.memory.experts`);
where the past says nothing, the mixture is f.

The ridge needs a unit for the target: the spread of the first rows. It is measured at 16, 32, ...,
2048 rows; each time the rows so far, which are kept until then, are learned anew in the new unit.
So they are where a target is farther from the others than the unit can tell; when no rows are kept
any more, the memory begins anew.
"""

from __future__ import annotations

from collections.abc import Hashable

import numpy as np

from onkel.fields import Array, Fields, Like, Sizes, State, Whole, require
from onkel.memory import value_loops as loops
from onkel.memory.experts import LATER
from onkel.memory.past import (
    GROUP_WINDOW,
    N_PERIODS,
    WINDOW,
    Memory,
    find_periods,
    grown,
    in_use,
    put_back,
)
from onkel.memory.value_loops import Own, new_own

# So many spreads from the centre a target is far: squares of squares lose all the others. A
# timeless prediction that is farther counts as so far: the spread of a constant is rounding alone.
_FAR = 2.0**16
# Numbers of a row kept: prediction, label, weight, slot, and whether its group begins anew.
_KEPT = 5


class ValueMemory(Memory):
    """What the labels so far say about the next row's, in bounded memory and time.

    Rows are predicted in order: :meth:`learn` returns what was predicted before each row's label
    was known. Blocks don't matter, and a row of weight 0 is not remembered. With ``keys``, one for
    each row, every group has its own past: its last 32 rows, without a period. What follows from a
    past is learned from all groups, and corrected for each (:mod:`onkel.memory.value_loops`). The
    ``most`` groups seen last are kept.
    """

    #: columns of the past that a second model may learn from
    n_columns: int = loops.N_COLUMNS
    _own = loops.Past._fields[:5]
    # rows from which there is a unit; until then f is the prediction
    _first_look = 16
    past: loops.Past
    own: Own

    def __init__(self, most: int = 1) -> None:
        super().__init__(most)
        #: rows kept until the unit is final
        self.kept: np.ndarray = np.empty((0, _KEPT))
        #: centre and spread; spread 0 while there is no unit
        self.unit: np.ndarray = np.zeros(2)
        self._n_rows = 0
        self._reset()

    def _reset(self) -> None:
        n, window = self.groups.n_slots, GROUP_WINDOW if self.groups.slots else WINDOW
        self.past = loops.Past(
            np.zeros((n, window)),
            np.zeros((n, window)),
            np.zeros((n, len(loops.RATES))),
            np.zeros((n, len(loops.RESIDUAL_RATES))),
            np.zeros((n, 1), np.int64),
            np.zeros(N_PERIODS, np.int64),
            np.zeros(1, np.int64),
            np.zeros(2),
            np.zeros(1),
        )
        #: each group's own correction
        self.own = new_own(n if self.groups.slots else 0)
        self._begin_experts(loops.N_EXPERTS, (len(loops.SIZES), loops.N_FEATURES), loops.RIDGE)

    @property
    def n_rows(self) -> int:
        # also those before there is a unit
        return self._n_rows

    # ---- learning ------------------------------------------------------------------------------

    def learn(
        self, f: np.ndarray, y: np.ndarray, weight: np.ndarray, keys: list[Hashable] | None = None
    ) -> np.ndarray:
        """Learn rows in order: timeless predictions f (n,), labels y (n,), weights (n,).

        Returns (n, 2 + n_columns), what was known before each row's label: the prediction with
        memory, that of an expert without memory, and columns of the past.
        """
        out = np.empty((len(f), 2 + self.n_columns))
        slots, fresh, parts = self._arranged(keys, weight > 0.0)
        rows = np.column_stack([f, y, weight, slots, fresh])
        done = self._learn_until_far(rows, out, parts)
        while done < len(rows):
            parts = self._parts(rows[done:, 2] > 0.0)
            done += self._learn_until_far(rows[done:], out[done:], parts)
        return out

    def _make_room(self) -> None:
        super()._make_room()
        if self.groups.slots:
            self.own = grown(self.own, Own._fields, self.groups.n_slots)

    @property
    def begun(self) -> bool:
        """Whether there is a unit."""
        return bool(self.unit[1] > 0.0)

    def _learn_until_far(
        self, rows: np.ndarray, out: np.ndarray, parts: list[tuple[slice, bool]]
    ) -> int:
        """Learn rows (n, 5), in parts, up to the first far from the unit; returns how many."""
        for part, look in parts:
            y, weight = rows[part, 1], rows[part, 2]
            far = (np.abs(y - self.unit[0]) > _FAR * self.unit[1]) & (weight > 0.0)
            if self.begun and far.any():
                end = part.start + int(far.argmax()) + 1
                self._learn(rows[part.start : end], out[part.start : end])
                # the unit is measured again
                if len(self.kept):
                    self._look_again()
                else:
                    self.unit, self._n_rows = np.zeros(2), 0
                    self._reset()
                return end
            self._learn(rows[part], out[part])
            if look:
                self._look_again()
        return len(rows)

    def _learn(self, rows: np.ndarray, out: np.ndarray) -> None:
        """Learn rows (n, 5) between two looks."""
        kept = rows[rows[:, 2] > 0.0]
        if self.begun:
            self._learn_in_unit(rows, out)
        else:
            self._fill_without_unit(rows, out)
        self._n_rows += len(kept)
        if not self.begun or self.n_rows <= WINDOW:
            self.kept = np.concatenate([self.kept, kept])[-WINDOW:]

    def _learn_in_unit(self, rows: np.ndarray, out: np.ndarray) -> None:
        f, y, weight, slots, fresh = np.ascontiguousarray(rows.T)
        where = slots.astype(np.int64), fresh > 0.0
        centre, spread = self.unit
        own = self.own if self.groups.slots else None
        model = self.past, own, self.mixture, self.P, self.W
        scaled = (f - centre) / spread
        near = np.clip(scaled, -_FAR, _FAR)
        loops.learn(near, (y - centre) / spread, weight, *where, *model, out)
        self._in_units(out, scaled, f)

    def _look_again(self) -> None:
        """Measure the unit while rows are kept, and look for the period."""
        if len(self.kept):
            values = self.kept[:, 1]
            centre, spread = values.mean(), values.std()
            if 0.0 < spread < np.inf:
                # the kept rows are learned again
                self.unit = np.array([centre, spread])
                self._reset()
                if not self.groups.slots:
                    self.past.periods[:] = find_periods(values[:, None])
                self._learn_in_unit(self.kept, np.empty((len(self.kept), 2 + self.n_columns)))
            if self.begun and self.n_rows >= WINDOW:
                self.kept = np.empty((0, _KEPT))
        elif not self.groups.slots:
            values, rows = self.past.values[1], int(self.past.total[0])
            self.past.periods[:] = find_periods(np.roll(values, -(rows % WINDOW))[:, None])

    # ---- prediction ----------------------------------------------------------------------------

    def predict(self, f: np.ndarray, keys: list[Hashable] | None = None) -> np.ndarray:
        """What :meth:`learn` would return for rows of unknown labels, were each the next."""
        out = np.empty((len(f), 2 + self.n_columns))
        if not self.begun:
            self._fill_without_unit(f[:, None], out)
            return out
        centre, spread = self.unit
        slots, own = self.groups.find(keys, len(f)), self.own if self.groups.slots else None
        scaled = (f - centre) / spread
        near = np.clip(scaled, -_FAR, _FAR)
        loops.predict(near, slots, self.past, own, self.mixture, self.W, out)
        self._in_units(out, scaled, f)
        return out

    def _fill_without_unit(self, rows: np.ndarray, out: np.ndarray) -> None:
        """Fill ``out`` before there is a unit: f, and zeros for the past."""
        out[:, 0], out[:, 1] = rows[:, 0], rows[:, 0]
        out[:, 2:] = 0.0

    def _in_units(self, out: np.ndarray, scaled: np.ndarray, f: np.ndarray) -> None:
        """Turn ``out`` into the target's units; ``scaled``: f in those of the spread.

        The two predictions become f and what memory adds: f to the bit where that is nothing.
        """
        out[:, :2] -= scaled[:, None]
        out *= self.unit[1]
        out[:, :2] += f[:, None]
        out[:, 2:] += self.unit[0]

    # ---- state ---------------------------------------------------------------------------------

    @property
    def own_known(self) -> Own:
        """The corrections of the groups there are."""
        return in_use(self.own, Own._fields, self.groups.n_slots)

    @own_known.setter
    def own_known(self, known: Own) -> None:
        put_back(self.own, Own._fields, known)

    def state_fields(self) -> Fields:
        return {
            "_n_rows": Whole(),
            "unit": Array(shape=(2,)),
            "kept": Array(shape=("rows", _KEPT)),
            "own_known": Like(later=LATER),
            **super().state_fields(),
        }

    def check_state(self, state: State, sizes: Sizes) -> None:
        slots = state["kept"][:, 3]
        require(((slots >= 0) & (slots < self.groups.n_slots)).all(), "kept: names no group")
