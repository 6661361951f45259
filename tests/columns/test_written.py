"""Times and numbers as people write them, from files and from Python."""

from __future__ import annotations

import datetime
import json

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

from onkel import StreamModel, load, make
from onkel.cli import app
from onkel.columns.notation import numbers_of, seconds_of, time_form
from onkel.errors import DataError
from onkel.streams import open_stream


def csv(path, rows, header="x,y", sep=","):
    lines = [header, *(f"{x}{sep}{y}" for x, y in rows)]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return str(path)


@pytest.mark.parametrize(
    ("text", "form", "value"),
    [
        ("12,345", "point", 12345), ("1,234,567.5", "point", 1234567.5), ("17 %", "point", 17),
        ("$1 200.50", "point", 1200.5), ("-$3", "point", -3), ("€ 5", "point", 5),
        ("−4.5", "point", -4.5), ("1\u202f000 €", "point", 1000), ("1'000", "point", 1000),
        ("1.234,5", "comma", 1234.5), ("0,5", "comma", 0.5), ("1 200,50 EUR", "comma", 1200.5),
        ("($1,234.50)", "point", -1234.5), ("(7)", "point", -7),
        ("( 1.200,5 EUR)", "comma", -1200.5), ("(-7)", "point", None),
        ("(7", "point", None), ("()", "point", None),
        ("1,5", "point", None), ("1.2.3", "point", None), ("1,23,456", "point", None),
        ("x", "point", None), ("", "point", None),
    ],
)  # fmt: skip
def test_numbers(text, form, value):
    found = numbers_of([text], form)[0]
    assert np.isnan(found) if value is None else found == value


@pytest.mark.parametrize(
    ("text", "form", "moment"),
    [
        ("31/12/2018 23:45", "dmy", (2018, 12, 31, 23, 45)),
        ("1.2.2018", "dmy", (2018, 2, 1)),
        ("10/2/2012 9:00", "mdy", (2012, 10, 2, 9)),
        ("12/31/18 11:59 PM", "mdy", (2018, 12, 31, 23, 59)),
        ("1/1/2018 12:05 am", "mdy", (2018, 1, 1, 0, 5)),
        ("2018/1/2", "ymd", (2018, 1, 2)),
        ("2018-01-01T00:30:00+01:00", "ymd", (2017, 12, 31, 23, 30)),
        ("31/13/2018", "dmy", None),
        ("31/2/2018", "dmy", None),
    ],
)
def test_times(text, form, moment):
    found = seconds_of([text], form)[0]
    if moment is None:
        assert np.isnan(found)
    else:
        assert found == datetime.datetime(*moment, tzinfo=datetime.UTC).timestamp()


def test_day_and_month_are_told_by_the_values():
    assert time_form(["1/2/2018", "13/2/2018"], None) == "dmy"
    assert time_form(["1/2/2018", "2/13/2018"], None) == "mdy"
    assert time_form(["13/2/2018", "2/13/2018"], None) is None
    assert time_form(["1/2/2018", "tomorrow"], None) is None
    assert time_form(["1/2/2018"], "dayfirst") == "dmy"
    with pytest.raises(ValueError, match="--dates"):
        time_form(["1/2/2018"], None)


def test_a_time_is_a_trend_and_circles(tmp_path, collect):
    rows = [(f"{1 + k // 24}/3/2021 {k % 24}:00", k) for k in range(24 * 20)]
    stream = open_stream(csv(tmp_path / "a.csv", rows), target="y", dtype="float64")
    X = collect(stream)[0]
    assert stream.encoder.feature_names[0] == "x"
    assert X.shape[1] == 7
    np.testing.assert_allclose(X[:, 0], np.arcsinh(np.arange(480) / 24))
    hour = 2 * np.pi * (np.arange(480) % 24) / 24
    np.testing.assert_allclose(X[:, 1:3], np.c_[np.sin(hour), np.cos(hour)], atol=1e-9)
    day = 2 * np.pi * (np.arange(480) // 24 % 7) / 7  # 1 March 2021 is a Monday
    np.testing.assert_allclose(X[:, 3:5], np.c_[np.sin(day), np.cos(day)], atol=1e-9)
    assert not X[:, 5:].any()  # a short arc of the year


def test_the_day_of_the_year_is_a_circle_after_a_quarter(tmp_path, collect):
    rows = [(f"{1 + k % 28}/{1 + k // 28 % 12}/{2021 + k // 336}", k % 2) for k in range(600)]
    X = collect(open_stream(csv(tmp_path / "a.csv", rows), target="y", dtype="float64"))[0]
    assert not X[:84, 5:].any()
    np.testing.assert_allclose(np.hypot(X[100:, 5], X[100:, 6]), 1.0)
    np.testing.assert_allclose(X[120, 5:], X[120 + 336, 5:], atol=0.01)


def test_ambiguous_times_name_the_option_that_settles_it(tmp_path):
    path = csv(tmp_path / "a.csv", [(f"{1 + k % 9}/3/2021", k % 2) for k in range(50)])
    result = CliRunner().invoke(app, ["learn", path, "--target", "y"])
    assert result.exit_code == 2
    assert "--dates" in result.stderr
    assert "column 'x'" in result.stderr
    seconds = {}
    for dates in ("dayfirst", "monthfirst"):
        stream = open_stream(path, target="y", dates=dates, dtype="float64")
        seconds[dates] = np.sinh(next(iter(stream)).X[1, 0])
    assert seconds == pytest.approx({"dayfirst": 1.0, "monthfirst": 31.0})


def test_money_and_thousands_are_numbers(tmp_path, collect):
    path = csv(tmp_path / "a.csv", [(f'"${k},{k % 1000:03}.50"', k % 2) for k in range(1, 99)])
    stream = open_stream(path, target="y", dtype="float64")
    assert stream.encoder.kinds == {"x": "number"}
    assert collect(stream)[0][:, 0].tolist() == [1001.0 * k + 0.5 for k in range(1, 99)]


@pytest.mark.parametrize("value", ["{}.234,50", "{},5 %", "{},50 €", "-{} 000,5"])
def test_decimal_commas_with_marks_need_the_option(tmp_path, collect, value):
    path = csv(
        tmp_path / "a.csv", [(value.format(1 + k % 9), k % 2) for k in range(50)], "x;y", ";"
    )
    for target in ("x", "y"):
        with pytest.raises(DataError, match=r"column 'x'.*decimal comma.*--decimal"):
            open_stream(path, target=target)
    expected = {"{}.234,50": 1234.5, "{},5 %": 1.5, "{},50 €": 1.5, "-{} 000,5": -1000.5}[value]
    stream = open_stream(path, target="y", decimal=",")
    assert collect(stream)[0][0, 0] == expected


def test_versions_are_no_numbers_with_a_decimal_comma(tmp_path):
    path = csv(tmp_path / "a.csv", [(f"1.{k % 9}.{k % 5}", k % 2) for k in range(50)])
    assert open_stream(path, target="y").encoder.kinds == {"x": "text"}


def test_decimal_commas_need_the_option(tmp_path, collect):
    path = csv(tmp_path / "a.csv", [(f"{k},5", k % 2) for k in range(50)], "x;y", ";")
    with pytest.raises(DataError, match=r"column 'x'.*decimal comma.*--decimal"):
        open_stream(path, target="y")
    stream = open_stream(path, target="y", decimal=",")
    assert collect(stream)[0][:, 0].tolist() == [k + 0.5 for k in range(50)]
    (tmp_path / "b.csv").write_text("x;y\n1,5;1\nmany;1\n", encoding="utf-8")
    error = collect(open_stream(str(tmp_path / "b.csv"), encoder=stream.encoder))[2]
    assert (error.row, error.column) == (1, "x")


def test_large_offsets_keep_what_tells_rows_apart(tmp_path):
    rows = [(1_700_000_000 + k, k % 2) for k in range(2000)]
    path = csv(tmp_path / "a.csv", rows)
    X = np.concatenate([block.X for block in open_stream(path, target="y")])
    assert X.dtype == np.float32
    assert X[:, 0].tolist() == list(range(2000))
    ids = [(10**16 + 2 * k, k % 2) for k in range(200)]
    X = next(iter(open_stream(csv(tmp_path / "b.csv", ids), target="y"))).X
    assert X[:, 0].tolist() == [2.0 * k for k in range(200)]


@pytest.mark.parametrize("form", ["csv", "dict"])
def test_a_saved_model_reads_them_as_it_learned(tmp_path, form):
    rows = [(f"{1 + k % 28}/{1 + k % 12}/2021 {k % 24}:00", np.sin(k % 24 / 4)) for k in range(600)]
    path = csv(tmp_path / "a.csv", rows)
    args = ["learn", path, "--target", "y", "-a", "krls", "--save", str(tmp_path / "m.onkel")]
    result = CliRunner().invoke(app, args)
    assert result.exit_code == 0, result.stderr
    model = load(tmp_path / "m.onkel")
    whole = model.predict(path)
    if form == "dict":
        alone = [model.predict({"x": x})[0] for x, _ in rows[:5]]
        np.testing.assert_allclose(alone, whole[:5], rtol=1e-6)
    else:
        # a file with ambiguous day and month
        again = csv(tmp_path / "b.csv", rows[:3])
        np.testing.assert_allclose(model.predict(again), whole[:3], rtol=1e-6)
    with pytest.raises(DataError, match="a time is expected"):
        model.predict({"x": "31/31/2021"})


@pytest.mark.parametrize("late", [0, 300])
def test_times_of_day_are_times_in_every_format(tmp_path, late):
    rows = [
        {"b": k % 5, "x": f"{k % 24:02}:{k % 60:02}:00" if k >= late else None, "y": float(k % 7)}
        for k in range(600)
    ]
    frame, sources = pd.DataFrame(rows), [tmp_path / f"a.{end}" for end in ("csv", "jsonl")]
    frame.to_csv(sources[0], index=False)
    sources[1].write_text("\n".join(map(json.dumps, rows)))
    sources += [tmp_path / "a.parquet", frame, rows]
    pq.write_table(pa.Table.from_pylist(rows), sources[2])
    found = []
    for source in sources:
        model = StreamModel(make("pa", task="regression"))
        before = model.predict_then_learn(source, target="y")
        assert model.encoder.kinds == {"b": "number", "x": "time"}
        found += [before, model.predict(rows), model.predict(frame), model.predict(str(sources[0]))]
        alone = [model.predict_one(row) for row in rows[-50:]]
        np.testing.assert_allclose(alone, found[-1][-50:], atol=1e-4)
        with pytest.raises(DataError, match="'24:30' stands where a time is expected"):
            model.predict_one({"b": 1, "x": "24:30"})
    for k, own in enumerate(found):
        np.testing.assert_allclose(own, found[k % 4], atol=1e-4)


@pytest.mark.parametrize("how", ["%Y-%m-%dT%H:%M:%S", "%Y/%m/%d %H:%M", "%d/%m/%Y %H:%M"])
def test_the_time_of_a_row_may_be_written_as_any_time(tmp_path, how):
    when = pd.date_range("2024-05-01", periods=40, freq="17h")
    frame = pd.DataFrame({"x": when.strftime(how), "a": np.arange(40.0), "y": np.arange(40) % 3})
    sources = [tmp_path / "a.csv", tmp_path / "a.parquet", frame]
    frame.to_csv(sources[0], index=False)
    frame.to_parquet(sources[1])
    for source in sources:
        (block,) = open_stream(source, target="y", time="x")
        assert block.times.tolist() == [moment.timestamp() for moment in when]
    with pytest.raises(DataError, match="row 30, column 'x': 'noon' is no time"):
        list(open_stream(frame.assign(x=["2024-05-01"] * 30 + ["noon"] * 10), time="x"))


def test_an_odd_value_among_times_is_refused_with_its_row(tmp_path):
    """The column must not become categories."""
    days = [f"2024-{1 + k // 28:02}-{1 + k % 28:02}" for k in range(200)]
    days[150] = "TBD"
    f = csv(tmp_path / "a.csv", [(day, k % 2) for k, day in enumerate(days)])
    stream = open_stream(f, target="y")
    assert stream.encoder.kinds == {"x": "time"}
    with pytest.raises(DataError, match="row 150, column 'x': 'TBD' stands where a time"):
        list(stream)
    assert open_stream(f, target="y", na_values=["TBD"]).encoder.kinds == {"x": "time"}
    assert time_form(["31/12/2023"] * 9 + ["n.d."], None) == "dmy"
    assert time_form(["31/12/2023"] * 8 + ["n.d."] * 2, None) is None


def test_a_header_that_stands_there_again(tmp_path):
    f = csv(tmp_path / "a.csv", [(1, 0), (2, 1), ("x", "y"), *((k, k % 2) for k in range(40))])
    with pytest.raises(DataError, match="the header stands here again"):
        list(open_stream(f, target="y"))


def test_money_owed_is_a_number(tmp_path):
    money = ["($1,234.50)", "$17.00", "$1,000.25", "($3.00)"] * 10
    path = csv(tmp_path / "a.csv", [(f'"{value}"', k % 2) for k, value in enumerate(money)])
    stream = open_stream(path, target="y")
    assert stream.encoder.kinds == {"x": "number"}
    X = np.concatenate([block.X for block in stream])
    assert X[:2, 0].tolist() == [-1234.5, 17.0]


@pytest.mark.parametrize("ending", ["csv", "jsonl", "parquet"])
def test_labels_lose_the_blanks_around_them(tmp_path, ending):
    labels = ["spam", " spam", "ham ", "ham"] * 10
    path = tmp_path / f"a.{ending}"
    if ending == "csv":
        csv(path, enumerate(labels))
    elif ending == "jsonl":
        path.write_text("\n".join(f'{{"x": {k}, "y": "{y}"}}' for k, y in enumerate(labels)))
    else:
        pq.write_table(pa.table({"x": range(40), "y": labels}), path)
    y = np.concatenate([block.y for block in open_stream(path, target="y")])
    assert np.unique(y).tolist() == ["ham", "spam"]
