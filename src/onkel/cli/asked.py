"""A verb's options as the fields of a dataclass, and a command made from it."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import MISSING, dataclass, fields
from pathlib import Path
from typing import Any, TypeVar, get_type_hints

from onkel.cli import options


@dataclass(frozen=True, kw_only=True)
class Reading:
    """How a source is read."""

    sources: options.Sources
    target: options.Target = None
    format: options.Format = None
    exclude: options.Exclude = None
    categorical: options.Categorical = None
    missing: options.Missing = "auto"
    max_categories: options.MaxCategories = 64
    statistics: options.Statistics = True
    n_hash: options.Hashed = 32
    decimal: options.Decimal = "."
    thousands: options.Thousands = None
    sep: options.Sep = None
    encoding: options.Encoding = None
    header: options.Header = True
    na_values: options.NaValues = None
    dates: options.Dates = None
    keep_columns: options.KeepColumns = None
    dtype: options.Dtype = "float32"
    limit: options.Limit = None

    @property
    def source(self) -> str | list[str]:
        """The source, or several that are read one after the other."""
        return one_or_all(self.sources)

    @property
    def source_name(self) -> str:
        """The source's name in messages."""
        return named(self.sources)

    def reading(self) -> dict[str, Any]:
        """Arguments of `onkel.streams.open_stream`."""
        return {
            "target": self.target,
            "format": self.format,
            "exclude": names_in(self.exclude),
            "categorical": names_in(self.categorical),
            "missing": self.missing,
            "max_categories": self.max_categories,
            "statistics": self.statistics,
            "n_hash": self.n_hash,
            "decimal": self.decimal,
            "thousands": self.thousands,
            "sep": self.sep,
            "encoding": self.encoding,
            "header": self.header,
            "na_values": names_in(self.na_values),
            "dates": self.dates,
            "tidy": True,
            "keep_columns": names_in(self.keep_columns),
            "dtype": self.dtype,
        }

    def open(self, **more: Any) -> Any:
        """The source as a stream."""
        from onkel.streams import open_stream

        return open_stream(self.source, **{**self.reading(), **more})


@dataclass(frozen=True, kw_only=True)
class Learning(Reading):
    """What is learned, and how."""

    task: options.Task = "auto"
    settings: options.Settings = None
    scaling: options.Scaling = "auto"
    seed: options.Seed = 0


# Options that another command gets in another form, or not at all.
_OTHERWISE = ("sources", "limit", "settings")


def as_asked(asked: Learning) -> list[str]:
    """The options of reading and learning that were given, as words of a command line."""
    words: list[str] = []
    for field in fields(Learning):
        value, name = getattr(asked, field.name), field.name.replace("_", "-")
        if field.name in _OTHERWISE or value == field.default:
            continue
        if isinstance(value, bool):
            words.append(f"--{name}" if value else f"--no-{name}")
            continue
        for one in value if isinstance(value, list) else [value]:
            words += [f"--{name}", str(one)]
    return words


def one_or_all(sources: list[str]) -> str | list[str]:
    """What `onkel.streams.open_stream` takes: a source, or a list of files."""
    return sources[0] if len(sources) == 1 else sources


def named(sources: list[str]) -> str:
    """The first source's name, and how many follow."""
    more = f" and {len(sources) - 1} more" if len(sources) > 1 else ""
    return (Path(sources[0]).name or sources[0]) + more


def names_in(given: list[str] | None) -> list[str]:
    """Names given one by one, or several with commas between them."""
    parts = (name.strip() for text in given or () for name in text.split(","))
    return [name for name in parts if name]


Asked = TypeVar("Asked")


def takes(asked: type[Asked]) -> Callable[[Callable[[Asked], None]], Callable[..., None]]:
    """Turn a function of one dataclass into a command; the fields are its options."""
    kinds = get_type_hints(asked, include_extras=True)
    parameters = [
        inspect.Parameter(
            field.name,
            inspect.Parameter.KEYWORD_ONLY,
            default=inspect.Parameter.empty if field.default is MISSING else field.default,
            annotation=kinds[field.name],
        )
        for field in fields(asked)  # type: ignore[arg-type]
    ]

    def make(verb: Callable[[Asked], None]) -> Callable[..., None]:
        def command(**given: Any) -> None:
            verb(asked(**given))

        command.__doc__, command.__name__ = verb.__doc__, verb.__name__
        command.__annotations__ = kinds
        command.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
        return command

    return make
