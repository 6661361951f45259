"""Events that came together: a run of rows, or of labels, is one block for the model.

A block of 64 rows takes a tenth of the time of 64 blocks of one, and 256 are answered in time.
Order stays: a row is predicted by the model of all labels before it, as if each event had come by
itself. (Sums over a block may be rounded in another order, so the last digits of a prediction can
differ.)
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any

_LONGEST = 256
# The square of a smaller target is no problem for any learner.
_USUAL = 1e15
# Types of values that a row may hold; others are looked at one by one.
_PLAIN = frozenset((int, float, str, bool, type(None)))
_ROW, _LABEL, _BOTH, _OTHER = "row", "label", "row with its label", "other"


def take_all(
    live: Any, events: Sequence[Mapping[str, Any] | str]
) -> Iterator[dict[str, Any] | None]:
    """The answers of a `LiveModel` to events, in their order."""
    for kind, group in groupby(events, lambda event: _kind(live, event)):
        found: list[Any] = list(group)
        start = 0
        while start < len(found):
            n = _block_length(live, kind, found[start : start + _LONGEST])
            run = found[start : start + max(n, 1)]
            answers = _as_block(live, kind, run) if n > 1 else []
            yield from answers
            # a block ends before an event that something is wrong with
            yield from map(live.take, run[len(answers) :])
            start += len(run)


def _kind(live: Any, event: Mapping[str, Any] | str) -> str:
    if isinstance(event, str) or live.id not in event or len(event) < 2:
        return _OTHER
    # a label has its id beside it, and perhaps two names of its target
    if len(event) <= 3 and event.keys() - {live.id} <= live.label_names():
        return _LABEL
    return _ROW if event.get(live.target) is None else _BOTH


def _block_length(live: Any, kind: str, run: list[Mapping[str, Any]]) -> int:
    """How many of the first events nothing is special about; the next is taken by itself."""
    model, late = live.model, live.late
    settings, skips = model.settings, model.settings.get("missing") == "skip"
    if kind == _OTHER or len(run) == 1 or not model.n_rows or "group" in settings or skips:
        return 0
    if kind != _LABEL:
        run = run[: late.most - late.n_waiting]
    labels = labels_of_blocks(live) if kind == _BOTH and live.tells_more else None
    seen: set[Any] = set()
    for k, event in enumerate(run):
        id = event[live.id]
        if not isinstance(id, str | int) or id in seen or (id in late) != (kind == _LABEL):
            return k
        if kind != _LABEL and live.was_answered(id):
            return k
        if kind != _ROW and not _is_usual(_label_of(live, kind, event), live, labels):
            return k
        seen.add(id)
    return len(run)


def _label_of(live: Any, kind: str, event: Mapping[str, Any]) -> Any:
    """The label of an event that has one."""
    if kind == _BOTH:
        return event[live.target]
    return next(value for name, value in event.items() if name != live.id)


def _is_usual(label: Any, live: Any, among: list[Any] | None) -> bool:
    """Whether nothing can be wrong with a label: what is refused would end a block in its middle.

    The columns of a block have learned all of its rows by then.
    """
    if among is not None:
        return is_among(label, among)
    if live.model.task == "regression":
        return type(label) in (int, float) and -_USUAL < label < _USUAL
    known = live.model.classes
    return len(known) > 0 and type(label) is type(known[0].item())


def labels_of_blocks(live: Any) -> list[Any]:
    """Labels of rows whose probabilities are those behind their predictions, in a block, too.

    A new class would change those after it.
    """
    estimator, known = live.model.estimator, live.model.classes.tolist()
    few = live.level or len(known) < 2 or not hasattr(estimator, "replayed")
    return [] if few else known


def is_among(label: Any, known: list[Any]) -> bool:
    """Whether a label is one of those known, and of their type."""
    return bool(known) and type(label) is type(known[0]) and label in known


def _as_block(live: Any, kind: str, run: list[Mapping[str, Any]]) -> list[Any]:
    """Answers to the first events of the run, up to one that has to be taken by itself."""
    ids = [event[live.id] for event in run]
    if kind == _LABEL:
        labels = [_label_of(live, kind, event) for event in run]
        return live.learned_labels(ids[: live.learn_labels(ids, labels)])
    rows = _columns(live, run)
    ids = ids[: len(rows)]
    if kind == _BOTH:
        labels = [event[live.target] for event in run[: len(rows)]]
        return live.learn_rows(ids, rows, labels, run)
    return live.keep_rows(ids, rows, run)


def _columns(live: Any, run: list[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """As `LiveModel.columns` of the first events of a run, up to one that it would refuse."""
    out = {live.id, live.target, *live.left_out()}
    kinds = live.model.encoder.kinds
    rows: list[dict[str, Any]] = []
    for event in run:
        x = {name: value for name, value in event.items() if name not in out}
        if not x or not _PLAIN.issuperset(map(type, x.values())) or set(map(type, x)) != {str}:
            break
        if not kinds.keys() <= x.keys():
            x |= {name: None for name in kinds if name not in x}
        rows.append(x)
    return rows


def bounds(values: Any) -> list[float | None]:
    """Both ends of an interval; None where it has no end."""
    return [v if math.isfinite(v) else None for v in values.tolist()]
