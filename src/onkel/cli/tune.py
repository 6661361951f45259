"""``onkel tune``: the papers' search for settings, on a user's own rows."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Annotated, Any

import typer

from onkel.cli import options
from onkel.cli.arguments import Learning, choose_task, command, parse_settings
from onkel.cli.console import note, print_json, stderr, stdout
from onkel.cli.options import of_model
from onkel.columns.failures import count

Share = Annotated[
    float, typer.Option(min=0.0, max=0.5, metavar="SHARE", help="Share of the rows to search on.")
]
Grids = Annotated[
    list[str] | None,
    of_model(
        "Values to try in place of the papers'. Repeatable.", "--grid", metavar="NAME=V,V,..."
    ),
]


@dataclass(frozen=True, kw_only=True)
class TuneOptions(Learning):
    """What ``onkel tune`` is given."""

    algorithm: Annotated[str, options.algorithm()] = "fogd"
    grids: Grids = None
    share: Share = 0.1
    memory: options.Memory = 1000
    jobs: options.Jobs = None
    as_json: options.Json = False


@command(TuneOptions)
def tune(options: TuneOptions) -> None:
    """Search the papers' grid of settings on a random part of the rows; score the best on the rest.

    The part is a tenth (or --share), from 1,000 to 10,000 rows and at most half of all. No row of
    the search counts in the score.

    Example: onkel tune flights.csv --target delayed --algorithm fogd
    """
    from rich.progress import track

    from onkel.evaluation import search
    from onkel.evaluation.processes import jobs_for
    from onkel.learners.factory import make_estimator
    from onkel.pipeline import StreamModel

    X, y, encoder = _rows(options)
    task, _ = choose_task(y[:4096], options.task)
    fixed, name = parse_settings(options.settings or ()), str(options.algorithm)
    grid = _grid(options, task, fixed, len(y))

    def new_model(point: Mapping[str, Any]) -> StreamModel:
        estimator = make_estimator(name, task, {**fixed, **point}, options.seed)
        return StreamModel(estimator, scaling=options.scaling, encoder=encoder)

    points = [{}, *(p for p in search.points_of(grid) if search.is_stable({**fixed, **p}))]
    console = stderr()
    shown = track(points, f"{count(len(points), 'setting')}", console=console, transient=True,
                  disable=not console.is_terminal)  # fmt: skip
    searched = len(search.part_for_search(len(y), options.share))
    found = search.tune(
        X,
        y,
        new_model,
        shown,
        classes=task == "classification",
        share=options.share,
        jobs=jobs_for(searched * len(points), options.jobs),
    )
    _show(options, task, fixed, found, len(points))


def _rows(options: TuneOptions) -> tuple[Any, Any, Any]:
    from onkel.evaluation.comparison.contest import read_all

    stream = options.open()
    held = read_all(stream, options.memory * 1e6, options.limit)
    if held is None:
        raise ValueError("the rows do not fit into --memory: raise it, or take fewer with --limit")
    return *held, stream.encoder


def _grid(options: TuneOptions, task: str, fixed: Mapping[str, Any], n_rows: int) -> dict[str, Any]:
    """The papers' grid for what isn't set, and the values of ``--grid``."""
    from onkel.algorithms import make
    from onkel.evaluation.search import grid_of

    name = str(options.algorithm)
    parameters = make(name, task, **fixed).get_params(deep=False)
    given = parse_settings(options.grids or ())
    own = {key: value if isinstance(value, tuple) else (value,) for key, value in given.items()}
    for key in own:
        if key not in parameters:
            raise ValueError(f"--grid {key}: {name} has no such parameter; "
                             f"it has {', '.join(parameters)}")  # fmt: skip
    taken = {*own, *fixed}
    grid = {k: v for k, v in grid_of(parameters, n_rows).items() if not taken & {*k.split(",")}}
    if not (grid | own):
        raise ValueError(f"{name} has no width, step or penalty to search; name values with --grid")
    return grid | own


def _show(
    options: TuneOptions, task: str, fixed: Mapping[str, Any], found: Any, n_points: int
) -> None:
    if options.as_json:
        print_json({"algorithm": options.algorithm, "task": task, "settings": n_points,
                    **asdict(found)})  # fmt: skip
        return
    percent = task == "classification"
    values = [f"{100 * v:.2f} %" if percent else f"{v:.5g}" for v in (found.value, found.default)]
    what = "mistakes" if percent else "root mean squared error"
    settings = {**fixed, **found.point}
    words = ["onkel", "learn", *options.sources, "--algorithm", str(options.algorithm)]
    words += _as_words(options)
    words += [part for k, v in settings.items() for part in ("--set", f"{k}={v}")]
    stdout().print(f"{what} on the other {count(found.n_others, 'row')}: {values[0]} "
                   f"(without the search: {values[1]})", markup=False)  # fmt: skip
    typer.echo(shlex.join(words))
    rows = count(found.n_searched, "row")
    note(f"searched {count(n_points, 'setting')} on {rows}, drawn at random with a seed that no "
         "run uses")  # fmt: skip


# Options that 'onkel learn' gets in another form, or not at all.
_OTHERWISE = ("sources", "limit", "settings")


def _as_words(options: Learning) -> list[str]:
    """The options of reading and learning that were given, as words of a command line."""
    words: list[str] = []
    for field in fields(Learning):
        value, name = getattr(options, field.name), field.name.replace("_", "-")
        if field.name in _OTHERWISE or value == field.default:
            continue
        if isinstance(value, bool):
            words.append(f"--{name}" if value else f"--no-{name}")
            continue
        for one in value if isinstance(value, list) else [value]:
            words += [f"--{name}", str(one)]
    return words
