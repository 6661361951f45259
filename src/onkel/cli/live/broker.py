"""``onkel live`` at a broker: from topic to topic until a signal comes, whatever breaks."""

from __future__ import annotations

import time
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

from onkel.cli.console import say_line
from onkel.cli.live.metrics import Metrics
from onkel.cli.live.opening import open_durable
from onkel.cli.live.options import LiveOptions
from onkel.cli.signals import Interrupted, Interrupts
from onkel.columns.failures import count
from onkel.serve.saving import MovedNotice, SaveClock

if TYPE_CHECKING:
    from onkel.serve.brokers import Door
    from onkel.serve.durable import DurableModel

# Seconds until it is looked for a signal, or for labels while no row comes.
_LOOK = 0.2
# Seconds that a broker may take for the answers: in the middle of a run, and after a signal.
_PATIENCE, _LAST_PATIENCE = 60.0, 5.0
# Seconds between attempts to reach a broker that is gone.
_RETRY = 2.0


def run(options: LiveOptions) -> int:
    """Run it; the exit status: 128 + a signal, or 1 if the broker did not take the answers.

    A broker that goes away during the run is waited for. What was taken is in the journal, so each
    new beginning is the same as after a crash.
    """
    out = options.out
    if out is None:
        raise ValueError(f"{options.source}: --out must name the topic of the answers")
    settings = None if options.client is None else settings_of(options.client)
    reached = False
    with Interrupts() as interrupts:
        while True:
            try:
                with closing(_door(options, out, settings)) as door:
                    reached = True
                    return _Standing(options, door, interrupts).run()
            except ConnectionError as error:
                if not reached:
                    raise
                say_line(f"{error}; nothing is lost, trying again")
                time.sleep(_RETRY)


def _door(options: LiveOptions, out: str, settings: dict[str, Any] | None) -> Any:
    from onkel.serve.brokers import open_door

    return open_door(options.source, out, options.labels, settings)


class _Standing:
    """A model at a door, from its recovery to its last save."""

    def __init__(self, options: LiveOptions, door: Door, interrupts: Interrupts) -> None:
        self._options, self._door, self._interrupts = options, door, interrupts
        self._clock = SaveClock(options.save_every, options.save_seconds)
        self._notice = MovedNotice(say_line)

    def run(self) -> int:
        """Recover, then answer and learn until a signal comes; the exit status."""
        options = self._options
        folder = options.journal or Path(f"{options.model}.journal")
        with self._interrupts.held():
            self._model = open_durable(options, folder, self._recover)
        self._metrics = Metrics(options, self._model.live.counts["rows"])
        with closing(self._model.journal):
            try:
                while True:
                    with self._interrupts.held():
                        self._clock.add(self._loop.round(_LOOK))
                        self._when_due()
            except Interrupted as signal:
                saved = self._save(_LAST_PATIENCE)
                rows = self._model.live.model.n_rows
                say_line(f"{signal.word}: {count(rows, 'row')} learned")
                if self._metrics.are_wanted:
                    self._metrics.print(self._model.live.report())
                return signal.status if saved and not self._model.moved else 1

    def _recover(self, model: DurableModel) -> int:
        """Take the journal's cuts again, and send the answers that were not sent."""
        from onkel.serve.brokers.loop import Loop

        self._loop = Loop(model, self._door, self._options.labels is not None)
        events, unsent = self._loop.recover()
        if unsent:
            say_line(f"sent {unsent:,} answers that a crash had kept back")
        return events

    def _when_due(self) -> None:
        """Save, and print the metrics, if it is time."""
        if self._clock.is_due:
            self._save(_PATIENCE)
        live = self._model.live
        if self._metrics.are_due(live.counts["rows"]):
            self._metrics.print(live.report())

    def _save(self, seconds: float) -> bool:
        """Save; a failure of the disk is reported, and the next time tries again."""
        self._clock.restart()
        try:
            self._loop.save(seconds)
        except ConnectionError as error:
            if seconds != _LAST_PATIENCE:
                raise
            say_line(f"error: {error}; the next start sends what is missing")
            return False
        except (OSError, ValueError) as error:
            say_line(f"error: the model could not be saved: {error}; the journal has everything")
            return False
        self._notice.check(self._model.moved)
        return True


def settings_of(path: Path) -> dict[str, Any]:
    """The lines ``name=value`` of a file, for the broker's client."""
    found: dict[str, Any] = {}
    for n, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        text = line.strip()
        if not text or text.startswith("#"):
            continue
        name, equals, value = map(str.strip, text.partition("="))
        if not equals or not name:
            raise ValueError(f"--client {path}: line {n}: a line such as password=... is expected")
        found[name] = {"true": True, "false": False}.get(value.lower(), value)
    return found
