"""Single rows and short lists of dicts, without a table; see :mod:`onkel.columns.one_row`."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from onkel.annotations import Row
from onkel.columns.encoding import Encoder
from onkel.columns.notation import GAPS
from onkel.columns.one_row import RowEncoder
from onkel.pipeline.rows import USUAL_KEYS, Keys, other_columns, reading_to_predict
from onkel.streams.blocks import Block

# Longer lists are read as tables, in pieces.
_MOST = 512


class OneRow:
    """The look-ups of a model for single rows and short lists, made when first needed."""

    def __init__(self) -> None:
        self._encoder: RowEncoder | None = None
        self._keys: Keys | None = None

    def __reduce__(self) -> tuple[object, ...]:
        # a copied model has look-ups of its own
        return OneRow, ()

    def features(
        self,
        rows: object,
        encoder: Encoder | None,
        settings: dict[str, Any],
        keys: Keys = USUAL_KEYS,
        *,
        learn: bool = False,
    ) -> np.ndarray | None:
        """Features (n, d) of a dict or a short list of dicts; None: they are read as a table."""
        listed = _listed(rows)
        if listed is None or encoder is None or encoder.n_vector is not None:
            return None
        if learn and any(row.keys() != listed[0].keys() for row in listed[1:]):
            # a key that came late and that some rows lack is a gap in a table
            return None
        own = self._encoder
        same = own is not None and own.encoder is encoder and own.columns is encoder.columns
        if own is None or not same or self._keys is not keys:
            own, self._keys = _look_ups(encoder, settings, keys), keys
            self._encoder = own
        return own.features(listed, learn=learn)

    def block(
        self,
        rows: object,
        y: object,
        encoder: Encoder | None,
        settings: dict[str, Any],
        keys: Keys = USUAL_KEYS,
    ) -> Block | None:
        """Rows to learn; their targets are ``y``, or in the target's column where ``y`` is None."""
        listed = _listed(rows)
        if listed is None or encoder is None or "group" in settings:
            return None
        values = _targets(listed, y, encoder)
        if values is None:
            return None
        X = self.features(listed, encoder, settings, keys, learn=True)
        return None if X is None else Block(X, np.array(values), 0, encoder.n_late)


def _look_ups(encoder: Encoder, settings: dict[str, Any], keys: Keys) -> RowEncoder:
    """The look-ups of an encoder, as it is now."""
    reading = reading_to_predict(settings)
    # a row that is learned would be skipped where one that is predicted is refused
    how = settings.get("missing", reading.missing), reading.dtype
    lacking, ignores = keys.missing != "error", keys.extra != "error"
    return RowEncoder(encoder, *how, other_columns(encoder, settings), lacking, ignores)


def _listed(rows: Any) -> list[Row] | None:
    if type(rows) is dict:
        return [rows]
    short = type(rows) is list and 0 < len(rows) <= _MOST
    return rows if short and all(type(row) is dict for row in rows) else None


def _targets(rows: list[Row], y: object, encoder: Encoder) -> list[object] | None:
    """The targets of rows; None if one of them can be read in several ways."""
    if y is not None:
        values = list(y) if isinstance(y, (list, np.ndarray)) and len(y) == len(rows) else []
    elif not encoder.target or encoder.target_form:
        return None
    else:
        values = [row.get(encoder.target) for row in rows]
        texts = [value.strip() if type(value) is str else None for value in values]
        gaps = GAPS.union(encoder.na_values)
        values = [
            value if text is None else None if text in gaps else text
            for value, text in zip(values, texts, strict=True)
        ]
    alike = len({type(value) for value in values}) == 1
    return values if alike and all(map(_is_target, values)) else None


def _is_target(value: object) -> bool:
    """Whether a value is read in one way only: a text, a number or a flag."""
    if isinstance(value, np.generic):
        value = value.item()
    if type(value) is int:
        return -(2**63) <= value < 2**63
    return type(value) in (str, bool) or (type(value) is float and math.isfinite(value))
