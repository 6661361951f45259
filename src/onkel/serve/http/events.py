"""What each endpoint makes of a row: the event that the engine takes, or why it cannot."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from onkel.columns.failures import shorten
from onkel.serve.http.bodies import Limits
from onkel.serve.notation import require_flat

if TYPE_CHECKING:
    from onkel.serve.live import LiveModel

Event = dict[str, Any]
MakeEvent = Callable[["LiveModel", Event], Event]


class RowError(ValueError):
    """A row that an endpoint cannot use."""


def to_predict(live: LiveModel, row: Event) -> Event:
    """The row without its label, which may be there."""
    labels = live.label_names()
    if row.keys() <= {live.id, *labels}:
        raise RowError("the row has no columns")
    return {name: value for name, value in row.items() if name not in labels}


def to_learn(live: LiveModel, row: Event) -> Event:
    """The row with its label under the target's name."""
    if row.keys() <= {live.id, *live.label_names()}:
        raise RowError("the row has no columns; the label of a row before goes to /label")
    if row.get(live.target) is not None:
        return row
    if "y" in live.label_names() and row.get("y") is not None:
        return {name: value for name, value in row.items() if name not in ("y", live.target)} | {
            live.target: row["y"]
        }
    raise RowError(f"the row has no label: give {_names(live)}")


def to_label(live: LiveModel, row: Event) -> Event:
    """The id and the label, and nothing else."""
    if not isinstance(row.get(live.id), str | int | float):
        raise RowError(f"a label needs the {live.id!r} of its row, a text or a number")
    others = row.keys() - {live.id} - live.label_names()
    if others or len(row) != 2:
        raise RowError(
            f"a label has {live.id!r} and {_names(live)}, and nothing else"
            + (f"; {min(others)!r} is too much" if others else "")
        )
    return row


def checked(row: Any, limits: Limits) -> Event:
    """A row that is an object of not too many columns."""
    if not isinstance(row, dict):
        raise RowError(f'{shorten(row, 40)} is no row; a row is an object such as {{"size": 2.5}}')
    if len(row) > limits.columns:
        raise RowError(f"{len(row):,} columns; {limits.columns:,} may be (--max-columns)")
    try:
        require_flat(row)
    except ValueError as error:
        raise RowError(str(error)) from None
    return row


def only_learned(answer: Event) -> Event:
    """The answer of /learn: whether it was learned."""
    if "error" in answer:
        return answer
    if "label_error" in answer:
        return {"id": answer["id"], "learned": False, "error": answer["label_error"]}
    return {"id": answer["id"], "learned": True, "model_rows": answer["model_rows"]}


def _names(live: LiveModel) -> str:
    names = [live.target, *sorted(live.label_names() - {live.target})]
    return " or ".join(map(repr, names))
