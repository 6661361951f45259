"""How a text file of tables is written, where its name and its first lines do not tell."""

from __future__ import annotations

import codecs
from typing import NamedTuple

from onkel.columns.guessing import Written

# With a decimal point, and with a decimal comma.
_THOUSANDS = (",", " ", "'"), (".", " ", "'")


class Dialect(NamedTuple):
    """What a user says of a CSV file.

    Attributes
    ----------
    sep : str or None
        What stands between fields; None: a comma, or a semicolon, tab or bar by the header.
    encoding : str or None
        Of the text; None: UTF-8.
    header : bool
        Whether the first line may name the columns.
    na_values : tuple of str
        What stands for no value, beside the usual.
    as_written : bool
        Whether numbers are read as text first: they may have a decimal comma, or thousands.
    """

    sep: str | None = None
    encoding: str | None = None
    header: bool = True
    na_values: tuple[str, ...] = ()
    as_written: bool = False

    @classmethod
    def of(
        cls,
        sep: str | None,
        encoding: str | None,
        header: bool,
        written: Written,
        thousands: str | None,
    ) -> Dialect:
        """The dialect of what `open_stream` is told; ValueError for what no file can have."""
        comma = written.decimal == ","
        if thousands is not None and thousands not in _THOUSANDS[comma]:
            raise ValueError(
                f"{thousands=} cannot stand between thousands where decimal={written.decimal!r}"
            )
        dialect = cls(sep, encoding, header, written.na_values, bool(thousands) or comma)
        dialect.check()
        return dialect

    def check(self) -> None:
        """ValueError for what no file can have."""
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
