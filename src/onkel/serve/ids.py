"""What is known of the ids of rows: how each stands, and the answer that it got."""

from __future__ import annotations

import marshal
import zlib
from collections import OrderedDict
from collections.abc import Hashable, Iterable, Mapping, Sequence

import numpy as np

from onkel.errors import DataError
from onkel.fields import Array, Field, Sizes, State
from onkel.serve import notation

# What is known of a row that waited when the model was loaded.
_NOTHING = (0, None)


class KnownIds:
    """Ids of rows that wait, and of so many rows that were learned or forgotten.

    Parameters
    ----------
    once : bool
        Whether answers are kept, so that a row that comes again gets its own.
    remember : int
        Ids that are remembered after their rows wait no more.

    Attributes
    ----------
    waiting : dict
        Of each row that waits: the labels learned by the time that it was predicted, its interval.
    past : dict
        Of each row that waits no more, in the order in which they ended: whether it was learned.
    answers : dict
        Of each id: a checksum of its row, and the answer as JSON.
    """

    once: bool
    remember: int

    def __init__(self, once: bool, remember: int) -> None:
        self.once, self.remember = once, remember
        self.waiting: dict[Hashable, tuple[int, object]] = {}
        self.past: OrderedDict[Hashable, bool] = OrderedDict()
        self.answers: dict[Hashable, tuple[int, str]] = {}

    def __len__(self) -> int:
        return len(self.waiting) + len(self.past) + len(self.answers)

    def was_answered(self, id: Hashable) -> bool:
        """Whether the row of an id was answered, and must not be learned again."""
        return id is not None and isinstance(id, str | int | float) and id in self.answers

    def answer(self, id: Hashable, event: Mapping[str, object]) -> dict[str, object]:
        """The answer that a row got before; DataError if it was another row."""
        mark, answer = self.answers[id]
        if _mark(event) != mark:
            raise DataError("a row with this id and other values was answered; give it a new id")
        return dict(notation.decoded(answer.encode()))

    def note(
        self, events: Sequence[Mapping[str, object]], answers: Iterable[dict[str, object]]
    ) -> None:
        """Remember the answers to rows, which may come again; those without an id can't."""
        if not self.once:
            return
        for event, answer in zip(events, answers, strict=False):
            id = answer["id"]
            if id is not None:
                self.answers[id] = _mark(event), notation.encoded(answer).decode()

    def of_waiting(self, id: Hashable) -> tuple[int, object]:
        """What is known of a row that waits."""
        return self.waiting.get(id, _NOTHING)

    def end(self, ids: Iterable[Hashable], learned: bool) -> None:
        """Rows wait no more."""
        past = self.past
        for id in ids:
            self.waiting.pop(id, None)
            past[id] = learned
            past.move_to_end(id)
            if len(past) > self.remember:
                oldest, _ = past.popitem(last=False)
                if oldest not in self.waiting:
                    self.answers.pop(oldest, None)


class IdsField(Field):
    """The ids as bytes of JSON: how each stands, the interval of its row, and the answer."""

    def check(self, value: object, sizes: Sizes) -> str | None:
        return Array(np.uint8, ("bytes",)).check(value, sizes)

    def saved(self, value: KnownIds) -> np.ndarray:
        past = [[id, learned, 0, None] for id, learned in value.past.items()]
        waiting = [[id, None, *of_row] for id, of_row in value.waiting.items()]
        entries = [[*entry, *value.answers.get(entry[0], (0, None))] for entry in past + waiting]
        return np.frombuffer(notation.exact(entries)[0], np.uint8)

    def loaded(self, value: np.ndarray) -> State:
        waiting: dict[Hashable, tuple[int, object]] = {}
        past: OrderedDict[Hashable, bool] = OrderedDict()
        answers: dict[Hashable, tuple[int, str]] = {}
        with notation.readable():
            for id, learned, known, interval, mark, answer in notation.decoded(value.tobytes()):
                if learned is None:
                    waiting[id] = int(known), interval
                else:
                    past[id] = bool(learned)
                if answer is not None:
                    answers[id] = int(mark), str(answer)
        return {"waiting": waiting, "past": past, "answers": answers}


def _mark(event: Mapping[str, object]) -> int:
    """A checksum of a row, to tell it from another with its id."""
    try:
        # of values that JSON has, version 2 is a function of the value alone
        return zlib.crc32(marshal.dumps(event, 2))  # type: ignore[arg-type]
    except ValueError:
        return zlib.crc32(repr(event).encode(errors="surrogatepass"))
