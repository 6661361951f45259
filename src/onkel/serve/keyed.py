"""A live model for each key, made from one template on first use; one journal for all.

Models that were used least are on disk (:mod:`onkel.serve.in_memory`): rows of an SQLite table,
each the bytes of its model file. So a key is never the name of a file. A model knows the number of
the last cut that it learned; a restart gives each model the cuts that it lacks. So does a cut that
breaks off, say for a lack of memory: all of its models are made anew, and the journal forgets it.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from onkel.errors import JournalError
from onkel.numerics.signals import signals_wait
from onkel.serve.batches import Parts
from onkel.serve.durable import digest_of
from onkel.serve.in_memory import ModelsInMemory
from onkel.serve.journal import Cut, Journal
from onkel.serve.live import COUNTS, LiveModel
from onkel.serve.models_file import ModelsFile
from onkel.serve.saving import SaveClock


class KeyedModels:
    """Live models by key, as a service takes them; see `onkel.serve.one_model.Models`.

    Parameters
    ----------
    path : path-like
        The SQLite file; made if there is none.
    template : bytes
        The model file that each key begins with; that of the first start stays.
    journal : Journal
        Of these models.
    how : dict
        Arguments of each `LiveModel`.
    max_models : int
        Models in memory.
    max_bytes : int
        Bytes that they may take, about.
    save_every, save_seconds : int, float
        What was learned is written to the file after so many events, or seconds.

    Examples
    --------
    >>> import tempfile, onkel
    >>> folder = tempfile.mkdtemp()
    >>> new = LiveModel(onkel.StreamModel(onkel.make("pa", task="regression")))
    >>> models = KeyedModels(folder + "/m.keys", new.to_bytes(), Journal(folder + "/journal"), {})
    >>> models.recover()
    0
    >>> row = {"id": 1, "size": 70.0, "y": 210.0}
    >>> models.take([("Ulm", [row]), ("Bonn", [row])])[0]
    [{'id': 1, 'prediction': None, 'model_rows': 0}]
    >>> models.report()["models"]
    2
    >>> models.close()
    """

    keyed = True
    learns = True
    duty = "models could not be saved"

    def __init__(
        self,
        path: str | os.PathLike[str],
        template: bytes,
        journal: Journal,
        how: dict[str, object],
        *,
        max_models: int = 10_000,
        max_bytes: int = 1 << 30,
        save_every: int = 100_000,
        save_seconds: float = 60.0,
    ) -> None:
        self.journal = journal
        self._clock = SaveClock(save_every, save_seconds)
        self._lock = threading.RLock()
        self._closed = False
        #: whether a cut broke off and models have a part of it
        self._torn = False
        #: since the start, over all models
        self.counts: dict[str, int] = dict.fromkeys((*COUNTS, "forgotten", "rings"), 0)
        try:
            if journal.last and not Path(path).exists():
                _require_whole_journal(journal, template, path)
            self._file = ModelsFile(Path(path), template)
            self._models = ModelsInMemory(self._file, how, max_models, max_bytes)
            self._template = self._models.new()
            self._file.require_options(self._template.options, journal)
            journal.follow(self._file.number, None)
            if not journal.last:
                # its cuts can be taken again without the file, if the template is the same
                journal.begin_segment(digest_of(self._file.template))
            if journal.last < self._file.highest:
                raise JournalError(
                    f"{journal.folder}: ends with cut {journal.last:,}, and models in {path} have "
                    f"learned {self._file.highest:,}: they are not of each other; restore the "
                    "folder of these models"
                )
            # the last cut that all models of it have learned
            self._number = self._file.number
            self._recovered = journal.last == self._number
        except BaseException:
            if "_file" in vars(self):
                self._file.close()
            journal.close()
            raise

    @property
    def moved(self) -> str | None:
        """What there is to say if the models are in another file, as theirs was replaced."""
        moved = self._file.moved
        return moved and f"{moved}; to go on with it, put it in the place of the other"

    def recover(self) -> int:
        """Take the cuts that models lack; how many events were taken again."""
        n = 0
        for cut in self.journal.records(after=self._file.number):
            n += sum(len(own) for own in self._learn(cut).values())
            with self._lock:
                self._models.leave(self._highest)
        self._recovered = True
        return n

    def take(self, parts: Parts) -> list[Any]:
        """Take the events of several requests as one cut; the answers to each.

        After an error nothing was taken.
        """
        self._require_whole()
        if self.journal.is_gone:
            # what was acknowledged is only in memory
            self.snapshot()
        together: dict[str, list[Any]] = {}
        for key, own in parts:
            together.setdefault(str(key), []).extend(own)
        cut = self.journal.append([[key, own] for key, own in together.items()])
        self.journal.commit()
        try:
            answers = {key: iter(found) for key, found in self._learn(cut).items()}
        except BaseException:
            if self._number < cut.number:
                self.journal.take_back(cut.number)
            raise
        self._clock.add(sum(map(len, together.values())))
        with self._lock:
            self._models.leave(self._highest)
        return [[next(answers[str(key)]) for _ in own] for key, own in parts]

    @contextmanager
    def reading(self, key: str | None) -> Iterator[LiveModel]:
        """The model of a key, which nobody changes meanwhile; the template of a new one."""
        with self._lock:
            yield self._template if key is None else self._models.found(key) or self._template
            self._models.leave(self._highest)

    def names(self, key: str | None) -> LiveModel:
        """The model of a key, or the template where it is not in memory."""
        return self._models.there(key or "") or self._template

    def snapshot(self) -> None:
        """Write all models that changed, and forget the cuts that they have learned."""
        self._require_whole()
        with self._lock:
            number = self.journal.last
            self._clock.restart()
            self._models.write_changed(number, self._highest)
            if self.journal.last >= self.journal.first or self.journal.is_gone:
                self.journal.begin_segment()
            self.journal.forget(number)

    def tend(self) -> None:
        """Write models, if much or long ago was learned since."""
        if self._clock.is_due:
            self.snapshot()

    def close(self) -> None:
        """Write models, and close their file and the journal."""
        if self._closed:
            return
        self._closed = True
        try:
            self.snapshot()
        finally:
            self._file.close()
            self.journal.close()

    def content(self, key: str) -> bytes | None:
        """The bytes of a model's file, as `onkel.from_bytes` reads them; None if there is none."""
        with self._lock:
            live = self._models.there(key)
            return self._file.get(key) if live is None else live.to_bytes()

    def keys(self) -> list[str]:
        """The keys that have a model."""
        with self._lock:
            return sorted({*self._file.known, *self._models.keys()})

    def report(self) -> dict[str, Any]:
        """Counts since the start, over all models, and where the models are.

        Rows that wait are those of the models in memory.
        """
        with self._lock:
            return {
                **self.counts,
                "models": len(self._file.known | self._models.keys()),
                "models_in_memory": len(self._models),
                "models_bytes": self._models.nbytes,
                "waiting": self._models.n_waiting,
                "journal_bytes": self.journal.nbytes,
                "score": {},
                "skill": None,
            }

    def _learn(self, cut: Cut) -> dict[str, list[Any]]:
        """The answers of a cut by key, or an error and the models as before it.

        Models that have learned it are left out.
        """
        with self._lock:
            counts = dict(self.counts)
            try:
                # a signal that comes meanwhile is answered when the cut is taken
                with signals_wait:
                    found = self._learned(cut)
                    self._number = cut.number
            except BaseException:
                if self._number < cut.number:
                    self._go_back(cut)
                    self.counts = counts
                raise
        return found

    def _require_whole(self) -> None:
        if self._torn:
            raise JournalError(
                f"{self.journal.folder}: a cut broke off, and its models could not be made anew of "
                "their file and the journal; start again, which does that"
            )
        if not self._recovered:
            raise RuntimeError("the journal has cuts that were not taken again: call recover()")

    def _learned(self, cut: Cut) -> dict[str, list[Any]]:
        found = {}
        for key, events in cut.events:
            live = self._models.found(key) or self._models.new()
            if live.number >= cut.number:
                continue
            if self._models.there(key) is None:
                self._models.keep(key, live)
            before, rung = _counts(live), max(live.model.alarms_, default=0)
            found[key] = list(live.take_all(events))
            live.number = cut.number
            for name, n in _counts(live).items():
                self.counts[name] += n - before[name]
            self.counts["rings"] += sum(at > rung for at in live.model.alarms_)
            self._models.note_change(key)
        return found

    def _go_back(self, cut: Cut) -> None:
        """Make the models of a cut that broke off anew: of the file, and the cuts before it."""
        self._torn = True
        keys = {key for key, _ in cut.events}
        self._models.drop(keys & self._models.keys())
        for before in self.journal.records(after=self._file.number):
            if before.number < cut.number:
                events = [own for own in before.events if own[0] in keys]
                self._learned(before._replace(events=events))
        self._torn = False

    @property
    def _highest(self) -> int:
        """The last cut that a model in the file may have learned.

        No cut that is only in the journal: it may be taken back.
        """
        return max(self._file.highest, self._number)


def _require_whole_journal(journal: Journal, template: bytes, path: object) -> None:
    """Refuse a journal that lacks cuts that the models of a lost file have learned."""
    try:
        journal.follow(0, digest_of(template))
    except JournalError:
        raise JournalError(
            f"{path}: does not exist, and {journal.folder} goes on after models that have "
            "learned, or begin otherwise; restore the file, or give a new folder"
        ) from None


def _counts(live: LiveModel) -> dict[str, int]:
    return {**live.counts, "forgotten": live.late.n_forgotten}
