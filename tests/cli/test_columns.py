"""What ``onkel learn`` makes of the columns of a file: what is left out, gaps, targets."""

from __future__ import annotations

import json
import re

import numpy as np
import pytest
from typer.testing import CliRunner

import onkel
from onkel.cli import app


def run(*args):
    return CliRunner().invoke(app, [str(a) for a in args])


@pytest.fixture
def people(tmp_path):
    """Rows with a row number, a name, a constant, gaps, and a class that two columns decide."""
    rng = np.random.default_rng(0)
    lines = ["row,name,source,age,city,y"]
    for k in range(900):
        age, city = rng.integers(0, 99), "abc"[rng.integers(0, 3)]
        y = "up" if (age > 50) != (city == "b") else "down"
        shown = "?" if k % 9 == 3 else age
        lines.append(f"{k},n{k * 7919 % 900},web,{shown},{'NA' if k % 11 == 2 else city},{y}")
    (tmp_path / "people.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return tmp_path / "people.csv"


def test_the_columns_are_shown_before_learning_and_kept_in_the_model(people, tmp_path):
    result = run("learn", people, "-t", "y", "-a", "pa", "-o", tmp_path / "m.onkel")
    assert result.exit_code == 0, result.stderr
    output = " ".join(result.stderr.split())
    for text in ("age number 100 number; whether it is missing", "city text 4 82 4 categories",
                 "source text 0 left out while it is 'web' in every row",
                 "left out: counts the rows", "left out: has a value of its own"):  # fmt: skip
        assert text in output
    found = json.loads(run("info", tmp_path / "m.onkel", "--json").stdout)
    assert [c["name"] for c in found["columns"]] == ["source", "age", "city"]
    assert found["columns"][2]["categories"] == 4
    assert set(found["useless"]) == {"row", "name"}
    model = onkel.load(tmp_path / "m.onkel")
    for column in found["columns"]:
        column.pop("importance")
    assert model.describe_columns() == found["columns"]
    assert run("predict", tmp_path / "m.onkel", people).exit_code == 0


def test_many_plain_columns_are_counted_and_unnamed_ones_are_not_shown(tmp_path):
    lines = [",".join([*(str(k * (j + 3) % 97 + 0.5) for j in range(50)), str(k % 2)])
             for k in range(100)]  # fmt: skip
    wide = tmp_path / "wide.csv"
    wide.write_text("\n".join([",".join([*(f"c{j}" for j in range(50)), "y"]), *lines]) + "\n")
    shown = run("learn", wide, "-t", "y", "-a", "pa")
    assert "50 columns   numbers" in shown.stderr, shown.stderr
    assert run("learn", wide, "-t", "y", "-a", "pa", "-o", tmp_path / "m.onkel").exit_code == 0
    info = run("info", tmp_path / "m.onkel").stdout
    found = json.loads(run("info", tmp_path / "m.onkel", "--json").stdout)["columns"]
    most = max(found, key=lambda column: column["importance"])
    assert re.search(rf"{most['name']} +number +{100 * most['importance']:.1f} % █", info), info
    assert "... 10 more" in info
    pairs = tmp_path / "rows.svm"
    pairs.write_text("1 1:0.5\n0 2:0.5\n" * 20)
    assert "categories" not in run("learn", pairs, "-a", "pa").stderr


def test_columns_that_were_asked_for_stay(people, tmp_path):
    args = ["--keep-columns", "row,source", "--categorical", "name", "--exclude", "age,city"]
    result = run("learn", people, "-t", "y", "-a", "pa", "-o", tmp_path / "m.onkel", *args)
    assert result.exit_code == 0, result.stderr
    names = [c["name"] for c in onkel.load(tmp_path / "m.onkel").describe_columns()]
    assert names == ["row", "name", "source"]
    result = run("learn", people, "-t", "y", "--keep-columns", "sorce")
    assert result.exit_code == 2
    assert "did you mean 'source'" in result.stderr


def test_a_run_resumed_or_continued_leaves_out_the_same(people, tmp_path):
    model, checkpoint = tmp_path / "m.onkel", tmp_path / "c.onkel"
    args = ["learn", people, "-t", "y", "-a", "fogd", "--checkpoint", checkpoint]
    assert run(*args, "--limit", 500).exit_code == 0
    result = run(*args, "--resume", "-o", model)
    assert result.exit_code == 0, result.stderr
    whole = tmp_path / "whole.onkel"
    assert run("learn", people, "-t", "y", "-a", "fogd", "-o", whole).exit_code == 0
    resumed, expected = onkel.load(model), onkel.load(whole)
    assert resumed.describe_columns() == expected.describe_columns()
    assert np.array_equal(resumed.predict(str(people)), expected.predict(str(people)))
    result = run("learn", people, "--from", model, "-o", model)
    assert result.exit_code == 0, result.stderr
    assert [c["name"] for c in onkel.load(model).describe_columns()] == ["source", "age", "city"]


def test_gaps_do_not_stop_the_default_and_predicting_treats_them_alike(people, tmp_path):
    lines = people.read_text().splitlines()
    lines[5] = lines[5].rsplit(",", 1)[0] + ","
    people.write_text("\n".join(lines) + "\n")
    result = run("learn", people, "-t", "y", "--set", "speed=fast", "-o", tmp_path / "m.onkel")
    assert result.exit_code == 0, result.stderr
    assert "skipped, as the target is missing: 1 row" in result.stderr
    model = onkel.load(tmp_path / "m.onkel")
    assert model.n_rows == 899
    for gap in (None, "?", "", "-"):
        row = {"source": "web", "age": 80, "city": gap}
        assert model.predict(row) == model.predict(row | {"city": None})
    assert model.predict(row | {"age": 95, "city": "a"}) == "up"
    assert model.predict(row | {"age": 95, "city": "b"}) == "down"
    result = run("learn", people, "-t", "y", "-a", "pa", "--missing", "error")
    assert result.exit_code == 2
    assert "column 'city'" in result.stderr


def test_a_column_that_later_files_and_rows_to_predict_lack(tmp_path):
    rng = np.random.default_rng(0)
    for name, header in (("1", "a,b,y"), ("2", "a,y")):
        rows = [",".join(f"{v:.3f}" for v in rng.normal(size=len(header.split(","))))
                for _ in range(200)]  # fmt: skip
        (tmp_path / f"{name}.csv").write_text("\n".join([header, *rows]) + "\n")
    args = ["learn", f"{tmp_path}/?.csv", "-t", "y", "-a", "krls", "-o", tmp_path / "m.onkel"]
    result = run(*args)
    assert result.exit_code == 2
    assert "column 'b'" in result.stderr
    result = run(*args, "--missing", "mean")
    assert result.exit_code == 0, result.stderr
    assert run("predict", tmp_path / "m.onkel", tmp_path / "2.csv").exit_code == 0
    assert len(onkel.load(tmp_path / "m.onkel").predict({"a": [0.5, 1.0]})) == 2
    assert len(onkel.load(tmp_path / "m.onkel").predict(tmp_path / "2.csv")) == 200


def test_a_month_that_tells_everything_is_learned(tmp_path):
    months = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]
    rng = np.random.default_rng(0)
    rows = [
        f"{months[k]},{'yes' if k in (1, 4, 7, 9) else 'no'}" for k in rng.integers(0, 12, 3000)
    ]
    (tmp_path / "m.csv").write_text("\n".join(["month,y", *rows]) + "\n")
    result = run("learn", tmp_path / "m.csv", "-t", "y", "--set", "speed=fast", "--json")
    assert result.exit_code == 0, result.stderr
    assert json.loads(result.stdout)["value"] < 1.0


@pytest.mark.slow
def test_values_that_come_late_are_learned_with_a_delay_too(tmp_path):
    rng = np.random.default_rng(0)
    k = rng.integers(0, 4, 1500)
    k[:700] = np.minimum(k[:700], 1)
    rows = [f"v{i},{'yes' if i % 2 else 'no'}" for i in k]
    (tmp_path / "m.csv").write_text("\n".join(["v,y", *rows]) + "\n")
    args = ["learn", tmp_path / "m.csv", "-t", "y", "-a", "krls", "--json", "--delay", 50]
    result = run(*args)
    assert result.exit_code == 0, result.stderr
    assert json.loads(result.stdout)["value"] < 8.0


@pytest.mark.parametrize(("name", "start", "kept"), [("", 0, False), ("", 1, False),
                                                    ("Unnamed: 0", 0, False), ("", 2, True),
                                                    ("n", 0, True)])  # fmt: skip
def test_a_nameless_first_column_that_counts_is_an_index(tmp_path, name, start, kept):
    rows = [f"{k + start},{k * 7 % 13},{'ab'[k % 2]}" for k in range(40)]
    (tmp_path / "r.csv").write_text("\n".join([f"{name},x,y", *rows]) + "\n")
    result = run("learn", tmp_path / "r.csv", "-t", "y", "-a", "pa", "-o", tmp_path / "m.onkel")
    assert result.exit_code == 0, result.stderr
    said = "it has no name and counts" in " ".join(result.stderr.split())
    assert said == (not kept)
    named = name or "column0"
    assert (named in onkel.load(tmp_path / "m.onkel").encoder.kinds) == kept
    result = run("predict", tmp_path / "m.onkel", tmp_path / "r.csv")
    assert result.exit_code == 0
    assert "never had" not in result.stderr
    result = run("learn", tmp_path / "r.csv", "-t", "y", "-a", "pa", "-o", tmp_path / "m.onkel",
                 "--keep-columns", named)  # fmt: skip
    assert named in onkel.load(tmp_path / "m.onkel").encoder.kinds
