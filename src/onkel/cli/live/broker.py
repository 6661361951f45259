"""``onkel live`` at a broker: from topic to topic until a signal comes, whatever breaks."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import ExitStack, closing
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

    A broker that goes away during the run is waited for; the model stays in memory meanwhile.
    """
    out = options.out
    if out is None:
        raise ValueError(f"{options.source}: --out must name the topic of the answers")
    settings = None if options.client is None else settings_of(options.client)
    reached = False
    with Interrupts() as interrupts, ExitStack() as stack:
        standing = _Standing(options, interrupts, stack)
        try:
            while True:
                try:
                    with closing(_door(options, out, settings)) as door:
                        reached = True
                        return standing.run(door)
                except ConnectionError as error:
                    if not reached:
                        raise
                    if (signal := interrupts.interrupted) is not None:
                        # it came in the round that broke off
                        raise signal from None
                    say_line(f"{error}; nothing is lost, trying again")
                    time.sleep(_RETRY)
        except BaseException as end:
            if (status := standing.end_away(end)) is None:
                raise
            return status


def _door(options: LiveOptions, out: str, settings: dict[str, Any] | None) -> Any:
    from onkel.serve.brokers import open_door

    return open_door(options.source, out, options.labels, settings)


class _Standing:
    """A model at one door after another, from its recovery to its last save."""

    def __init__(self, options: LiveOptions, interrupts: Interrupts, stack: ExitStack) -> None:
        # ``stack`` closes the journal
        self._options, self._interrupts, self._stack = options, interrupts, stack
        self._clock = SaveClock(options.save_every, options.save_seconds)
        self._notice = MovedNotice(say_line)
        self._model: Any = None

    def _at(self, door: Door) -> None:
        """Recover the model at its first door; go on with it at the next."""
        options = self._options
        with self._interrupts.held():
            if self._model is not None:
                self._say_unsent(self._loop.go_on(door))
                return
            folder = options.journal or Path(f"{options.model}.journal")
            self._model = open_durable(options, folder, lambda model: self._recover(model, door))
            self._stack.callback(self._model.journal.close)
            self._metrics = Metrics(options, self._model.live.counts["rows"])

    def run(self, door: Door) -> int:
        """Answer and learn at a door until a signal comes; the exit status."""
        try:
            self._at(door)
            while True:
                with self._interrupts.held():
                    self._clock.add(self._loop.round(_LOOK))
                    self._when_due()
        except Interrupted as signal:
            return self._end(signal, self._save(_LAST_PATIENCE))

    def end_away(self, end: BaseException) -> int | None:
        """Save without a door; the exit status, or None if this was no end by a signal."""
        if self._model is None:
            return None
        saved = self._keep()
        return self._end(end, saved) if isinstance(end, Interrupted) else None

    def _end(self, signal: Interrupted, saved: bool) -> int:
        """Say what was learned; the exit status."""
        live = self._model.live
        say_line(f"{signal.word}: {count(live.model.n_rows, 'row')} learned")
        if self._metrics.are_wanted:
            self._metrics.print(live.report())
        return signal.status if saved and not self._model.moved else 1

    def _recover(self, model: DurableModel, door: Door) -> int:
        """Take the journal's cuts again, and send the answers that were not sent."""
        from onkel.serve.brokers.loop import Loop

        self._loop = Loop(model, door, self._options.labels is not None)
        events, unsent = self._loop.recover()
        self._say_unsent(unsent)
        return events

    def _say_unsent(self, n: int) -> None:
        if n:
            say_line(f"sent {n:,} answers that a crash had kept back")

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
            return self._could_write(lambda: self._loop.save(seconds))
        except ConnectionError as error:
            if seconds != _LAST_PATIENCE:
                raise
            say_line(str(error))
            return self._keep()

    def _keep(self) -> bool:
        """Save without the broker; whether that could be done and no answer may be missing."""
        unsent = 0

        def keep() -> None:
            nonlocal unsent
            unsent = self._loop.keep()

        saved = self._could_write(keep)
        if unsent:
            say_line(
                f"error: {count(unsent, 'answer')} may not have reached the broker; the next "
                "start sends what is missing"
            )
        return saved and not unsent

    def _could_write(self, step: Callable[[], object]) -> bool:
        """Whether a step of a save could be done."""
        try:
            step()
        except ConnectionError:
            raise
        except (OSError, ValueError, RuntimeError) as error:
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
