"""Describe a model and what its columns became, for people and programs."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np

from onkel.columns.column import CODE, EXACT, GAP, WORDS
from onkel.columns.failures import count
from onkel.columns.layout import Layout
from onkel.columns.words import MOST_WORDS
from onkel.fields import State, nbytes
from onkel.learners.base import OnlineEstimator
from onkel.pipeline.statistics import is_fitted

if TYPE_CHECKING:
    from onkel.pipeline.block_model import BlockModel


_WRITTEN = {
    "point": "as text",
    "comma": "with decimal commas",
    "ymd": "as text",
    "dmy": "day first",
    "mdy": "month first",
}


def columns_of(model: BlockModel) -> list[dict[str, object]]:
    """Name, kind, notation and features of each input column, where columns have names.

    ``written`` is empty if the type shows it; ``categories`` None unless text; ``gaps`` the rows so
    far in which it was missing; ``features`` their number; ``became`` the same in words; ``late``
    whether it appeared in mid-stream.
    """
    if model.encoder is None:
        return []
    layout = model.encoder.layout
    return [
        {
            "name": column.name,
            "kind": column.kind,
            "written": _WRITTEN.get(column.form, ""),
            "categories": len(layout.categories[k].values) if column.kind == "text" else None,
            "gaps": layout.gaps[k],
            "features": _n_features(layout, k),
            "became": _became(layout, k),
            "late": column.late,
        }
        for k, column in enumerate(layout.columns)
    ]


def _n_features(layout: Layout, k: int) -> int:
    """Features of a column; the codes of its words become one."""
    spare = MOST_WORDS - 1 if layout.get(k, WORDS) >= 0 else 0
    return len(layout.of(k)) - spare


def _became(layout: Layout, k: int) -> str:
    column = layout.columns[k]
    if layout.waits(k):
        value = repr(column.constant) if column.kind == "text" else column.constant
        what = value if column.constant else "missing"
        return f"left out while it is {what} in every row (--keep-columns to use it)"
    parts: list[str] = []
    if column.kind == "text":
        own = layout.categories[k]
        if own.values:
            parts.append("1 category" if len(own.values) == 1 else f"{len(own.values)} categories")
        if own.hashes and not layout.statistics:
            parts.append(f"{count(own.n_hash, 'feature')} that other values share")
        if layout.get(k, CODE) >= 0:
            parts.append("the target's mean" + (", values hashed" if own.hashes else ""))
        if k in layout.words:
            parts.append("the target's means of its words")
    elif column.kind == "time":
        parts.append("trend, hour, weekday and day of the year")
    else:
        far = f" counted from {column.origin:,.12g}" if column.origin else ""
        parts.append(f"number{far}" if column.kind == "number" else "0 or 1")
        if layout.get(k, EXACT) >= 0:
            parts.append("the target's mean where it stands")
    if layout.get(k, GAP) >= 0:
        parts.append("whether it is missing")
    return "; ".join(parts)


def waiting_rows(model: BlockModel) -> dict[str, int] | None:
    """Rows that the learner keeps for fits to come: their number, when they go, and bytes.

    None if it keeps none. While landmarks are searched they are most of the model and of its file.
    """
    if not isinstance(model.estimator, OnlineEstimator) or not is_fitted(model.estimator):
        return None
    kept = _kept(model.estimator.model_.get_state())
    if not any(len(one["X"]) for one in kept):
        return None
    most = max(kept, key=lambda one: one["n_rows"])
    left, size = int(most["n_rows"]) - len(most["X"]), sum(map(nbytes, kept))
    # a part of the model may have begun later
    return {"rows": len(most["X"]), "until": model.n_rows + left, "bytes": size}


def _kept(state: State) -> list[State]:
    """The parts of a state that hold rows for a fit (:class:`onkel.model.warmup.Warmup`)."""
    if {"n_rows", "X", "y", "weight"} <= state.keys():
        return [state]
    return [one for part in state.values() if isinstance(part, dict) for one in _kept(part)]


def describe(model: BlockModel) -> dict[str, Any]:
    """Task, target, classes, rows, size, columns and settings, JSON-able."""
    encoder = model.encoder
    fitted = is_fitted(model.estimator)
    return {
        "learner": type(model.estimator).__name__,
        "algorithm": model.settings.get("algorithm"),
        "task": model.task,
        "target": encoder.target if encoder else model.settings.get("target"),
        "classes": (
            model.estimator.classes_.tolist() if fitted and model.task == "classification" else None
        ),
        "n_rows": model.n_rows,
        "changes": list(model.changes_),
        "alarms": model.alarms_,
        "n_features": int(model.estimator.n_features_in_) if fitted else None,
        "model_bytes": model.nbytes,
        "waiting_rows": waiting_rows(model),
        "scaling": model.scaling,
        "parameters": model.estimator.get_params(deep=False),
        "columns": columns_of(model),
        "left_out": model.settings.get("left_out", []),
        "useless": model.settings.get("useless", {}),
        "settings": model.settings,
    }


def columns_with_importance(model: BlockModel) -> list[dict[str, object]]:
    """As `columns_of`, with the importance of each column.

    Of columns without names, only the 20 most important.
    """
    shares = model.feature_importances_
    columns = columns_of(model)
    if columns:
        found = zip(columns, shares.tolist(), strict=True)
        return [{**column, "importance": share} for column, share in found]
    most = np.argsort(-shares, kind="stable")[:20]
    number = int if model.encoder is None else model.encoder.column_of
    return [{"name": f"column {number(j)}", "importance": float(shares[j])} for j in most.tolist()]


def html_table(title: str, rows: list[tuple[str, str]]) -> str:
    """A table of names and values for notebooks."""
    cells = "".join(
        f"<tr><th style='text-align:left'>{escape(name)}</th>"
        f"<td style='text-align:left'>{escape(value)}</td></tr>"
        for name, value in rows
    )
    return f"<table><caption>{escape(title)}</caption><tbody>{cells}</tbody></table>"
