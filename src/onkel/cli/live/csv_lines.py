"""Events of ``onkel live`` as lines of CSV, and its answers."""

from __future__ import annotations

import csv
import io
from typing import TYPE_CHECKING

from onkel.cli.live.options import LiveOptions
from onkel.serve.notation import number_in

if TYPE_CHECKING:
    from onkel.serve.live import LiveModel


class CsvLines:
    """Lines of CSV: the first has the names, an empty field is a gap."""

    HEADER = "id,prediction,model_rows,error"

    def __init__(self, options: LiveOptions, model: LiveModel) -> None:
        self._options, self._model = options, model
        self._names: list[str] | None = None

    def read(self, line: bytes) -> dict[str, object] | None:
        """The fields that have a value, by name; None for the line of names."""
        text = line.decode("utf-8-sig" if self._names is None else "utf-8").rstrip("\r")
        fields = next(csv.reader([text], delimiter=self._options.sep))
        if self._names is None:
            self._names = fields
            return None
        if len(fields) != len(self._names):
            raise ValueError(f"{len(fields)} fields where the header has {len(self._names)}")
        encoder = self._model.model.encoder
        kinds = {} if encoder is None else encoder.stored
        return {
            name: value if kinds.get(name) == "text" or name == self._options.id else _value(value)
            for name, value in zip(self._names, fields, strict=True)
            if value.strip()
        }

    @property
    def knows_columns(self) -> bool:
        """Whether each column has had a value: what is text is read as text."""
        encoder = self._model.model.encoder
        return encoder is not None and "empty" not in encoder.stored.values()

    def write(self, answer: dict[str, object]) -> bytes:
        """An answer as a line."""
        line = io.StringIO()
        values = [answer.get(name) for name in self.HEADER.split(",")]
        csv.writer(line, lineterminator="").writerow(values)
        return line.getvalue().encode()


def _value(text: str) -> object:
    """A number, if it is one; no column is known to be text yet."""
    number = number_in(text)
    return text.strip() if number is None else number
