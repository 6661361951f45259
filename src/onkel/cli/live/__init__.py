"""``onkel live``: one process in a pipe that predicts rows and learns their labels."""

from __future__ import annotations

import os
from typing import Any

import typer

from onkel.cli.arguments import command, names_in, parse_settings, with_features
from onkel.cli.console import say_line
from onkel.cli.guarded import never_wait
from onkel.cli.live.options import LiveOptions


@command(LiveOptions)
def live(options: LiveOptions) -> None:
    """Predict rows as they come, and learn their labels when they come.

    A line {"id": 7, "size": 3.5} is answered at once; the line {"id": 7, "y": 12.0} is its label.

    Example: orders | onkel live prices.onkel --task regression --target price | shop
    """
    if os.name != "posix":
        raise ValueError("onkel live needs pipes and signals as POSIX has them")
    from onkel.cli.live.pipe import Pipe
    from onkel.cli.outputs import check_outputs
    from onkel.cli.signals import Interrupts
    from onkel.streams.files import find_files

    check_outputs(options.model, inputs=[options.source])
    sources = find_files(options.source)
    if len(sources) > 1:
        raise ValueError(f"{options.source}: onkel live reads one file or pipe")
    never_wait()
    durable = None if options.journal is None else _durable(options)
    model = _model(options) if durable is None else durable.live
    with Interrupts(end_input=True) as interrupts, sources[0].opened() as raw:
        status = Pipe(model, options, raw.fileno(), 1, interrupts, durable).run()
    if durable is not None:
        durable.journal.close()
    if status:
        raise typer.Exit(status)


def _how(options: LiveOptions) -> dict[str, Any]:
    """How a live model reads events and answers them."""
    return {
        "id": options.id, "exclude": names_in(options.exclude), "most": options.waiting,
        "proba": options.proba, "level": options.level, "say": say_line, "target": options.target,
        "once": options.journal is not None,
    }  # fmt: skip


def _model(options: LiveOptions) -> Any:
    """The saved model, or a new one."""
    from onkel.serve import LiveModel

    if not options.model.exists():
        return _new(options)
    found = LiveModel.load(options.model, **_how(options))
    _continue(options, found)
    return found


def _durable(options: LiveOptions) -> Any:
    """The saved model, or a new one, after all cuts of the journal."""
    from onkel.serve.durable import DurableModel
    from onkel.serve.journal import Journal

    assert options.journal is not None
    journal = Journal(options.journal)
    if journal.dropped is not None:
        say_line(f"dropped {journal.dropped}")
    made = not options.model.exists()
    how = _how(options)
    durable = DurableModel.open(options.model, journal, lambda: _new(options), **how)
    again = sum(len(answers) for _, _, answers in durable.recover())
    if again:
        say_line(f"{again:,} events of {options.journal} were taken again")
    if not made:
        _continue(options, durable.live)
    return durable


def _continue(options: LiveOptions, found: Any) -> None:
    _refuse_others(options, found.model)
    rows, waiting = found.model.n_rows, found.late.n_waiting
    say_line(f"continuing {options.model} after {rows:,} rows; {waiting:,} wait for labels")


def _new(options: LiveOptions) -> Any:
    """A new model."""
    from onkel.algorithms import DEFAULT
    from onkel.learners.factory import make_estimator
    from onkel.pipeline import StreamModel
    from onkel.serve import LiveModel

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
    model = StreamModel(estimator, scaling=options.scaling, settings=kept)
    return LiveModel(model, **_how(options))


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
