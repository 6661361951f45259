"""Why a row was predicted so: the contributions of its columns."""

from __future__ import annotations

import itertools
import json
import math

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

import onkel
from onkel import DataError, StreamModel
from onkel.cli import app
from onkel.learners.contributions import contributions


def shapley(score, x, Z, groups):
    """By all orders and all rows."""
    found = np.zeros(len(groups))
    for z, order in itertools.product(Z, itertools.permutations(range(len(groups)))):
        row = z.copy()
        for j in order:
            before = score(row[None])[0]
            row[groups[j]] = x[groups[j]]
            found[j] += score(row[None])[0] - before
    return found / (len(Z) * math.factorial(len(groups)))


def test_contributions_are_shapley_values():
    rng = np.random.default_rng(0)
    Z, x = rng.normal(size=(120, 4)), np.array([1.0, -2.0, 0.5, 3.0])
    groups = [np.array([0]), np.array([1, 2]), np.array([3])]

    def score(X):
        return X[:, 0] * X[:, 1] + 2 * X[:, 2] - np.sin(X[:, 3])

    found, base = contributions(score, x, Z, groups)
    assert base == pytest.approx(score(Z).mean())
    assert base + found.sum() == pytest.approx(score(x[None])[0])
    # the orders are sampled: the two columns that act together share what is left of the noise
    np.testing.assert_allclose(found, shapley(score, x, Z, groups), atol=0.2)
    assert found[2] == pytest.approx(-np.sin(3.0) + np.sin(Z[:, 3]).mean())


def frame(n=600, seed=0):
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(
        {"place": rng.choice(["north", "south", "west"], n), "x": rng.normal(size=n), "idle": 1.5}
    )
    X["idle"] += rng.normal(size=n)
    value = 2.0 * (X["place"] == "north") + X["x"]
    return X, value


@pytest.fixture(scope="module")
def models():
    X, value = frame()
    label = np.where(value > 2.0, "high", np.where(value > 0.5, "middle", "low"))
    params = {"n_components": 60}
    return {
        "regression": StreamModel(onkel.make("krls", "regression", **params)).fit(X, value),
        "two": StreamModel(onkel.make("krls", **params)).fit(X, value > 1.0),
        "three": StreamModel(onkel.make("krls", **params)).fit(X, label),
        "hinge": StreamModel(onkel.make("fogd", n_components=60)).fit(X, value > 1.0),
    }


ROW = {"place": "north", "x": 0.5, "idle": 1.0}


@pytest.mark.parametrize("name", ["regression", "two", "three", "hinge"])
def test_a_row_is_explained_by_its_columns(models, name):
    model = models[name]
    before = model.to_bytes()
    why = model.explain(ROW)
    assert why == model.explain(ROW)
    assert model.to_bytes() == before
    assert why.prediction == model.predict_one(ROW)
    assert why.values == ROW
    assert why.base + sum(why.contributions.values()) == pytest.approx(why.score, abs=1e-4)
    sizes = [abs(value) for value in why.contributions.values()]
    assert sizes == sorted(sizes, reverse=True)
    assert set(why.contributions) == set(ROW)
    if name == "regression":
        assert why.score == pytest.approx(why.prediction)
        assert why.probability is None
        # the value is 2 (place is north) + x
        assert why.contributions["place"] == pytest.approx(4 / 3, abs=0.2)
        assert why.contributions["x"] == pytest.approx(0.5, abs=0.2)
    elif name != "hinge":
        assert why.probability == max(model.predict_proba_one(ROW).values())
    assert next(iter(why.contributions)) in ("place", "x")
    assert list(why.contributions)[-1] == "idle"
    assert "idle" in str(why)


def test_the_score_is_that_of_the_predicted_class(models):
    for name in ("two", "three"):
        for row in ({**ROW, "x": 3.0}, {**ROW, "place": "west", "x": -3.0}):
            why = models[name].explain(row)
            assert why.score > why.base
            assert why.contributions["x"] > 0.0


def test_gaps_arrays_and_frames(models):
    why = models["regression"].explain({"place": "north"})
    assert set(why.contributions) == set(ROW)
    assert why.values == {"place": "north"}
    X, _ = frame()
    same = models["regression"].explain(X[:1])
    assert same.prediction == models["regression"].predict(X[:1])[0]
    rng = np.random.default_rng(0)
    A = rng.normal(size=(200, 2))
    plain = StreamModel(onkel.make("krls", "regression")).fit(A, A[:, 0])
    assert next(iter(plain.explain(A[:1]).contributions)) == "column 0"


def test_where_one_class_came_no_score_is_minus_zero():
    X, _ = frame()
    why = StreamModel(onkel.make("okl")).fit(X, ["only"] * len(X)).explain(X[:1])
    assert "-0" not in str(why)
    assert math.copysign(1.0, why.score) == 1.0


def test_what_cannot_be_explained(models):
    X, _ = frame()
    with pytest.raises(DataError, match="one row is explained at a time; got 2 rows"):
        models["two"].explain(X[:2])
    with pytest.raises(DataError, match="has learned no rows"):
        StreamModel(onkel.make("krls")).explain(ROW)


# ---- onkel explain -----------------------------------------------------------------------------


def run(*arguments):
    return CliRunner().invoke(app, ["explain", *map(str, arguments)])


def test_the_command_explains_a_row(models, tmp_path):
    path = tmp_path / "m.onkel"
    models["two"].save(path)
    output = run(path, json.dumps(ROW), "--json")
    assert output.exit_code == 0, output.stderr
    found = json.loads(output.stdout)
    why = models["two"].explain(ROW)
    assert found["prediction"] == why.prediction
    assert found["probability"] == pytest.approx(why.probability)
    assert [column["column"] for column in found["columns"]] == list(why.contributions)
    assert [column["value"] for column in found["columns"]] == [
        ROW[name] for name in why.contributions
    ]
    assert found["columns"][0]["contribution"] == next(iter(why.contributions.values()))
    shown = run(path, json.dumps(ROW))
    assert shown.exit_code == 0, shown.stderr
    for text in ("place", "north", "mean of", "add up"):
        assert text in shown.stdout


@pytest.mark.parametrize("unit", [1.0, 1e4, 1e-3, 1e-20])
def test_the_points_of_an_explanation_s_numbers_are_below_each_other(tmp_path, unit):
    X, value = frame(200, seed=3)
    model = StreamModel(onkel.make("krls", "regression")).partial_fit(X, unit * value)
    model.save(tmp_path / "m.onkel")
    lines = run(tmp_path / "m.onkel", json.dumps(ROW)).stdout.splitlines()
    why = model.explain(ROW)
    shown = {}
    for line in lines:
        words = line.split()
        if words and words[0] in why.contributions:
            shown[words[0]] = words[2]
    assert shown.keys() == why.contributions.keys()
    largest = max(why.contributions.values(), key=abs)
    assert max((float(text.replace(",", "")) for text in shown.values()), key=abs) == pytest.approx(
        largest, rel=1e-2
    )
    if unit > 1e-10:
        assert len({len(text.partition(".")[2]) for text in shown.values()}) == 1


@pytest.mark.parametrize("offset", [2_000.0, 1e6, 1e9, 1e16])
def test_contributions_far_below_the_target_are_seen(tmp_path, offset):
    X, value = frame(200, seed=3)
    unit = max(1.0, offset / 1e10)
    model = StreamModel(onkel.make("pa", "regression")).partial_fit(X, offset + unit * value)
    model.save(tmp_path / "m.onkel")
    why = model.explain(ROW)
    lines = run(tmp_path / "m.onkel", json.dumps(ROW)).stdout.replace(",", "").splitlines()
    numbers = {words[0]: words[-1] for words in map(str.split, lines) if words}
    assert float(numbers["prediction:"]) == pytest.approx(why.score, rel=1e-15, abs=0.01 * unit)
    assert float(numbers["they"]) == pytest.approx(why.score, rel=1e-15, abs=0.01 * unit)
    rows = (words for words in map(str.split, lines) if words and words[0] in X)
    shown = {words[0]: float(words[2]) for words in rows}
    for name, contribution in why.contributions.items():
        assert shown[name] == pytest.approx(contribution, abs=0.01 * unit)


@pytest.mark.parametrize("ending", ["csv", "jsonl", "parquet"])
def test_the_command_explains_a_row_of_a_file(models, tmp_path, ending):
    path, rows = tmp_path / "m.onkel", tmp_path / f"rows.{ending}"
    models["regression"].save(path)
    X, value = frame(30, seed=3)
    X = X.assign(y=value, more="text")
    if ending == "csv":
        X.to_csv(rows, index=False)
    elif ending == "jsonl":
        X.to_json(rows, orient="records", lines=True)
    else:
        X.to_parquet(rows)
    output = run(path, rows, "--row", 17, "--json")
    assert output.exit_code == 0, output.stderr
    expected = models["regression"].predict(X.drop(columns=["y", "more"]))[16]
    assert json.loads(output.stdout)["prediction"] == pytest.approx(expected)


def test_the_command_says_what_is_wrong(models, tmp_path):
    path, rows = tmp_path / "m.onkel", tmp_path / "rows.csv"
    models["two"].save(path)
    frame(5)[0].to_csv(rows, index=False)
    for arguments, words in (
        (["{bad"], "JSON"),
        (["[1, 2]"], "JSON"),
        ([rows, "--row", "9"], "5 rows"),
        ([tmp_path / "none.csv"], "none.csv"),
        (['{"plaec": 1}'], "none of its keys"),
    ):
        output = run(path, *arguments)
        assert output.exit_code == 2
        assert words in output.stderr
