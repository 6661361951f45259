"""The model of ``onkel live`` and ``onkel serve``: that of the file, or a new one."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from onkel.cli.arguments import contradictions, learner_settings, names_in
from onkel.cli.console import say_line
from onkel.cli.live.options import EventOptions
from onkel.columns.failures import count

if TYPE_CHECKING:
    from onkel.serve import LiveModel
    from onkel.serve.durable import DurableModel


def how_of(options: EventOptions) -> dict[str, object]:
    """How a live model reads events and answers them."""
    return {
        "id": options.id, "exclude": names_in(options.exclude), "most": options.waiting,
        "proba": options.proba, "level": options.level, "say": say_line, "target": options.target,
    }  # fmt: skip


def open_model(options: EventOptions) -> Any:
    """The saved model, or a new one."""
    from onkel.serve import LiveModel

    if not options.model.exists():
        return new_model(options, **how_of(options))
    found = LiveModel.load(options.model, **how_of(options))
    refuse_others(options, found.model)
    _say_of(options, found)
    return found


def open_durable(
    options: EventOptions,
    folder: Path,
    recover: Callable[[DurableModel], int] | None = None,
    **more: Any,
) -> Any:
    """The saved model, or a new one, after all cuts of the journal.

    ``recover`` takes them, and returns how many events they had; by default the answers
    go nowhere.
    """
    from onkel.serve.durable import DurableModel
    from onkel.serve.journal import Journal

    if not options.model.exists():
        _require_task(options)
    journal = Journal(folder)
    if journal.dropped is not None:
        say_line(f"dropped {journal.dropped}")
    made = not options.model.exists()
    how = how_of(options) | {"once": True} | more
    durable = DurableModel.open(
        options.model,
        journal,
        lambda: new_model(options, **how),
        lambda live: refuse_others(options, live.model),
        **how,
    )
    try:
        again = (recover or _recover)(durable)
        if again:
            say_line(f"taken again from {folder}: {count(again, 'event')}")
        if not made:
            _say_of(options, durable.live)
    except BaseException:
        journal.close()
        raise
    return durable


def _recover(durable: DurableModel) -> int:
    return sum(len(answers) for _, _, answers in durable.recover())


def _say_of(options: EventOptions, found: LiveModel) -> None:
    rows, waiting = found.model.n_rows, found.late.n_waiting
    say_line(
        f"continuing {options.model} after {count(rows, 'row')}; "
        f"{waiting:,} {'waits for its label' if waiting == 1 else 'wait for labels'}"
    )


def new_model(options: EventOptions, **how: Any) -> Any:
    """A new model."""
    from onkel.algorithms import DEFAULT
    from onkel.learners.factory import make_estimator
    from onkel.pipeline import StreamModel
    from onkel.serve import LiveModel

    task = _require_task(options)
    params = learner_settings(options)
    algorithm = options.algorithm or DEFAULT
    kept = {"algorithm": algorithm, "params": params, "scaling": options.scaling,
            "seed": options.seed, "missing": options.missing, "dtype": "float32",
            "task": task, "target": options.target or "y", "statistics": True}  # fmt: skip
    kept |= {"group": options.group} if options.group else {}
    kept |= {"exclude": names_in(options.exclude)} if options.exclude else {}
    estimator = make_estimator(algorithm, task, params, options.seed)
    model = StreamModel(estimator, scaling=options.scaling, settings=kept)
    return LiveModel(model, **how)


def _require_task(options: EventOptions) -> str:
    if options.task is None:
        raise ValueError(
            f"{options.model} does not exist: a new model needs --task classification or "
            "--task regression, as no label is known yet"
        )
    return options.task


def refuse_others(options: EventOptions, model: Any) -> None:
    """Refuse options that contradict the saved model; a restart may repeat them."""
    kept = model.settings
    held = {
        "task": model.task,
        "algorithm": kept.get("algorithm"),
        "group": kept.get("group"),
        "scaling": kept.get("scaling", model.scaling),
        "seed": kept.get("seed", EventOptions.seed),
        "missing": kept.get("missing", EventOptions.missing),
    }
    for option, own, wanted in contradictions(options, model, held):
        raise ValueError(
            f"{option} {wanted}: {options.model} has {own!r}; leave the option out, or name a new "
            "file"
        )
