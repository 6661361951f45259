"""A model in a stream of events: rows are answered, labels are learned, nothing stops it."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Collection, Hashable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

from onkel import persistence
from onkel.annotations import Row
from onkel.columns.failures import count, shorten
from onkel.errors import DataError, ModelFileError
from onkel.fields import Field, Fields, Named, State, Whole
from onkel.numerics.signals import signals_wait
from onkel.persistence.atomic import write_whole
from onkel.pipeline import LateLabels, StreamModel
from onkel.pipeline.label_queue import LabelQueue, Waiting
from onkel.pipeline.rows import excluded
from onkel.serve.ids import IdsField, KnownIds
from onkel.serve.notation import ExactText
from onkel.serve.one_event import DroppedError, taken
from onkel.serve.runs import take_all
from onkel.serve.score import LiveScore
from onkel.state import Made, Part, Stateful

COUNTS = ("rows", "labels", "refused", "unknown", "doubled", "late", "repeated")


class Aside(NamedTuple):
    """A row that was set aside, and what was known when it came."""

    row: Waiting
    known: tuple[int, object] | None


class LiveModel(Stateful):
    """A `StreamModel` that takes events one by one and gives an answer to each row.

    An event is a dict. With columns it is a row: it is predicted, and it waits for its label.
    With nothing but an id and a label it is the label of a row before. A row that carries its
    label is predicted, then learned at once.

    An event that cannot be used is counted, ``say`` gets the reason, and the model stays as it was.

    Parameters
    ----------
    model : StreamModel
        Learned in place.
    id, target : str
        Names of the keys with the row's id and its label; ``"y"`` is a name of the label, too,
        unless a column is named so. By default the model's target.
    exclude : collection of str
        Columns to leave out, besides those that the model leaves out.
    most : int
        Rows that may wait for their labels.
    proba : bool
        Whether answers have the probabilities of classes, if the model has them.
    level : float
        Share of the labels of a regression inside the answers' intervals; 0: no intervals.
    say : callable
        Takes one line about an event that could not be used.
    once : bool
        Whether an id names one row for good: a row that comes again gets the answer that it got,
        and is not learned again; another row with its id is refused. By default an id may be used
        again once its row has been learned.
    remember : int
        Ids that are remembered after their rows were learned or forgotten.
    acknowledge : bool
        Whether labels are answered, too.

    Attributes
    ----------
    counts : dict
        Rows answered, labels learned, events refused; labels that were unknown, doubled or late;
        rows that were repeated.
    number, position : int, JSON value
        Of the last cut of a journal that was taken; see `onkel.serve.durable`.

    Examples
    --------
    >>> import onkel
    >>> live = LiveModel(onkel.StreamModel(onkel.make("pa", task="regression")), target="price")
    >>> live.take({"id": 1, "size": 70.0, "price": 210.0})
    {'id': 1, 'prediction': None, 'model_rows': 0}
    >>> live.take({"id": 2, "size": 80.0})["model_rows"]
    1
    >>> live.take({"id": 2, "price": 250.0})  # no answer: it is the label of row 2
    >>> live.model.n_rows
    2
    """

    #: all that is known beside the model
    STATE: ClassVar[Fields] = {
        "counts": Named(Whole(), optional=True),
        "score": Part(),
        "forgotten": Whole(),
        "waiting": Made(LabelQueue),
        "ids": IdsField(),
        "options": Named(Field()),
        "number": Whole(),
        "position": ExactText(),
    }

    number: int

    def __init__(
        self,
        model: StreamModel,
        *,
        id: str = "id",
        target: str | None = None,
        exclude: Collection[str] = (),
        most: int = 100_000,
        proba: bool = True,
        level: float = 0.0,
        say: Callable[[str], object] = print,
        once: bool = False,
        remember: int = 100_000,
        acknowledge: bool = False,
    ) -> None:
        # before the first label, the settings know what it is called
        known = (model.encoder and model.encoder.target) or model.settings.get("target")
        if target is not None and known is not None and target != known:
            raise ValueError(f"target={target!r}: the model was made with the target {known!r}")
        self.id = id
        self.target: str = target or known or "y"
        #: what decides, besides the model, what becomes of events
        self.options: dict[str, Any] = {
            "id": id, "target": self.target, "exclude": sorted(exclude), "most": most,
            "proba": proba, "level": level, "once": once, "remember": remember,
        }  # fmt: skip
        #: the same, as the model's file has them
        self.saved_options: dict[str, object] | None = None
        if self.id == self.target:
            raise ValueError(f"id={id!r}: the label has that name, too")
        self.late: LateLabels = LateLabels(model, most)
        self.say = say
        self.counts: dict[str, int] = dict.fromkeys(COUNTS, 0)
        self.score: LiveScore = LiveScore(model.task)
        self._exclude = set(exclude)
        self.has_proba: bool = proba and hasattr(model.estimator, "predict_proba")
        if not 0.0 <= level < 1.0:
            raise ValueError(f"level={level}: must be between 0 and 1, say 0.9")
        self.level: float = level if model.task == "regression" else 0.0
        self.ids: KnownIds = KnownIds(once, remember)
        self.acknowledge: bool = acknowledge
        self.number = 0
        self.position: object = None
        #: columns that a service let through and the model may not know yet: the rows of each
        self.offered: dict[str, int] = {}

    @property
    def model(self) -> StreamModel:
        """The model as learned so far."""
        model: StreamModel = self.late.model
        return model

    def take(self, event: Mapping[str, object] | str) -> dict[str, object] | None:
        """Take an event; the answer to it if it is a row, None if it is a label.

        An answer has the keys ``id``, ``prediction`` (None before the first label),
        ``probabilities`` or ``interval`` if there are, and ``model_rows``, the rows learned before
        it. The answer to a bad row has an ``error`` instead. In place of an event that could not be
        read stands text that says why.
        """
        # an event is taken, and all that is known of it noted, or nothing of that
        with signals_wait:
            return taken(self, event)

    def take_all(
        self, events: Sequence[Mapping[str, object] | str]
    ) -> Iterator[dict[str, object] | None]:
        """Take events that came together, in their order; what `take` returns for each of them.

        Rows, or labels, that follow one another are one block for the model, which is faster.
        """
        return take_all(self, events)

    def learned_labels(self, ids: list[Hashable]) -> list[dict[str, object] | None]:
        """The answers to labels that were learned."""
        return [{"id": id, "learned": True} if self.acknowledge else None for id in ids]

    @property
    def tells_more(self) -> bool:
        """Whether answers have probabilities or intervals."""
        return self.has_proba or self.level > 0

    def set_aside(self, id: Hashable) -> Aside | None:
        """A row whose label has come and is learned later; None if no row of this id waits.

        Until `bring_back` it is none of those that wait, and so is not forgotten.
        """
        if id is None or id not in self.late:
            return None
        known = self.ids.waiting.pop(id) if id in self.ids.waiting else None
        return Aside(self.late.waiting.set_aside(id), known)

    def bring_back(self, id: Hashable, aside: Aside) -> None:
        """Let a row wait for its label again, which is learned now."""
        self.late.waiting.bring_back(id, aside.row)
        if aside.known is not None:
            self.ids.waiting[id] = aside.known

    def refuse(self, id: Hashable, why: str) -> dict[str, object]:
        """Count an event that cannot be used, and say why; returns the answer to it."""
        self.counts["refused"] += 1
        self.say(f"refused: {'' if id is None else f'id {shorten(id, 200)}: '}{why}")
        return {"id": id, "error": why}

    def refusal(self, id: Hashable, error: Exception) -> dict[str, object]:
        """The answer to a row that cannot be used."""
        value = getattr(error, "value", None)
        is_gap = isinstance(error, DataError) and isinstance(value, float) and math.isnan(value)
        if is_gap and self.model.settings.get("missing") == "skip":
            error = DroppedError(error.column, value)  # type: ignore[attr-defined]
        answer: dict[str, object] = {"id": id, "error": str(error)}
        column = getattr(error, "column", None)
        if self.acknowledge and column is not None:
            answer |= {"column": column, "value": shorten(getattr(error, "value", None))}
        return answer

    def report(self) -> dict[str, Any]:
        """Counts, rows that wait, score, skill, coverage of the intervals, alarms; JSON-able."""
        return {
            **self.counts,
            "waiting": self.late.waiting.n_unlearned,
            "model_rows": self.model.n_rows,
            "alarms": list(self.model.alarms_),
            **self.score.report(),
        }

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model, and beside it all that is known of rows; `onkel.load` reads the model.

        A model that has learned no row yet is not written, as it knows no columns.
        """
        if self.model.n_rows == 0:
            if n := self.late.n_waiting:
                self.say(f"not saved: no label has come; {count(n, 'row')} waiting")
            return
        self.write(path)

    def write(self, path: str | os.PathLike[str]) -> None:
        """As `save`, of a new model, too."""
        write_whole(Path(path), self.to_bytes())

    def to_bytes(self) -> bytes:
        """The content of the file that `save` writes, of a new model, too."""
        return self.snapshot()()

    def snapshot(self) -> Callable[[], bytes]:
        """What makes the content of the file as of now; another thread may call it meanwhile.

        It takes no longer than to copy the arrays of the model.
        """
        name, state = persistence.class_name(self.model), self.model.get_state()
        known = self.state_without("waiting", "ids")
        waiting, ids = self.late.waiting.frozen(), self.ids.frozen()

        def content() -> bytes:
            more = {"waiting": waiting.get_state(), "ids": ids.saved()}
            return persistence.content_of(name, state, {"live": known | more})

        return content

    @classmethod
    def load(cls, path: str | os.PathLike[str], **how: Any) -> LiveModel:
        """The inverse of `save`; other arguments as for a new one.

        ModelFileError if the file is damaged, or holds something else than a model of a table.
        """
        return cls._of(persistence.load_with_info(Path(path)), str(path), how)

    @classmethod
    def from_bytes(cls, content: bytes, **how: Any) -> LiveModel:
        """The inverse of `to_bytes`; see `load`."""
        return cls._of(persistence.from_bytes_with_info(content), "the bytes", how)

    @classmethod
    def _of(cls, found: tuple[Any, dict[str, Any]], path: str, how: dict[str, Any]) -> LiveModel:
        """The live model of a file's content."""
        loaded, info = found
        late = loaded if isinstance(loaded, LateLabels) else None
        model = loaded if late is None else late.model
        known = info.get("live")
        named = isinstance(model, StreamModel) and (model.encoder is not None or known is not None)
        if not named or (model.encoder is not None and model.encoder.n_vector is not None):
            raise ModelFileError(
                f"{path}: holds a {type(model).__name__} without its columns; give a file that "
                "'onkel live' or 'onkel learn --save' wrote"
            )
        live = cls(model, **how)
        if late is not None:
            live.late.waiting = late.waiting
        elif known is not None:
            try:
                live.set_state(known)
            except ModelFileError as error:
                raise ModelFileError(f"{path}: live/{error}") from None
        return live

    def arguments(self) -> dict[str, Any]:
        """The arguments, but for the model, with which it was made."""
        return self.options | {"say": self.say, "acknowledge": self.acknowledge}

    def become(self, other: LiveModel) -> None:
        """Be another one, which is used no more; who says what and what is offered stay."""
        own = {name: vars(self)[name] for name in ("say", "offered", "saved_options")}
        vars(self).update(vars(other) | own)

    def held(self, name: str) -> Any:
        of_late = {"forgotten": "n_forgotten", "waiting": "waiting"}
        return getattr(self.late, of_late[name]) if name in of_late else super().held(name)

    def set_fields(self, values: State) -> None:
        self.late.n_forgotten, self.late.waiting = values.pop("forgotten"), values.pop("waiting")
        counts = values.pop("counts") or {}
        self.counts |= {name: n for name, n in counts.items() if name in self.counts}
        vars(self.ids).update(values.pop("ids"))
        self.saved_options = values.pop("options")
        super().set_fields(values)

    def columns(self, x: Row) -> dict[str, object]:
        """The columns that are learned; one that the row lacks is a gap."""
        encoder, out = self.model.encoder, self.left_out()
        for name, value in x.items():
            if isinstance(value, list | tuple | dict):
                raise DataError(f"{shorten(value)} is not one value", column=name)
        x = {name: value for name, value in x.items() if name not in out}
        if encoder is not None:
            x |= {name: None for name in encoder.kinds if name not in x}
        if not x:
            raise DataError("the row has no columns")
        return x

    def left_out(self) -> set[str]:
        """Keys that are no columns."""
        return {*self._exclude, *excluded(self.model.settings)}

    def label_names(self) -> set[str]:
        """The keys of a label: ``"y"`` is one, too, unless a column is named so."""
        if self.target == "y":
            return {"y"}
        encoder = self.model.encoder
        is_column = encoder is not None and any(own.name == "y" for own in encoder.columns)
        return {self.target} if is_column else {self.target, "y"}
