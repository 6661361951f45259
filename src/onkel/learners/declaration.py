"""Learners as declarations: the constructor and the docstring follow from what a class declares.

A class declares its parameters, each with a default and a description. A subclass inherits those of
its bases, and may declare one again with another default. Sections of docstrings are inherited in
the same way: what all learners share is written once, where it is declared.
"""

from __future__ import annotations

import copy
import json
import re
import textwrap
from collections.abc import Callable
from dataclasses import Field, dataclass, field, fields
from functools import cache
from inspect import cleandoc, get_annotations, signature
from typing import Any, TypeVar, dataclass_transform

T = TypeVar("T")

_EXAMPLES = {
    "classification": """\
>>> from sklearn.datasets import make_moons
>>> from onkel import {name}
>>> X, y = make_moons(2000, noise=0.2, random_state=0)
>>> model = {name}({arguments})
>>> before = model.predict_then_learn(X, y)
>>> print(f"{{(before == y).mean():.2f}}")
{score}""",
    "regression": """\
>>> import numpy as np
>>> from onkel import {name}
>>> X = np.random.default_rng(0).uniform(-3, 3, (2000, 1))
>>> y = np.sin(2 * X[:, 0])
>>> model = {name}({arguments}).fit(X, y)
>>> print(f"{{model.score(X, y):.2f}}")
{score}""",
    "linear regression": """\
>>> from sklearn.datasets import make_regression
>>> from onkel import {name}
>>> X, y = make_regression(2000, random_state=0)
>>> y = y / y.std()
>>> model = {name}({arguments}).fit(X, y)
>>> print(f"{{model.score(X, y):.2f}}")
{score}""",
}
_EXAMPLES["linear classification"] = (
    _EXAMPLES["classification"]
    .replace("make_moons", "make_classification")
    .replace("noise=0.2, ", "")
)


@dataclass(frozen=True)
class Row:
    """A learner's row in the table of algorithms, with the parameters that the name fixes.

    ``source``: a paper's authors and year; ``reference``: the place in it.
    """

    name: str
    title: str
    loss: str
    rule: str
    finite: str
    source: str
    reference: str
    params: dict[str, Any] = field(default_factory=dict)

    @property
    def paper(self) -> str:
        """The source in short."""
        first, *others = self.source.split(", ")
        return f"{first} et al. {self.source[-4:]}" if others else self.source


def param(*, default: Any, doc: str, kind: str = "") -> Any:
    """A parameter of a learner; ``doc`` says what it is: unit, range, effect.

    ``kind``: its type in the docstring, if the annotation does not say all.
    """
    return field(default=default, metadata={"doc": doc, "kind": kind})


def param_of(component: type, name: str) -> Any:
    """A parameter of a map, rule or budget as one of the learner: what that says of it holds."""
    entries = _entries(_sections(component.__doc__ or "").get("Parameters", ""))
    head, _, doc = entries.get(name, "").partition("\n")
    kind = head.removeprefix(f"{name} : ").split(", default=")[0]
    default = signature(component).parameters[name].default
    return param(default=default, kind=kind, doc=" ".join(doc.split()))


def with_default(parameter: Any, default: Any) -> Any:
    """A parameter of the same description with another default."""
    return field(default=default, metadata=parameter.metadata)


@dataclass_transform(eq_default=False, kw_only_default=True, field_specifiers=(param,))
def declared(cls: type[T]) -> type[T]:
    """Give a class its constructor and its docstring."""
    return _complete(cls, "")


@dataclass_transform(eq_default=False, kw_only_default=True, field_specifiers=(param,))
def learner(arguments: str, score: str, of: str = "") -> Callable[[type[T]], type[T]]:
    """As `declared`, with an example: the score of a learner constructed with ``arguments``.

    ``of``: "linear " for one that needs data for lines.
    """

    def decorate(cls: type[T]) -> type[T]:
        template = _EXAMPLES[of + cls._task]  # type: ignore[attr-defined]
        name = cls.__name__
        return _complete(cls, template.format(name=name, arguments=arguments, score=score))

    return decorate


def _complete(cls: type[T], example: str) -> type[T]:
    own = _sections(cls.__dict__.get("__doc__") or "")
    if example:
        own["Examples"] = example
    cls._own_sections = own  # type: ignore[attr-defined]
    for name in _annotated(cls):  # type: ignore[arg-type]
        value = cls.__dict__.get(name)
        if isinstance(value, Field):
            # a dataclass writes into its fields, and several learners may declare the same one
            setattr(cls, name, copy.copy(value))
    cls = dataclass(eq=False, repr=False, kw_only=True)(cls)
    _check_order(cls)
    cls.__doc__ = _docstring(cls)
    return cls


def _check_order(cls: type) -> None:
    """Refuse a parameter that is not that of the nearest base which declares it.

    A dataclass takes all parameters of its first base, even those that a later base overrides.
    """
    for parameter in fields(cls):  # type: ignore[arg-type]
        nearest = next(base for base in cls.__mro__ if parameter.name in _annotated(base))
        if nearest.__dict__["__dataclass_fields__"][parameter.name] is not parameter:
            raise TypeError(f"{cls.__name__}: {parameter.name} is not that of {nearest.__name__}")


def _sections(text: str) -> dict[str, str]:
    """Sections of a docstring by their titles; the text before them under ""."""
    first, *rest = re.split(r"^(\w+)\n-{3,}\n", cleandoc(text), flags=re.MULTILINE)
    bodies = [body.strip("\n") for body in rest[1::2]]
    return {"": first.strip()} | dict(zip(rest[::2], bodies, strict=True))


def _entries(section: str) -> dict[str, str]:
    """The entries of a section by what they describe."""
    entries = re.split(r"^(?=\S)", section, flags=re.MULTILINE)[1:]
    return {entry.split(" :")[0]: entry.rstrip("\n") for entry in entries}


def _docstring(cls: type) -> str:
    """The docstring with the sections of the bases, in numpydoc's order."""
    inherited = [base.__dict__.get("_own_sections", {}) for base in cls.__mro__]
    attributes: dict[str, str] = {}
    for sections in inherited:
        for name, entry in _entries(sections.get("Attributes", "")).items():
            attributes.setdefault(name, entry)
    described = (
        f"{own['name']} : {own['kind']}, default={own['default']}\n{_filled(own['doc'])}"
        for own in parameters(cls)
    )
    rows = getattr(cls, "_rows", ())
    source = textwrap.fill(f"Source: {rows[0].source}, {rows[0].reference}.", 100) if rows else ""
    notes = next((s["Notes"] for s in inherited if "Notes" in s), "")
    found = {
        "Parameters": "\n".join(described),
        "Attributes": "\n".join(attributes.values()),
        "Raises": next((s["Raises"] for s in inherited if "Raises" in s), ""),
        "Examples": inherited[0].get("Examples", ""),
        "Notes": "\n\n".join(filter(None, [source, notes])),
    }
    parts = [inherited[0][""]]
    parts += [f"{title}\n{'-' * len(title)}\n{body}" for title, body in found.items() if body]
    return "\n\n".join(parts) + "\n"


def parameters(cls: type) -> list[dict[str, str]]:
    """Name, kind, default and doc of each parameter, the class's own before those of its bases."""
    known = [parameter.name for parameter in fields(cls)]  # type: ignore[arg-type]
    named = dict.fromkeys(name for base in cls.__mro__ for name in _annotated(base))
    return [_documented(cls, name) for name in named if name in known]


def _documented(cls: type, name: str) -> dict[str, str]:
    declared = [base.__dict__.get("__dataclass_fields__", {}) for base in cls.__mro__]
    found = [of_base[name] for of_base in declared if name in of_base]
    value = found[0].default
    about = next(parameter for parameter in found if parameter.metadata)
    return {
        "name": name,
        "kind": about.metadata["kind"] or str(about.type).replace(" | ", " or "),
        "default": json.dumps(value) if isinstance(value, str) else repr(value),
        "doc": about.metadata["doc"],
    }


# Learners share most parameters and bases: neither is worked out anew for each.


@cache
def _filled(doc: str) -> str:
    indent = " " * 4
    return textwrap.fill(doc, 96, initial_indent=indent, subsequent_indent=indent)


@cache
def _annotated(cls: type) -> dict[str, Any]:
    return get_annotations(cls)
