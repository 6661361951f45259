"""What is known of the ids of rows: how each stands, and the answer that it got."""

from __future__ import annotations

import marshal
import zlib
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import NamedTuple

import numpy as np

from onkel.errors import DataError
from onkel.fields import Array, Field, Sizes, State
from onkel.pipeline.pages import Frozen, Pages
from onkel.serve import notation

# What is known of a row that waited when the model was loaded.
_NOTHING = (0, None)
# Of a row whose answer was not kept.
_NO_ANSWER = (0, None)
# Ids that are written at a time.
_PIECE = 256


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
    waiting : Pages
        Of each row that waits: the labels learned by the time that it was predicted, its interval.
    past : Pages
        Of each row that waits no more, in the order in which they ended: whether it was learned.
    answers : dict
        Of each id: a checksum of its row, and the answer as JSON.
    """

    once: bool
    remember: int

    def __init__(self, once: bool, remember: int) -> None:
        self.once, self.remember = once, remember
        self.waiting: Pages[tuple[int, object]] = Pages()
        self.past: Pages[bool] = Pages()
        self.answers: dict[Hashable, tuple[int, str]] = {}

    def __len__(self) -> int:
        return len(self.waiting) + len(self.past) + len(self.answers)

    def was_answered(self, id: Hashable) -> bool:
        """Whether the row of an id was answered, and must not be learned again."""
        return id is not None and isinstance(id, str | int | float) and id in self.answers

    def answer(self, id: Hashable, event: Mapping[str, object]) -> dict[str, object]:
        """The answer that a row got before; DataError if it was another row."""
        mark, answer = self.answers[id]
        if mark not in (_mark(event), _mark_in_order(event)):
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
        return self.waiting.get(id) or _NOTHING

    def end(self, ids: Iterable[Hashable], learned: bool) -> None:
        """Rows wait no more."""
        past, waiting = self.past, self.waiting
        for id in ids:
            if id in waiting:
                waiting.pop(id)
            past[id] = learned
            if len(past) > self.remember:
                oldest = past.first()
                past.pop(oldest)
                if oldest not in waiting:
                    self.answers.pop(oldest, None)

    def frozen(self) -> FrozenIds:
        """All that is known now; another thread may write it."""
        return FrozenIds(self.past.frozen(), self.waiting.frozen(), self.answers.copy())


class FrozenIds(NamedTuple):
    """What `KnownIds` has at one time."""

    past: Frozen[bool]
    waiting: Frozen[tuple[int, object]]
    answers: dict[Hashable, tuple[int, str]]

    def saved(self) -> np.ndarray:
        """As a model's file has it."""
        entries, texts = self._entries(), list[bytes]()
        # no other thread goes on while one piece is made
        while piece := list(islice(entries, _PIECE)):
            texts.append(_text_of(piece)[1:-1])
        return np.frombuffer(b"[" + b",".join(texts) + b"]", np.uint8)

    def _entries(self) -> Iterator[list[object]]:
        answers = self.answers
        for past in self.past.pages:
            for id, learned in past.items():
                yield [id, learned, 0, None, *answers.get(id, _NO_ANSWER)]
        for waiting in self.waiting.pages:
            for id, of_row in waiting.items():
                yield [id, None, *of_row, *answers.get(id, _NO_ANSWER)]


class IdsField(Field):
    """The ids as bytes of JSON: how each stands, the interval of its row, and the answer."""

    def check(self, value: object, sizes: Sizes) -> str | None:
        return Array(np.uint8, ("bytes",)).check(value, sizes)

    def saved(self, value: KnownIds) -> np.ndarray:
        return value.frozen().saved()

    def loaded(self, value: np.ndarray) -> State:
        waiting, past = Pages[tuple[int, object]](), Pages[bool]()
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


def _text_of(entries: list[list[object]]) -> bytes:
    """The JSON of entries; nothing but an id may be what JSON does not say."""
    is_plain = {type(entry[0]) for entry in entries} <= {int, str}
    return notation.plain(entries) if is_plain else notation.exact(entries)[0]


def _mark(event: Mapping[str, object]) -> int:
    """A checksum of a row, to tell it from another with its id; keys may come in any order."""
    return _mark_in_order({name: event[name] for name in sorted(event, key=str)})


def _mark_in_order(event: Mapping[str, object]) -> int:
    """The checksum that earlier versions wrote; it knows the order of the keys."""
    try:
        # of values that JSON has, version 2 is a function of the value alone
        return zlib.crc32(marshal.dumps(event, 2))  # type: ignore[arg-type]
    except ValueError:
        return zlib.crc32(repr(event).encode(errors="surrogatepass"))
