"""One event: a row is answered, and perhaps learned; the label of a row that waits is learned.

:mod:`onkel.serve.runs` does the same with a run of events, as one block.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from typing import Any

from onkel.annotations import Row
from onkel.columns.failures import shorten
from onkel.errors import DataError
from onkel.learners.predictions import Forecast
from onkel.serve import notation
from onkel.serve.runs import (
    ERRORS,
    Live,
    beside,
    by_class,
    is_among,
    is_no_label,
    labels_of_blocks,
)

_UNUSED = {
    "unknown": "no row with this id waits",
    "doubled": "the row was learned already",
    "late": "the row was forgotten",
}


class DroppedError(DataError):
    """A row has a gap, and the model drops such rows."""

    def __init__(self, column: str | int | None = None, value: object = None) -> None:
        super().__init__(
            "a row with a gap is dropped, as the model was made with missing='skip'; give it a "
            "value, or make a model that fills gaps (--missing auto)",
            column=column,
            value=value,
        )


def taken(live: Live, event: Mapping[str, object] | str) -> dict[str, object] | None:
    """The answer to an event, of a `LiveModel`; None to a label, unless labels are answered."""
    if isinstance(event, str):
        return live.refuse(None, event)
    x = {str(name): value for name, value in event.items()}
    id = x.pop(live.id, None)
    if x and x.keys() <= live.label_names():
        return _label(live, id, next(iter(x.values())))
    y = x.pop(live.target, None)
    try:
        if live.ids.was_answered(id):
            answer = live.ids.answer(id, event)
            live.counts["repeated"] += 1
            return answer
        answer = _row(live, id, x, y)
    except ERRORS as error:
        answer = live.refusal(id, error)
        live.refuse(id, str(answer["error"]))
        return answer
    live.ids.note([event], [answer])
    return answer


def _row(live: Live, id: Hashable, x: Row, y: object) -> dict[str, object]:
    """Predict a row, and learn it if its label is there; else let it wait. The answer."""
    late, model = live.late, live.model
    _require_id(id)
    x = live.columns(x)
    before = model.n_rows
    if id in late:
        raise DataError("a row with this id waits for its label already")
    more: dict[str, object] = {}
    refused = None
    if y is not None:
        # the probabilities behind the prediction, where learning the row tells them
        both = live.has_proba and is_among(y, labels_of_blocks(live))
        if live.tells_more and not both:
            _, more = told(live, late.forecast(None, x, keep=False))
        try:
            known = live.score.n_labels, more.get("interval")
            own = more if both else None
            predicted = _learn(live, id, y, known, lambda y: _learn_row(live, x, y, own))
        except DroppedError:
            raise  # no label would help
        except ERRORS as error:
            refused = error
    if y is None or refused is not None:
        predicted, more = _predict(live, id, x)
    if refused is not None:
        # only now: a row that cannot be predicted is refused as a whole
        _refuse_label(live, id, y, refused)
        if live.acknowledge:
            more["label_error"] = str(refused)
    live.counts["rows"] += 1
    return {"id": id, "prediction": predicted if before else None, **more, "model_rows": before}


def _learn_row(live: Live, x: Row, y: object, more: dict[str, object] | None) -> Any:
    """Learn a row; what was predicted, and in ``more`` how probable each class was.

    None: the row was dropped.
    """
    if more is None:
        predicted = live.model.predict_then_learn(x, [y])
    else:
        predicted, shares = live.model.predict_proba_then_learn(x, [y])
        if len(shares):
            more |= by_class(live, shares)[0]
    return predicted[0].item() if len(predicted) else None


def _label(live: Live, id: Hashable, y: object) -> dict[str, object] | None:
    """Learn a row's label, or say why not; the answer, if labels are answered."""
    hashable = id is not None and isinstance(id, str | int | float)
    if hashable and id in live.late:
        known = live.ids.of_waiting(id)
        try:
            _learn(live, id, y, known, lambda y: live.late.learn(id, y))
        except ERRORS as error:
            if isinstance(error, DroppedError):
                live.ids.end([id], learned=False)
            _refuse_label(live, id, y, error)
            why, kind = str(error), "refused"
        else:
            return live.learned_labels([id])[0]
    else:
        learned = live.ids.past.get(id) if hashable else None
        kind = {None: "unknown", True: "doubled", False: "late"}[learned]
        why = _UNUSED[kind]
        live.counts[kind] += 1
        live.say(f"{kind} label {shorten(y)} of id {shorten(id, 200)}: {why}")
        if learned:
            return live.learned_labels([id])[0]
    if not live.acknowledge:
        return None
    return {"id": id, "learned": False, "error": why, "reason": kind}


def _predict(live: Live, id: Hashable, x: Row) -> tuple[Any, dict[str, object]]:
    """Predict a row and let it wait; if too many do, the oldest are forgotten.

    Returns the prediction, and what the answer says beside it.
    """
    late = live.late
    if id is None:
        # no label can come
        return told(live, late.forecast(id, x, keep=False))
    # more than one after a start with room for fewer
    oldest = late.waiting.first_ids(late.n_waiting + 1 - late.most)
    predicted, more = told(live, late.forecast(id, x))
    live.ids.end(oldest, learned=False)
    for own in oldest:
        live.say(f"id {own!r}: forgotten, as {live.options['most']:,} younger rows wait")
    live.ids.waiting[id] = live.score.n_labels, more.get("interval")
    return predicted, more


def told(live: Live, found: Forecast | None) -> tuple[Any, dict[str, object]]:
    """The prediction of one row (None before the first label), and what stands beside it."""
    if found is None:
        return None, {}
    (predicted,), (more,) = found.predictions.tolist(), beside(live, found)
    return predicted, more


def _learn(
    live: Live,
    id: Hashable,
    y: object,
    known: tuple[int, object],
    learn: Callable[[object], object],
) -> Any:
    """Learn a label, or the number that it says; returns what was predicted."""
    model = live.model
    before = model.n_rows
    if is_no_label(y):
        raise DataError(f"{shorten(y)} is no label")
    if model.task == "regression" and isinstance(y, str):
        number = notation.number_in(y)
        if number is None:
            raise DataError(f"{shorten(y)} is not a number; every target must be one")
        y = number
    predicted = learn(y)
    if model.n_rows == before:
        raise DroppedError()
    if before == 0 and model.encoder is not None:
        model.encoder.target = live.target
    live.counts["labels"] += 1
    live.score.add(y, predicted, *known)
    if id is not None:
        live.ids.end([id], learned=True)
    return predicted


def _refuse_label(live: Live, id: Hashable, y: object, error: Exception) -> None:
    live.counts["refused"] += 1
    waits = "; the row waits for another" if id is not None and id in live.late else ""
    live.say(f"refused: label {shorten(y)} of id {id!r}: {error}{waits}")


def _require_id(id: Hashable) -> None:
    if id is not None and (not isinstance(id, str | int | float) or id != id):
        raise DataError(f"{shorten(id)} is no id: it must be text or a number")
