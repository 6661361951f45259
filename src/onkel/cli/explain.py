"""``onkel explain``: why a saved model predicts a row as it does."""

from __future__ import annotations

import json
import math
from typing import Annotated, Any

import typer

from onkel.cli import options
from onkel.cli.locating import located
from onkel.columns.failures import count
from onkel.errors import DataError

_Row = Annotated[
    str, typer.Argument(metavar="ROW", help="The row as a JSON object, or a file that has it.")
]
_Number = Annotated[
    int, typer.Option("--row", "-n", min=1, help="Which row of the file, counted from 1.")
]


def explain(
    model: options.Model, row: _Row, number: _Number = 1, as_json: options.Json = False
) -> None:
    """Explain the prediction of a row: what each column contributes to its score.

    The contributions and the mean score of rows the model has learned add up to the row's score.

    Example: onkel explain flights.onkel tomorrow.csv --row 17
    """
    from onkel.cli.console import print_json
    from onkel.cli.learn.continuing import load_with_columns

    loaded = load_with_columns(model)[0]
    given = _row(loaded, row, number)
    try:
        why = loaded.explain(given)
    except DataError as error:
        error.source = None
        raise ValueError(error.located("the row")) from error
    columns = [
        {"column": name, "value": why.values.get(name), "contribution": share}
        for name, share in why.contributions.items()
    ]
    found = {"prediction": why.prediction, "probability": why.probability, "score": why.score,
             "mean_score": why.base, "columns": columns}  # fmt: skip
    if as_json:
        print_json(found)
    else:
        _show(found, loaded)


def _row(model: Any, given: str, number: int) -> dict[str, Any]:
    """A row by the names of its columns: the JSON object, or a row of a file."""
    if not given.lstrip().startswith(("{", "[")):
        return _row_of_file(model, given, number)
    try:
        row = json.loads(given)
    except ValueError as error:
        raise ValueError(f"the row is no JSON object ({error})") from None
    if not isinstance(row, dict):
        raise ValueError("the row is no JSON object; such is '{\"distance\": 800}'")
    return row


def _row_of_file(model: Any, path: str, number: int) -> dict[str, Any]:
    from onkel.pipeline.rows import reading_to_predict
    from onkel.streams import open_stream

    encoder, reading = model.encoder, reading_to_predict(model.settings)
    there = open_stream(path, reading, encoder=encoder).columns
    kept = [name for name in there if name in encoder.kinds]
    stream, before = open_stream(path, reading.changed(keep=kept), encoder=encoder), 0
    try:
        for block in stream:
            columns = stream.kept(block.n_rows)
            if number <= before + block.n_rows:
                at = number - before - 1
                return {name: values[at].as_py() for name, values in columns.items()}
            before += block.n_rows
    except DataError as error:
        raise ValueError(located(error, [path])) from error
    raise ValueError(f"{path}: has {count(before, 'row')}; --row {number:,} is none of them")


def _show(found: dict[str, Any], model: Any) -> None:
    from rich.text import Text

    from onkel.cli.console import plain_table, stdout
    from onkel.cli.tables import NARROW
    from onkel.evaluation.formatting import label_text

    label, share = found["prediction"], found["probability"]
    most = max((abs(column["contribution"]) for column in found["columns"]), default=0.0)
    sizes = found["mean_score"], found["score"]
    form, form_of_share = _forms(most, *sizes)
    if model.task == "regression":
        what, mean = format(label, _forms(most, *sizes, least=6)[0]), "prediction"
    else:
        label = label_text(label)
        what = label + ("" if share is None else f" ({100 * share:.1f} %)")
        mean = f"score of {label!r}"
    title = f"{model.encoder.target or 'prediction'}: {what}"
    table = plain_table(title=Text(title), title_justify="left")
    for name in ("column", "value"):
        table.add_column(name, overflow="fold")
    table.add_column("contribution", justify="right", overflow="fold")
    console = stdout()
    if console.width >= NARROW:
        table.add_column("", overflow="crop", no_wrap=True)
    table.add_row(f"mean of rows learned: {mean}", "", format(found["mean_score"], form))
    for column in found["columns"]:
        value, size = column["contribution"], abs(column["contribution"]) / (most or 1.0)
        shown = "" if column["value"] is None else str(column["value"])
        bar = Text("█" * round(12 * size), style="green" if value > 0 else "red")
        cells = Text(column["column"]), Text(shown), format(value, "+" + form_of_share), bar
        table.add_row(*cells[: len(table.columns)])
    table.add_row("they add up to the row's", "", format(found["score"], form))
    console.print(table)


def _forms(most: float, *sums: float, least: int = 4) -> tuple[str, str]:
    """Formats of the sums and of the contributions, of which ``most`` is the largest.

    Both show three digits of the largest contribution, and the sums ``least`` digits, so that
    a person can add them up.
    """
    largest = _magnitude(max(map(abs, (most, *sums))))
    smaller = largest - _magnitude(most) if most else 0
    digits = min(max(least, smaller + 3), 16)
    if -6 <= largest < (9 if digits == least else 15):
        fixed = f",.{max(digits - 1 - largest, 0)}f"
        return fixed, fixed
    return f".{digits}g", ".4g"


def _magnitude(number: float) -> int:
    """Which power of ten a number begins with."""
    return math.floor(math.log10(abs(number))) if number else 0
