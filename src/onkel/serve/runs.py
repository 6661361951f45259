"""Events that came together: a run of rows, or of labels, is one block for the model.

A block of 64 rows takes a tenth of the time of 64 blocks of one, and 256 are answered in time.
Order stays: a row is predicted by the model of all labels before it, as if each event had come by
itself. (Sums over a block may be rounded in another order, so the last digits of a prediction can
differ.)
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import groupby
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from onkel.annotations import Row
from onkel.errors import DataError
from onkel.fields import PLAIN
from onkel.learners.predictions import Forecast
from onkel.numerics.signals import signals_wait

if TYPE_CHECKING:
    from onkel.pipeline import LateLabels, StreamModel
    from onkel.serve.ids import KnownIds
    from onkel.serve.score import LiveScore

Event = Mapping[str, object]
ERRORS = (ValueError, TypeError, OverflowError)
_LONGEST = 256
# The square of a smaller target is no problem for any learner.
_USUAL = 1e15
ROW, LABEL, BOTH, _OTHER = "row", "label", "row with its label", "other"


class Live(Protocol):
    """What taking events asks of a `LiveModel`."""

    id: str
    target: str
    counts: dict[str, int]
    has_proba: bool
    late: LateLabels
    ids: KnownIds
    level: float
    score: LiveScore
    options: dict[str, Any]
    say: Callable[[str], object]
    acknowledge: bool

    @property
    def model(self) -> StreamModel: ...
    @property
    def tells_more(self) -> bool: ...
    def take(self, event: Event | str) -> dict[str, object] | None: ...
    def columns(self, x: Row) -> dict[str, object]: ...
    def left_out(self) -> set[str]: ...
    def label_names(self) -> set[str]: ...
    def learned_labels(self, ids: list[Hashable]) -> list[dict[str, object] | None]: ...
    def refusal(self, id: Hashable, error: Exception) -> dict[str, object]: ...
    def refuse(self, id: Hashable, why: str) -> dict[str, object]: ...


def take_all(live: Live, events: Sequence[Event | str]) -> Iterator[dict[str, object] | None]:
    """The answers of a `LiveModel` to events, in their order."""
    for kind, group in groupby(events, lambda event: kind_of(live, event)):
        yield from take_run(live, kind, list(group))


def take_run(live: Live, kind: str, events: list[Any]) -> Iterator[dict[str, object] | None]:
    """The same, of events that are all of one kind."""
    start = 0
    while start < len(events):
        n = _block_length(live, kind, events[start : start + _LONGEST])
        run = events[start : start + max(n, 1)]
        with signals_wait:
            answers = _as_block(live, kind, run) if n > 1 else []
        yield from answers
        # a block ends before an event that something is wrong with
        yield from map(live.take, run[len(answers) :])
        start += len(run)


def kind_of(live: Live, event: Event | str) -> str:
    """Whether an event with an id is a row, a label, or a row with its label."""
    if isinstance(event, str) or live.id not in event or len(event) < 2:
        return _OTHER
    # a label has its id beside it, and perhaps two names of its target
    if len(event) <= 3 and event.keys() - {live.id} <= live.label_names():
        return LABEL
    return ROW if event.get(live.target) is None else BOTH


def _block_length(live: Live, kind: str, run: list[Event]) -> int:
    """How many of the first events nothing is special about; the next is taken by itself."""
    model, late = live.model, live.late
    settings, skips = model.settings, model.settings.get("missing") == "skip"
    if kind == _OTHER or len(run) == 1 or not model.n_rows or "group" in settings or skips:
        return 0
    if kind != LABEL:
        run = run[: max(late.most - late.n_waiting, 0)]
    is_usual = None if kind == ROW else _usual_labels(live, kind)
    seen: set[Hashable] = set()
    for k, event in enumerate(run):
        id = event[live.id]
        if not isinstance(id, str | int) or id in seen or (id in late) != (kind == LABEL):
            return k
        if kind != LABEL and id in live.ids.answers:
            return k
        if is_usual is not None and not is_usual(_label_of(live, kind, event)):
            return k
        seen.add(id)
    return len(run)


def _label_of(live: Live, kind: str, event: Event) -> Any:
    """The label of an event that has one."""
    if kind == BOTH:
        return event[live.target]
    return next(value for name, value in event.items() if name != live.id)


def _usual_labels(live: Live, kind: str) -> Callable[[Any], bool]:
    """Tells whether nothing can be wrong with a label: one that is refused would end a block.

    The columns of a block have learned all of its rows by then.
    """
    if kind == BOTH and live.tells_more:
        among = labels_of_blocks(live)
        return lambda label: is_among(label, among)
    if live.model.task == "regression":
        return lambda label: type(label) in (int, float) and -_USUAL < label < _USUAL
    known = live.model.classes
    own = type(known[0].item()) if len(known) else None
    return lambda label: type(label) is own


def labels_of_blocks(live: Live) -> list[object]:
    """Labels of rows whose probabilities are those behind their predictions, in a block, too.

    A new class would change those after it.
    """
    estimator, known = live.model.estimator, live.model.classes.tolist()
    few = live.level or len(known) < 2 or not hasattr(estimator, "replayed")
    return [] if few else known


def is_among(label: object, known: list[object]) -> bool:
    """Whether a label is one of those known, and of their type."""
    return bool(known) and type(label) is type(known[0]) and label in known


def is_no_label(y: object) -> bool:
    """Whether a value says that there is no label, or cannot be one."""
    return y is None or y != y or isinstance(y, list | dict)


def _as_block(live: Live, kind: str, run: list[Event]) -> Sequence[dict[str, object] | None]:
    """Answers to the first events of the run, up to one that has to be taken by itself."""
    ids = [event[live.id] for event in run]
    if kind == LABEL:
        labels = [_label_of(live, kind, event) for event in run]
        return live.learned_labels(ids[: _learn_labels(live, ids, labels)])
    rows = _columns(live, run)
    ids = ids[: len(rows)]
    if kind == BOTH:
        labels = [event[live.target] for event in run[: len(rows)]]
        answers = _learn_rows(live, ids, rows, labels)
    else:
        answers = _keep_rows(live, ids, rows)
    live.counts["rows"] += len(answers)
    live.ids.note(run, answers)
    return answers


def _columns(live: Live, run: list[Event]) -> list[dict[str, object]]:
    """As `LiveModel.columns` of the first events of a run, up to one that it would refuse."""
    out = [live.id, live.target, *live.left_out()]
    encoder = live.model.encoder
    assert encoder is not None
    kinds = encoder.kinds
    rows: list[dict[str, object]] = []
    # most rows have the columns of the one before
    names: set[str] = set()
    lacking: list[str] = []
    for event in run:
        x = dict(event)
        for name in out:
            x.pop(name, None)
        # other values are looked at one by one
        if not x or not PLAIN.issuperset(map(type, x.values())):
            break
        if x.keys() != names:
            if set(map(type, x)) != {str}:
                break
            lacking = [name for name in kinds if name not in x]
            names = set(x)
        if lacking:
            x |= dict.fromkeys(lacking)
        rows.append(x)
    return rows


def _learn_labels(live: Live, ids: list[Hashable], labels: list[object]) -> int:
    """Learn the labels of rows that wait as one block; how many were learned."""
    good = _n_labels(labels)
    waited = [live.late.prediction(id) for id in ids]
    with suppress(*ERRORS):
        live.late.learn_all(ids[:good], labels[:good])
    done = next((k for k, id in enumerate(ids) if id in live.late), len(ids))
    known = [live.ids.of_waiting(id) for id in ids[:done]]
    if known:
        live.counts["labels"] += done
        live.score.add_all(labels[:done], waited[:done], *zip(*known, strict=True))
        live.ids.end(ids[:done], learned=True)
    return done


def _learn_rows(
    live: Live, ids: list[Hashable], rows: Sequence[Row], labels: list[object]
) -> list[dict[str, object]]:
    """Predict, then learn rows with their labels as one block; the answers."""
    model, before, known = live.model, live.model.n_rows, live.score.n_labels
    good = _n_labels(labels)
    predicted: Any = []
    shares: Any = None
    try:
        if live.has_proba:
            predicted, shares = model.predict_proba_then_learn(rows[:good], labels[:good])
        else:
            predicted = model.predict_then_learn(rows[:good], labels[:good])
    except DataError as error:
        predicted = [] if error.predictions is None else error.predictions
        shares = error.probabilities
    except ERRORS:
        pass
    n = len(predicted)
    if not n:
        return []
    values = predicted.tolist()
    live.counts["labels"] += n
    live.score.add_all(labels[:n], values, range(known, known + n))
    live.ids.end(ids[:n], learned=True)
    more = [{}] * n if shares is None else by_class(live, shares)
    return [
        {"id": id, "prediction": p, **own, "model_rows": rows}
        for rows, (id, p, own) in enumerate(zip(ids, values, more, strict=False), before)
    ]


def _keep_rows(live: Live, ids: list[Hashable], rows: Sequence[Row]) -> list[dict[str, object]]:
    """Predict rows as one block and let them wait; the answers."""
    try:
        found = live.late.forecast_all(ids, rows)
    except ERRORS:
        return []
    more, predicted = beside(live, found), found.predictions.tolist()
    known, learned = live.score.n_labels, live.model.n_rows
    for id, own in zip(ids, more, strict=True):
        live.ids.waiting[id] = known, own.get("interval")
    return [
        {"id": id, "prediction": p, **own, "model_rows": learned}
        for id, p, own in zip(ids, predicted, more, strict=True)
    ]


def beside(live: Live, found: Forecast) -> list[dict[str, object]]:
    """What answers to rows say beside their predictions."""
    if live.has_proba and found.probabilities is not None:
        return by_class(live, found.probabilities)
    if not live.level:
        return [{} for _ in found.predictions]
    ends = live.model.around(found, live.level, comes_next=True)
    return [{"interval": _bounds(pair)} for pair in ends]


def by_class(live: Live, shares: np.ndarray) -> list[dict[str, object]]:
    """What answers to rows say of their probabilities (n, n_classes)."""
    names = list(map(str, live.model.classes_))
    return [{"probabilities": dict(zip(names, own, strict=True))} for own in shares.tolist()]


def _n_labels(labels: list[object]) -> int:
    """How many there are before one that is no label."""
    return next((k for k, y in enumerate(labels) if is_no_label(y)), len(labels))


def _bounds(values: np.ndarray) -> list[float | None]:
    """Both ends of an interval; None where it has no end."""
    return [v if math.isfinite(v) else None for v in values.tolist()]
