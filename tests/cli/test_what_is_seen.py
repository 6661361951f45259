"""What a person sees at the command line: places counted from 1, one of a thing, narrow screens."""

from __future__ import annotations

import io

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from rich.console import Console
from typer.testing import CliRunner

import onkel
from onkel.cli import app
from onkel.cli.live.metrics import text_of
from onkel.cli.tables import columns_table, show_comparison
from onkel.evaluation import prequential
from onkel.evaluation.comparison.table import comparison
from onkel.evaluation.progress import RunProgress
from onkel.evaluation.run_summary import sentences
from onkel.learners import PAClassifier, PARegressor
from onkel.serve import LiveModel


def run(*args, width=80):
    result = CliRunner().invoke(app, [str(a) for a in args], env={"COLUMNS": str(width)})
    assert "Traceback" not in result.stderr
    return result


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Twenty good rows and a model of them; the same rows, of which the fourth is bad."""
    folder = tmp_path_factory.mktemp("seen")
    a = np.random.default_rng(0).normal(size=20).round(3)
    y = (2 * a).round(3)
    bad = a.copy()
    bad[3] = np.inf
    for name, values in (("good", a), ("bad", bad)):
        pq.write_table(pa.table({"a": values, "y": y}), folder / f"{name}.parquet")
        lines = "".join(f"{v},{t}\n" for v, t in zip(values, y, strict=True))
        (folder / f"{name}.csv").write_text("a,y\n" + lines)
    (folder / "one.csv").write_text("a,y\n1.0,2.0\n")
    saved = run("learn", folder / "good.csv", "-t", "y", "-a", "pa", "--save", folder / "m.onkel")
    assert saved.exit_code == 0, saved.stderr
    return folder


@pytest.mark.parametrize(
    ("args", "where"),
    [
        (["learn", "bad.csv", "-t", "y", "-a", "pa"], "bad.csv, line 5, column 'a': "),
        (["learn", "good.csv", "bad.csv", "-t", "y", "-a", "pa"],
         "bad.csv, row 24 (counted from 1), column 'a': "),
        (["learn", "bad.parquet", "-t", "y", "-a", "pa"],
         "bad.parquet, row 4 (counted from 1), column 'a': "),
        (["compare", "bad.csv", "-t", "y", "-a", "pa"],
         "bad.csv, row 4 (counted from 1), column 'a': "),
        (["predict", "m.onkel", "bad.csv", "-o", "p.csv"], "bad.csv, line 5, column 'a': "),
        (["predict", "m.onkel", "bad.csv", "--learn", "-o", "p.csv"],
         "bad.csv, line 5, column 'a': "),
        (["predict", "m.onkel", "bad.parquet", "-o", "p.csv"],
         "bad.parquet, row 4 (counted from 1), column 'a': "),
        (["explain", "m.onkel", "bad.csv", "--row", "4"], "bad.csv, line 5, column 'a': "),
        (["explain", "m.onkel", '{"a": "far"}'], "error: the row, column 'a': 'far' stands"),
        (["explain", "m.onkel", "one.csv", "--row", "2"], "one.csv: has 1 row; --row 2"),
    ],
)  # fmt: skip
def test_a_place_is_told_as_a_person_counts(folder, monkeypatch, args, where):
    monkeypatch.chdir(folder)
    result = run(*args)
    assert result.exit_code == 2
    assert where in result.stderr


@pytest.mark.parametrize(
    ("last", "where"),
    [("inf,4.0", "gaps.csv, line 5, column 'a': "),
     ("1,1e300", "gaps.csv, row 3 (counted from 1 as they are learned), column 'y': ")],
)  # fmt: skip
def test_rows_that_are_left_out_do_not_count_as_learned(tmp_path, last, where):
    path = tmp_path / "gaps.csv"
    path.write_text(f"a,y\n1.0,\n2.0,1.0\n3.0,2.0\n{last}\n")
    result = run("learn", path, "-t", "y", "-a", "pa", "--task", "regression")
    assert result.exit_code == 2
    assert where in result.stderr


def test_in_python_rows_are_counted_from_0_and_a_traceback_says_so():
    with pytest.raises(onkel.DataError) as raised:
        onkel.make("pa").fit([[1.0], [np.inf]], [0, 1])
    assert (raised.value.row, str(raised.value)[:6]) == (1, "row 1,")
    assert raised.value.__notes__ == ["rows are counted from 0"]


def test_one_of_a_thing_is_no_plural(folder):
    live = LiveModel(onkel.StreamModel(onkel.make("pa", "regression")))
    live.take({"id": 1, "a": 1.0, "y": 2.0})
    assert text_of(live.report()).startswith("1 row; 1 label; 0 waiting")
    learned = run("learn", folder / "one.csv", "-t", "y", "-a", "pa", "--task", "regression")
    assert "rows 1 × 1 feature scored" in " ".join(learned.stdout.split())
    assert "counted in the first 1 row\n" in learned.stderr
    with pytest.raises(onkel.DataError, match="1 value where the first row has 2"):
        onkel.make("pa").fit([[1.0, 2.0], [1.0]], [0, 1])


def _printed(width, show):
    console = Console(file=io.StringIO(), width=width)
    show(console)
    return console.file.getvalue()


def test_a_narrow_terminal_shows_which_learner_it_is(capsys):
    X = np.random.default_rng(0).normal(size=(300, 2))
    found = [prequential(PAClassifier(), (X, X[:, 0] > 0), name=n) for n in ("pa", "another")]
    table = comparison(found, {"pa"})
    wide, narrow = (
        _printed(width, lambda console: show_comparison(table, console)) for width in (120, 40)
    )
    assert table.head[-1] in wide
    for text in (wide, narrow):
        assert "pa (linear)" in text
        assert "another" in text
        assert "…" not in text
    assert f"{table.head[-1]}: left out, as the terminal has 40 columns" in capsys.readouterr().err


@pytest.mark.parametrize("width", [120, 80, 40])
def test_a_long_name_of_a_column_is_never_cut(width):
    name = "the_name_of_a_column_that_has_sixty_letters_in_it_and_no_less"
    column = {"name": name, "kind": "number", "features": 1, "gaps": 0, "became": "number"}
    columns = [column | {"importance": 0.9}, column | {"name": "[red]x[/red]", "importance": 0.1}]
    text = _printed(width, lambda console: console.print(columns_table(columns, {})))
    assert "…" not in text
    letters = "".join(line.split("  ")[0].strip() for line in text.splitlines())
    assert name in letters


def test_a_narrow_terminal_shows_whole_words(folder, monkeypatch):
    """Of columns, of how a run goes on, and of an explanation."""
    X = np.random.default_rng(0).normal(size=(200, 2))
    heads = {
        PARegressor: ["rows", "RMSE", "rows/s"],
        PAClassifier: ["rows", "loss", "since", "rows/s"],
    }
    for learner, head in heads.items():
        y = X[:, 0] if learner is PARegressor else X[:, 0] > 0

        def lines(console, learner=learner, y=y):
            with RunProgress(console, "pa", table=True) as progress:
                prequential(learner(), (X, y), progress=progress)

        found = _printed(40, lines).splitlines()
        table = [line for line in found if line.split() == head or line.lstrip()[:1].isdigit()]
        assert table[0].split() == head
        assert {len(line) for line in table} == {len(table[0])} == {min(len(table[0]), 40)}
    (folder / "text.csv").write_text("place,x,y\n" + "Köln,1,2.5\nBonn,,3.5\n" * 60)
    shown = run("learn", folder / "text.csv", "-t", "y", "-a", "pa", width=40).stderr.splitlines()
    head = next(k for k, line in enumerate(shown) if "became" in line)
    assert shown[head].split() == ["column", "gaps", "became"]
    columns = shown[head + 2 : head + 6]
    assert max(map(len, columns)) <= 40
    assert [line.split()[0] for line in columns[::2]] == ["place", "x"]
    assert columns[0].split()[1:] == ["2", "categories;", "the"]
    for width in (40, 80):
        monkeypatch.setattr("onkel.cli.console.stdout", lambda w=width: Console(width=w))
        explained = run("explain", folder / "m.onkel", folder / "good.csv", "--row", 2).stdout
        assert " contribution" in explained
        assert ("█" in explained) == (width == 80)


def test_parameters_are_told_without_marks_of_the_site():
    text = run("algorithms", "krls").stdout
    assert "Any kernel of onkel.kernels." in " ".join(text.split())
    assert ":mod:" not in text
    assert "what it is" in run("algorithms", "krls", width=40).stdout


def test_a_column_that_moves_nothing_is_not_said_to_move_predictions():
    X = np.random.default_rng(0).normal(size=(300, 2))
    found = prequential(PAClassifier(), (X, X[:, 0] > 0))
    columns = [{"name": "a", "importance": 0.997}, {"name": "b", "importance": 0.003}]
    assert "What moves the predictions most: a (100 %)." in sentences(found, columns, [])
