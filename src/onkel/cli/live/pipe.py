"""The loop of ``onkel live``: lines in, answers out, the model saved as it goes."""

from __future__ import annotations

import gc
import os
import select
import stat
import time
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from onkel.cli.console import say_line
from onkel.cli.guarded import PIECE
from onkel.cli.live.arrivals import Arrivals
from onkel.cli.live.csv_lines import CsvLines
from onkel.cli.live.metrics import Metrics
from onkel.cli.live.options import LiveOptions
from onkel.cli.live.rows_first import RowsFirst
from onkel.cli.signals import Interrupts
from onkel.columns.failures import count
from onkel.errors import JournalError
from onkel.persistence.untouched import Untouched
from onkel.serve import notation
from onkel.serve.background import BackgroundSave
from onkel.serve.saving import MovedNotice, SaveClock

if TYPE_CHECKING:
    from onkel.serve.live import LiveModel

# Seconds after which an answer is sent though more rows are there.
_FLUSH = 0.005
# After a signal: seconds until answers that nobody reads are given up, and from save to save.
_PATIENCE = _SAVE_AT_END = 5.0
# Seconds after which it is looked whether a save is finished.
_SAVED = 0.1
# Labels that take seconds.
_MANY = 10_000
# Rows after which all code is loaded. Garbage is not looked for in what was made until then: it
# takes a tenth of a second.
_LOADED = 256


class Pipe:
    """Lines from one file, answers to another, until the input ends or a signal comes."""

    def __init__(
        self,
        model: LiveModel,
        options: LiveOptions,
        source: int,
        out: int,
        interrupts: Interrupts,
        durable: Any = None,
        began: float | None = None,
        saved: Untouched | None = None,
    ) -> None:
        # ``durable``: the model with its journal; ``began``: since when lines may have come;
        # ``saved``: the model's file as it was before it was read
        self._durable = durable
        self._model, self._options, self._interrupts = model, options, interrupts
        in_order = options.in_order or durable is not None or is_file(source)
        self._labels = None if in_order else RowsFirst(model, options.model.parent)
        self._arrivals, self._out = Arrivals(source, in_order, began), out
        self._csv = CsvLines(options, model) if options.format == "csv" else None
        self._rest = b""
        self._answers: list[bytes] = [] if self._csv is None else [self._csv.HEADER.encode()]
        self._n_lines = 0
        self._clock = SaveClock(options.save_every, options.save_seconds)
        self._saved = saved or Untouched(options.model)
        self._saving = BackgroundSave(self._saved)
        # what says that another process wrote the file
        self._file: Any = durable or self._saved
        self._broken = self._untaken = self._is_settled = False
        self._notice = MovedNotice(say_line)
        self._metrics = Metrics(options, model.counts["rows"])
        self._flushed = time.monotonic()

    def run(self) -> int:
        """Run it; the exit status: 0, 1 if something could not be written, else 128 + a signal."""
        ended = False
        while not (ended or self._interrupts.interrupted or self._broken):
            if self._has_data():
                data = self._arrivals.read()
                ended = not data
                self._take(data)
            if self._labels and (self._labels.is_full or not self._arrivals.has_more):
                self._learn()
            self._when_due()
        self._end()
        signal = self._interrupts.interrupted
        self._flush()
        saved = self._save()
        if signal is not None:
            say_line(f"{signal.word}: {count(self._model.model.n_rows, 'row')} learned")
            if self._rest:
                say_line("the last line had not come to its end; it was neither answered nor "
                         "learned")  # fmt: skip
        if self._metrics.are_wanted:
            self._print_metrics()
        if not saved or self._file.moved:
            return 1
        if signal is not None:
            return signal.status
        return int(self._broken)

    def _has_data(self) -> bool:
        """Whether rows have come; waits for them until something else is to be done."""
        if self._labels and self._labels.is_full:
            return False
        if self._arrivals.wait(0.0):
            return True
        if self._labels:
            return False
        self._arrivals.is_poured = False
        # nobody waits: a search that is to be made with the next labels goes on
        while self._model.model.estimator.fit_ahead():
            if self._arrivals.wait(0.0):
                return True
        # a signal ends a pipe, which wakes this
        return self._arrivals.wait(self._time_left())

    def _learn(self) -> None:
        """Learn labels that wait, for a moment."""
        assert self._labels is not None
        self._clock.add(self._labels.learn())

    def _end(self) -> None:
        """Take what was read, and learn all labels."""
        signal = self._interrupts.interrupted
        if signal is not None:
            # who asked for the end may not have the patience
            self._clock = SaveClock(self._options.save_every, _SAVE_AT_END)
        while (data := self._arrivals.rest()) and not self._broken:
            self._take(data)
            self._when_due()
        if self._rest and signal is None and not self._broken:
            self._take(b"\n")
        if (n := len(self._labels or ())) > _MANY:
            say_line(f"{n:,} labels that have come are learned now")
        while self._labels:
            self._learn()
            self._when_due()

    def _time_left(self) -> float:
        """Seconds until something is due."""
        # without an event nothing is to be saved, which is seen as often
        left = self._clock.seconds_left() or self._options.save_seconds
        left = min(left, self._metrics.seconds_left())
        if self._saving.is_running:
            left = min(left, _SAVED)
        return max(0.0, left)

    def _take(self, data: bytes) -> None:
        """Answer and learn the lines that are whole."""
        *lines, self._rest = (self._rest + data).split(b"\n")
        events: list[dict[str, object] | str] = []
        for line in lines:
            self._n_lines += 1
            if not line.strip():
                continue
            try:
                event = notation.decoded(line) if self._csv is None else self._csv.read(line)
                # the names of CSV are no event
                if not isinstance(event, dict) and (event is not None or self._csv is None):
                    raise ValueError('a line must be an object, such as {"id": 1, "x": 2.5}')
                if event is not None:
                    notation.require_flat(event)
            except (ValueError, RecursionError) as error:
                event = f"line {self._n_lines:,}: {error}"
            if event is not None:
                events.append(event)
            if self._csv is not None and not self._csv.knows_columns:
                self._take_events(events)
        self._take_events(events)
        self._flush()

    def _take_events(self, events: list[dict[str, object] | str]) -> None:
        """Answer and learn events; forget them."""
        durable = self._durable
        if not events or self._untaken:
            return
        try:
            answers = self._taken(events) if durable is None else durable.take(events)
        except JournalError as error:
            self._untaken = True
            self._give_up(f"{error}; the lines since were neither answered nor learned")
            return
        for answer in answers:
            self._answer(answer)
            self._clock.add(1)
            if self._clock.is_due or time.monotonic() - self._flushed > _FLUSH:
                self._flush()
                self._when_due()
        events.clear()

    def _taken(self, events: list[dict[str, object] | str]) -> Iterator[dict[str, object] | None]:
        """The answers to events."""
        if self._labels is None:
            return self._model.take_all(events)
        if self._arrivals.is_poured:
            return self._labels.take_in_order(events)
        return self._labels.take_all(events, self._arrivals.has_more)

    def _answer(self, answer: dict[str, object] | None) -> None:
        if answer is not None:
            line = notation.encoded(answer) if self._csv is None else self._csv.write(answer)
            self._answers.append(line)

    def _when_due(self) -> None:
        """Look what has come, save, and print the metrics, if it is time."""
        self._arrivals.look()
        if not self._is_settled and self._model.model.n_rows > _LOADED:
            self._is_settled = True
            gc.freeze()
        if self._saving.is_running or self._clock.is_due:
            self._begin_save()
        if self._metrics.are_due(self._model.counts["rows"]):
            self._print_metrics()

    def _begin_save(self) -> None:
        """Save while rows are answered, once the save before is finished."""
        model, saving = self._model, self._saving
        self._could_save(lambda: saving.finish(wait=False))
        if saving.is_running or not self._clock.is_due:
            return
        if self._durable is not None or not model.model.n_rows:
            self._save()
            return
        self._clock.restart()
        self._could_save(lambda: saving.begin(model.snapshot()))

    def _save(self) -> bool:
        """Save, and wait for it; whether it could be done."""
        self._could_save(self._saving.finish)
        self._clock.restart()
        return self._could_save(self._save_now if self._durable is None else self._durable.snapshot)

    def _save_now(self) -> None:
        if self._model.model.n_rows:
            self._saved.write(self._model.to_bytes())
        else:
            # says that a model without rows is not written
            self._model.save(self._options.model)

    def _could_save(self, step: Callable[[], object]) -> bool:
        """Whether a step of a save could be done; a failure is reported, and the next save tries
        again."""
        try:
            step()
        except (OSError, ValueError, TypeError) as error:
            say_line(f"error: the model could not be saved: {error}")
            return False
        self._notice.check(self._file.moved)
        return True

    def _print_metrics(self) -> None:
        self._metrics.print(self._model.report() | {"behind": len(self._labels or ())})

    def _flush(self) -> None:
        """Write the answers; with nobody left to read them, the run ends."""
        data = b"".join(line + b"\n" for line in self._answers)
        n, self._answers = len(self._answers), []
        self._flushed = time.monotonic()
        patience = None
        while data and not self._broken:
            if patience is None and self._interrupts.interrupted:
                patience = time.monotonic() + _PATIENCE
            try:
                if select.select([], [self._out], [], 1.0)[1]:
                    data = data[os.write(self._out, data[:PIECE]) :]
                    continue
                if patience is not None and time.monotonic() > patience:
                    self._give_up(f"up to {n:,} answers were not read; their rows are learned")
            except (OSError, ValueError) as error:
                self._give_up(f"answers could not be written: {error}")
            else:
                # what was learned is saved though nobody reads the answers
                self._when_due()

    def _give_up(self, why: str) -> None:
        self._broken = True
        say_line(f"error: {why}")


def is_file(source: int) -> bool:
    """Whether a source is a file, all of whose rows are there: nobody waits for one answer."""
    return stat.S_ISREG(os.fstat(source).st_mode)
