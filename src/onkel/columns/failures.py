"""Helpers for messages: errors that name file, row, column and value; numbers of things."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from difflib import get_close_matches

from onkel.errors import DataError

# Most letters of a word that may mean a missing value.
_WORD = 20
A_FLAG, A_NUMBER = "true or false", "a number"
"""What is expected in columns of flags and of numbers, for `misfit`."""


def moved(error: DataError, *, source: str | None = None, rows: int = 0) -> DataError:
    """The same error, ``rows`` rows further down and with the file named."""
    return DataError(
        error.message,
        source=error.source if error.source is not None else source,
        row=None if error.row is None else error.row + rows,
        column=error.column,
        value=error.value,
    )


def missing_column(
    name: str, columns: Iterable[str], source: str | None, *, gone: bool = False
) -> DataError:
    """The error for an absent column; it lists those present. ``gone``: it was there before."""
    names = [str(c) for c in columns]
    near = get_close_matches(str(name), names, 1, 0.6)
    hint = f"; did you mean {near[0]!r}?" if near else "."
    shown = ", ".join(names[:12]) + (f", ... ({len(names)} in all)" if len(names) > 12 else "")
    text = f"no such column{hint} The columns are: {shown}"
    if gone:
        text += (
            ". To take its values for missing ones: missing='zero', 'mean' or 'skip' (--missing on "
            "the command line), or missing='gap' of a StreamModel"
        )
    return DataError(text, source=source, column=name)


def no_feature(
    t: object,
    column: str,
    *,
    source: str | None = None,
    row: int | None = None,
    value: object = None,
) -> DataError:
    """The error for a column of a type that cannot be a feature."""
    text = (
        f"is of type {t}, which cannot be a feature; leave it out with exclude, or make it text "
        "or numbers"
    )
    return DataError(text, source=source, row=row, column=column, value=value)


def count(number: int, what: str) -> str:
    """A number of things; with an "s" unless there is one.

    >>> count(1, "run"), count(20_000, "row")
    ('1 run', '20,000 rows')
    """
    return f"{number:,} {what}" + ("" if number == 1 else "s")


def shorten(value: object, width: int = 60) -> str:
    """A value for a message: quoted, and cut if long."""
    try:
        text = repr(value)
    except ValueError:  # a whole number of more digits than Python writes
        text = f"a {type(value).__name__} of more than 4300 digits"
    except RecursionError:
        text = f"a {type(value).__name__} that is nested too deeply"
    return text if len(text) <= width else text[: width - 3] + "..."


def words_of(error: Exception) -> str:
    """What an error of another library says, on one line; its type where that is no text."""
    texts = all(isinstance(part, str) for part in error.args)
    text = " ".join((" ".join(error.args) if texts else str(error)).split())
    name = type(error).__name__
    return shorten(text, 200)[1:-1] if text and text.isprintable() else name


def damaged(error: Exception) -> str:
    """The message for a file that a library cannot read."""
    return f"is truncated or damaged: {words_of(error).rstrip('.')}; write the file anew"


def misfit(value: object, wanted: str) -> str:
    """The message for a value where a number, a time or the like is expected.

    For a short text it adds hints: a word may mean a missing value, and codes may be categories.
    """
    text = f"{shorten(value)} stands where {wanted} is expected"
    word = value.strip() if isinstance(value, str) else ""
    if not word or len(word) > _WORD or "," in word or ";" in word:
        return text
    none = f"if it means that there is none, learn with na_values (--na-values {word!r})"
    codes = "if it is a category, learn with categorical (--categorical COLUMN)"
    hints = [] if any(c.isdigit() for c in word) else [none]
    return "; ".join([text, *hints, *([codes] if wanted in (A_FLAG, A_NUMBER) else [])])


def succeeds(attempt: Callable[[], object], *errors: type[Exception]) -> bool:
    """Whether a call raises none of these errors."""
    try:
        attempt()
    except errors:
        return False
    return True


def first_failure(n: int, works: Callable[[int], bool]) -> int:
    """The largest k for which the first k rows work, by bisection (``works(n)`` is False)."""
    low, high = 0, n
    while high - low > 1:
        middle = (low + high) // 2
        if works(middle):
            low = middle
        else:
            high = middle
    return low
