"""From the words of a command line to values: a verb's options as a dataclass, settings, tasks."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Iterator
from dataclasses import MISSING, dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, get_type_hints

from onkel.cli import options
from onkel.streams.reading import LISTS, Reading

if TYPE_CHECKING:
    import numpy as np


@dataclass(frozen=True, kw_only=True)
class ReadingOptions:
    """How a source is read, as options."""

    sources: options.Sources
    target: options.Target = None
    format: options.Format = None
    exclude: options.Exclude = None
    categorical: options.Categorical = None
    missing: options.Missing = "auto"
    bad_values: options.BadValues = "error"
    max_categories: options.MaxCategories = Reading.max_categories
    statistics: options.Statistics = True
    n_hash: options.Hashed = Reading.n_hash
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
        return source_name(self.sources)

    def reading(self) -> Reading:
        """How the source is read, in the form that all of onkel shares."""
        given = {own.name: getattr(self, own.name) for own in fields(ReadingOptions)}
        lists = {name: names_in(given[name]) for name in given if name in LISTS}
        return Reading.of(given | lists, tidy=True)

    def open(self, **more: Any) -> Any:
        """The source as a stream; ``more`` goes to `onkel.streams.open_stream`."""
        from onkel.streams import open_stream

        return open_stream(self.source, self.reading(), **more)


@dataclass(frozen=True, kw_only=True)
class Learning(ReadingOptions):
    """What is learned, and how."""

    task: options.Task = "auto"
    settings: options.Settings = None
    scaling: options.Scaling = "auto"
    seed: options.Seed = 0

    def open(self, **more: Any) -> Any:
        """As :meth:`ReadingOptions.open`; targets of a classification are labels, also numbers."""
        return super().open(labels=self.task == "classification", **more)


def one_or_all(sources: list[str]) -> str | list[str]:
    """What `onkel.streams.open_stream` takes: a source, or a list of files."""
    return sources[0] if len(sources) == 1 else sources


def source_name(sources: list[str]) -> str:
    """The first source's name, and how many follow."""
    more = f" and {len(sources) - 1} more" if len(sources) > 1 else ""
    return (Path(sources[0]).name or sources[0]) + more


def names_in(given: list[str] | None) -> list[str]:
    """Names given one by one, or several with commas between them."""
    parts = (name.strip() for text in given or () for name in text.split(","))
    return [name for name in parts if name]


Options = TypeVar("Options")


def command(kind: type[Options]) -> Callable[[Callable[[Options], None]], Callable[..., None]]:
    """Turn a function of one dataclass into a command; the fields are its options."""
    kinds = get_type_hints(kind, include_extras=True)
    parameters = [
        inspect.Parameter(
            field.name,
            inspect.Parameter.KEYWORD_ONLY,
            default=inspect.Parameter.empty if field.default is MISSING else field.default,
            annotation=kinds[field.name],
        )
        for field in fields(kind)  # type: ignore[arg-type]
    ]

    def make(verb: Callable[[Options], None]) -> Callable[..., None]:
        def run(**given: Any) -> None:
            verb(kind(**given))

        # the help of a terminal breaks the lines of a paragraph by itself
        paragraphs = inspect.cleandoc(verb.__doc__ or "").split("\n\n")
        run.__doc__ = "\n\n".join(" ".join(one.split()) for one in paragraphs)
        run.__name__ = verb.__name__
        run.__annotations__ = kinds
        run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
        return run

    return make


_MOST_CLASSES = 32
"""A column of whole numbers with more distinct values than this is taken for a quantity."""


def parse_settings(given: Iterable[str]) -> dict[str, Any]:
    """Read ``name=value`` pairs: numbers, fractions (1/128), true, false, none, else text.

    >>> parse_settings(["gamma=1/128", "n_components=400", "loss=hinge"])
    {'gamma': 0.0078125, 'n_components': 400, 'loss': 'hinge'}
    """
    from onkel.learners.factory import parse_value

    settings = {}
    for text in given:
        name, equals, value = text.partition("=")
        if not equals or not name.strip():
            raise ValueError(f"--set {text}: write it as name=value, such as gamma=0.1")
        settings[name.strip()] = parse_value(value.strip())
    return settings


def learner_settings(options: Any) -> dict[str, Any]:
    """What ``--set`` says, with ``--features N``: n_components of the learner or of its map.

    ValueError if both name a number, and not the same.
    """
    params, features = parse_settings(options.settings or ()), options.features
    if features is None:
        return params
    name = "map__n_components" if "map" in params else "n_components"
    if params.get(name, features) != features:
        raise ValueError(f"--features {features}: --set {name}={params[name]} says another number")
    return {**params, name: features}


def contradictions(
    options: Any, model: Any, held: dict[str, Any]
) -> Iterator[tuple[str, Any, Any]]:
    """Options that contradict a saved model: each with the model's value, and the one wanted.

    ``held`` has the model's values of options; those of the learner's settings come from itself.
    """
    for name, own in held.items():
        wanted = getattr(options, name)
        if wanted not in (getattr(type(options), name), own):
            yield f"--{name.replace('_', '-')}", own, wanted
    settings = {**model.estimator.get_params(), **model.settings.get("params", {})}
    for name, wanted in learner_settings(options).items():
        if settings.get(name) != wanted:
            yield f"--set {name}", settings.get(name), wanted


def choose_task(y: np.ndarray, wanted: str) -> tuple[str, str]:
    """Whether a target (n,) is to be classified or regressed, and why, for the user to see.

    With "auto" the kind of values decides. ValueError if a regression is asked for a target of
    text.

    >>> import numpy as np
    >>> choose_task(np.array([0.5, 1.25, 7.0]), "auto")
    ('regression', 'the target is a number with decimals')
    """
    import numpy as np

    from onkel.columns.failures import count

    numeric = y.dtype.kind in "biuf"
    if wanted == "regression" and not numeric:
        shown = repr(str(y[0]))
        raise ValueError(f"--task regression: the target holds text, such as {shown}, not numbers")
    if wanted != "auto":
        return wanted, "as asked"
    if y.dtype.kind == "b" or not numeric:
        return "classification", f"the target holds {'text' if not numeric else 'true and false'}"
    distinct = len(np.unique(y))
    whole = bool(np.all(y == np.rint(y)))
    found = count(distinct, "distinct whole number")
    if y.dtype.kind == "f" and not (whole and distinct <= 2):
        return (
            "regression",
            f"the target is a number {'that may have' if whole else 'with'} decimals",
        )
    if distinct <= min(_MOST_CLASSES, max(2, len(y) // 4)):
        return "classification", f"the target holds {found}"
    return "regression", f"the target holds {found} in {count(len(y), 'row')}"


def share(given: float | None) -> float | None:
    """The share of --intervals, in (0, 1); from 2 on it is in percent."""
    if given is None:
        return None
    found = given / 100.0 if given >= 2.0 else given
    if not 0.0 < found < 1.0:
        raise ValueError(f"--intervals {given:g}: must be between 0 and 1, or in percent, say 90")
    return found
