"""Predictions that learn nothing and keep nothing: they need no journal."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from onkel.serve.runs import ERRORS, beside

if TYPE_CHECKING:
    from onkel.serve.runs import Live


def peek(live: Live, rows: Sequence[dict[str, Any]]) -> list[dict[str, object]]:
    """The answers that rows without an id would get from a `LiveModel` now, each by itself."""
    model, ahead = live.model, live.late.n_waiting
    if not model.n_rows:
        return [{"id": None, "prediction": None, "model_rows": 0} for _ in rows]
    # of a block, a memory takes each row for the one after the last
    memory = getattr(model.estimator, "memory_", None)
    if len(rows) > 1 and memory is None and "group" not in model.settings:
        try:
            return _block(live, rows, ahead)
        except ERRORS:
            pass  # some row is bad
    return [_one(live, row, ahead) for row in rows]


def _one(live: Live, row: dict[str, Any], ahead: int) -> dict[str, object]:
    try:
        return _block(live, [row], ahead)[0]
    except ERRORS as error:
        return live.refusal(None, error)  # type: ignore[no-any-return]


def _block(live: Live, rows: Sequence[dict[str, Any]], ahead: int) -> list[dict[str, object]]:
    model = live.model
    rows = [live.columns(row) for row in rows]
    found = model.forecast_next(rows, ahead)
    return [
        {"id": None, "prediction": p, "model_rows": model.n_rows, **own}
        for p, own in zip(found.predictions.tolist(), beside(live, found), strict=True)
    ]
