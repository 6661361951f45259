"""``onkel predict`` from the outside."""

from __future__ import annotations

import csv
import json
import os
import select
import subprocess
import sys
from collections import Counter
from datetime import timedelta

import numpy as np
import pyarrow as pa
import pyarrow.csv as pc
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

import onkel
from onkel.cli import app
from onkel.cli.predicting import Next, Wanted
from onkel.streams import Block, open_stream


def run(*args):
    return CliRunner().invoke(app, [str(a) for a in args])


def _write(path, n, seed, columns):
    rng = np.random.default_rng(seed)
    values = {
        "a": rng.normal(size=n).round(6),
        "b": rng.normal(size=n).round(6),
        "place": rng.choice(["north", "south"], size=n),
    }
    values["label"] = np.where(values["a"] * values["b"] > 0, "late", "early")
    values["gap"] = values["a"] - values["b"]
    rows = zip(*(values[c] for c in columns), strict=True)
    path.write_text("\n".join([",".join(columns), *(",".join(map(str, r)) for r in rows)]) + "\n")
    return path


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A classifier, a regressor, and new rows with columns in another order."""
    folder = tmp_path_factory.mktemp("predict")
    rows = _write(folder / "rows.csv", 3000, 0, ["a", "b", "place", "label", "gap"])
    _write(folder / "new.csv", 10_000, 1, ["place", "b", "a"])
    for target, other, name in (("label", "gap", "cls"), ("gap", "label", "reg")):
        model = folder / f"{name}.onkel"
        settings = ["--set", "loss=logistic"] if name == "cls" else []
        result = run("learn", rows, "-t", target, "--exclude", other, "-a", "fogd", "--save", model,
                     *settings)  # fmt: skip
        assert result.exit_code == 0, result.stderr
    return folder


def _read(path):
    if path.suffix == ".parquet":
        return pq.read_table(path)
    if path.suffix == ".csv":
        return pc.read_csv(path)
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    return {name: [line[name] for line in lines] for name in lines[0]}


@pytest.mark.parametrize("ending", ["parquet", "csv", "jsonl"])
def test_every_format_holds_the_predictions_of_the_model(folder, tmp_path, ending):
    out = tmp_path / f"p.{ending}"
    result = run("predict", folder / "cls.onkel", folder / "new.csv", "--out", out)
    assert result.exit_code == 0, result.stderr
    assert "10,000 predictions" in result.stderr
    model = onkel.load(folder / "cls.onkel")
    blocks = open_stream(str(folder / "new.csv"), encoder=model.encoder)
    expected = np.concatenate([model.predict_features(block.X) for block in blocks])
    found = _read(out)["prediction"]
    assert (found if ending == "jsonl" else found.to_pylist()) == expected.tolist()
    assert [p.name for p in tmp_path.iterdir()] == [out.name]


def test_scores_and_probabilities(folder, tmp_path):
    out = tmp_path / "p.parquet"
    result = run(
        "predict", folder / "cls.onkel", folder / "new.csv", "-o", out, "--proba", "--scores"
    )
    assert result.exit_code == 0, result.stderr
    table = pq.read_table(out)
    assert table.column_names == ["prediction", "score", "proba_early", "proba_late"]
    late = np.array(table["prediction"].to_pylist()) == "late"
    assert np.array_equal(late, table["score"].to_numpy() > 0)
    total = table["proba_early"].to_numpy() + table["proba_late"].to_numpy()
    np.testing.assert_allclose(total, 1, rtol=1e-5)


def test_a_regressor_predicts_in_its_own_units(folder, tmp_path):
    out = tmp_path / "p.parquet"
    assert run("predict", folder / "reg.onkel", folder / "new.csv", "-o", out).exit_code == 0
    new = pc.read_csv(folder / "new.csv")
    gap = new["a"].to_numpy() - new["b"].to_numpy()
    assert np.corrcoef(pq.read_table(out)["prediction"].to_numpy(), gap)[0, 1] > 0.9


def test_stdout_and_stdin(folder):
    args = ["predict", str(folder / "cls.onkel"), "-", "--format", "csv"]
    result = CliRunner().invoke(app, args, input="a,b,place\n1,1,north\n1,-1,south\n")
    assert result.exit_code == 0, result.stderr
    assert len(result.stdout.splitlines()) == 3
    assert "prediction" in result.stdout.splitlines()[0]


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (["cls.onkel", "new.csv", "-o", "p.xlsx"], "must end in"),
        (["cls.onkel", "new.csv", "-o", "no/p.csv"], "does not exist"),
        (["cls.onkel", "new.csv", "-o", "p.csv", "--missing", "skip"], "line up with their rows"),
        (["reg.onkel", "new.csv", "-o", "p.csv", "--proba"], "classifiers"),
        (["new.csv", "new.csv", "-o", "p.csv"], "not a model file"),
        (["none.onkel", "new.csv", "-o", "p.csv"], "no such file"),
        (["cls.onkel", "none.csv", "-o", "p.csv"], "none.csv"),
        (["cls.onkel", "few.csv", "-o", "p.csv"], "'b'"),
        (["cls.onkel", "bad.csv", "-o", "p.csv", "--missing", "error"], "line 2"),
    ],
)
def test_what_a_user_can_put_right(folder, monkeypatch, args, message):
    monkeypatch.chdir(folder)
    (folder / "few.csv").write_text("a,place\n1,north\n")
    lines = (folder / "new.csv").read_text().splitlines()[:20]
    lines[1] = "north,,1.0"
    (folder / "bad.csv").write_text("\n".join(lines) + "\n")
    result = run("predict", *args)
    assert result.exit_code == 2
    assert message in result.stderr
    assert "Traceback" not in result.stderr
    assert not (folder / "p.csv").exists()
    assert not list(folder.glob(".p*"))


def test_an_estimator_without_columns_is_explained(folder, tmp_path):
    model = onkel.PAClassifier().partial_fit([[0.0], [1.0]], [0, 1])
    model.save(tmp_path / "bare.onkel")
    result = run("predict", tmp_path / "bare.onkel", folder / "new.csv")
    assert result.exit_code == 2
    assert "onkel learn --save" in result.stderr


def test_no_probabilities_from_a_hinge_loss(folder, tmp_path):
    model = tmp_path / "pa.onkel"
    run(
        "learn", folder / "rows.csv", "-t", "label", "--exclude", "gap", "-a", "pa", "--save", model
    )
    result = run("predict", model, folder / "new.csv", "--proba")
    assert result.exit_code == 2
    assert "no probabilities" in result.stderr


def test_columns_are_carried_to_the_output_and_the_target_is_scored(folder, tmp_path):
    lines = (folder / "rows.csv").read_text().splitlines()
    lines = [f"{'id' if k == 0 else f'0{k}'},{line}" for k, line in enumerate(lines)]
    (tmp_path / "more.csv").write_text("\n".join(lines) + "\n")
    for ending in ("csv", "parquet", "jsonl"):
        out = tmp_path / f"p.{ending}"
        result = run("predict", folder / "cls.onkel", tmp_path / "more.csv", "-o", out,
                     "--keep", "id,place")  # fmt: skip
        assert result.exit_code == 0, result.stderr
        if ending == "csv":
            text = [line.replace('"', "").split(",") for line in out.read_text().splitlines()]
            assert text[0] == ["id", "place", "prediction"]
            expected = [line.split(",") for line in lines]
            assert [row[:2] for row in text[1:]] == [[row[0], row[3]] for row in expected[1:]]
            wrong = np.mean([a[2] != b[4] for a, b in zip(text[1:], expected[1:], strict=True)])
            assert f"mistakes {100 * wrong:.2f} % on the target 'label'" in result.stderr
        else:
            found = _read(out)
            ids = found["id"] if ending == "jsonl" else found["id"].to_pylist()
            assert ids == [f"0{k}" for k in range(1, 3001)]
    result = run("predict", folder / "cls.onkel", tmp_path / "more.csv", "--keep", "ident")
    assert result.exit_code == 2
    assert "'ident'" in result.stderr
    result = run("predict", folder / "cls.onkel", tmp_path / "more.csv", "-o", tmp_path / "q.csv")
    assert "never had them: id" in result.stderr


def test_a_column_to_keep_has_no_name_of_what_is_written(folder, tmp_path):
    row = {"a": 1.0, "b": 2.0, "place": "north", "score": 3, "proba_late": 4, "prediction": 5}
    (tmp_path / "r.jsonl").write_text(json.dumps(row) + "\n")
    source = folder / "cls.onkel", tmp_path / "r.jsonl"
    for name, more in (("score", "--scores"), ("proba_late", "--proba"), ("prediction", "--proba")):
        result = run("predict", *source, "--keep", name, more)
        assert result.exit_code == 2
        assert f"--keep {name}: the predictions have that name" in result.stderr
    assert run("predict", *source, "--keep", "score").stdout.splitlines()[1].startswith("3,")


def test_a_value_too_large_to_predict_is_told_with_its_place(folder, tmp_path):
    path = tmp_path / "large.csv"
    path.write_text("a,b,place\n1,1,north\n3e38,1,south\n")
    for more in ([], ["--next"], ["--proba"]):
        result = run("predict", folder / "cls.onkel", path, *more)
        assert result.exit_code == 2
        assert "large.csv, line 3, column 'a': " in result.stderr


def test_columns_of_any_type_are_handed_on(folder, tmp_path):
    spans = [timedelta(seconds=7), None, timedelta(days=1, seconds=1)]
    odd = {
        "span": pa.array(spans),
        "texts": pa.array(["x", None, "z"], pa.string_view()),
        "list": pa.array([[1, 2], None, []]),
        "struct": pa.array([{"u": 1}, {"u": 2}, None]),
    }
    plain = {"a": [1.0, 2.0, 3.0], "b": [1.0, -2.0, 3.0], "place": ["north", "south", "north"]}
    source, out = tmp_path / "odd.parquet", tmp_path / "p.csv"
    pq.write_table(pa.table(plain | odd), source)
    result = run("predict", folder / "cls.onkel", source, "--keep", ",".join(odd), "-o", out)
    assert result.exit_code == 0, result.stderr
    kept = list(csv.reader(out.read_text().splitlines()))
    assert kept[1][:4] == ["0:00:07", "x", "[1, 2]", "{'u': 1}"]
    assert kept[2][:4] == ["", "", "", "{'u': 2}"]
    assert kept[3][:4] == ["1 day, 0:00:01", "z", "[]", ""]


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="pipes as POSIX has them")
def test_predictions_appear_as_rows_arrive(folder):
    process = subprocess.Popen(
        [sys.executable, "-m", "onkel", "predict", str(folder / "cls.onkel"), "-", "--format",
         "csv"], text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
    )  # fmt: skip
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write("a,b,place\n")
    printed = ""
    for n, row in enumerate(("1,1,north", "1,-1,south", "-1,2,north"), 1):
        process.stdin.write(row + "\n")
        process.stdin.flush()
        while printed.count("\n") < n + 1:
            ready = select.select([process.stdout.fileno()], [], [], 60)[0]
            assert ready, "nothing was printed before the pipe was closed"
            printed += os.read(process.stdout.fileno(), 1000).decode()
        assert printed.splitlines()[-1].strip('"') in ("early", "late")
    process.stdin.close()
    process.stdout.close()
    assert process.wait(timeout=60) == 0


@pytest.mark.parametrize("learned", [True, False])
def test_whole_numbers_of_json_are_handed_on_exactly(tmp_path, learned):
    keys = [10**16 + 7919 * k * k + 1 for k in range(200)]
    rows = [
        {"id": key, "a": k % 3, "late": k if k < 150 else k + 0.5, "y": k % 2}
        for k, key in enumerate(keys)
    ]
    (tmp_path / "k.jsonl").write_text("\n".join(map(json.dumps, rows)))
    how = "--keep-columns" if learned else "--exclude"
    learn = "learn", tmp_path / "k.jsonl", "-t", "y", "-a", "fogd", how, "id"
    run(*learn, "-o", tmp_path / "k.onkel")
    assert ("id" in onkel.load(tmp_path / "k.onkel").encoder.kinds) == learned
    more = "predict", tmp_path / "k.onkel", tmp_path / "k.jsonl", "-o", tmp_path / "p.csv"
    result = run(*more, "--keep", "id,late")
    assert result.exit_code == 0, result.output
    kept = [line.split(",") for line in (tmp_path / "p.csv").read_text().splitlines()[1:]]
    assert [row[0] for row in kept] == [str(key) for key in keys]
    assert [float(row[1]) for row in kept] == [row["late"] for row in rows]


@pytest.mark.parametrize("small", [0, 150, 30_000])
def test_whole_numbers_beyond_64_bits_are_handed_on_exactly(tmp_path, small):
    """Also where the first of them, or of the first chunk, still have 64 bits."""
    keys = [k if k < small else 2**64 + 7919 * k for k in range(small + 200)]
    rows = [{"id": key, "a": k % 3, "y": k % 2} for k, key in enumerate(keys)]
    (tmp_path / "k.jsonl").write_text("\n".join(map(json.dumps, rows)))
    learn = "learn", tmp_path / "k.jsonl", "-t", "y", "-a", "pa", "--exclude", "id"
    run(*learn, "-o", tmp_path / "k.onkel")
    more = "predict", tmp_path / "k.onkel", tmp_path / "k.jsonl", "-o", tmp_path / "p.csv"
    result = run(*more, "--keep", "id")
    assert result.exit_code == 0, result.output
    kept = [line.split(",")[0] for line in (tmp_path / "p.csv").read_text().splitlines()[1:]]
    assert [key.strip('"') for key in kept] == [str(key) for key in keys]


def test_keys_are_handed_on_as_they_are_written(tmp_path):
    """No digit is rounded and no zero lost, even if the model learned from them."""
    keys = [10**16 + 7919 * k * k for k in range(200)]
    lines = [f"{key},{k % 90:05},{k % 3},{k % 2}" for k, key in enumerate(keys)]
    (tmp_path / "k.csv").write_text("\n".join(["customer,zip,a,y", *lines, ""]))
    run("learn", tmp_path / "k.csv", "-t", "y", "-a", "fogd", "-o", tmp_path / "k.onkel")
    assert set(onkel.load(tmp_path / "k.onkel").encoder.kinds) == {"customer", "zip", "a"}
    more = "predict", tmp_path / "k.onkel", tmp_path / "k.csv", "-o", tmp_path / "p.csv"
    run(*more)
    alone = (tmp_path / "p.csv").read_text().splitlines()
    assert run(*more, "--keep", "customer,zip").exit_code == 0
    kept = [line.split(",") for line in (tmp_path / "p.csv").read_text().splitlines()]
    assert [row[0] for row in kept[1:]] == [f'"{key}"' for key in keys]
    assert kept[2][1] == '"00001"'
    assert [row[2] for row in kept] == alone


@pytest.mark.parametrize("ending", ["csv", "jsonl"])
@pytest.mark.parametrize("learned", [True, False])
def test_dates_are_handed_on_as_they_stood(tmp_path, ending, learned):
    rows = [
        {"day": f"2024-02-{1 + k % 28:02}", "at": f"2024-02-03T1{k % 10}:30:00Z",
         "clock": f"0{k % 10}:15", "a": k % 7, "y": "ud"[k % 7 > 3]}
        for k in range(150)
    ]  # fmt: skip
    path = tmp_path / f"k.{ending}"
    table = [",".join(rows[0]), *(",".join(map(str, row.values())) for row in rows)]
    path.write_text("\n".join(table if ending == "csv" else map(json.dumps, rows)) + "\n")
    how = () if learned else ("--exclude", "day,at,clock")
    run("learn", path, "-t", "y", "-a", "fogd", "-o", tmp_path / "k.onkel", *how)
    more = "predict", tmp_path / "k.onkel", path, "-o"
    assert run(*more, tmp_path / "alone.jsonl").exit_code == 0
    result = run(*more, tmp_path / "p.jsonl", "--keep", "day,at,clock")
    assert result.exit_code == 0, result.output
    found = _read(tmp_path / "p.jsonl")
    assert {name: found[name] for name in ("day", "at", "clock")} == {
        name: [row[name] for row in rows] for name in ("day", "at", "clock")
    }
    assert found["prediction"] == _read(tmp_path / "alone.jsonl")["prediction"]


def _series(path, n, seed, without=()):
    """Rows of a target that stays near its last value; those of ``without`` have none."""
    rng = np.random.default_rng(seed)
    y = np.cumsum(rng.normal(size=n)).round(4)
    x = rng.normal(size=n).round(4)
    lines = [f"{a},{'' if i in without else b}" for i, (a, b) in enumerate(zip(x, y, strict=True))]
    path.write_text("\n".join(["x,y", *lines]) + "\n")
    return y


def test_rows_without_a_target_are_left_out_of_the_score(tmp_path):
    rows, new, model = tmp_path / "rows.csv", tmp_path / "new.csv", tmp_path / "m.onkel"
    _series(rows, 300, 0)
    y = _series(new, 40, 1, without=(7, 30))
    assert run("learn", rows, "-t", "y", "-a", "pa", "--save", model).exit_code == 0
    result = run("predict", model, new, "--out", tmp_path / "p.csv")
    assert result.exit_code == 0, result.stderr
    known = np.delete(np.arange(40), [7, 30])
    e = _read(tmp_path / "p.csv")["prediction"].to_numpy()[known] - y[known]
    assert f"RMSE {np.sqrt(e @ e / 38):.4g}" in result.stderr
    assert "(2 rows without it)" in result.stderr


def test_labels_that_are_missing_are_no_mistakes(folder, tmp_path):
    rows = _write(tmp_path / "rows.csv", 60, 4, ["a", "b", "place", "label"])
    whole = run("predict", folder / "cls.onkel", rows, "--out", tmp_path / "p.csv")
    lines = rows.read_text().splitlines()
    right = _read(tmp_path / "p.csv")["prediction"].to_pylist()
    k = next(k for k in range(60) if lines[k + 1].endswith(right[k]))
    lines[k + 1] = lines[k + 1].rsplit(",", 1)[0] + ","
    rows.write_text("\n".join(lines) + "\n")
    result = run("predict", folder / "cls.onkel", rows, "--out", tmp_path / "p.csv")
    mistakes = sum(not lines[i + 1].endswith(right[i]) for i in range(60) if i != k)
    assert "60 rows" not in whole.stderr
    assert f"mistakes {100 * mistakes / 59:.2f} %" in result.stderr
    assert "(1 row without it)" in result.stderr


def test_next_rows_are_predicted_from_the_last_labels(tmp_path):
    rows, new, model = tmp_path / "rows.csv", tmp_path / "new.csv", tmp_path / "m.onkel"
    _series(rows, 400, 0)
    table = pc.read_csv(rows)
    pc.write_csv(table.slice(300), new)
    pc.write_csv(table.slice(0, 300), rows)
    options = ["--set", "speed=fast", "--set", "n_components=30", "--save", model]
    assert run("learn", rows, "-t", "y", *options).exit_code == 0
    alone = run("predict", model, new, "--out", tmp_path / "p.csv")
    assert "--next uses them" in alone.stderr
    result = run("predict", model, new, "--next", "--out", tmp_path / "p.csv", "--intervals", "90")
    assert result.exit_code == 0, result.stderr
    assert "--next uses them" not in result.stderr
    found, loaded = _read(tmp_path / "p.csv"), onkel.load(model)
    np.testing.assert_allclose(
        found["prediction"].to_numpy(), loaded.predict_next(table.slice(300))
    )
    bounds = np.column_stack([found["prediction_low"], found["prediction_high"]])
    wanted = loaded.predict_interval_next(table.slice(300), 0.9)
    np.testing.assert_allclose(bounds, wanted)


@pytest.fixture(scope="module")
def sites(tmp_path_factory):
    """Models of a load, and of whether it is high, by site; and the rows that come next."""
    folder, rng, n = tmp_path_factory.mktemp("sites"), np.random.default_rng(0), 600
    site = rng.choice(["north", "south", "west"], n, p=[0.6, 0.3, 0.1])
    load, now = np.empty(n), dict.fromkeys(["north", "south", "west"], 0.0)
    for t, name in enumerate(site.tolist()):
        now[name] = 0.95 * now[name] + rng.normal()
        load[t] = now[name]
    high = np.where(load > 0, "high", "low")
    table = pa.table({"x": rng.normal(size=n), "site": site, "load": load, "high": high})
    pc.write_csv(table.slice(0, 400), folder / "rows.csv")
    pc.write_csv(table.slice(400), folder / "new.csv")
    for target, other in (("load", "high"), ("high", "load")):
        options = ["-t", target, "--exclude", other, "--group", "site", "--set", "speed=fast"]
        model = folder / f"{target}.onkel"
        result = run("learn", folder / "rows.csv", *options, "--save", model)
        assert result.exit_code == 0, result.stderr
    return folder, table.slice(400)


def test_next_rows_of_groups_are_predicted_from_the_last_labels_of_each(sites, tmp_path):
    (folder, table), out = sites, tmp_path / "p.csv"
    new, model = folder / "new.csv", folder / "load.onkel"
    hint = run("predict", model, new).stderr
    assert "--next uses those of each 'site'" in " ".join(hint.split())
    result = run("predict", model, new, "--next", "--out", out, "--intervals", "90")
    assert result.exit_code == 0, result.stderr
    found, loaded = _read(out), onkel.load(model)
    np.testing.assert_allclose(found["prediction"].to_numpy(), loaded.predict_next(table))
    bounds = np.column_stack([found["prediction_low"], found["prediction_high"]])
    np.testing.assert_allclose(bounds, loaded.predict_interval_next(table, 0.9))
    assert np.ptp(loaded.predict_next(table) - loaded.predict(table)) > 0.5
    result = run("predict", folder / "high.onkel", new, "--next", "--out", out, "--proba")
    assert result.exit_code == 0, result.stderr
    found, loaded = _read(out), onkel.load(folder / "high.onkel")
    assert found["prediction"].to_pylist() == loaded.predict_next(table).tolist()
    shares = np.column_stack([found["proba_high"], found["proba_low"]])
    np.testing.assert_allclose(shares, loaded.predict_proba_next(table))


@pytest.mark.parametrize("target", ["load", "high"])
def test_rows_ahead_are_counted_in_each_group_from_block_to_block(sites, target):
    folder, table = sites
    model = onkel.load(folder / f"{target}.onkel")
    predictor = Next(model, Wanted(proba=target == "high", level=0.9))
    stream = open_stream(table, group="site", encoder=model.encoder, block_rows=7)
    blocks = [predictor.predict(block)[0] for block in stream]
    found = {name: np.concatenate([own[name] for own in blocks]) for name in blocks[0]}
    if target == "load":
        np.testing.assert_allclose(found["prediction"], model.predict_next(table))
        bounds = np.column_stack([found["prediction_low"], found["prediction_high"]])
        np.testing.assert_allclose(bounds, model.predict_interval_next(table, 0.9))
    else:
        np.testing.assert_array_equal(found["prediction"], model.predict_next(table))
        shares = np.column_stack([found["proba_high"], found["proba_low"]])
        np.testing.assert_allclose(shares, model.predict_proba_next(table))
        sets = np.column_stack([found["set_high"], found["set_low"]])
        np.testing.assert_array_equal(sets, model.predict_set_next(table, 0.9))


def test_rows_of_groups_are_learned_and_those_without_a_label_count_as_ahead(sites, tmp_path):
    (folder, table), out, saved = sites, tmp_path / "p.csv", tmp_path / "m.onkel"
    loads = table["load"].to_pylist()
    known = [t % 3 != 0 for t in range(len(loads))]
    loads = [load if k else None for load, k in zip(loads, known, strict=True)]
    pc.write_csv(table.set_column(2, "load", pa.array(loads)), tmp_path / "new.csv")
    how = ["--learn", "--out", out, "--save", saved]
    result = run("predict", folder / "load.onkel", tmp_path / "new.csv", *how)
    assert result.exit_code == 0, result.stderr
    model, wanted, ahead = onkel.load(folder / "load.onkel"), [], Counter()
    for t, row in enumerate(table.select(["x", "site"]).to_pylist()):
        if known[t]:
            wanted.append(model.predict_then_learn([row], [loads[t]])[0])
            ahead[row["site"]] = 0
        else:
            wanted.append(model.predict_next([row], ahead[row["site"]])[0])
            ahead[row["site"]] += 1
    np.testing.assert_allclose(_read(out)["prediction"].to_numpy(), wanted, rtol=1e-5)
    np.testing.assert_allclose(
        onkel.load(saved).predict_next(table), model.predict_next(table), rtol=1e-5
    )


def test_next_rows_of_groups_need_their_column(sites, tmp_path):
    (folder, table), new = sites, tmp_path / "new.csv"
    pc.write_csv(table.drop_columns("site"), new)
    result = run("predict", folder / "load.onkel", new, "--next", "--missing", "zero")
    assert result.exit_code == 2
    assert "'site'" in result.stderr


def test_the_column_of_groups_may_be_no_feature(sites, tmp_path):
    (folder, table), model, out = sites, tmp_path / "m.onkel", tmp_path / "p.csv"
    options = ["-t", "load", "--exclude", "high,site", "--group", "site", "--set", "speed=fast"]
    result = run("learn", folder / "rows.csv", *options, "--save", model)
    assert result.exit_code == 0, result.stderr
    wanted = onkel.load(model).predict_next(table)
    for how in (["--next"], ["--learn"]):
        result = run("predict", model, folder / "new.csv", *how, "--out", out)
        assert result.exit_code == 0, result.stderr
        found = _read(out)["prediction"].to_numpy()
        np.testing.assert_allclose(found[0], wanted[0], rtol=1e-5)
    pc.write_csv(table.drop_columns("site"), folder / "without.csv")
    result = run("predict", model, folder / "without.csv", "--next")
    assert result.exit_code == 2
    assert "site" in result.stderr


def test_next_says_what_it_cannot_do(folder, tmp_path):
    result = run("predict", folder / "cls.onkel", folder / "new.csv", "--next", "--scores")
    assert result.exit_code == 2
    assert "ask for --proba" in result.stderr


def _labels(path, n, seed, without=()):
    """Rows of two classes; those of ``without`` have no label. New values come in mid-stream."""
    rng = np.random.default_rng(seed)
    a, b = rng.normal(size=(2, n)).round(4)
    place = np.where(np.arange(n) > 0.7 * n, "west", rng.choice(["north", "south"], size=n))
    y = np.where((a * b > 0) ^ (rng.random(n) < 0.1), "late", "early")
    label = ["" if i in without else v for i, v in enumerate(y)]
    gaps = np.where(rng.random(n) < 0.05, "", b.astype(str))
    rows = zip(a, gaps, place, label, strict=True)
    path.write_text("\n".join(["a,b,place,label", *(",".join(map(str, r)) for r in rows)]) + "\n")
    return y


def _split(path, n, folder):
    head, *lines = path.read_text().splitlines()
    for name, part in (("first", lines[:n]), ("rest", lines[n:])):
        (folder / f"{name}.csv").write_text("\n".join([head, *part]) + "\n")
    return folder / "first.csv", folder / "rest.csv"


@pytest.mark.slow
@pytest.mark.parametrize("options", [(), ("--proba",)])
def test_learning_after_the_prediction_is_learning_the_whole_file(tmp_path, options):
    """Rows without a label are predicted, not learned, as `onkel learn` leaves them out."""
    without = (600, 601, 700, 899)
    _labels(tmp_path / "all.csv", 900, 0, without)
    first, rest = _split(tmp_path / "all.csv", 500, tmp_path)
    # without cells there are no trees, and so no last fit at the end of the first file
    learn = "-t", "label", "--set", "speed=fast", "--set", "n_components=30", "--set", "pairs=false"
    whole = run("learn", tmp_path / "all.csv", *learn, "--save", tmp_path / "w.onkel")
    assert whole.exit_code == 0, whole.stderr
    assert run("learn", first, *learn, "--save", tmp_path / "m.onkel").exit_code == 0
    result = run("predict", tmp_path / "m.onkel", rest, "--next", "--learn", *options, "--json",
                 "--save", tmp_path / "n.onkel", "-o", tmp_path / "p.csv")  # fmt: skip
    assert result.exit_code == 0, result.stderr
    one, other = (onkel.load(tmp_path / name) for name in ("w.onkel", "n.onkel"))
    assert one.n_rows == other.n_rows == 896
    new = pc.read_csv(first)
    expected = one.predict_proba_next(new)
    np.testing.assert_allclose(other.predict_proba_next(new), expected, rtol=0, atol=1e-9)
    infos = [
        onkel.persistence.load_with_info(tmp_path / name)[1]["run"]["totals"]
        for name in ("w.onkel", "n.onkel")
    ]
    assert infos[0]["sums"] == infos[1]["sums"]
    # each row was predicted before it was learned
    model = onkel.load(tmp_path / "m.onkel")
    known = [i for i in range(400) if i + 500 not in without]
    table = pc.read_csv(rest).take(known)
    found = _read(tmp_path / "p.csv")
    predicted = found["prediction"].to_pylist()
    assert len(predicted) == 400
    assert [predicted[i] for i in known] == model.predict_then_learn(table).tolist()
    score = json.loads(result.stdout)
    assert (score["n_rows"], score["without_target"]) == (396, 4)
    if options:
        late = found["proba_late"].to_numpy()
        assert np.mean((late > 0.5) == (np.array(predicted) == "late")) > 0.98


def test_a_bad_row_loses_nothing_that_was_learned(tmp_path):
    _labels(tmp_path / "all.csv", 900, 0)
    first, rest = _split(tmp_path / "all.csv", 500, tmp_path)
    lines = rest.read_text().splitlines()
    lines[301] = "1e999,1.0,north,late"
    rest.write_text("\n".join(lines) + "\n")
    model = tmp_path / "m.onkel"
    run("learn", first, "-t", "label", "-a", "pa", "--save", model)
    result = run("predict", model, rest, "--learn", "--save", model, "-o", tmp_path / "p.csv")
    assert result.exit_code == 2
    assert "line 302" in result.stderr
    assert onkel.load(model).n_rows == 500
    assert onkel.load(tmp_path / "m.partial.onkel").n_rows == 800
    assert len(_read(tmp_path / "p.csv")["prediction"]) == 300
    # nor is a whole file replaced by a part
    whole = {}
    for name in ("p.csv", "r.html"):
        whole[name] = f"the whole of {name}"
        (tmp_path / name).write_text(whole[name])
    result = run("predict", model, rest, "--learn", "-o", tmp_path / "p.csv", "--json",
                 "--report", tmp_path / "r.html")  # fmt: skip
    assert result.exit_code == 2
    assert whole == {name: (tmp_path / name).read_text() for name in whole}
    assert len(_read(tmp_path / "p.partial.csv")["prediction"]) == 300
    assert "300 rows" in (tmp_path / "r.partial.html").read_text("utf8")
    said = json.loads(result.stdout)
    assert said["out"] == str(tmp_path / "p.partial.csv")
    assert said["report"] == str(tmp_path / "r.partial.html")


def test_a_bad_row_leaves_the_predictions_before_it_and_says_where(folder, tmp_path):
    new = (folder / "new.csv").read_text().splitlines()
    new[9001] = "north,1.0,much"
    rows, out = tmp_path / "rows.csv", tmp_path / "p.csv"
    rows.write_text("\n".join(new) + "\n")
    for name in ("p.csv", "p.partial.csv"):
        result = run("predict", folder / "cls.onkel", rows, "--out", out)
        assert result.exit_code == 2
        error, told = " ".join(result.stderr.split()).split("if it means")
        assert error.startswith(f"error: {rows}, line 9002, column 'a': 'much'")
        assert f"{tmp_path / name} holds the predictions of the first 9,000 rows" in told
        assert len(_read(tmp_path / name)["prediction"]) == 9000
        out.write_text("whole")
    assert out.read_text() == "whole"
    rows.write_text(f"{new[0]}\n{new[9001]}\n")
    (tmp_path / "p.partial.csv").unlink()
    result = run("predict", folder / "cls.onkel", rows, "--out", out)
    assert (result.exit_code, "holds" in result.stderr) == (2, False)
    assert sorted(tmp_path.iterdir()) == [out, rows]


def test_rows_without_a_label_teach_nothing_and_that_is_said(folder, tmp_path):
    rows = _write(tmp_path / "rows.csv", 5, 2, ["a", "b", "place", "label"])
    lines = rows.read_text().splitlines()
    rows.write_text("\n".join([lines[0], *(line.rsplit(",", 1)[0] + "," for line in lines[1:])]))
    result = run("predict", folder / "cls.onkel", rows, "--learn", "-o", tmp_path / "p.csv")
    assert result.exit_code == 0, result.stderr
    assert "there is no score, and nothing was learned" in result.stderr


def test_predict_shows_the_measures_that_learn_shows(tmp_path):
    from sklearn.metrics import confusion_matrix, log_loss, roc_auc_score

    y = _labels(tmp_path / "all.csv", 1200, 3, without=(900, 901))
    first, rest = _split(tmp_path / "all.csv", 800, tmp_path)
    model, out = tmp_path / "m.onkel", tmp_path / "p.parquet"
    run("learn", first, "-t", "label", "-a", "krls", "--save", model)
    result = run("predict", model, rest, "-o", out, "--proba", "--json", "--report",
                 tmp_path / "r.html")  # fmt: skip
    assert result.exit_code == 0, result.stderr
    known = np.delete(np.arange(400), [100, 101])
    y, table = y[800:][known], pq.read_table(out)
    late = table["proba_late"].to_numpy()[known]
    found = json.loads(result.stdout)["details"]
    assert found["auc"] == pytest.approx(roc_auc_score(y == "late", late), abs=2e-3)
    assert found["log_loss"] == pytest.approx(log_loss(y == "late", late), rel=1e-6)
    predicted = np.array(table["prediction"].to_pylist())[known]
    assert found["confusion"]["rows"] == confusion_matrix(y, predicted).tolist()
    for word in ("AUC", "log loss", "baselines", "recall", "late as early", "majority"):
        assert word in result.stderr
    assert "Confusion" in (tmp_path / "r.html").read_text("utf8")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--save", "s.onkel"], "only with --learn"),
        (["--json"], "give --out FILE"),
        (["--learn"], "needs the target 'label'"),
    ],
)
def test_options_of_predict_that_do_not_fit(folder, monkeypatch, options, message):
    monkeypatch.chdir(folder)
    result = run("predict", "cls.onkel", "new.csv", *options)
    assert result.exit_code == 2
    assert message in result.stderr


def test_a_report_that_has_nothing_to_say_is_not_written_and_that_is_said(folder, tmp_path):
    out, report = tmp_path / "p.csv", tmp_path / "r.html"
    result = run("predict", folder / "cls.onkel", folder / "new.csv", "--out", out, "--json",
                 "--report", report)  # fmt: skip
    assert result.exit_code == 0, result.stderr
    assert "no row has the target 'label': there is no score" in result.stderr
    assert json.loads(result.stdout)["report"] is None
    assert not report.exists()


@pytest.mark.parametrize("ending", ["parquet", "csv", "jsonl"])
@pytest.mark.parametrize("how", [(), ("--learn",)])
def test_a_file_without_rows_gets_an_empty_answer_of_the_same_columns(
    folder, tmp_path, ending, how
):
    rows = _write(tmp_path / "rows.csv", 5, 2, ["a", "b", "place", "label"])
    empty = _write(tmp_path / "empty.csv", 0, 2, ["a", "b", "place", "label"])
    found = []
    for source in (rows, empty):
        out = tmp_path / f"{source.stem}-out.{ending}"
        asked = ("--proba", "--keep", "place", "--out", out)
        result = run("predict", folder / "cls.onkel", source, *asked, *how)
        assert result.exit_code == 0, result.stderr
        found.append(out)
    assert "no rows" in result.stderr
    assert "0 predictions" in result.stderr
    if ending == "jsonl":
        assert found[1].read_text() == ""
        return
    assert _read(found[1]).num_rows == 0
    assert _read(found[1]).column_names == _read(found[0]).column_names
    if ending == "parquet":
        own = ["prediction", "proba_early", "proba_late"]
        full, none = (_read(path).select(own).schema for path in found)
        assert none == full


@pytest.mark.parametrize("task", ["classification", "regression"])
def test_rows_that_come_next_are_scored_once_whatever_is_wanted(task, monkeypatch):
    X = np.random.default_rng(0).standard_normal((80, 2)).astype(np.float32)
    y = (X[:, 0] > 0).astype(int) if task == "classification" else X[:, 0]
    model = onkel.StreamModel(onkel.make("okl", task, n_components=10, speed="fast"))
    model.learn(Block(X, y, 0))
    representation, calls = model.estimator.model_, []
    scores = type(representation).scores
    monkeypatch.setattr(
        type(representation),
        "scores",
        lambda own, rows: calls.append(len(rows)) or scores(own, rows),
    )
    wanted = Wanted(proba=task == "classification", level=0.8)
    columns, _ = Next(model, wanted).predict(Block(X[:5], y[:5], 80))
    assert calls == [5]
    expected = model.predict_set_next if task == "classification" else model.predict_interval_next
    found = [values for name, values in columns.items() if name.startswith(("set_", "prediction_"))]
    np.testing.assert_array_equal(np.column_stack(found), expected(X[:5], 0.8))
