"""Learning and predicting in partitions, on a real local cluster of two processes."""

from __future__ import annotations

import os
import signal

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest

from onkel import (
    FOGDClassifier,
    ForgetronClassifier,
    KernelRLSClassifier,
    KernelRLSRegressor,
    OnlineKernelRegressor,
    StreamModel,
    distributed,
    load,
)
from onkel.distributed.learning import check_mergeable
from onkel.distributed.partitions import FilePart, local_client, parts_of, spread
from onkel.distributed.predicting import predict_part
from onkel.distributed.tasks import SAMPLED, Plan, learn_part, learn_sample, merge_parts
from onkel.errors import DataError, MergeError

PARTS, ROWS = 12, 700
pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("default")]


@pytest.fixture(scope="module")
def client():
    pytest.importorskip("distributed")
    with local_client(2) as client:
        yield client
        client.cluster.close()


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(0)
    n = PARTS * ROWS
    x, kind = rng.normal(5, 2, n), rng.integers(0, 9, n)
    y = np.sin(x) + kind / 3 + 0.1 * rng.standard_normal(n)
    return pa.table({"x": x, "kind": [f"k{k}" for k in kind], "y": y})


@pytest.fixture(scope="module")
def folder(rows, tmp_path_factory):
    folder = tmp_path_factory.mktemp("rows")
    for k in range(PARTS):
        pq.write_table(rows.slice(k * ROWS, ROWS), folder / f"{k:02}.parquet")
    return folder


def estimator():
    return KernelRLSRegressor(n_components=80, gamma=0.3, dtype="float64")


def learn(source, client, *, reading=None, skip_bad=False, **more):
    plan = Plan(estimator(), reading=reading or {}, sample_rows=600, skip_bad=skip_bad)
    return distributed.learn(plan, source, target="y", client=client, **more)


@pytest.fixture(scope="module")
def learned(folder, client):
    return learn(folder, client)


def test_every_row_once(learned, rows):
    assert learned.n_rows == learned.model.n_rows == rows.num_rows
    assert [report.n_rows for report in learned.reports[:3]] == [600, ROWS - 50, ROWS - 50]
    assert learned.metrics["rmse"] < 0.4 * rows["y"].to_numpy().std()
    own = [report.metrics["rmse"] for report in learned.reports]
    assert max(own[1:]) < min(1.5 * min(own[1:]), own[0])
    assert learned.seconds["in all"] > 0.0


def test_the_model_is_that_of_one_pass_over_the_partitions(folder, client):
    numbers = {"exclude": ["kind"]}
    whole = learn(folder, client, reading=numbers).model
    plan = Plan(estimator(), reading={"target": "y", **numbers}, sample_rows=600)
    parts = spread(parts_of(folder), SAMPLED)
    sample = learn_sample(plan, [part.name for part in parts], [part.data for part in parts])
    one = StreamModel.from_state(sample.state)
    for part in parts:
        for block in plan.to_learn(part.data, one, sample.taken[part.name]):
            one.learn(block)
    assert one.n_rows == whole.n_rows
    np.testing.assert_allclose(whole.estimator.coef_, one.estimator.coef_, rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("rounds", [1, 3, 100])
def test_rounds_learn_every_row_once(folder, client, learned, rounds):
    again = learn(folder, client, models=2, rounds=rounds)
    assert again.n_rows == again.model.n_rows == PARTS * ROWS
    assert [report.name for report in again.reports] == [report.name for report in learned.reports]
    # least squares merges exactly, but each partition has its own target means
    scores = [model.predict({"x": 5.0, "kind": "k3"}) for model in (again.model, learned.model)]
    np.testing.assert_allclose(*scores, atol=0.05)


@pytest.mark.skipif(os.name != "posix", reason="a process is killed as POSIX does it")
def test_a_killed_worker_loses_no_row_and_counts_none_twice(folder, client, learned):
    victims = list(client.run(os.getpid).values())

    def kill(report):
        if report.name != "sample" and victims:
            os.kill(victims.pop(), signal.SIGKILL)
            victims.clear()

    again = learn(folder, client, watch=kill)
    assert not victims
    assert again.n_rows == again.model.n_rows == PARTS * ROWS
    assert (again.model.estimator.coef_ == learned.model.estimator.coef_).all()


def test_bad_partitions_are_named_or_left_out(folder, client, tmp_path):
    files = sorted(map(str, folder.iterdir()))
    bad = tmp_path / "bad.parquet"
    bad.write_bytes(b"PAR1 and no more")
    with pytest.raises(DataError, match=r"bad.parquet.*--skip-bad-partitions"):
        learn([*files[:3], str(bad)], client)
    found = learn([*files[:3], str(bad)], client, skip_bad=True)
    assert found.n_rows == 3 * ROWS
    (report,) = found.left_out
    assert report.name == str(bad)
    assert "truncated or damaged" in report.failure
    with pytest.raises(DataError, match="no partition could be read; the first: is trunc"):
        learn([str(bad)], client, skip_bad=True)


def test_csv_frames_and_arrays(rows, client, tmp_path, learned):
    import dask.array
    import dask.dataframe

    some = rows.slice(0, 3000)
    for k in range(3):
        pyarrow.csv.write_csv(some.slice(1000 * k, 1000), tmp_path / f"{k}.csv")
    frame = dask.dataframe.from_pandas(some.to_pandas(), npartitions=3)
    for source in (str(tmp_path / "*.csv"), frame):
        assert learn(source, client).model.n_rows == 3000
    X = dask.array.from_array(np.c_[some["x"], some["x"]], chunks=(1100, 1))
    y = dask.array.from_array(some["y"].to_numpy(), chunks=500)
    found = distributed.learn(Plan(estimator(), sample_rows=200), (X, y), client=client)
    assert found.model.n_rows == 3000
    assert [report.name for report in found.reports[1:]] == ["block 0", "block 1", "block 2"]


def test_predictions_in_files(folder, client, learned, tmp_path, rows):
    out = tmp_path / "predicted"
    found = distributed.predict(learned.model, folder, out, client=client, keep=["kind"])
    table = pa.concat_tables([pq.read_table(path) for path in found.files])
    assert found.n_rows == table.num_rows == rows.num_rows
    assert table["kind"].to_pylist() == rows["kind"].to_pylist()
    wanted = learned.model.predict(rows.drop(["y"]))
    np.testing.assert_allclose(table["prediction"].to_numpy(), wanted)
    error = np.sqrt(np.mean((wanted - rows["y"].to_numpy()) ** 2))
    assert found.metrics["rmse"] == pytest.approx(error)
    with pytest.raises(ValueError, match="is there already"):
        distributed.predict(learned.model, folder, out, client=client)


def test_rows_are_read_in_the_type_in_which_they_were_learned(tmp_path):
    rng = np.random.default_rng(0)
    x = 1e6 + rng.random(500)
    rows = pa.table({"x": x, "y": np.sin(20.0 * x)})
    pq.write_table(rows, tmp_path / "rows.parquet")
    model = StreamModel(estimator(), settings={"dtype": "float64"})
    model.partial_fit(rows.drop(["y"]), rows["y"].to_numpy())
    data, out = FilePart(str(tmp_path / "rows.parquet")), str(tmp_path / "out.parquet")
    predict_part(
        model.get_state(), "rows", data, out, {"keep": (), "proba": False, "skip_bad": False}
    )
    found = pq.read_table(out)["prediction"].to_numpy()
    np.testing.assert_array_equal(found, model.predict(rows.drop(["y"])))


def test_saved(learned, tmp_path):
    learned.model.save(tmp_path / "m.onkel")
    assert load(tmp_path / "m.onkel").n_rows == PARTS * ROWS


def test_refusals(folder, client):
    with pytest.raises(MergeError, match="order in which they come"):
        distributed.learn(ForgetronClassifier(), folder, target="kind", client=client)
    with pytest.raises(DataError, match="has no partitions"):
        learn(np.zeros((3, 2)), client)
    with pytest.raises(DataError, match="name it with target="):
        distributed.learn(estimator(), folder, client=client)


# ---- tasks, without a cluster -------------------------------------------------------------------


def in_turn(plan, source):
    """The model of a source, and the reports of its partitions, by the tasks of a run."""
    parts = parts_of(source)
    sample = learn_sample(plan, [part.name for part in parts], [part.data for part in parts])
    learned = [learn_part(plan, sample, part.name, part.data) for part in parts]
    whole = merge_parts(sample, *learned)
    return StreamModel.from_state(whole.state), [part.report for part in learned]


def test_the_default_is_taken():
    # it begins anew until the sample fixes its map; that is no reason to refuse it
    check_mergeable(OnlineKernelRegressor(n_components=20, speed="fast"))


def test_an_empty_partition_has_no_rows(rows, tmp_path):
    full, some = tmp_path / "full", tmp_path / "some"
    for folder in (full, some):
        folder.mkdir()
        for k in (0, 2, 4):
            pq.write_table(rows.slice(k * ROWS, ROWS), folder / f"{k}.parquet")
    pq.write_table(rows.slice(0, 0), some / "1.parquet")
    pq.write_table(rows.slice(0, 0), some / "9.parquet")
    plan = Plan(estimator(), reading={"target": "y"}, sample_rows=600)
    expected, _ = in_turn(plan, full)
    model, reports = in_turn(plan, some)
    assert [report.n_rows for report in reports].count(0) == 2
    assert all(report.failure is None for report in reports)
    assert model.n_rows == expected.n_rows == 3 * ROWS
    part, report = predict_part(
        model.get_state(), "1", FilePart(str(some / "1.parquet")), str(tmp_path / "none"),
        {"keep": (), "proba": False, "skip_bad": False},
    )  # fmt: skip
    assert part is None
    assert (report.n_rows, report.failure) == (0, None)


@pytest.mark.parametrize("kind", [KernelRLSClassifier, FOGDClassifier])
def test_one_class_in_all_partitions_is_learned_as_in_one_process(rows, tmp_path, kind):
    one_class = rows.set_column(2, "y", pa.array(["only"] * rows.num_rows))
    for k in range(3):
        pq.write_table(one_class.slice(k * ROWS, ROWS), tmp_path / f"{k}.parquet")
    plan = Plan(kind(n_components=20), reading={"target": "y"}, sample_rows=300)
    model, reports = in_turn(plan, tmp_path)
    whole = StreamModel(kind(n_components=20)).fit(tmp_path, target="y")
    assert model.n_rows == whole.n_rows == 3 * ROWS
    assert model.classes_.tolist() == whole.classes_.tolist() == ["only"]
    row = {"x": 1.0, "kind": "k1"}
    assert model.predict(row).tolist() == whole.predict(row).tolist() == ["only"]
    assert sum(report.n_rows for report in reports) + 300 == 3 * ROWS
    # a second class that the sample did not have is named, whatever the learner would say
    mixed = one_class.slice(0, 400).set_column(2, "y", pa.array(["only"] * 399 + ["other"]))
    pq.write_table(mixed, tmp_path / "3.parquet")
    sample = learn_sample(plan, ["a"], [FilePart(str(tmp_path / "0.parquet"))])
    with pytest.raises(DataError, match=r"3.parquet: .*'only', 'other', and the sample"):
        learn_part(plan, sample, "3.parquet", FilePart(str(tmp_path / "3.parquet")))


def test_a_damaged_partition_is_named_in_plain_words(folder, tmp_path):
    plan = Plan(estimator(), reading={"target": "y"}, sample_rows=600)
    parts = parts_of(folder)[:2]
    sample = learn_sample(plan, [part.name for part in parts], [part.data for part in parts])
    content = (folder / "00.parquet").read_bytes()
    for name, bad in (("short", content[:200]), ("holes", content[:100] + bytes(4000) + content)):
        path = tmp_path / f"{name}.parquet"
        path.write_bytes(bad)
        with pytest.raises(DataError) as error:
            learn_part(plan, sample, str(path), FilePart(str(path), (0,)))
        text = str(error.value)
        assert text.startswith(f"{path}")
        assert "is truncated or damaged" in text
        assert text.isprintable()
        assert len(text) < 500


def test_a_closed_client_is_named(client, folder):
    other = type(client)(client.scheduler.address)
    other.close()
    for call in (
        lambda: learn(folder, other),
        lambda: distributed.predict(StreamModel(estimator()), folder, "unused", client=other),
    ):
        with pytest.raises(ValueError, match="the Dask client given is closed"):
            call()


# ---- predictions and arrays that cannot be ------------------------------------------------------

HOW = {"keep": (), "proba": False, "skip_bad": True}


@pytest.fixture(scope="module")
def model(rows):
    return StreamModel(estimator()).fit(rows.slice(0, 600), target="y")


def test_a_file_that_cannot_be_written_is_not_the_fault_of_the_partition(model, folder, tmp_path):
    part = parts_of(folder)[0]
    path = tmp_path / "not there" / "part.parquet"
    with pytest.raises(OSError, match=r"No such file or directory.*part.parquet"):
        predict_part(model.get_state(), part.name, part.data, str(path), HOW)


def test_rows_without_a_target_leave_the_others_their_score(model, rows, tmp_path):
    some = rows.slice(600, 50)
    y = some["y"].to_pylist()
    gaps = some.set_column(2, "y", pa.array([None, *y[1:]]))
    pq.write_table(gaps, tmp_path / "gaps.parquet")
    data = FilePart(str(tmp_path / "gaps.parquet"))
    _, report = predict_part(model.get_state(), "gaps", data, str(tmp_path / "out"), HOW)
    error = model.predict(some.drop(["y"]))[1:] - y[1:]
    assert (report.n_rows, report.scored) == (50, 49)
    assert report.metrics["rmse"] == pytest.approx(np.sqrt(np.mean(error**2)))


@pytest.mark.parametrize(
    ("what", "more", "message"),
    [
        (StreamModel(KernelRLSRegressor()), {}, "has learned no rows"),
        (KernelRLSRegressor(), {}, "KernelRLSRegressor reads no files"),
        ("fitted", {"keep": ["prediction"]}, "keep: 'prediction'"),
        ("fitted", {"proba": True}, "KernelRLSRegressor has no probabilities"),
    ],
)
def test_predictions_that_cannot_be_are_refused_at_once(
    model, folder, client, tmp_path, what, more, message
):
    out = tmp_path / "out"
    with pytest.raises(ValueError, match=message):
        distributed.predict(model if what == "fitted" else what, folder, out, client=client, **more)
    assert not out.exists()


def test_arrays_that_do_not_fit_are_named():
    array = pytest.importorskip("dask.array")
    X, y = (array.from_array(np.zeros(shape), chunks=2) for shape in ((6, 3), 6))
    with pytest.raises(DataError, match=r"X \(6, 3\) and y \(6, 1\) must be of the shapes"):
        parts_of((X, y[:, None]))
    with pytest.raises(DataError, match="X has 6 rows, and y has 5"):
        parts_of((X, y[:5]))
    with pytest.raises(DataError, match="the chunks of y have no known sizes"):
        parts_of((X, y[y == 0]))
