"""How a source is read: the options that Python, the command line and saved models share."""

from __future__ import annotations

import codecs
import re
import textwrap
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from inspect import cleandoc
from typing import TYPE_CHECKING, Any, Literal, Self, get_args

from onkel.annotations import DTypeLike

if TYPE_CHECKING:
    from onkel.columns.notation import Written

Formats = Literal["csv", "tsv", "parquet", "arrow", "jsonl", "svmlight"]
"""The formats of files."""
Policies = Literal["auto", "error", "zero", "mean", "skip"]
"""What may become of missing values."""
POLICIES: tuple[str, ...] = get_args(Policies)

# What may stand between thousands, with a decimal point and with a decimal comma.
_THOUSANDS = {".": (",", " ", "'"), ",": (".", " ", "'")}


def said(default: Any, kind: str, help: str) -> Any:
    """Declare an option: its default, its type in words, and what it says.

    The command line shows the first sentence of the help.
    """
    return field(default=default, metadata={"kind": kind, "help": help})


@dataclass(frozen=True, kw_only=True)
class Reading:
    """How a source is read.

    Lists of names may be any iterables; a string is one name. A wrong value raises ValueError.

    Parameters
    ----------
    {reading}
    """

    target: str | None = said(
        None, "str, optional",
        "Column to learn. By default that of the ``encoder``, if the table has it.",
    )  # fmt: skip
    format: str | None = said(
        None, '{"csv", "tsv", "parquet", "arrow", "jsonl", "svmlight"}, optional',
        "Format of the files; by default their ending decides. Text files may also end in "
        "``.gz``, ``.bz2``, ``.xz``, ``.zst``.",
    )  # fmt: skip
    features: tuple[str, ...] | int | None = said(
        None, "list of str, optional",
        "Columns to use; all but the target by default. For svmlight: the number of features.",
    )  # fmt: skip
    exclude: tuple[str, ...] = said(
        (), "list of str", "Columns to leave out, also if only a later file has them."
    )
    categorical: tuple[str, ...] = said(
        (), "list of str", "Columns to read as categories although they look like numbers or times."
    )
    n_hash: int = said(
        32,
        "int",
        "Number of features that the values of a text column beyond ``max_categories`` share.",
    )
    max_categories: int = said(
        64, "int", "Number of values of a text column that get a feature of their own."
    )
    statistics: bool = said(
        False, "bool",
        "Whether to add the mean target of each text value over the rows before. The stream hands "
        "on the codes of the values; a `StreamModel` makes the means.",
    )  # fmt: skip
    missing: str = said(
        "error", '{"error", "auto", "zero", "mean", "skip"}',
        "What to do with missing values in features. Refuse them, use 0, use the running mean of "
        'the column, or drop the row (which then does not count). With "auto" a missing number '
        "becomes the running mean, with 1 in an extra feature; missing text is a category. "
        "Infinite values are always refused. Rows of a table without a target are left out and do "
        "not count.",
    )  # fmt: skip
    lacking: bool | None = said(
        None, "bool, optional",
        "Whether a later file, or rows for an ``encoder``, may lack a column: its values are then "
        'missing. By default JSON lines may, and others where ``missing`` is "zero", "mean" or '
        '"skip".',
    )  # fmt: skip
    bad_values: str = said(
        "error", '{"error", "missing"}',
        "What to do with text among numbers or times: refuse the row, or take it for a missing "
        "value. ``Stream.bad_values`` counts these. A target, a group or a time of a row is always "
        "refused.",
    )  # fmt: skip
    block_rows: int = said(4096, "int", "Rows per block, except the last.")
    shuffle: int = said(0, "int", "Size of the shuffle buffer in rows; 0 keeps the order.")
    random_state: int | None = said(None, "int, optional", "Seed of the shuffle.")
    dtype: str = said("float32", '{"float32", "float64"}', "Precision of the features.")
    sep: str | None = said(
        None, "str, optional",
        "Separator of the fields of a CSV file; by default the header decides.",
    )  # fmt: skip
    encoding: str | None = said(
        None, "str, optional", 'Encoding of a text file, such as "latin-1"; UTF-8 by default.'
    )
    header: bool = said(
        True, "bool",
        "Whether the first line of a CSV file may name columns; if not, they are c0, c1 and so on.",
    )  # fmt: skip
    na_values: tuple[str, ...] = said(
        (), "list of str",
        'Texts that mean a missing value, besides "?", "NA", "-" and the like. Empty fields, '
        '"None" and "NaN" are among these.',
    )  # fmt: skip
    labels: bool = said(
        False, "bool",
        'Whether the target is text, whatever it looks like: both 1 and "one" are then labels.',
    )  # fmt: skip
    thousands: str | None = said(
        None, "str, optional",
        "Thousands separator of numbers, if the first rows have none. One in the first rows is "
        "found without it.",
    )  # fmt: skip
    decimal: str = said(".", '{".", ","}', "Decimal mark of numbers in text files.")
    dates: str | None = said(
        None, '{"dayfirst", "monthfirst"}, optional',
        "Order of day and month in dates such as 2/3/2024, if the first rows do not show it.",
    )  # fmt: skip
    tidy: bool = said(
        False, "bool",
        "Whether to leave out columns of a new table that tell nothing about other rows: those "
        "that, judged by the first rows, count the rows, are ids, or have a text of their own in "
        "nearly every row. ``Stream.useless`` names them. A column that is constant in the first "
        "rows waits until another value comes (``Column.constant``).",
    )  # fmt: skip
    keep_columns: tuple[str, ...] = said(
        (),
        "list of str",
        "Columns to use though they look like ids. ``tidy`` leaves out the others.",
    )
    keep: tuple[str, ...] = said(
        (), "list of str", "Columns of a table to hand on unchanged through `Stream.kept`."
    )
    group: str | None = said(
        None, "str, optional",
        "Column that names the series of each row. See `Block.groups`; it is also a feature unless "
        "excluded.",
    )  # fmt: skip
    time: str | None = said(
        None, "str, optional",
        "Column with the time of each row, as times or seconds. See `Block.times`; it is also a "
        "feature unless excluded.",
    )  # fmt: skip

    def __post_init__(self) -> None:
        for name in LISTS:
            given = getattr(self, name)
            if not isinstance(given, int | None):
                # a string is one name
                names = (given,) if isinstance(given, str) else tuple(given)
                object.__setattr__(self, name, names)
        for name in ("block_rows", "shuffle", "n_hash", "max_categories"):
            least, value = int(name in ("block_rows", "n_hash")), getattr(self, name)
            if int(value) < least:
                raise ValueError(f"{name} must be at least {least}, got {value}")
            object.__setattr__(self, name, int(value))
        if self.missing not in POLICIES:
            raise ValueError(f"missing must be one of {', '.join(POLICIES)}, got {self.missing!r}")
        if self.bad_values not in ("error", "missing"):
            raise ValueError(f"bad_values={self.bad_values!r} must be 'error' or 'missing'")
        if str(self.dtype) not in ("float32", "float64"):
            object.__setattr__(self, "dtype", _float_name(self.dtype))
        self._check_notation()

    def _check_notation(self) -> None:
        """Refuse marks and encodings that no file can have."""
        if self.decimal not in _THOUSANDS:
            raise ValueError(f"decimal={self.decimal!r} must be '.' or ','")
        if self.dates not in (None, "dayfirst", "monthfirst"):
            raise ValueError(f"dates={self.dates!r} must be one of dayfirst, monthfirst")
        if self.thousands is not None and self.thousands not in _THOUSANDS[self.decimal]:
            raise ValueError(
                f"thousands={self.thousands!r} cannot stand between thousands where "
                f"decimal={self.decimal!r}"
            )
        if self.sep is not None and len(self.sep.encode()) != 1:
            raise ValueError(f"sep={self.sep!r} must be one character, such as ';'")
        if self.encoding is not None:
            try:
                codecs.lookup(self.encoding)
            except LookupError:
                raise ValueError(
                    f"encoding={self.encoding!r} is none that is known; examples are 'latin-1', "
                    "'cp1252' and 'utf-16'"
                ) from None

    @property
    def written(self) -> Written:
        """How numbers, times and gaps are written."""
        from onkel.columns.notation import Written

        return Written(self.decimal, self.dates, tuple(self.na_values))

    @property
    def marked(self) -> bool:
        """Whether numbers may have a decimal comma or marks between thousands."""
        return self.thousands is not None or self.decimal == ","

    def changed(self, **how: Any) -> Self:
        """A copy with other values for some options."""
        return replace(self, **how)

    @classmethod
    def of(cls, settings: Mapping[str, Any], **more: Any) -> Self:
        """The reading that a model's settings note, which may hold other things, too."""
        known = {own.name: settings[own.name] for own in fields(cls) if own.name in settings}
        return cls(**known | more)

    def settings(self) -> dict[str, Any]:
        """The options that have a value, as JSON-able settings, which :meth:`of` reads."""
        values = {own.name: getattr(self, own.name) for own in fields(self)}
        given = {name: value for name, value in values.items() if value not in (None, ())}
        return {k: list(v) if isinstance(v, tuple) else v for k, v in given.items()}


LISTS = ("features", "exclude", "categorical", "na_values", "keep_columns", "keep")


def in_short(name: str) -> str:
    """The first sentence of an option's help, for the command line."""
    help = next(own.metadata["help"] for own in fields(Reading) if own.name == name)
    first = str(help).partition(". ")[0].removesuffix(".") + "."
    # options are written with dashes there
    return re.sub("``(.+?)``", lambda found: "--" + found[1].replace("_", "-"), first)


def _float_name(dtype: DTypeLike) -> str:
    import numpy as np

    for known in (np.float32, np.float64):
        try:
            if np.dtype(dtype) == known:
                return np.dtype(known).name
        except TypeError:
            break
    raise ValueError(f"dtype must be float32 or float64, got {dtype!r}")


def described(text: str) -> str:
    """A docstring with ``{reading}`` replaced by the list of options."""
    parts = []
    for own in fields(Reading):
        default = "" if own.default in (None, ()) else f", default={own.default!r}"
        parts.append(f"{own.name} : {own.metadata['kind']}{default}")
        parts.append(textwrap.indent(textwrap.fill(own.metadata["help"], 92), "    "))
    return cleandoc(text).replace("{reading}", "\n".join(parts)) + "\n"


Reading.__doc__ = described(Reading.__doc__ or "")
