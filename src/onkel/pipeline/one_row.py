"""Single rows, given as dicts, without a table; see :mod:`onkel.columns.one_row`."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from onkel.columns.encoding import Encoder
from onkel.columns.notation import GAPS
from onkel.columns.one_row import RowEncoder
from onkel.pipeline.rows import other_columns, reading_to_predict
from onkel.streams.blocks import Block


class OneRow:
    """The look-ups of a model for single rows, made when they are first needed."""

    def __init__(self) -> None:
        self._encoder: RowEncoder | None = None

    def __reduce__(self) -> tuple[Any, ...]:
        # a copied model has look-ups of its own
        return OneRow, ()

    def features(
        self, row: Any, encoder: Encoder | None, settings: dict[str, Any], *, learn: bool = False
    ) -> np.ndarray | None:
        """Features (1, d) of a dict; None if it has to be read as a table."""
        if type(row) is not dict or encoder is None or encoder.n_vector is not None:
            return None
        own = self._encoder
        if own is None or not own.fits(encoder):
            reading = reading_to_predict(settings)
            # a row that is learned would be skipped where one that is predicted is refused
            missing = settings.get("missing", reading.missing)
            others = other_columns(encoder, settings)
            own = self._encoder = RowEncoder(encoder, missing, reading.dtype, others)
        return own.features(row, learn=learn)

    def block(
        self, row: Any, y: Any, encoder: Encoder | None, settings: dict[str, Any]
    ) -> Block | None:
        """A row to learn; its target is ``y``, or in the target's column where ``y`` is None."""
        if type(row) is not dict or encoder is None or "group" in settings:
            return None
        if y is None:
            value = row.get(encoder.target) if encoder.target and not encoder.target_form else None
            if type(value) is str:
                value = value.strip()
                value = None if value in GAPS or value in encoder.na_values else value
        else:
            value = y[0] if isinstance(y, (list, np.ndarray)) and len(y) == 1 else None
        if not _is_target(value):
            return None
        X = self.features(row, encoder, settings, learn=True)
        return None if X is None else Block(X, np.array([value]), 0, encoder.n_late)


def _is_target(value: Any) -> bool:
    """Whether a value is read in one way only: a text, a number or a flag."""
    if isinstance(value, np.generic):
        value = value.item()
    if type(value) is int:
        return -(2**63) <= value < 2**63
    return type(value) in (str, bool) or (type(value) is float and math.isfinite(value))
