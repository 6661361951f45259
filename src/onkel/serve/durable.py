"""A live model that loses nothing: cuts go to the journal first, and a restart takes them again."""

from __future__ import annotations

import hashlib
import os
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from pathlib import Path
from typing import Any, NamedTuple

from onkel.errors import JournalError, MissingModelFileError
from onkel.numerics.signals import signals_wait
from onkel.persistence.untouched import Untouched
from onkel.serve.journal import Cut, Journal
from onkel.serve.live import LiveModel

Answers = list[dict[str, object] | None]


class Begun(NamedTuple):
    """A cut on its way to the disk."""

    cut: Cut
    written: Future[None]


class DurableModel:
    """A `LiveModel` whose file and journal together always hold all that was acknowledged.

    Events that are taken together are a cut. It is written to the journal, and then predicted and
    learned; what is learned of a cut depends on nothing but the cuts before it. So after a crash
    the model of the file takes the cuts that follow it, and is bit for bit the model that there
    was; its next file has the same bytes as without the crash.

    Parameters
    ----------
    live : LiveModel
        As the file holds it, or a new one.
    path : path-like
        The model's file, which `snapshot` writes.
    journal : Journal
        That of this model, or an empty one.
    file : Untouched, optional
        The same file as it was before the model was loaded; by default as it is now. If another
        process writes it meanwhile, snapshots go beside it.

    Examples
    --------
    >>> import tempfile, onkel
    >>> folder = tempfile.mkdtemp()
    >>> new = lambda: LiveModel(onkel.StreamModel(onkel.make("pa", task="regression")))
    >>> model = DurableModel.open(folder + "/m.onkel", Journal(folder + "/journal"), new)
    >>> model.take([{"id": 1, "size": 70.0}])
    [{'id': 1, 'prediction': None, 'model_rows': 0}]
    >>> model.journal.close()  # a crash
    >>> model = DurableModel.open(folder + "/m.onkel", Journal(folder + "/journal"), new)
    >>> list(model.recover())
    [(1, None, [{'id': 1, 'prediction': None, 'model_rows': 0}])]
    >>> model.take([{"id": 1, "y": 210.0}])
    [None]
    >>> model.snapshot()
    """

    def __init__(
        self,
        live: LiveModel,
        path: str | os.PathLike[str],
        journal: Journal,
        file: Untouched | None = None,
    ) -> None:
        self.live = live
        #: held while a cut is learned: who reads the model meanwhile waits
        self.lock: threading.RLock = threading.RLock()
        self.path: Path = Path(path)
        self._file = file or Untouched(self.path)
        self.journal = journal
        digest = digest_of(self.path.read_bytes()) if self.path.exists() else None
        journal.follow(live.number, digest)
        self._saved = live.number, digest
        self._recovered = journal.last == live.number
        #: whether a cut broke off and the model has a part of it
        self._torn = False
        saved = live.options if live.saved_options is None else live.saved_options
        changed = [name for name, value in live.options.items() if saved.get(name) != value]
        if changed and not self._recovered:
            name = changed[0]
            raise JournalError(
                f"{journal.folder}: its cuts were taken with {name}={saved.get(name)!r}, not "
                f"{live.options[name]!r}; start with that, end, and change it then"
            )

    @classmethod
    def open(
        cls,
        path: str | os.PathLike[str],
        journal: Journal,
        new: Callable[[], LiveModel],
        check: Callable[[LiveModel], None] | None = None,
        **how: Any,
    ) -> DurableModel:
        """The model of a file, loaded as by `LiveModel.load`; a new one is made and written.

        A new one is written at once, as the journal does not say how it was made. ``check`` may
        refuse a loaded one, by an error, before anything is changed. The journal is closed after
        any error.
        """
        file = Untouched(Path(path))
        try:
            try:
                live = LiveModel.load(path, **how)
                if check is not None:
                    check(live)
            except MissingModelFileError:
                if journal.last:
                    raise JournalError(
                        f"{path}: does not exist, and {journal.folder} goes on after a model that "
                        "has learned; restore the file, or give a new folder"
                    ) from None
                live = new()
                live.write(path)
                file.is_written()
            durable = cls(live, path, journal, file)
            if durable._recovered:
                # the file says how the cuts that follow it are taken
                durable.snapshot()
            return durable
        except BaseException:
            journal.close()
            raise

    @property
    def number(self) -> int:
        """The number of the last cut that was taken."""
        return self.live.number

    @property
    def position(self) -> Any:
        """The position of the source after it."""
        return self.live.position

    @property
    def moved(self) -> str | None:
        """What there is to say if the model is written beside its file."""
        if self._file.moved is None:
            return None
        return f"{self._file.moved}, and goes on with --journal {self.journal.folder}"

    def take(
        self, events: Sequence[Mapping[str, object] | str], position: object = None
    ) -> Answers:
        """Take events as one cut; the answers, as of `LiveModel.take_all`.

        Parameters
        ----------
        events : list of dict
            As JSON has them; text in place of an event says why it could not be read.
        position : JSON value, optional
            Where the source stands after them.

        Raises
        ------
        TypeError
            JSON cannot hold the events.
        JournalError
            The journal cannot be written.
        Exception
            Whatever broke off the cut. In all cases nothing was taken.
        """
        self._require_recovered()
        if self.journal.is_gone:
            # what was acknowledged is only in memory
            self.snapshot()
        cut = self._noted(events, position)
        self.journal.commit()
        return self._learn_or_forget(cut)

    def begin(self, events: Sequence[Mapping[str, object] | str], position: object = None) -> Begun:
        """Begin to take a cut: it is written to the journal while other work is done.

        `finish` takes it. Meanwhile the next one may begin, and there may be no snapshot.
        """
        return Begun(self._noted(events, position), self.journal.commit_meanwhile())

    def finish(self, begun: Begun) -> Answers:
        """Take a cut that was begun, as `take` does.

        If it breaks off and another one was begun, both stay in the journal: call `recover`.
        """
        begun.written.result()
        self._require_recovered()
        return self._learn_or_forget(begun.cut)

    def _noted(self, events: Sequence[Mapping[str, object] | str], position: object) -> Cut:
        self._require_whole()
        self._require_recovered()
        return self.journal.append(events, position)

    def _require_recovered(self) -> None:
        if not self._recovered:
            raise RuntimeError("the journal has cuts that were not taken again: call recover()")

    def _require_whole(self) -> None:
        if self._torn:
            raise JournalError(
                f"{self.path}: a cut broke off, and the model could not be made anew of its file "
                "and journal; start again, which does that"
            )

    def recover(self) -> Iterator[tuple[int, Any, Answers]]:
        """Take the cuts again that the model's file does not know.

        Yields each one's number, position and answers, which are those it got before.
        """
        say, self.live.say = self.live.say, _nothing
        try:
            for cut in self.journal.records(after=self.live.number):
                yield cut.number, cut.position, self._learn(cut)
        finally:
            self.live.say = say
        self._recovered = True

    def snapshot(self) -> None:
        """Write the model's file with all that it knows, and forget the cuts it has learned.

        A file that another process wrote meanwhile stays; see ``moved``.
        ModelFileError if it could not be written; the journal then keeps them.
        """
        self._require_whole()
        content = self.live.to_bytes()
        digest = digest_of(content)
        is_there = self._file.path() == self.path and self.path.exists()
        is_known = (self.number, digest) == self._saved
        if is_there and is_known and not self.journal.is_gone:
            return
        # a segment says which file it follows; with no cut between two files it follows either
        self.journal.begin_segment(None if self.number == self._saved[0] else digest)
        self.path = self._file.write(content)
        self._saved = self.number, digest
        self.journal.forget(self.live.number)

    def _learn_or_forget(self, cut: Cut) -> Answers:
        """The answers to a cut; one that breaks off is taken out of the journal, too."""
        try:
            return self._learn(cut)
        except BaseException:
            if self.number < cut.number:
                # what follows it on disk was begun already and needs it
                self._recovered = self.journal.last == cut.number
                if self._recovered:
                    self.journal.take_back(cut.number)
            raise

    def _learn(self, cut: Cut) -> Answers:
        with self.lock:
            try:
                # a signal that comes meanwhile is answered when the cut is taken
                with signals_wait:
                    answers = list(self.live.take_all(cut.events))
                    self.live.number, self.live.position = cut.number, cut.position
            except BaseException:
                if self.number < cut.number:
                    self._go_back()
                raise
        return answers

    def _go_back(self) -> None:
        """Make the model as before a cut that broke off: of its file, and the cuts up to then."""
        self._torn = True
        live = self.live
        content = self.path.read_bytes()
        if digest_of(content) != self._saved[1]:
            return
        again = LiveModel.from_bytes(content, **live.arguments() | {"say": _nothing})
        for cut in self.journal.records(after=again.number):
            if cut.number > live.number:
                break
            list(again.take_all(cut.events))
            again.number, again.position = cut.number, cut.position
        live.become(again)
        self._torn = False


def digest_of(content: bytes) -> str:
    """What tells contents of model files apart."""
    return hashlib.sha256(content).hexdigest()


def _nothing(line: str) -> None:
    """Say nothing: it was said when the cut was first taken."""
