"""``onkel live``: one process in a pipe that predicts rows and learns their labels."""

from __future__ import annotations

import csv
import json
import os
import select
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from onkel.cli import options
from onkel.cli.arguments import command, names_in, parse_settings, with_features

# Seconds after which an answer is sent though more rows are there.
_FLUSH = 0.02
_READ = 1 << 14
# Bytes that a pipe which is ready takes without waiting.
_PIECE = 4096
# After a signal: seconds until answers that nobody reads are given up.
_PATIENCE = 5.0


def _option(name: str, help: str, **more: Any) -> Any:
    return typer.Option(name, help=help, rich_help_panel=options.RUN, **more)


@dataclass(frozen=True, kw_only=True)
class LiveOptions:
    """What ``onkel live`` is given."""

    model: Annotated[
        Path,
        typer.Argument(metavar="MODEL", help="Model to go on with, and to save; may be new."),
    ]
    source: Annotated[
        str, typer.Argument(metavar="[SOURCE]", help="File or named pipe; '-' for stdin.")
    ] = "-"
    id: Annotated[str, _option("--id", "Key with the id of a row.", metavar="COLUMN")] = "id"
    target: options.Target = None
    group: options.Group = None
    format: Annotated[
        Literal["jsonl", "csv"], _option("--format", "Of lines and answers.")
    ] = "jsonl"  # fmt: skip
    sep: Annotated[str, _option("--sep", "Separator of CSV.", metavar="MARK")] = ","
    algorithm: options.Algorithm = None
    task: Annotated[
        Literal["classification", "regression"] | None,
        typer.Option("--task", help="Needed for a new model.", rich_help_panel=options.MODEL),
    ] = None
    features: options.Features = None
    settings: options.Settings = None
    scaling: options.Scaling = "auto"
    seed: options.Seed = 0
    missing: options.Missing = "auto"
    exclude: options.Exclude = None
    proba: Annotated[
        bool, _option("--proba/--no-proba", "Whether answers have the classes' probabilities.")
    ] = True
    level: Annotated[
        float,
        _option("--level", "Share of labels inside the answers' intervals, say 0.9; 0: none."),
    ] = 0.0
    waiting: Annotated[
        int, _option("--waiting", "Rows that may wait for labels.", min=1, metavar="ROWS")
    ] = 100_000
    save_every: Annotated[
        int, _option("--save-every", "Save after so many events.", min=1, metavar="N")
    ] = 100_000
    save_seconds: Annotated[
        float, _option("--save-seconds", "Save after so many seconds.", min=0.1, metavar="S")
    ] = 60.0
    metrics_every: Annotated[
        float, _option("--metrics-every", "Metrics on stderr; 0: none.", min=0, metavar="S")
    ] = 60.0
    as_json: Annotated[
        bool, _option("--json", "Metrics as JSON lines.")
    ] = False  # fmt: skip


@command(LiveOptions)
def live(options: LiveOptions) -> None:
    """Predict rows as they come, and learn their labels when they come.

    A line {"id": 7, "size": 3.5} is answered at once; the line {"id": 7, "y": 12.0} is its label.

    Example: orders | onkel live prices.onkel --task regression --target price | shop
    """
    if os.name != "posix":
        raise ValueError("onkel live needs pipes and signals as POSIX has them")
    from onkel.cli.outputs import check_outputs
    from onkel.numerics.notices import heard_by

    check_outputs(options.model, inputs=[options.source])
    say = Remarks(2)
    model = _model(options, say)
    source = 0 if options.source == "-" else os.open(options.source, os.O_RDONLY)
    with heard_by(say):
        status = Pipe(model, options, source, 1, say).run()
    if status:
        raise typer.Exit(status)


def _model(options: LiveOptions, say: Callable[[str], object]) -> Any:
    """The saved model, or a new one."""
    from onkel.algorithms import DEFAULT
    from onkel.learners.making import make_estimator
    from onkel.pipeline import StreamModel
    from onkel.serve import LiveModel

    how: dict[str, Any] = {
        "id": options.id, "exclude": names_in(options.exclude), "most": options.waiting,
        "proba": options.proba, "level": options.level, "say": say, "target": options.target,
    }  # fmt: skip
    if options.model.exists():
        found = LiveModel.load(options.model, **how)
        _refuse_others(options, found.model)
        rows, waiting = found.model.n_rows, found.late.n_waiting
        say(f"continuing {options.model} after {rows:,} rows; {waiting:,} wait for labels")
        return found
    if options.task is None:
        raise ValueError(
            f"{options.model} does not exist: a new model needs --task classification or "
            "--task regression, as no label is known yet"
        )
    params = with_features(parse_settings(options.settings or ()), options.features)
    algorithm = options.algorithm or DEFAULT
    kept = {"algorithm": algorithm, "params": params, "scaling": options.scaling,
            "seed": options.seed, "missing": options.missing, "dtype": "float32",
            "task": options.task, "target": options.target or "y", "statistics": True}  # fmt: skip
    kept |= {"group": options.group} if options.group else {}
    kept |= {"exclude": names_in(options.exclude)} if options.exclude else {}
    estimator = make_estimator(algorithm, options.task, params, options.seed)
    return LiveModel(StreamModel(estimator, scaling=options.scaling, settings=kept), **how)


def _refuse_others(options: LiveOptions, model: Any) -> None:
    """Refuse options that contradict the saved model."""
    held = {"task": model.task, **{k: model.settings.get(k) for k in ("algorithm", "group")}}
    for name, value in held.items():
        wanted = getattr(options, name)
        if wanted is not None and wanted != value:
            raise ValueError(
                f"--{name} {wanted}: {options.model} has {value!r}; leave the option out, or name "
                "a new file"
            )


class Remarks:
    """Lines on stderr. If nobody reads them they are dropped and counted, and nothing waits."""

    def __init__(self, file: int) -> None:
        self._file = file
        self._dropped = 0

    def __call__(self, text: str) -> None:
        """Write one line."""
        line = " ".join(text.split())
        if self._dropped:
            line = f"({self._dropped:,} lines were dropped) {line}"
        data = line.encode("utf-8", "replace")[: _PIECE - 1] + b"\n"
        try:
            if select.select([], [self._file], [], 0)[1]:
                os.write(self._file, data)
                self._dropped = 0
                return
        except (OSError, ValueError):
            pass
        self._dropped += 1

    def say(self, text: str) -> bool:
        """A notice of a learner."""
        self(text)
        return True

    def busy(self, text: str | None) -> None:
        """Does nothing: only progress lines show this."""


_WORDS = {"SIGHUP": "terminal closed", "SIGINT": "interrupted", "SIGTERM": "terminated"}


class _Signals:
    """HUP, INT and TERM wake a select; a second one, a second later, ends the process."""

    def __init__(self, say: Callable[[str], object]) -> None:
        self.number = 0
        self.file, self._wake = os.pipe()
        self._say = say
        self._came = 0.0

    @contextmanager
    def caught(self) -> Iterator[None]:
        """While active, signals only set ``number`` and make ``file`` readable."""
        before = {}
        os.set_blocking(self._wake, False)
        if threading.current_thread() is threading.main_thread():
            for name in _WORDS:
                number = signal.Signals[name]
                # under nohup a closed terminal is of no interest
                if name != "SIGHUP" or signal.getsignal(number) is not signal.SIG_IGN:
                    before[number] = signal.signal(number, self._handle)
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)
            os.close(self.file)
            os.close(self._wake)

    @property
    def word(self) -> str:
        """What the signal means."""
        return _WORDS[signal.Signals(self.number).name]

    def _handle(self, number: int, frame: Any) -> None:
        now = time.monotonic()
        if self.number and number != signal.SIGHUP and now - self._came > 1.0:
            self._say(f"error: {self.word} twice: ended at once")
            os._exit(128 + number)
        if not self.number:
            self.number, self._came = int(number), now
            os.write(self._wake, b"!")


class Pipe:
    """Lines from one file, answers to another, until the input ends or a signal comes."""

    def __init__(
        self, model: Any, options: LiveOptions, source: int, out: int, say: Callable[[str], object]
    ) -> None:
        self._model, self._options, self._say = model, options, say
        self._source, self._out = source, out
        self._signals = _Signals(say)
        self._csv = _Csv(options, model) if options.format == "csv" else None
        self._rest = b""
        self._answers: list[str] = [] if self._csv is None else [self._csv.HEADER]
        self._n_lines = self._events = self._saved = 0
        self._broken = False
        now = time.monotonic()
        self._flushed = self._saved_at = self._told_at = now

    def run(self) -> int:
        """Run it; the exit status: 0, 1 if something could not be written, 128 + a signal."""
        with self._signals.caught():
            ended = False
            while not (ended or self._signals.number or self._broken):
                files = [self._source, self._signals.file]
                ready = select.select(files, [], [], self._time_left())[0]
                if self._source in ready and not self._signals.number:
                    data = os.read(self._source, _READ)
                    ended = not data
                    self._take(data)
                self._when_due()
            return self._end(ended)

    def _end(self, ended: bool) -> int:
        if ended and self._rest:
            self._take(b"\n")
        self._flush()
        saved = self._save()
        rows = f"{self._model.model.n_rows:,} rows"
        if self._signals.number:
            self._say(f"{self._signals.word}: {rows} learned")
            if self._rest:
                self._say("the last line had not come to its end; it was neither answered nor "
                          "learned")  # fmt: skip
        if self._options.metrics_every:
            self._tell()
        if self._signals.number:
            return 128 + self._signals.number
        return 0 if saved and not self._broken else 1

    def _time_left(self) -> float:
        """Seconds until something is due."""
        due = self._saved_at + self._options.save_seconds
        if self._options.metrics_every:
            due = min(due, self._told_at + self._options.metrics_every)
        return max(0.0, due - time.monotonic())

    def _take(self, data: bytes) -> None:
        """Answer and learn the lines that are whole."""
        *lines, self._rest = (self._rest + data).split(b"\n")
        for line in lines:
            self._n_lines += 1
            if line.strip():
                self._event(line)
            if time.monotonic() - self._flushed > _FLUSH:
                self._flush()
                self._when_due()
        self._flush()

    def _event(self, line: bytes) -> None:
        model = self._model
        self._events += 1
        try:
            event = json.loads(line) if self._csv is None else self._csv.read(line)
            if event is None:
                return
            if not isinstance(event, dict):
                raise ValueError('a line must be an object, such as {"id": 1, "x": 2.5}')
        except (ValueError, RecursionError) as error:
            answer = model.refuse(None, f"line {self._n_lines:,}: {error}")
        else:
            answer = model.take(event)
        if answer is not None:
            self._answers.append(_json(answer) if self._csv is None else self._csv.write(answer))

    def _when_due(self) -> None:
        """Save, and tell the metrics, if it is time."""
        now, own = time.monotonic(), self._options
        news = self._events - self._saved
        if news >= own.save_every or (news and now - self._saved_at >= own.save_seconds):
            self._save()
        elif now - self._saved_at >= own.save_seconds:
            self._saved_at = now
        if own.metrics_every and now - self._told_at >= own.metrics_every:
            self._told_at = now
            self._tell()

    def _save(self) -> bool:
        """Save; a failure is told, and the next time tries again."""
        self._saved, self._saved_at = self._events, time.monotonic()
        try:
            self._model.save(self._options.model)
        except (OSError, ValueError, TypeError) as error:
            self._say(f"error: the model could not be saved: {error}")
            return False
        return True

    def _tell(self) -> None:
        report = self._model.report()
        self._say(_json(report) if self._options.as_json else _text(report))

    def _flush(self) -> None:
        """Write the answers; with nobody left to read them, the run ends."""
        data = "".join(line + "\n" for line in self._answers).encode()
        n, self._answers = len(self._answers), []
        self._flushed = time.monotonic()
        patience = None
        while data and not self._broken:
            stopped = bool(self._signals.number)
            if stopped and patience is None:
                patience = time.monotonic() + _PATIENCE
            files = [] if stopped else [self._signals.file]
            try:
                ready = select.select(files, [self._out], [], 1.0)
                if ready[1]:
                    data = data[os.write(self._out, data[:_PIECE]) :]
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
        self._say(f"error: {why}")


class _Csv:
    """Lines of CSV: the first has the names, an empty field is a gap."""

    HEADER = "id,prediction,model_rows,error"

    def __init__(self, options: LiveOptions, model: Any) -> None:
        self._options, self._model = options, model
        self._names: list[str] | None = None

    def read(self, line: bytes) -> dict[str, Any] | None:
        """The fields that have a value, by name; None for the line of names."""
        text = line.decode("utf-8-sig" if self._names is None else "utf-8").rstrip("\r")
        fields = next(csv.reader([text], delimiter=self._options.sep))
        if self._names is None:
            self._names = fields
            return None
        if len(fields) != len(self._names):
            raise ValueError(f"{len(fields)} fields where the header has {len(self._names)}")
        encoder = self._model.model.encoder
        kinds = {} if encoder is None else encoder.stored
        return {
            name: value if kinds.get(name) == "text" or name == self._options.id else _value(value)
            for name, value in zip(self._names, fields, strict=True)
            if value.strip()
        }

    def write(self, answer: dict[str, Any]) -> str:
        """An answer as a line."""
        values = [answer.get(name) for name in self.HEADER.split(",")]
        return ",".join(_quoted(value) for value in values)


def _quoted(value: Any) -> str:
    text = "" if value is None else str(value)
    return '"' + text.replace('"', '""') + '"' if set(text) & set(',"\n\r') else text


def _value(text: str) -> Any:
    """A number, if it is one; no column is known to be text yet."""
    text = text.strip()
    if text[-1].isdigit() or text[-1] == ".":
        for kind in (int, float):
            try:
                return kind(text)
            except ValueError:
                continue
    return text


def _json(value: Any) -> str:
    from onkel.evaluation.result import finite

    return json.dumps(finite(value), default=str)


def _text(report: dict[str, Any]) -> str:
    """The metrics as one line for people."""
    from onkel.metrics import METRICS

    def shown(values: dict[str, float]) -> str:
        return ", ".join(f"{METRICS[k].title} {METRICS[k].format(v)}" for k, v in values.items())

    parts = [f"{report['rows']:,} rows", f"{report['labels']:,} labels"]
    parts += [f"{report['waiting']:,} waiting"]
    if report["score"]:
        parts += [shown(report["score"])]
    if report["recent"]:
        parts += [f"since the last line {shown(report['recent'])}"]
    if report["skill"] is not None:
        parts += [f"skill {report['skill']:.3f}"]
    counts = ("unknown", "doubled", "late", "refused")
    parts += [f"{report[name]:,} {name}" for name in counts if report[name]]
    return "; ".join(parts)
