"""State that is declared once: saving, loading, checking, copying and counting follow from it.

A class that derives from :class:`Stateful` names the attributes it keeps, each with the type, shape
and range of its field. So ``set_state`` refuses what ``get_state`` could not have returned.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, ClassVar, Self

from onkel.fields import Field, Fields, Like, Sizes, State, check, inside, require


@dataclass(frozen=True)
class Part(Field):
    """A :class:`Stateful` attribute, with a state of its own; None is left out if not ``empty``.

    ``begin(owner)`` gives the object that takes the state where the owner holds None; ``anew``:
    in any case. ``among``: its fields stand among those of the owner, and it is there where the
    state has this one of them. ``each``: the attribute is a list of at least one, under this name
    with _0, _1, ...; ``begin(owner)`` gives as many as there may be.
    """

    begin: Callable[[Any], Any] | None = None
    anew: bool = False
    among: str = ""
    each: str = ""


@dataclass(frozen=True)
class Made(Field):
    """A :class:`Stateful` attribute that is made of its state before anything is set."""

    of: type[Stateful]

    def check(self, value: object, sizes: Sizes) -> str | None:
        return None if isinstance(value, dict) else "is no group of fields"

    def saved(self, value: Stateful) -> State:
        return value.get_state()

    def loaded(self, value: State) -> Stateful:
        return self.of.from_state(value)


class Stateful:
    """Something that declares its state: the attributes that it keeps.

    In a state, an attribute stands under its name without underscores at the ends. Where types or
    shapes depend on the object, :meth:`state_fields` computes the fields.
    """

    #: the fields of the attributes, by their names
    STATE: ClassVar[Fields] = {}
    #: those of the arguments of which `from_state` makes the object; `set_state` leaves them alone
    GIVEN: ClassVar[Fields] = {}

    def before_state(self, state: State) -> None:
        """Take what the fields depend on from a state that is still to be checked."""

    def state_fields(self) -> Fields:
        """The fields of the attributes that the object keeps, as it is now."""
        return self.STATE

    def state_sizes(self) -> Sizes:
        """Named sizes that are known before a state is read."""
        return {}

    def check_state(self, state: State, sizes: Sizes) -> None:
        """Raise a ModelFileError where the values, each right by itself, do not fit together.

        ``sizes`` are all named sizes.
        """

    def state_is_set(self) -> None:
        """Compute what follows from the attributes that a state has set."""

    def held(self, name: str) -> Any:
        """What is kept under the name of a field."""
        return getattr(self, name, None)

    def get_state(self) -> State:
        """A copy as named arrays and plain values; `set_state` goes on from it bit for bit."""
        return self.state_without()

    def state_without(self, *names: str) -> State:
        """`get_state`, but for some fields."""
        state: State = {}
        for name, field, value in self._fields_now():
            if name in names:
                continue
            if isinstance(field, Part) and field.each:
                state |= {f"{field.each}_{i}": part.get_state() for i, part in enumerate(value)}
            elif isinstance(field, Part) and value is not None:
                held = value.get_state()
                state |= held if field.among else {name.strip("_"): held}
            else:
                none = value is None and (field.empty or isinstance(field, Part))
                state[name.strip("_")] = None if none else field.saved(value)
        return state

    def nbytes_of_state(self) -> int:
        """Bytes of the arrays of `get_state`, which are not copied for it."""
        n = 0
        for _, field, value in self._fields_now():
            if isinstance(field, Part):
                parts = value if field.each else [value] * (value is not None)
                n += sum(part.nbytes_of_state() for part in parts)
            elif value is not None:
                n += field.nbytes(value)
        return n

    def _fields_now(self) -> Iterator[tuple[str, Field, Any]]:
        """The attributes that a state has now: name, field and value of each."""
        there = set()
        for name, field in {**self.GIVEN, **self.state_fields()}.items():
            without = field.where and not getattr(self, field.where)
            if without or (field.beside and field.beside not in there):
                continue
            value = self.held(name)
            part = isinstance(field, Part)
            if value is None and (field.optional or (part and not field.empty)):
                continue
            there.add(name.strip("_"))
            yield name, field.as_now(name, value) if isinstance(field, Like) else field, value

    def set_state(self, state: State) -> None:
        """Take a state that `get_state` gave, after checking it (:func:`check`); shares nothing."""
        self.before_state(state)
        fields = self.state_fields()
        plain = {
            name: field.as_now(name, getattr(self, name)) if isinstance(field, Like) else field
            for name, field in fields.items()
            if not isinstance(field, Part)
        }
        named = {name.strip("_"): field for name, field in plain.items()}
        self.check_state(state, check(state, named, **self.state_sizes()))
        self.set_fields(_loaded(state, plain))
        for name, field in fields.items():
            if isinstance(field, Part):
                self._set_part(name, field, state)
        self.state_is_set()

    def set_fields(self, values: State) -> None:
        """Set the attributes that a state gave, by name; all but the parts."""
        for name, value in values.items():
            setattr(self, name, value)

    @classmethod
    def from_state(cls, state: State) -> Self:
        """The object whose ``get_state`` gave ``state``."""
        check(state, cls.GIVEN)
        made = cls(**_loaded(state, cls.GIVEN))
        made.set_state(state)
        return made

    def _set_part(self, name: str, field: Part, state: State) -> None:
        """Let an attribute that keeps a state of its own take it."""
        if field.each:
            assert field.begin is not None
            setattr(self, name, list(_parts_taken(field.begin(self), field.each, state)))
            return
        key = field.among or name.strip("_")
        # earlier versions wrote None for a part that was not there
        there = state.get(key) is not None
        known = there or (field.empty and key in state)
        require(known or field.may_lack(state), f"{key}: is missing")
        if not there and (field.optional or field.empty):
            setattr(self, name, None)
            return
        part: Any = getattr(self, name, None)
        begins = there if part is None else field.anew
        if begins:
            assert field.begin is not None
            part = field.begin(self)
            setattr(self, name, part)
        if there and field.among:
            part.set_state(state)
        elif there:
            with inside(state, key) as of_part:
                part.set_state(of_part)


def _parts_taken(parts: Iterable[Stateful], each: str, state: State) -> Iterator[Stateful]:
    """The parts that a state has, up to the first that it lacks, with their states."""
    for i, part in enumerate(parts):
        if i and f"{each}_{i}" not in state:
            return
        with inside(state, f"{each}_{i}") as of_part:
            part.set_state(of_part)
        yield part


def _loaded(state: State, fields: Fields) -> State:
    """The attributes, by name, that a checked state has of these fields."""
    values = {}
    for name, field in fields.items():
        key = name.strip("_")
        if state.get(key) is not None:
            with inside(state, key) as value:
                values[name] = field.loaded(value)
        elif field.optional or field.empty:
            values[name] = None
    return values
