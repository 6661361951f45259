"""What a live model knows beside its model, as the model's file holds it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from onkel.serve import notation
from onkel.state import Array, Field, Fields, Named, Text, Whole, check, inside, require

if TYPE_CHECKING:
    from onkel.serve.runs import Live

_FIELDS: Fields = {
    "counts": Named(Whole(), optional=True),
    "options": Named(Field()),
    "number": Whole(),
    "forgotten": Whole(),
    "position": Text(),
    "ids": Array(np.uint8, ("bytes",)),
}


def state_of(live: Live) -> dict[str, Any]:
    """Counts, score, rows that wait, and ids with their answers, as arrays and plain values."""
    late = live.late
    return {
        "counts": dict(live.counts),
        "score": live.score.get_state(),
        "forgotten": late.n_forgotten,
        "waiting": late.get_waiting(),
        "ids": live.ids.get_state(),
        "options": live.options,
        "number": live.number,
        "position": notation.exact(live.position)[0].decode(),
    }


def set_state(live: Live, state: dict[str, Any]) -> None:
    """The inverse of `state_of`; ModelFileError for a damaged state."""
    check(state, _FIELDS)
    counts = state.get("counts", {})
    live.counts.update((name, int(n)) for name, n in counts.items() if name in live.counts)
    with inside(state, "score") as score:
        live.score.set_state(score)
    with inside(state, "waiting") as waiting:
        live.late.set_waiting(waiting)
    live.late.n_forgotten = int(state["forgotten"])
    live.saved_options = state["options"]
    live.number = int(state["number"])
    try:
        live.position = notation.decoded(state["position"].encode())
        live.ids.set_state(state["ids"])
    except (ValueError, TypeError, KeyError) as error:
        require(False, f"ids: cannot be read ({error!r})")
