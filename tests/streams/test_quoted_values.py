"""Numbers, flags and gaps in quotes, in JSON Lines and among Python values, as in a CSV file."""

from __future__ import annotations

import csv
import json

import numpy as np
import pytest

from onkel import StreamModel, make
from onkel.errors import DataError
from onkel.streams import lines, open_stream

N = 400


def _plain(k):
    return {"a": k % 11 + 0.5, "n": k % 7, "f": k % 3 == 0, "s": "NO" if k % 2 else "7", "y": k % 5}


def _quoted(k):
    """The same row, with what may stand in quotes in quotes."""
    row = _plain(k)
    return {
        "a": f" {row['a']} ", "n": str(row["n"]), "f": str(row["f"]), "s": row["s"],
        "y": str(row["y"]),
    }  # fmt: skip


def _read(path, **options):
    stream = open_stream(path, target="y", missing="auto", **options)
    blocks = list(stream)
    width = blocks[-1].X.shape[1]
    X = np.concatenate([np.pad(b.X, ((0, 0), (0, width - b.X.shape[1]))) for b in blocks])
    y = np.concatenate([b.y for b in blocks])
    return X.tolist(), y.tolist(), stream.encoder.kinds, stream.encoder.feature_names


def _write(path, rows):
    path.write_text("\n".join(map(json.dumps, rows)) + "\n")
    return path


@pytest.mark.parametrize("at", [1, 2, 100, N - 1])
@pytest.mark.parametrize("size", [1 << 20, 1 << 12])
def test_a_value_in_quotes_is_the_value(tmp_path, monkeypatch, at, size):
    monkeypatch.setattr(lines, "CHUNK_BYTES", size)
    plain = [_plain(k) for k in range(N)]
    expected = _read(_write(tmp_path / "plain.jsonl", plain))
    assert expected[2] == {"a": "number", "n": "number", "f": "flag", "s": "text"}
    for step in (1, N):
        quoted = [_quoted(k) if k >= at and (k - at) % step == 0 else plain[k] for k in range(N)]
        assert _read(_write(tmp_path / "quoted.jsonl", quoted)) == expected
    # or the quotes come first, and what has none later
    first = [_quoted(k) if k < at else plain[k] for k in range(N)]
    for row in first:
        row["y"] = int(row["y"])
    found = _read(_write(tmp_path / "first.jsonl", first))
    assert found[2] == expected[2]
    assert (found[0], found[3]) == (expected[0], expected[3])
    # so does a CSV file
    with (tmp_path / "quoted.csv").open("w") as file:
        csv.DictWriter(file, list(plain[0]), quoting=csv.QUOTE_ALL).writerows(
            [{name: name for name in plain[0]}, *quoted]
        )
    assert _read(tmp_path / "quoted.csv") == expected


def test_gaps_in_quotes(tmp_path):
    gone = {1: "NA", 5: "unknown", 40: " - "}
    rows = [_plain(k) | ({"a": gone[k]} if k in gone else {}) for k in range(N)]
    nulls = [_plain(k) | ({"a": None} if k in gone else {}) for k in range(N)]
    found = _read(_write(tmp_path / "a.jsonl", rows), na_values=["unknown"])
    assert found == _read(_write(tmp_path / "b.jsonl", nulls))
    with pytest.raises(DataError, match="line 6: 'unknown' stands where a number is expected; if"):
        _read(tmp_path / "a.jsonl")


def test_a_number_among_texts_is_text_and_other_types_stay_refused(tmp_path):
    rows = [_plain(k) | {"s": 7 if k % 2 else "NO"} for k in range(N)]
    texts = [_plain(k) | {"s": "7" if k % 2 else "NO"} for k in range(N)]
    assert _read(_write(tmp_path / "a.jsonl", rows)) == _read(_write(tmp_path / "b.jsonl", texts))
    odd = {
        "s": ([1], "text"), "a": (True, "a number"), "n": ("7x", "a number"),
        "y": ("no", "a number"),
    }  # fmt: skip
    for name, (value, wanted) in odd.items():
        bad = [*map(_plain, range(9)), _plain(9) | {name: value}]
        with pytest.raises(DataError, match=f"line 10: .* stands where {wanted} is") as caught:
            _read(_write(tmp_path / "bad.jsonl", bad))
        assert (caught.value.row, caught.value.column) == (9, name)


def test_what_comes_first_does_not_tell_a_column_of_numbers_and_texts(tmp_path):
    """Where many rows have text, all are text, as in a CSV file; the odd text is a bad row."""
    plain = [{"s": 7 if k % 3 == 0 else "no", "f": True if k % 2 else "maybe", "y": k % 5}
             for k in range(N)]  # fmt: skip
    expected = [row | {"s": str(row["s"]), "f": str(row["f"]).replace("True", "true")}
                for row in plain]  # fmt: skip
    found = _read(_write(tmp_path / "a.jsonl", plain))
    assert found[2] == {"s": "text", "f": "text"}
    assert found == _read(_write(tmp_path / "b.jsonl", expected))
    odd = [{"s": "no" if k == 50 else k, "y": k % 5} for k in range(N)]
    with pytest.raises(DataError, match="line 51: 'no' stands where a number is expected"):
        _read(_write(tmp_path / "c.jsonl", odd))
    labels = [{"s": k, "y": k if k % 2 else "no"} for k in range(N)]
    with pytest.raises(DataError, match="line 2: 1 stands where text is expected"):
        _read(_write(tmp_path / "d.jsonl", labels))


def test_texts_among_numbers_in_python_values():
    plain = [{k: v for k, v in _plain(k).items() if k != "s"} for k in range(60)]
    mixed = [row | {"a": str(row["a"]), "f": str(row["f"])} if k % 2 else row
             for k, row in enumerate(plain)]  # fmt: skip
    expected = StreamModel(make("krls", "regression")).partial_fit(plain, target="y")
    for rows in (mixed, {name: [row[name] for row in mixed] for name in plain[0]}):
        model = StreamModel(make("krls", "regression")).partial_fit(rows, target="y")
        assert model.encoder.kinds == {"a": "number", "n": "number", "f": "flag"}
        np.testing.assert_array_equal(model.predict(rows), expected.predict(plain))
    with pytest.raises(DataError, match=r"row 1, column 'n': .* of another type"):
        model.partial_fit([{"n": 1.0, "y": 1}, {"n": [1], "y": 2}])
