"""Options for the dialect of a file, through ``onkel learn`` and ``onkel predict``."""

from __future__ import annotations

import json

import numpy as np
import pytest
from typer.testing import CliRunner

import onkel
from onkel.cli import app


def run(*args):
    return CliRunner().invoke(app, [str(a) for a in args])


def rows(n=300, seed=0):
    """Two columns and a target that is their difference."""
    rng = np.random.default_rng(seed)
    a, b = rng.integers(0, 9000, n), rng.normal(size=n).round(2)
    return [
        (int(k), float(v), round(float(k) / 1000 - float(v), 3)) for k, v in zip(a, b, strict=True)
    ]


def write(path, lines, encoding="utf-8"):
    path.write_text("\n".join(lines) + "\n", encoding=encoding)
    return path


def learned(path, *args):
    """The model, and its error."""
    saved = path.with_suffix(".onkel")
    result = run("learn", path, "-a", "krls", "--json", "-o", saved, *args)
    assert result.exit_code == 0, result.stderr
    return onkel.load(saved), json.loads(result.stdout)["value"]


@pytest.fixture
def plain(tmp_path):
    """The same rows without any mark in them."""
    lines = [f"{a},{b},{y}" for a, b, y in rows()]
    return learned(write(tmp_path / "plain.csv", ["a,b,y", *lines]), "-t", "y")


def comma(value):
    return str(value).replace(".", ",")


def test_decimal_commas_in_features_and_target(tmp_path, plain):
    lines = [f"{a:,};{comma(b)};{comma(y)}".replace(",", ".", a >= 1000) for a, b, y in rows()]
    path = write(tmp_path / "comma.csv", ["a;b;y", *lines])
    model, value = learned(path, "-t", "y", "--decimal", ",", "--thousands", ".")
    assert value == pytest.approx(plain[1], rel=1e-6)
    assert model.predict({"a": "1.500", "b": "-0,5"}) == pytest.approx(
        plain[0].predict({"a": 1500, "b": -0.5}), rel=1e-5
    )
    assert run("predict", tmp_path / "comma.onkel", path).exit_code == 0


def test_thousands_in_features_and_target(tmp_path):
    lines = [f'"{a:,}",{b},"${1000 * y:,.2f}"' for a, b, y in rows()]
    model, _ = learned(write(tmp_path / "m.csv", ["a,b,y", *lines]), "-t", "y")
    assert model.task == "regression"
    assert model.encoder.kinds == {"a": "number", "b": "number"}
    # a mark that the first rows do not have must be announced
    lines = [f"{a % 1000},{b},{y}" for a, b, y in rows()] * 300 + ['"1,500",0.5,1.0']
    path = write(tmp_path / "late.csv", ["a,b,y", *lines])
    assert path.stat().st_size > 1 << 20
    result = run("learn", path, "-t", "y", "-a", "pa")
    assert result.exit_code == 2
    assert "'1,500' stands where a number is expected" in result.stderr
    model, _ = learned(path, "-t", "y", "--thousands", ",", "-a", "pa")
    assert model.n_rows == len(lines)
    result = run("learn", path, "-t", "y", "--thousands", ".")
    assert result.exit_code == 2
    assert "thousands" in result.stderr


def test_separator_encoding_and_no_header(tmp_path, plain):
    lines = [f"{a}#{'süd' if b > 0 else 'nord'}#{y}" for a, b, y in rows()]
    path = write(tmp_path / "latin.csv", ["a#wörter#y", *lines], "latin-1")
    result = run("learn", path, "-t", "y", "--sep", "#")
    assert result.exit_code == 2
    assert "--encoding" in result.stderr
    model, _ = learned(path, "-t", "y", "--sep", "#", "--encoding", "latin-1")
    assert model.encoder.kinds == {"a": "number", "wörter": "text"}
    assert "wörter=süd" in model.feature_names
    # and predicts such a file as it learned it
    assert run("predict", tmp_path / "latin.onkel", path).exit_code == 0
    assert len(model.predict(str(path))) == 300
    wide = write(tmp_path / "wide.csv", ["a#wörter#y", *lines], "utf-16")
    assert learned(wide, "-t", "y", "--sep", "#", "--encoding", "utf-16")[0].n_rows == 300
    for ends in ("\n", "\r\n"):
        wide.write_bytes(ends.join(["a,b,y", *lines, ""]).encode("utf-16"))
        assert "--encoding utf-16" in run("learn", wide, "-t", "y").stderr
    bare = write(tmp_path / "bare.csv", [f"x{a},{y}" for a, _, y in rows()])
    model, _ = learned(bare, "-t", "c1", "--no-header")
    assert model.n_rows == 300
    result = run("learn", path, "-t", "y", "--encoding", "latin-99")
    assert result.exit_code == 2
    assert "latin-99" in result.stderr


def test_na_values_add_to_the_usual(tmp_path):
    lines = [f"{'unknown' if k % 7 == 5 else a},{b},{y}" for k, (a, b, y) in enumerate(rows())]
    path = write(tmp_path / "na.csv", ["a,b,y", *lines])
    model, _ = learned(path, "-t", "y", "--na-values", "unknown,none given")
    assert model.describe_columns()[0]["kind"] == "number"
    assert model.describe_columns()[0]["gaps"] == 43
    assert model.predict({"a": "unknown", "b": 0.0}) == model.predict({"a": None, "b": 0.0})


def test_a_text_label_that_comes_late(tmp_path):
    lines = [f"{a},{int(a > 4500)}" for a, _, _ in rows(200_000)] + ["5,other"] * 20
    path = write(tmp_path / "late.csv", ["a,y", *lines])
    assert path.stat().st_size > 1 << 20
    model, _ = learned(path, "-t", "y", "--task", "classification", "-a", "pa")
    assert model.classes_.tolist() == ["0", "1", "other"]
    assert model.n_rows == 200_020
    # without --task it is a bad row, in any block; the message says what to do
    near = write(tmp_path / "near.csv", ["a,y", *lines[:400], *lines[-20:]])
    for source in (path, near):
        result = run("learn", source, "-t", "y", "-a", "pa")
        assert "classification: the target holds 2 distinct whole numbers" in result.stderr
        assert "'other' stands where a number is expected" in result.stderr
        assert "say --task classification" in result.stderr
    # also where it comes first
    first = write(tmp_path / "first.csv", ["a,y", "5,other", *lines[:400]])
    result = run("learn", first, "-t", "y", "-a", "pa")
    assert result.exit_code == 2
    assert "say --task classification" in result.stderr


def test_numbers_and_flags_of_json_are_texts_where_texts_are_wanted(tmp_path):
    found = [
        {"zip": k % 3, "open": k % 2 == 0, "part": 0.5 * (k % 4), "y": int(k % 3 > 0)}
        for k in range(200)
    ]
    found[100]["y"] = "other"
    columns = list(found[0])
    texts = [",".join(str(row[c]).lower().removesuffix(".0") for c in columns) for row in found]
    csv = write(tmp_path / "rows.csv", [",".join(columns), *texts])
    plain = write(tmp_path / "rows.jsonl", map(json.dumps, found))
    how = ["-t", "y", "-a", "pa", "--task", "classification", "--categorical", "zip,open,part"]
    model, value = learned(csv, *how)
    of_json, same = learned(plain, *how)
    assert value == same
    assert of_json.classes_.tolist() == model.classes_.tolist() == ["0", "1", "other"]
    assert of_json.feature_names == model.feature_names
    for row in found[:8]:
        one = {name: row[name] for name in columns[:3]}
        table = {name: np.array([value]) for name, value in one.items()}
        written = {name: str(value).lower().removesuffix(".0") for name, value in one.items()}
        expected = model.decision_function(written)
        for known in (of_json, model):
            assert (known.decision_function(one) == expected).all()
            assert (known.decision_function(table) == expected).all()
    output = run("predict", plain.with_suffix(".onkel"), plain)
    assert output.exit_code == 0, output.stderr
    assert output.stdout == run("predict", plain.with_suffix(".onkel"), csv).stdout
    # without --task a label of another type is a bad row; the message says what to do
    mixed = write(tmp_path / "mixed.jsonl", ['{"a": 1, "y": "u"}', '{"a": 2, "y": 3}'])
    result = run("learn", mixed, "-t", "y", "-a", "pa")
    assert result.exit_code == 2
    assert "3 stands where text is expected; if it is a label, say --task" in result.stderr


def test_what_stands_for_no_label(tmp_path):
    lines = [f"{k % 7},{'?' if k % 5 == 0 else 'no' if k % 2 else 'yes'}" for k in range(200)]
    path = write(tmp_path / "a.csv", ["a,y", *lines])
    model, _ = learned(path, "-t", "y", "--na-values", "?")
    assert model.estimator.classes_.tolist() == ["no", "yes"]
    assert model.n_rows == 160
    # without it, ? is a label, as "-" or "None" may be
    assert learned(path, "-t", "y")[0].n_rows == 200


def test_headers_in_another_encoding(tmp_path):
    path = write(tmp_path / "a.csv", ["größe,y", "1,a", "2,b"], "cp1252")
    result = run("learn", path, "-t", "y")
    assert "is not text in UTF-8; say which encoding" in result.stderr
    result = run("learn", path, "-t", "y", "--encoding", "utf-16")
    assert "a.csv: is not text in utf-16" in result.stderr
    path.write_bytes(b"a,y\r1,2\r3,4\r")
    assert r"end with \r alone" in run("learn", path, "-t", "y").stderr


def test_a_title_above_the_header(tmp_path):
    path = write(tmp_path / "a.csv", ["Report,,", "id,a,y", *(f"{k},{k % 3},x" for k in range(50))])
    assert "column 'y': no such column" in run("learn", path, "-t", "y").stderr


def test_messages_keep_their_dots(tmp_path):
    lines = [f"{k},a,b" for k in range(20)]
    path = write(tmp_path / "a.csv", ["a,b,y", *lines, "7," + "x" * 90])
    assert "xxx..." in run("learn", path, "-t", "y").stderr
