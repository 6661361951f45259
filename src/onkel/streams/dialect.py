"""The dialect of a CSV file, where its name and its first lines do not show it."""

from __future__ import annotations

import codecs
from typing import NamedTuple

from onkel.columns.screening import Written

# With a decimal point, and with a decimal comma.
_THOUSANDS = (",", " ", "'"), (".", " ", "'")


class Dialect(NamedTuple):
    """What the user says about a CSV file.

    Attributes
    ----------
    sep : str or None
        Separator of the fields; None: a comma, semicolon, tab or bar, whichever the header has.
    encoding : str or None
        Text encoding; None: UTF-8.
    header : bool
        Whether the first line may name the columns.
    na_values : tuple of str
        Texts that mean a missing value, besides the usual ones.
    as_written : bool
        Whether numbers are read as text first, since they may have a decimal comma or marks
        between thousands.
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
        """The dialect for arguments of `open_stream`; ValueError for impossible ones."""
        comma = written.decimal == ","
        if thousands is not None and thousands not in _THOUSANDS[comma]:
            raise ValueError(
                f"{thousands=} cannot stand between thousands where decimal={written.decimal!r}"
            )
        dialect = cls(sep, encoding, header, written.na_values, bool(thousands) or comma)
        dialect.check()
        return dialect

    def check(self) -> None:
        """Raise ValueError for a separator or an encoding that no file can have."""
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
