"""Errors that say where: file, row, column and value."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np


class DataError(ValueError):
    """A row, a column or a file that cannot be learned from.

    Parameters
    ----------
    message : str
        What is wrong and what would be right.
    source : str, optional
        File, table or query the row comes from.
    row : int, optional
        Row counted from 0, as in NumPy, within the stream (or within the block for arrays). A
        traceback says so; the command line counts rows from 1, as files count lines.
    column : str or int, optional
        Name or number of the column.
    value : object, optional
        The value found there.

    Attributes
    ----------
    predictions : ndarray or None
        Predictions for the rows of the block before the bad one, each made before the row was
        learned; None if the model that refused the row does not know them.
    """

    predictions: np.ndarray | None = None
    #: scores of the same rows, in the order of ``classes``, if the model has both
    scores: Any = None
    classes: np.ndarray | None = None
    #: values as predicted without a memory, in a regression
    alone: np.ndarray | None = None
    #: probabilities of the same rows, where they were asked for
    probabilities: np.ndarray | None = None

    def __init__(
        self,
        message: str,
        *,
        source: str | None = None,
        row: int | None = None,
        column: str | int | None = None,
        value: object = None,
    ) -> None:
        self.message = message
        self.source = source
        self.row = row
        self.column = column
        self.value = value
        super().__init__(self.located("" if row is None else f"row {row}"))
        if row is not None:
            self.add_note("rows are counted from 0")

    def located(self, row: str) -> str:
        """The whole message; ``row`` are the words for its row, such as ``line 3``."""
        where = [] if self.source is None else [str(self.source)]
        where += [row] if row else []
        where += [] if self.column is None else [f"column {self.column!r}"]
        return f"{', '.join(where)}: {self.message}" if where else self.message


class NoRowsError(DataError):
    """A source that has no rows."""


class DivergenceError(DataError):
    """A row that would make a learner's numbers infinite; the learner stays as it was before it."""


class MergeError(ValueError):
    """Models that cannot be merged: they differ where they must agree, or hold no sums."""


class ModelFileError(ValueError):
    """A model file that is truncated, altered, or not one of onkel's."""


class MissingModelFileError(ModelFileError, FileNotFoundError):
    """A model file that does not exist."""


class UnwrittenModelFileError(ModelFileError, OSError):
    """A model file that cannot be written: the disk is full, or the folder is not there."""

    def __init__(self, path: object, why: str) -> None:
        super().__init__(path, why)
        self.strerror: str | None = why

    def __str__(self) -> str:
        return f"cannot save {self.args[0]}: {self.strerror}"


class ExportError(ValueError):
    """A model, or a part of one, that cannot be written as an ONNX graph."""


class JournalError(ValueError):
    """A journal that is damaged, in use, of another model, or cannot be written."""
