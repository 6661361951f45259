"""Read Arrow columns as numbers, times, text and targets."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.types as pt

from onkel.columns.column import Column, Given
from onkel.columns.failures import A_FLAG, first_failure, misfit, shorten, succeeds
from onkel.columns.notation import FLAGS, GAPS, numbers_of, seconds_of
from onkel.errors import DataError

_UNIT = {"s": 1.0, "ms": 1e-3, "us": 1e-6, "ns": 1e-9}
# Texts that mean a missing text target (a short form of pyarrow's list for numbers).
_NULLS = ("", "NA", "N/A", "n/a", "#N/A", "NULL", "null", "NaN", "nan")
_ZONE = r"[T ].*(Z|[+-]\d\d(:?\d\d)?)$"


def _is_text(t: pa.DataType) -> bool:
    return (
        pt.is_string(t)
        or pt.is_large_string(t)
        or pt.is_string_view(t)
        or pt.is_binary(t)
        or pt.is_large_binary(t)
        or pt.is_binary_view(t)
    )


def kind_of(t: pa.DataType) -> str | None:
    """``"number"``, ``"flag"``, ``"time"`` or ``"text"``; None if it cannot be a feature."""
    number = pt.is_integer(t) or pt.is_floating(t) or pt.is_decimal(t) or pt.is_duration(t)
    if number or pt.is_null(t):
        return "number"
    if pt.is_boolean(t):
        return "flag"
    if pt.is_temporal(t) and not pt.is_interval(t):
        return "time"
    if pt.is_dictionary(t):
        return None if kind_of(t.value_type) is None else "text"
    return "text" if _is_text(t) else None


def one_batch(table: pa.Table) -> pa.RecordBatch:
    """All rows of a table as one record batch."""
    batches = table.combine_chunks().to_batches()
    return batches[0] if batches else pa.RecordBatch.from_pylist([], schema=table.schema)


def as_numpy(array: pa.Array) -> np.ndarray:
    """Numbers or booleans as NumPy; NaN where null.

    Uses DLPack where possible: pyarrow's own conversion first imports pandas if it is installed,
    which takes a sixth of the time of a short command.
    """
    if pt.is_boolean(array.type):
        return as_numpy(array.cast(pa.uint8())).view(bool)
    if pt.is_floating(array.type) and array.null_count:
        array = array.fill_null(np.nan)
    if array.null_count or not len(array):
        return array.to_numpy(zero_copy_only=False)
    return np.from_dlpack(array)


def numbers(
    array: pa.Array,
    name: str,
    na_values: Collection[str] = (),
    bad: Counter[str] | None = None,
    wanted: str = "a number",
) -> np.ndarray:
    """A numeric or boolean column as numbers; NaN where null, or one of ``na_values``.

    With ``bad``, text that is no number is counted there and NaN. Errors say what is ``wanted``.
    """
    t = array.type
    if pt.is_floating(t):
        return as_numpy(array)
    if pt.is_dictionary(t):
        array = array.dictionary_decode()
        t = array.type
    if pt.is_null(t):
        return np.full(len(array), np.nan)
    if pt.is_boolean(t):
        array = array.cast(pa.uint8())
    elif pt.is_decimal(t) or (pt.is_integer(t) and array.null_count):
        array = array.cast(pa.float64(), safe=False)
    elif pt.is_duration(t):
        return seconds(array, name)
    elif _is_text(t):
        array = _parsed(array, name, na_values, bad, wanted)
    elif not pt.is_integer(t) and not pt.is_floating(t):
        raise DataError(f"is of type {t}; a number is expected", column=name)
    return as_numpy(array)


def _parsed(
    array: pa.Array,
    name: str,
    na_values: Collection[str],
    bad: Counter[str] | None,
    wanted: str,
) -> pa.Array:
    """Text parsed as numbers; every value must be a number or missing."""
    text = pc.utf8_trim_whitespace(array.cast(pa.string()))
    text = pc.if_else(pc.is_in(text, texts([*GAPS, *na_values])), pa.NULL, text)
    try:
        return text.cast(pa.float64())
    except pa.ArrowInvalid:
        if bad is not None:
            known = [pa.scalar(value) for value in pc.unique(text.drop_null()).to_pylist()]
            good = pa.array([one.as_py() for one in known if _casts(one)], pa.string())
            kept = pc.if_else(pc.is_in(text, good), text, pa.NULL)
            bad[name] += kept.null_count - text.null_count
            return kept.cast(pa.float64())
        row = first_failure(len(text), lambda k: _casts(text.slice(0, k)))
        value = array[row].as_py()
        raise DataError(misfit(value, wanted), row=row, column=name, value=value) from None


def texts(values: Collection[str]) -> pa.Array:
    """Text as an Arrow array; ``pa.array`` would import pandas, which takes a third of a second."""
    data = [value.encode() for value in values]
    ends = np.cumsum([0, *map(len, data)], dtype=np.int32)
    buffers = [None, pa.py_buffer(ends.tobytes()), pa.py_buffer(b"".join(data))]
    return pa.Array.from_buffers(pa.string(), len(data), buffers)


def _casts(text: pa.Array) -> bool:
    return succeeds(lambda: text.cast(pa.float64()), pa.ArrowInvalid)


def parsed_times(text: pa.Array, t: pa.DataType) -> pa.Array:
    """Times parsed from text as type t; those with a zone are converted to UTC.

    An Arrow error: a text is no time.
    """
    if pt.is_time(t):
        # Arrow parses a time of day only behind a date
        dated = pc.binary_join_element_wise("1970-01-01", text, " ")
        return dated.cast(pa.timestamp(t.unit)).cast(t)
    zoned = pc.match_substring_regex(text, _ZONE)
    there = pc.if_else(zoned, text, None).cast(pa.timestamp(t.unit, "UTC")).cast(t)
    return pc.coalesce(pc.if_else(zoned, None, text).cast(pa.timestamp(t.unit)).cast(t), there)


def seconds(array: pa.Array, name: str) -> np.ndarray:
    """A timestamp, date, time or duration as float seconds (since 1970 or midnight)."""
    t = array.type
    if not pt.is_temporal(t) or pt.is_interval(t):
        if pt.is_null(t):
            return np.full(len(array), np.nan)
        raise DataError(f"is of type {t}; a time or date is expected", column=name)
    if pt.is_date32(t):
        scale, array = 86400.0, array.cast(pa.int32())
    else:
        scale = 1e-3 if pt.is_date64(t) else _UNIT[t.unit]
        array = array.cast(pa.int32() if pt.is_time32(t) else pa.int64())
    return as_numpy(array.cast(pa.float64(), safe=False)) * scale


def categories(array: pa.Array, name: str) -> tuple[np.ndarray, list[str]]:
    """A column as codes (-1 where null) into a list of text values."""
    t = array.type
    if pt.is_null(t):
        return np.full(len(array), -1), []
    if not pt.is_dictionary(t):
        if kind_of(t) is None:
            raise DataError(f"is of type {t}; text is expected", column=name)
        if pt.is_string_view(t) or pt.is_binary_view(t):
            array = array.cast(pa.large_string())
        array = pc.dictionary_encode(array)
    codes = array.indices
    if codes.null_count:
        codes = pc.fill_null(codes.cast(pa.int64()), -1)
    values = array.dictionary
    try:
        if not (pt.is_string(values.type) or pt.is_large_string(values.type)):
            values = values.cast(pa.string())
        known = values.to_pylist()
    except (pa.ArrowException, UnicodeDecodeError) as error:
        bad = [_is_no_text(value.as_py()) for value in values]
        row, value = None, None
        if any(bad):
            row = int(np.argmax(np.isin(as_numpy(codes), np.flatnonzero(bad))))
            value = array[row].as_py()
        text = f"{shorten(value)} " if any(bad) else ""
        raise DataError(
            f"{text}cannot be read as text: {error}", row=row, column=name, value=value
        ) from None
    out = as_numpy(codes).astype(np.int64, copy=False)
    # A dictionary may itself hold a null.
    if None in known:
        nulls = np.array([v is None for v in known])
        out = np.where((out >= 0) & nulls[out], -1, out)
    return out, ["" if v is None else v for v in known]


def _is_no_text(value: object) -> bool:
    """Whether a value is bytes that are not UTF-8."""
    return isinstance(value, bytes) and not succeeds(value.decode, UnicodeDecodeError)


def target_values(
    array: pa.Array, name: str, what: str = "the target", na_values: Collection[str] = ()
) -> tuple[np.ndarray, np.ndarray | None]:
    """The target as str, int64, float64 or bool, and a mask of missing ones (None if none are).

    Labels lose the blanks around them, as the texts of columns do.
    An infinite target is an error that names the row.
    """
    t = array.type
    kind = kind_of(t)
    if kind == "text":
        codes, known = categories(array, name)
        labels = np.array([label.strip() for label in known] or [""], dtype=str)
        gone = (codes < 0) | np.isin(labels, [*_NULLS, *na_values])[codes]
        values = labels[codes]
    elif kind is None:
        raise DataError(f"{what} is of type {t}; labels or numbers are expected", column=name)
    elif pt.is_boolean(t) or pt.is_integer(t):
        gone = as_numpy(array.is_null())
        full = array if not array.null_count else array.fill_null(pa.scalar(0, pa.int8()).cast(t))
        if pt.is_uint64(t) and pc.max(full).as_py() > 2**63 - 1:
            raise DataError("whole numbers over 2^63; give them as text", column=name)
        values = as_numpy(full)
        values = values.astype(bool if pt.is_boolean(t) else np.int64, copy=False)
    else:
        values = (numbers if kind == "number" else seconds)(array, name)
        values = values.astype(np.float64, copy=False)
        gone = np.isnan(values)
        if np.isinf(values).any():
            _refuse(values, np.isinf(values), name, array, what)
    return values, gone if gone.any() else None


def moments(array: pa.Array, name: str, form: str) -> np.ndarray:
    """Seconds of each row, from times, dates, or numbers of seconds; text is read in its form."""
    if kind_of(array.type) == "text":
        text = text_of(array, name)
        found = np.append(seconds_of(text.known, form or "iso"), np.nan)[text.values]
        bad = np.isnan(found) & (text.values >= 0)
        if bad.any():
            row = int(np.argmax(bad))
            value = array[row].as_py()
            raise DataError(
                f"{shorten(value)} is no time; a time, a date or a number of seconds is expected",
                row=row, column=name, value=value,
            )  # fmt: skip
        array = pa.array(found)
    # rounding keeps whole seconds whole
    return np.round(needed_values(array, name, "the time").astype(np.float64, copy=False), 6)


def needed_values(array: pa.Array, name: str, what: str) -> np.ndarray:
    """As `target_values`, but a missing value is an error that names the row, too."""
    values, gone = target_values(array, name, what)
    if gone is not None:
        _refuse(values, gone, name, array, what)
    return values


def _refuse(values: np.ndarray, bad: np.ndarray, name: str, array: pa.Array, of: str) -> None:
    row = int(np.argmax(bad))
    what = "infinite" if values.dtype.kind == "f" and np.isinf(values[row]) else "missing"
    value = array[row].as_py()
    raise DataError(
        f"{of} is {what} ({shorten(value)}); every row needs one", row=row, column=name, value=value
    )


def given(
    array: pa.Array,
    column: Column,
    na_values: Collection[str] = (),
    bad: Counter[str] | None = None,
) -> Given:
    """The values in a column of a table; DataError at one that its kind cannot have.

    With ``bad``, text among numbers and times is counted there and missing.
    """
    if column.kind == "empty":
        # what it may hold is not learned
        return Given(np.where(as_numpy(array.is_null(nan_is_null=True)), np.nan, 0.0))
    if column.kind == "text":
        # the constant counts as a gap: it says nothing
        constant = (column.constant,) if column.constant else ()
        return text_of(array, column.name, (*na_values, *constant))
    # text may stand where the reader of a file found times
    form = column.form or ("iso" if column.kind == "time" else "")
    if form and kind_of(array.type) == "text":
        return _parsed_as(array, column, form, na_values, bad)
    if column.kind == "time":
        return Given(seconds(array, column.name))
    if column.kind == "flag" and kind_of(array.type) == "text":
        digits = _flags_as_digits(array)
        return Given(numbers(digits, column.name, na_values, bad, A_FLAG))
    return Given(numbers(array, column.name, na_values, bad))


def _flags_as_digits(array: pa.Array) -> pa.Array:
    """Texts with 1 for true and 0 for false, as in a CSV file; others stay."""
    text = array.cast(pa.string())
    flag = pc.utf8_trim_whitespace(text)
    known = pc.is_in(flag, texts(FLAGS))
    true = pc.is_in(flag, texts([word for word, true in FLAGS.items() if true]))
    return pc.if_else(known, pc.if_else(true, "1", "0"), text)


def text_of(array: pa.Array, name: str, na_values: Collection[str] = ()) -> Given:
    """Text without blanks around it; the usual gaps and ``na_values`` are missing."""
    index, known = categories(array, name)
    values = [value.strip() for value in known]
    gone = np.array([value in GAPS or value in na_values for value in values] + [True])
    return Given(np.where(gone[index], -1, index), values)


def _parsed_as(
    array: pa.Array,
    column: Column,
    form: str,
    na_values: Collection[str],
    counted: Counter[str] | None,
) -> Given:
    """Numbers or times that are written as text."""
    text = text_of(array, column.name, na_values)
    parse = seconds_of if column.kind == "time" else numbers_of
    values = np.append(parse(text.known, form), np.nan)
    found = values[text.values]
    bad = np.isnan(found) & (text.values >= 0)
    if bad.any() and counted is not None:
        counted[column.name] += int(bad.sum())
    elif bad.any():
        row = int(np.argmax(bad))
        value = text.known[text.values[row]]
        what = "time" if column.kind == "time" else "number"
        raise DataError(misfit(value, f"a {what}"), row=row, column=column.name, value=value)
    return Given(found)
