"""Columns that come in mid-stream, through scaling, models and files."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from onkel import load
from onkel.errors import DataError, ModelFileError
from onkel.evaluation import prequential
from onkel.learners import FOGDClassifier, FOGDRegressor, KernelRLSRegressor, PAClassifier
from onkel.pipeline import StreamModel
from onkel.pipeline.learning import take_late
from onkel.streams import OnlineScaler, open_stream

CAME, N = 400, 900


def rows(seed=0, gone=700):
    """Dicts in which "late" exists from row 400 to 700, and explains most of the target."""
    rng = np.random.default_rng(seed)
    out = []
    for t in range(N):
        x = {"a": rng.standard_normal(), "b": 100.0 + 10.0 * rng.standard_normal()}
        side = rng.standard_normal()
        y = bool(x["a"] + (3.0 * side if t >= CAME else 0.0) > 0.0)
        if CAME <= t < gone:
            x["late"] = 2020.0 + 5.0 * side
        out.append((x, y))
    return out


def learned(block_rows, estimator=None, n=N, scaling="standard"):
    estimator = estimator or FOGDClassifier(n_components=50, dtype="float64", random_state=0)
    stream = open_stream(rows()[:n], block_rows=block_rows, dtype="float64")
    model = StreamModel(estimator, scaling=scaling, encoder=stream.encoder)
    return model, np.concatenate([model.learn(block) for block in stream])


@pytest.mark.slow
@pytest.mark.parametrize("scaling", ["auto", "standard", "minmax"])
@pytest.mark.parametrize("block_rows", [1, 37, 4096])
def test_the_cut_into_blocks_means_nothing(block_rows, scaling):
    model, before = learned(block_rows, scaling=scaling)
    other, expected = learned(128, scaling=scaling)
    np.testing.assert_array_equal(before, expected)
    np.testing.assert_allclose(model.estimator.coef_, other.estimator.coef_, rtol=1e-7, atol=1e-10)
    assert model.estimator.n_features_in_ == 3


def test_rows_that_lack_it_are_predicted_as_before():
    model, _ = learned(100, n=CAME)
    X = np.random.default_rng(1).standard_normal((50, 2)) * [1, 10] + [0, 100]
    before = model.decision_features(X)
    take_late(model, 3, 1)
    without = np.hstack([X, np.zeros((50, 1))])
    np.testing.assert_allclose(model.decision_features(without), before, rtol=1e-12)
    # and without the new column
    np.testing.assert_allclose(model.decision_features(X), before, rtol=1e-12)


def test_what_comes_in_is_learned_and_what_goes_is_zero():
    before = learned(64, FOGDClassifier(n_components=100, random_state=0))[1]
    y = np.array([y for _, y in rows()])
    wrong = before != y
    assert wrong[450:700].mean() < 0.5 * wrong[750:].mean()
    without, _ = learned(64, FOGDClassifier(n_components=100, random_state=0), n=700)
    X = np.array([[x["a"], x["b"], 0.0] for x, _ in rows()[:50]])
    expected = without.estimator.decision_function(
        np.hstack([without.scaler.transform(X)[:, :2], np.zeros((50, 1))])
    )
    np.testing.assert_array_equal(without.decision_features(X), expected)


@pytest.mark.parametrize("at", [200, 500])
def test_saved_and_resumed(tmp_path, at):
    whole, before = learned(50)
    stream = open_stream(rows(), block_rows=50, dtype="float64")
    model = StreamModel(
        FOGDClassifier(n_components=50, dtype="float64", random_state=0), encoder=stream.encoder
    )
    parts = [model.learn(block) for block in stream if block.start < at]
    # the model of a run that was cut off at this row
    cut, _ = learned(50, n=at)
    cut.save(tmp_path / "m.onkel")
    model = load(tmp_path / "m.onkel")
    rest = open_stream(rows(), block_rows=50, dtype="float64", encoder=model.encoder, skip_rows=at)
    parts += [model.learn(block) for block in rest]
    np.testing.assert_array_equal(np.concatenate(parts), before)
    np.testing.assert_allclose(model.estimator.coef_, whole.estimator.coef_, rtol=1e-9)


def test_prequential_of_a_learner_without_scaling():
    data = [({"a": x["a"], **({"c": x["late"] - 2020.0} if "late" in x else {})}, y)
            for x, y in rows()]  # fmt: skip
    model = PAClassifier()
    result = prequential(model, open_stream(data, block_rows=64), limit=800, warm_up=True)
    assert result.curve[-1].n_rows == 800
    assert model.n_features_in_ == 2


def test_prediction_ignores_what_was_never_learned():
    model, _ = learned(100, n=CAME)
    stream = open_stream(
        [({"a": 1.0, "b": 90.0, "new": 5.0}, None)], dtype="float64", encoder=model.encoder
    )
    X = next(iter(stream)).X
    assert X.shape == (1, 3)
    np.testing.assert_array_equal(model.predict(X), model.predict(X[:, :2]))
    model.learn(next(iter(open_stream([({"a": 1.0, "b": 90.0, "new": 5.0}, True)],
                                      dtype="float64", encoder=model.encoder))))  # fmt: skip
    assert model.estimator.n_features_in_ == 3


def oracle(x, mode):
    """A late column: from its first value on, by the rows since then; 0 stays 0."""
    out = np.zeros(len(x))
    first = int(np.argmax(x != 0))
    for t in range(first, len(x)):
        seen = x[first : t + 1]
        low = seen.mean() if mode == "standard" else seen.min()
        width = seen.std() if mode == "standard" else np.ptp(seen)
        if x[t] != 0 and width > 0:
            out[t] = (x[t] - low) / width
    return out


@pytest.mark.parametrize("mode", ["standard", "minmax", "none"])
@pytest.mark.parametrize("cuts", [[20, 21, 45], [60]])
def test_scaling_of_late_columns(mode, cuts):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 4)) * [1, 1, 3, 1] + [0, 5, 50, 0]
    X[:20, 2:] = 0.0
    X[rng.random(60) < 0.3, 2:] = 0.0
    X[:, 3] = X[:, 3] != 0
    scaler = OnlineScaler(mode)
    parts = [scaler.learn_transform(X[:10, :2])]
    before = scaler.transform(X[:, :2])
    scaler.add_columns(2)
    np.testing.assert_array_equal(scaler.transform(X * [1, 1, 0, 0])[:, :2], before)
    assert not scaler.transform(X * [1, 1, 0, 0])[:, 2:].any()
    parts += [scaler.learn_transform(X[a:b]) for a, b in zip([10, *cuts], [*cuts, 60], strict=True)
              if b > a]  # fmt: skip
    late = np.concatenate([part[:, 2:] for part in parts[1:]])
    expected = X[10:, 2:]
    if mode != "none":
        expected = np.stack([oracle(X[:, j], mode)[10:] for j in (2, 3)], axis=1)
    np.testing.assert_allclose(late, expected, atol=1e-9)
    first = OnlineScaler(mode).learn_transform(X[:, :2])
    np.testing.assert_array_equal(np.concatenate([part[:, :2] for part in parts]), first)
    twin = OnlineScaler.from_state(scaler.get_state())
    np.testing.assert_array_equal(twin.transform(X), scaler.transform(X))
    if mode != "none":
        np.testing.assert_allclose(scaler.transform(X[-1:])[0, 2:], late[-1], atol=1e-9)


@pytest.mark.parametrize("suffix", [".csv", ".parquet", ".jsonl"])
def test_a_later_file_with_a_new_column_extends_the_model(tmp_path, suffix):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.standard_normal((600, 3)), columns=["a", "b", "late"])
    frame["y"] = np.sin(frame["a"]) + np.where(np.arange(600) < 300, 0.0, frame["late"])
    write = {
        ".csv": lambda f, p: f.to_csv(p, index=False),
        ".parquet": lambda f, p: f.to_parquet(p),
        ".jsonl": lambda f, p: f.to_json(p, orient="records", lines=True),
    }[suffix]
    first, second = tmp_path / f"1{suffix}", tmp_path / f"2{suffix}"
    write(frame[:300].drop(columns="late"), first)
    write(frame[300:], second)
    stream = open_stream(first, target="y")
    model = StreamModel(KernelRLSRegressor(n_components=60), encoder=stream.encoder)
    for block in stream:
        model.learn(block)
    blind = open_stream(second, encoder=model.encoder)
    assert blind.encoder.n_features == 2
    stream = open_stream(second, encoder=model.encoder, extend=True)
    assert [c.name for c in stream.encoder.columns] == ["a", "b", "late"]
    for block in stream:
        model.learn(block)
    assert model.estimator.n_features_in_ == 3
    # a file that lacks it gets zeros
    for block in open_stream(first, encoder=model.encoder):
        assert block.X.shape[1] == 3
        assert not block.X[:, 2].any()
        model.predict_features(block.X)
    narrow = FOGDRegressor(n_components=10).fit(frame[["a", "b"]].to_numpy(), frame["y"])
    assert narrow.n_features_in_ == 2


@pytest.mark.parametrize("rows", [10, 20_000])
def test_keys_of_json_lines_that_come_later(tmp_path, rows):
    """The columns are those of the first row, whether a key comes in the first chunk or later."""
    path = tmp_path / "rows.jsonl"
    with path.open("w", encoding="utf-8") as file:
        for t in range(3 * rows):
            late = f', "late": {t}, "kind": "{"xy"[t % 2]}"' if t >= 2 * rows else ""
            excluded = ', "out": 1' if t % 3 else ""
            file.write(f'{{"a": {t % 7}, "pad": 0.{"1" * 200}, "y": {t % 2}{late}{excluded}}}\n')
    stream = open_stream(
        path, target="y", exclude=["out"], n_hash=2, dtype="float64", missing="zero"
    )
    n_first = stream.encoder.n_features
    assert n_first == 2
    blocks = list(stream)
    X = blocks[-1].X
    assert stream.encoder.feature_names == ["a", "pad", "late", "kind=x", "kind=y"]
    assert X.shape[1] == 5
    assert blocks[-1].late == 5 - n_first
    came = np.arange(blocks[-1].start, 3 * rows)
    assert X[:, 2].tolist() == np.where(came >= 2 * rows, came, 0).tolist()
    if rows > 10:
        first = open_stream(path, encoder=type(stream.encoder)(stream.encoder.columns[:2]))
        assert first.encoder.n_features == 2
        assert list(first)[-1].X.shape[1] == 2


def _write(frame, path):
    if path.suffix == ".csv":
        frame.to_csv(path, index=False)
    elif path.suffix == ".parquet":
        frame.to_parquet(path)
    elif path.suffix == ".arrow":
        frame.to_feather(path, compression="uncompressed")
    else:
        frame.to_json(path, orient="records", lines=True)


DAYS = pd.DataFrame(
    {
        "a": np.arange(30.0),
        "b": np.arange(30.0) ** 2,
        "late": np.arange(30) + 0.5,
        "kind": ["x", "y", "z"] * 10,
        "when": pd.date_range("2024-01-01", periods=30, freq="h"),
        "y": np.arange(30) % 2,
    }
)
SUFFIXES = [".csv", ".parquet", ".arrow", ".jsonl"]


def days(folder, suffix):
    """Three files of ten rows: two columns; all; without "b" and "late" but with "when"."""
    for k, columns in enumerate(["ab", ["a", "b", "late", "kind"], ["a", "kind", "when"]]):
        part = DAYS[10 * k : 10 * k + 10][[*columns, "y"]]
        if suffix in (".csv", ".jsonl") and "when" in part:
            part = part.assign(when=part["when"].dt.strftime("%Y-%m-%dT%H:%M:%S"))
        _write(part, folder / f"day{k + 1}{suffix}")
    return folder


@pytest.mark.parametrize("block_rows", [1, 7, 100])
@pytest.mark.parametrize("suffix", SUFFIXES)
def test_columns_that_only_later_files_have(tmp_path, suffix, block_rows):
    """They become features, 0 in earlier rows; a column that vanishes is 0 or missing."""
    folder = days(tmp_path, suffix)
    stream = open_stream(
        folder, target="y", n_hash=2, dtype="float64", missing="zero", block_rows=block_rows
    )
    assert stream.encoder.feature_names == ["a", "b"]
    for _ in range(2):  # and once more, now that all columns are known
        X = np.zeros((30, 13))
        blocks = list(stream)
        for block in blocks:
            X[block.start : block.start + block.n_rows, : block.X.shape[1]] = block.X
        names = stream.encoder.feature_names
        assert names[:7] == ["a", "b", "late", "kind=y", "kind=z", "kind=x", "when"]
        assert blocks[-1].late == 11
        np.testing.assert_array_equal(X[:, 0], DAYS["a"])
        np.testing.assert_array_equal(X[:, 1], np.where(DAYS["a"] < 20, DAYS["b"], 0.0))
        late = (DAYS["a"] >= 10) & (DAYS["a"] < 20)
        np.testing.assert_array_equal(X[:, 2], np.where(late, DAYS["late"], 0.0))
        np.testing.assert_array_equal(X[:, 3:6].sum(axis=1), DAYS["a"] >= 10)
        hours = np.where(DAYS["a"] >= 20, 3600.0 * (DAYS["a"] - 20), 0.0)
        np.testing.assert_allclose(X[:, 6], np.arcsinh(hours / 86400.0), atol=1e-9)


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_a_column_that_a_later_file_lacks(tmp_path, suffix):
    folder = days(tmp_path, suffix)
    message = r"day3.*column 'b'.*missing='zero'"
    with pytest.raises(DataError, match=message) as failure:
        list(open_stream(folder, target="y"))
    assert failure.value.column == "b"
    means = open_stream(folder, target="y", dtype="float64", missing="mean", n_hash=2)
    np.testing.assert_allclose(list(means)[-1].X[20:, 1], DAYS["b"][:20].mean())
    skipped = sum(block.n_rows for block in open_stream(folder, target="y", missing="skip"))
    assert skipped == 20
    (folder / f"day3{suffix}").unlink()
    _write(DAYS[20:][["a", "b"]], folder / f"day4{suffix}")
    stream = open_stream(folder, target="y", missing="zero")
    if suffix == ".jsonl":  # an absent key is a missing value
        assert sum(block.n_rows for block in stream) == stream.n_unlabelled + 10 == 20
        return
    with pytest.raises(DataError, match=r"day4.*'y'"):
        list(stream)


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_files_that_are_not_to_widen(tmp_path, suffix):
    """Named features, or the encoder of a model that only predicts, keep the columns fixed."""
    folder = days(tmp_path, suffix)
    files = sorted(folder.iterdir())[:2]
    named = list(open_stream(files, target="y", features=["a", "b"]))
    encoder = open_stream(files[0], target="y").encoder
    blind = list(open_stream(files, encoder=encoder))
    for block in (named[-1], blind[-1]):
        assert block.X.shape == (20, 2)
    assert encoder.n_features == 2
    wide = list(open_stream(files, encoder=encoder, extend=True, n_hash=2))
    assert wide[-1].X.shape[1] == 2 + 1 + 3
    # read both files again, now with the late columns known
    again = list(open_stream(files, encoder=encoder))
    narrow = open_stream(files, target="y", exclude=["late", "kind", "a"])
    assert list(narrow)[-1].X.shape == (20, 1)
    assert narrow.encoder.feature_names == ["b"]
    np.testing.assert_array_equal(again[-1].X, wide[-1].X)


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_learning_files_is_learning_their_rows(tmp_path, suffix):
    rng = np.random.default_rng(3)
    frame = pd.DataFrame(rng.standard_normal((600, 3)), columns=["a", "b", "late"]).round(6)
    frame["y"] = frame["a"] + np.where(np.arange(600) < 300, 0.0, 3 * frame["late"]) > 0
    frame["y"] = frame["y"].astype(int)
    _write(frame[:300].drop(columns="late"), tmp_path / f"1{suffix}")
    _write(frame[300:], tmp_path / f"2{suffix}")
    dicts = [
        (dict(row.drop(labels=["y"] + ["late"] * (t < 300))), int(row["y"]))
        for t, row in frame.iterrows()
    ]
    found = []
    for source, options in ((tmp_path, {"target": "y"}), (dicts, {})):
        stream = open_stream(source, dtype="float64", block_rows=64, **options)
        model = StreamModel(
            FOGDClassifier(n_components=50, dtype="float64", random_state=0), encoder=stream.encoder
        )
        found.append(np.concatenate([model.learn(block) for block in stream]))
        assert model.estimator.n_features_in_ == 3
    np.testing.assert_array_equal(*found)


def test_keys_that_come_in_a_chunk_read_slowly(tmp_path):
    """After a bad number in mid-chunk, the rows before it still have their new keys."""
    path = tmp_path / "rows.jsonl"
    pad = "1" * 200
    lines = [f'{{"a": {t}, "pad": 0.{pad}, "y": {t % 2}}}' for t in range(6000)]
    lines += [f'{{"a": {t}, "pad": 0.{pad}, "y": 1, "late": {t}}}' for t in range(2000)]
    lines += [f'{{"a": 1, "pad": 0.{pad}, "y": 1, "late": "no number"}}']
    path.write_text("\n".join(lines))
    rows = []
    with pytest.raises(DataError, match=r"column 'late'.*number is expected"):  # noqa: PT012
        for block in open_stream(path, target="y", dtype="float64"):
            rows.append(block)
    assert rows[-1].X.shape[1] == 3
    assert rows[-1].X[-5:, 2].tolist() == [1995.0, 1996.0, 1997.0, 1998.0, 1999.0]


@pytest.mark.parametrize("value", ["NO", 2.5])
def test_a_column_that_was_empty_row_by_row(value):
    """A model that learned rows of None knows the column by its first value, saved or not."""
    rng = np.random.default_rng(0)
    rows = [{"a": float(v), "b": None} for v in rng.normal(size=40)]
    rows += [{"a": float(v), "b": value if v > 0.0 else None} for v in rng.normal(size=40)]
    y = [float("b" in row and row["b"] is not None) for row in rows]
    found = []
    for size in (1, 7, 80):
        model = StreamModel(FOGDRegressor(n_components=20, gamma=0.5, random_state=0))
        for at in range(0, 80, size):
            model.partial_fit(rows[at : at + size], y[at : at + size])
        assert model.encoder.kinds["b"] == ("text" if value == "NO" else "number")
        found.append(model.predict(rows))
    np.testing.assert_allclose(found[0], found[1], atol=1e-6)


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("n_first", None, "widening/n_first: is missing"),
        ("n_first", 1, "widening/n_first: is 1; it must be 2"),
        ("n_first", np.zeros((2, 2)), "widening/n_first: is ndarray, not a whole number"),
        ("late", np.zeros((2, 2), np.int64), "widening/late: holds a column twice"),
        ("late", np.full((1, 2), 99), "late: names a column beyond 4, or a statistic beyond 1"),
        ("late", np.array([[2, 0], [3, 0], [0, 0]]), "late: the rows have 4 columns, not 5"),
        ("means", None, "widening/means: is missing"),
    ],
)
def test_damaged_places_of_late_columns_are_refused(name, value, message):
    model = StreamModel(PAClassifier())
    texts = [{"a": float(t), "c": f"{t % 60}"} for t in range(300)]
    model.partial_fit(texts, [0, 1] * 150)
    model.partial_fit([x | {"new": 1.0, "newer": 2.0} for x in texts], [0, 1] * 150)
    state = model.get_state()
    assert len(state["widening"]["late"])
    state["widening"] = {key: of for key, of in state["widening"].items() if key != name}
    if value is not None:
        state["widening"][name] = value
    with pytest.raises(ModelFileError, match=message):
        StreamModel.from_state(state)


def test_places_of_late_columns_need_their_encoder():
    model = StreamModel(PAClassifier())
    model.partial_fit([{"a": 1.0, "c": "x"}, {"a": 2.0, "c": "y"}], [0, 1])
    with pytest.raises(ModelFileError, match="widening is for an encoder, and there is none"):
        StreamModel.from_state({**model.get_state(), "encoder": None})


@pytest.mark.parametrize("n_classes", [3, 9, 40])
@pytest.mark.parametrize("rows_first", [False, True])
def test_a_text_of_few_columns_and_many_classes_is_read_again(n_classes, rows_first, tmp_path):
    """A file of more statistics of a text than there are columns was refused."""
    rng = np.random.default_rng(0)
    k = rng.integers(0, n_classes, 300)
    table = pd.DataFrame({"a": k + rng.normal(size=300), "b": rng.choice(list("xyz"), 300)})
    labels = np.array([f"class {one}" for one in k])
    model = StreamModel(PAClassifier())
    if rows_first:
        for x, y in zip(table.to_dict("records"), labels, strict=True):
            model.learn_one(x, y)
    else:
        model.partial_fit(table, labels)
    model.save(tmp_path / "m.onkel")
    again = load(tmp_path / "m.onkel")
    assert again.to_bytes() == model.to_bytes()
    np.testing.assert_array_equal(again.predict(table), model.predict(table))
    state = model.get_state()
    for wrong in ([99, 0], [1, n_classes]):
        late = np.vstack([state["widening"]["late"][:-1], [wrong]])
        widening = {**state["widening"], "late": late}
        with pytest.raises(ModelFileError, match="late: names a column beyond"):
            StreamModel.from_state({**state, "widening": widening})
