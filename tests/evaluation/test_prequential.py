"""The prequential run against a row-by-row reference."""

from __future__ import annotations

import json
import math
import sys

import numpy as np
import pytest

from onkel.errors import DataError
from onkel.evaluation import METRICS, PrequentialRun, prequential
from onkel.evaluation.growing_curve import GrowingCurve, Marks
from onkel.learners import FOGDClassifier, PAClassifier, PARegressor
from onkel.metrics import metrics_of
from onkel.persistence.contents import flatten, unflatten
from onkel.pipeline import StreamModel
from onkel.streams import Block, open_stream


def _data(n=1000, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    return X, np.where(X[:, 0] > 0.2, "b", "a"), X @ [1.0, 2.0, 3.0]


class Scripted:
    """A model that predicts given values."""

    task, nbytes = "regression", 0

    def __init__(self, predictions):
        self.predictions = np.asarray(predictions, dtype=float)

    def learn(self, block):
        return self.predictions[block.start : block.start + len(block.y)]


def test_the_curve_is_that_of_a_run_row_by_row():
    X, y, _ = _data()
    model = PAClassifier()
    wrong = []
    for i in range(len(y)):
        wrong.append(model.predict_then_learn(X[i : i + 1], y[i : i + 1])[0] != y[i])
    wrong = np.array(wrong, dtype=float)
    result = prequential(PAClassifier(), (X, y))
    last = 1  # nothing is known of the first row: it is not scored
    for row in result.curve:
        assert row.n_scored == row.n_rows - 1
        assert row.loss == pytest.approx(wrong[1 : row.n_rows].mean())
        assert row.loss_since_last == pytest.approx(wrong[last : row.n_rows].mean())
        assert row.metrics["mistakes"] == pytest.approx(100 * row.loss)
        assert row.metrics["accuracy"] == pytest.approx(100 - 100 * row.loss)
        last = row.n_rows
    assert [row.n_rows for row in result.curve] == [2**k for k in range(1, 10)] + [1000]


def test_regression_metrics_by_hand():
    y = np.array([1.0, 2.0, 3.0, 4.0])
    p = np.array([0.0, 2.0, 5.0, 4.5])
    result = prequential(Scripted(p), [Block(np.zeros((4, 1)), y, 0)], warm_up=False)
    errors = (p - y)[1:]
    assert result.scored == "rows 2 to 4"
    assert result.value == pytest.approx(math.sqrt(np.mean(errors**2)))
    assert result.final.metrics["mae"] == pytest.approx(np.mean(np.abs(errors)))
    assert result.final.loss == pytest.approx(np.mean(errors**2))


@pytest.mark.parametrize("cut", [1, 3, 64, 999, 1000])
def test_checkpoints_do_not_depend_on_the_blocks(cut):
    X, y, _ = _data()
    whole = prequential(PAClassifier(), (X, y), every=300)
    blocks = [(X[i : i + cut], y[i : i + cut]) for i in range(0, len(y), cut)]
    result = prequential(PAClassifier(), blocks, every=300)
    assert [r.n_rows for r in result.curve] == [r.n_rows for r in whole.curve]
    assert [r.loss for r in result.curve] == pytest.approx([r.loss for r in whole.curve])


def test_every_and_no_powers():
    X, y, _ = _data()
    result = prequential(PAClassifier(), (X, y), checkpoints="none", every=400)
    assert [r.n_rows for r in result.curve] == [400, 800, 1000]
    result = prequential(PAClassifier(), (X, y), checkpoints="none")
    assert [r.n_rows for r in result.curve] == [1000]


def test_limit_cuts_within_a_block():
    X, y, _ = _data()
    model = PAClassifier()
    assert prequential(model, (X, y), limit=700).n_rows == 700
    assert model.n_rows_ == 700
    blocks = iter([(X[:500], y[:500]), (X[500:], y[500:])])
    assert prequential(PAClassifier(), blocks, limit=500).n_rows == 500
    assert len(list(blocks)) == 1  # a pipe is not read beyond the limit


def test_warming_up_leaves_the_model_alone():
    X, y, _ = _data()
    first, cold, warm = (
        FOGDClassifier(n_components=20, gamma=0.3, random_state=0) for _ in range(3)
    )
    # from here on nothing is compiled
    prequential(first, (X, y), warm_up=False)
    one = prequential(cold, (X, y), warm_up=False)
    two = prequential(warm, (X, y), warm_up=True)
    assert one.value == two.value
    assert np.array_equal(cold.coef_, warm.coef_)
    assert one.startup_seconds == 0 < two.startup_seconds


def test_times_and_sizes():
    X, _, y = _data(5000)
    result = prequential(PARegressor(), (X, y))
    final = result.final
    assert 0 < final.learn_seconds <= final.seconds
    assert final.rows_per_second == pytest.approx(5000 / final.learn_seconds)
    assert final.model_bytes == 0 or final.model_bytes >= 24
    learned = [row.learn_seconds for row in result.curve]
    assert learned == sorted(learned)


def test_a_checkpoint_within_a_block_has_its_part_of_the_time_and_the_loss_since_the_last():
    curve = GrowingCurve(
        [METRICS["mistakes"]], Marks(True, None), lambda: (0.0, 0), lambda row: None
    )
    for first in (0, 8):
        losses = (np.arange(first, first + 8) % 2).astype(float)
        curve.add([losses], 8, 4.0)
    assert [row.n_rows for row in curve.rows] == [1, 2, 4, 8, 16]
    assert [row.learn_seconds for row in curve.rows] == [0.5, 1.0, 2.0, 4.0, 8.0]
    assert [row.loss_since_last for row in curve.rows] == [0.0, 1.0, 0.5, 0.5, 0.5]


def test_it_takes_streams_models_and_sources():
    X, y, target = _data()
    by_stream = prequential(StreamModel(PAClassifier()), open_stream((X, y)))
    assert by_stream.task == "classification"
    assert by_stream.name == "PAClassifier"
    result = prequential(StreamModel(PARegressor()), (X, target), name="mine", settings={"a": 1})
    assert (result.task, result.name, result.settings) == ("regression", "mine", {"a": 1})


def test_progress_and_after_block_are_told():
    class Watch:
        blocks, rows = 0, ()

        def block(self, run):
            self.blocks += 1

        def checkpoint(self, row):
            self.rows = (*self.rows, row.n_rows)

    X, y, _ = _data()
    watch, seen = Watch(), []
    blocks = [(X[:500], y[:500]), (X[500:], y[500:])]
    prequential(PAClassifier(), blocks, progress=watch, after_block=lambda r: seen.append(r.n_rows))
    assert watch.blocks == 2
    assert watch.rows == (2, 4, 8, 16, 32, 64, 128, 256, 512, 1000)
    assert seen == [500, 1000]


def test_a_bad_row_stops_the_run_after_the_rows_before_it():
    X, y, _ = _data()
    X[600, 1] = np.nan
    model = StreamModel(PAClassifier())
    with pytest.raises(DataError) as error:
        prequential(model, [(X[:500], y[:500]), (X[500:], y[500:])])
    assert error.value.row == 600
    assert model.n_rows == 600


def _bad_number(X, y):
    X[600, 1] = np.nan
    return X, y


def _other_class(X, y):
    y = y.astype("<U9")
    y[500] = "c"  # a new class, which is learned
    X[600] = np.inf
    return X, y


def _bad_target(X, y):
    y = y.copy()
    y[600] = np.inf
    return X, y


@pytest.mark.parametrize("wrapped", [True, False])
@pytest.mark.parametrize(
    ("learner", "change"),
    [(PAClassifier, _bad_number), (PAClassifier, _other_class), (PARegressor, _bad_target)],
)
def test_rows_before_a_bad_one_are_in_the_curve(learner, change, wrapped):
    X, labels, numbers = _data()
    X, y = change(X, labels if learner is PAClassifier else numbers)
    runs = [PrequentialRun(StreamModel(learner()) if wrapped else learner()) for _ in range(2)]
    with pytest.raises(DataError):
        runs[0].step((X, y))
    runs[1].step((X[:600], y[:600]))
    assert runs[0].n_rows == 600
    cut, whole = (run.result() for run in runs)
    assert cut.value == whole.value
    assert [row.loss for row in cut.curve] == [row.loss for row in whole.curve]


def test_a_run_continues_from_its_state():
    X, y, _ = _data()
    whole = PrequentialRun(PAClassifier())
    model = PAClassifier()
    first = PrequentialRun(model)
    for run, rows in ((whole, slice(0, 600)), (whole, slice(600, 1000)), (first, slice(0, 600))):
        run.step((X[rows], y[rows]))
    second = PrequentialRun(model)
    tree, arrays = flatten(first.get_state())
    state = unflatten(json.loads(json.dumps(tree)), arrays)
    second.set_state(state)
    second.step((X[600:], y[600:]))
    for a, b in zip(second.result().curve, whole.result().curve, strict=True):
        assert (a.n_rows, a.loss, a.loss_since_last, a.metrics) == (
            b.n_rows, b.loss, b.loss_since_last, b.metrics,
        )  # fmt: skip
    assert second.result().final.seconds > state["totals"]["seconds"]


def test_an_empty_stream_gives_an_empty_result():
    result = prequential(PAClassifier(), [])
    assert result.n_rows == 0
    assert math.isnan(result.value)
    assert json.loads(result.to_json())["value"] is None


@pytest.mark.parametrize("kwargs", [{"checkpoints": "tens"}, {"every": 0}])
def test_wrong_settings_are_named(kwargs):
    with pytest.raises(ValueError, match=next(iter(kwargs))):
        prequential(PAClassifier(), [], **kwargs)


def test_frame_and_json(tmp_path, monkeypatch):
    X, y, _ = _data()
    result = prequential(PAClassifier(), (X, y))
    frame = result.to_frame()
    assert frame["n_rows"].tolist() == [row.n_rows for row in result.curve]
    assert {"loss", "loss_since_last", "mistakes", "rows_per_second", "model_bytes"} <= set(frame)
    monkeypatch.setitem(sys.modules, "pandas", None)
    assert result.to_frame().column("n_rows").to_pylist() == frame["n_rows"].tolist()
    result.to_json(tmp_path / "r.json")
    found = json.loads((tmp_path / "r.json").read_text())
    assert found["value"] == result.value
    assert found["lower_is_better"] is True
    assert len(found["curve"]) == len(result.curve)


def test_metrics_know_their_direction():
    assert METRICS["mistakes"].better(1.0, 2.0)
    assert METRICS["accuracy"].better(2.0, 1.0)
    assert not METRICS["rmse"].better(1.0, 1.0)
    assert METRICS["rmse"].format(47740.2) == "47,740"
    assert METRICS["mistakes"].format(float("nan")) == "-"
    with pytest.raises(ValueError, match="ranking"):
        metrics_of("ranking")


def test_sources_are_opened_and_single_rows_are_not_taken_for_blocks(tmp_path):
    import pandas as pd

    X, y, _ = _data(200)
    frame = pd.DataFrame(X, columns=["a", "b", "c"]).assign(label=y)
    frame.to_csv(tmp_path / "a.csv", index=False)
    values = [
        prequential(PAClassifier(), source, target="label").value
        for source in (frame, tmp_path / "a.csv", str(tmp_path / "a.csv"))
    ]
    assert values[1:] == [pytest.approx(values[0])] * 2
    with pytest.raises(DataError, match="target="):
        prequential(PAClassifier(), frame)
    for rows in ([({"a": 1.0}, "a")], [(X[0], "a")]):
        with pytest.raises(ValueError, match="open_stream"):
            prequential(PAClassifier(), rows)


def test_evaluate_is_the_package():
    import onkel
    import onkel.evaluation

    assert onkel.evaluate is onkel.evaluation
    assert "evaluate" in dir(onkel)


def test_a_first_row_of_which_nothing_is_known_is_not_scored():
    # far from 0, as the CO2 of the air is: a prediction of 0 for row 1 would be the whole error
    y = 315.0 + np.cumsum(np.random.default_rng(0).normal(size=500)) * 0.1
    X = np.arange(500.0)[:, None]
    result = prequential(PARegressor(), (X, y))
    assert result.scored == "rows 2 to 500"
    assert result.curve[0].n_rows == 2
    predicted = PARegressor().predict_then_learn(X, y)
    assert result.value == pytest.approx(np.sqrt(np.mean((predicted - y)[1:] ** 2)))
    # the baselines are scored on the same rows
    assert result.details["baselines"]["last value"] == pytest.approx(np.mean(np.diff(y) ** 2))
    alone = prequential(PARegressor(), (X[:1], y[:1]))
    assert math.isnan(alone.value)
    assert alone.to_dict()["value"] is None
    assert alone.scored == "no row: no label was known before"
