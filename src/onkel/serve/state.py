"""What a live model knows beside its model, as the model's file holds it."""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from onkel.parameters import is_whole
from onkel.state import Array, Field, Whole, check, inside, require

_FIELDS: dict[str, Field] = {
    "number": Whole(),
    "forgotten": Whole(),
    "ids": Array(np.uint8, ("bytes",)),
}


def state_of(live: Any) -> dict[str, Any]:
    """Counts, score, rows that wait, and ids with their answers, as arrays and plain values."""
    late = live.late
    return {
        "counts": dict(live.counts),
        "score": live.score.get_state(),
        "forgotten": late.n_forgotten,
        "waiting": late.get_waiting(),
        "ids": _packed(live),
        "options": live.options,
        "number": live.number,
        "position": json.dumps(live.position),
    }


def set_state(live: Any, state: dict[str, Any]) -> None:
    """The inverse of `state_of`; ModelFileError for a damaged state."""
    if isinstance(state, dict) and state.keys() == {"waiting"}:  # as earlier versions wrote it
        live.late.set_waiting(state["waiting"])
        return
    check(state, _FIELDS)
    counts = state.get("counts") or {}
    require(
        isinstance(counts, dict) and all(is_whole(n) and n >= 0 for n in counts.values()),
        "counts: must be whole numbers, at least 0",
    )
    live.counts.update((name, int(n)) for name, n in counts.items() if name in live.counts)
    with inside(state, "score") as score:
        live.score.set_state(score)
    with inside(state, "waiting") as waiting:
        live.late.set_waiting(waiting)
    live.late.n_forgotten = int(state["forgotten"])
    require(isinstance(state.get("options"), dict), "options: are missing")
    live.saved_options = state["options"]
    live.number = int(state["number"])
    try:
        live.position = json.loads(state["position"])
        for entry in json.loads(state["ids"].tobytes()):
            _take(live, *entry)
    except (ValueError, TypeError, KeyError) as error:
        require(False, f"ids: cannot be read ({error!r})")


def _packed(live: Any) -> np.ndarray:
    """Of each id: how it stands, what its row was told, and the answer; as bytes of JSON."""
    past = [(id, learned, 0, None) for id, learned in live.past.items()]
    known = [(id, None, *of_row) for id, of_row in live.known.items()]
    entries = [(*entry, *live.answers.get(entry[0], (0, None))) for entry in past + known]
    return np.frombuffer(json.dumps(entries, separators=(",", ":")).encode(), np.uint8)


def _take(
    live: Any, id: Any, learned: bool | None, known: int, interval: Any, mark: int, answer: Any
) -> None:
    if learned is None:
        live.known[id] = int(known), interval
    else:
        live.past[id] = bool(learned)
    if answer is not None:
        live.answers[id] = int(mark), str(answer)
