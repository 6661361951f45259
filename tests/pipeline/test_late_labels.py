"""Labels by id, in any order: predictions and learning equal those of a naive loop."""

from __future__ import annotations

from copy import deepcopy
from datetime import date, datetime, time, timedelta
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from onkel import (
    FOGDRegressor,
    Intervals,
    LateLabels,
    OnlineKernelClassifier,
    OnlineKernelRegressor,
    StreamModel,
    load,
    make,
)
from onkel.errors import DataError, ModelFileError
from onkel.intervals.feedback import LEVELS

N = 250
PARAMS = {"n_components": 15, "speed": "fast"}


def _rows():
    rng = np.random.default_rng(0)
    X, site = rng.normal(size=(N, 2)), rng.integers(0, 3, N)
    y = np.cumsum(rng.normal(size=N)) * 0.3 + X[:, 0] + 4.0 * site
    return X, y, [f"site {s}" for s in site]


@pytest.mark.parametrize("grouped", [False, True])
def test_it_is_the_naive_loop(grouped):
    X, y, site = _rows()
    late, plain = LateLabels(OnlineKernelRegressor(**PARAMS)), OnlineKernelRegressor(**PARAMS)
    order, waiting = np.random.default_rng(1), []
    for t in range(N):
        group = site[t] if grouped else None
        more = {"groups": [group]} if grouped else {}
        ahead = sum(not grouped or site[s] == group for s in waiting)
        learned = t > len(waiting)
        expected = plain.predict_next(X[t : t + 1], ahead, **more)[0] if learned else None
        assert late.predict(t, X[t], group) == expected
        waiting.append(t)
        # labels come in any order
        while len(waiting) > 6 or (waiting and order.uniform() < 0.4):
            s = waiting.pop(int(order.integers(len(waiting))))
            more = {"groups": [site[s]]} if grouped else {}
            plain.partial_fit(X[s : s + 1], y[s : s + 1], **more)
            late.learn(s, y[s])
    assert late.n_waiting == len(waiting)
    assert late.n_forgotten == 0


def test_what_was_predicted_comes_back_with_the_label():
    X, y, _ = _rows()
    labels = np.where(y > np.median(y), "up", "down")
    late = LateLabels(OnlineKernelClassifier(**PARAMS))
    predicted = [late.predict(t, X[t]) for t in range(3)]
    assert predicted == [None] * 3
    assert [late.learn(t, labels[t]) for t in range(3)] == predicted
    for t in range(3, N):
        now = late.predict(t, X[t])
        assert late.learn(t, labels[t]) == now
    assert late.model.n_rows_ == N


@pytest.mark.parametrize("task", ["regression", "classification"])
def test_before_the_first_label_nothing_is_predicted(task, tmp_path):
    late = LateLabels(StreamModel(make("pa", task=task)))
    assert [late.predict(t, {"a": 1.0}) for t in range(3)] == [None] * 3
    assert late.predict("next", {"a": 1.0}, keep=False) is None
    label = 2.0 if task == "regression" else "up"
    assert late.learn(0, label) is None
    assert late.predict(3, {"a": 1.0}) is not None
    # of the rows before, a file says the same
    late.save(tmp_path / "late.onkel")
    late = load(tmp_path / "late.onkel")
    assert late.prediction(1) is None
    assert late.learn(2, label) is None


def test_the_oldest_rows_are_forgotten_and_counted():
    X = _rows()[0]
    late = LateLabels(OnlineKernelRegressor(**PARAMS), most=10)
    for t in range(15):
        late.predict(t, X[t])
    assert (late.n_waiting, late.n_forgotten) == (10, 5)
    with pytest.raises(DataError, match=r"id 4: no row with this id waits.*5 of more than most=10"):
        late.learn(4, 1.0)
    late.learn(5, 1.0)
    with pytest.raises(DataError, match="id 5: no row with this id waits"):
        late.learn(5, 1.0)
    with pytest.raises(DataError, match="id 6: a row with this id waits"):
        late.predict(6, X[6])
    with pytest.raises(ValueError, match="most=0 must be a whole number, at least 1"):
        LateLabels(late.model, most=0)


def test_a_bad_row_is_not_kept_and_a_bad_label_leaves_the_row():
    X = _rows()[0]
    late = LateLabels(OnlineKernelRegressor(**PARAMS))
    late.predict("a", X[0])
    with pytest.raises(DataError):
        late.learn("a", np.nan)
    late.learn("a", 1.0)
    with pytest.raises(DataError):
        late.predict("b", [np.nan, 1.0])
    assert late.n_waiting == 0


def test_a_stream_model_takes_dicts_and_its_groups_column():
    X, y, site = _rows()
    rows = [{"a": a, "b": b, "site": s} for (a, b), s in zip(X.tolist(), site, strict=True)]
    tables = [[dict(rows[t], y=y[t])] for t in range(N)]
    late = LateLabels(StreamModel(OnlineKernelRegressor(**PARAMS)))
    late.model.partial_fit(tables[0], target="y", group="site")
    plain = StreamModel(OnlineKernelRegressor(**PARAMS))
    plain.partial_fit(tables[0], target="y", group="site")
    for t in range(1, 120):
        predicted = late.predict(t, rows[t])
        assert predicted == plain.predict_next(rows[t])[0]
        assert late.learn(t, y[t]) == predicted
        plain.partial_fit(tables[t])
    assert late.model.estimator.memory_.grouped


@pytest.mark.parametrize("named", [False, True])
def test_a_saved_one_goes_on_with_the_rows_that_wait(named, tmp_path):
    X, y, site = _rows()

    def row(t):
        when = datetime(2024, 1, 1) + timedelta(hours=t)
        return {"a/b": X[t, 0], "b": X[t, 1], "site": site[t], "when": when} if named else X[t]

    learner = OnlineKernelRegressor(**PARAMS)
    late = LateLabels(StreamModel(learner) if named else learner, most=9)
    for t in range(60):
        late.predict(t if t % 2 else f"order {t}", row(t))
        if t >= 5:
            late.learn(t - 5 if (t - 5) % 2 else f"order {t - 5}", y[t - 5])
    for t in range(60, 70):
        late.predict(t, row(t))
    late.save(tmp_path / "late.onkel")
    copy = load(tmp_path / "late.onkel")
    assert copy.n_waiting == late.n_waiting == 9
    assert copy.n_forgotten == late.n_forgotten == 6
    for t in (68, 61, 69, 62):
        assert copy.learn(t, y[t]) == late.learn(t, y[t])
    assert copy.predict("next", row(70)) == late.predict("next", row(70))
    with pytest.raises(DataError, match="was never predicted"):
        copy.learn("order 0", 1.0)


def test_a_row_is_kept_as_it_was_whatever_becomes_of_what_was_given():
    X, y, _ = _rows()
    names = list("ab")
    for model in (OnlineKernelRegressor(**PARAMS), StreamModel(OnlineKernelRegressor(**PARAMS))):
        named = isinstance(model, StreamModel)
        late, plain = LateLabels(model), LateLabels(deepcopy(model))
        buffer = dict.fromkeys(names) if named else np.empty(2)
        for t in range(40):
            row = dict(zip(names, X[t].tolist(), strict=True)) if named else X[t].copy()
            buffer.update(row) if named else buffer.put([0, 1], row)
            assert late.predict(t, buffer) == plain.predict(t, row)
            if t >= 3:
                assert late.learn(t - 3, y[t - 3]) == plain.learn(t - 3, y[t - 3])


def test_a_stream_model_of_arrays_takes_arrays(tmp_path):
    X, y, _ = _rows()
    late, plain = LateLabels(StreamModel(FOGDRegressor(random_state=0))), []
    for t in range(20):
        plain.append(late.predict(t, X[t]))
        if t >= 2:
            assert late.learn(t - 2, y[t - 2]) == plain[t - 2]
    late.save(tmp_path / "late.onkel")
    copy = load(tmp_path / "late.onkel")
    assert copy.learn(18, y[18]) == plain[18]
    assert late.learn(18, y[18]) == plain[18]
    assert copy.predict("next", X[20]) == late.predict("next", X[20])


ROW = {"when": datetime(2024, 1, 1, 3), "at": time(6, 30), "place": "north", "size": 1.5}
FORMS = {
    "series": pd.Series,
    "frame": lambda row: pd.DataFrame([row]),
    "polars": lambda row: pl.DataFrame([row]),
    "arrow": lambda row: pa.Table.from_pylist([row]),
    "by position": lambda row: list(row.values()),
    "bytes": lambda row: {**row, "place": b"north"},
    "decimal": lambda row: {**row, "size": Decimal("1.5")},
    "datetime64": lambda row: {**row, "when": np.datetime64(row["when"], "ns")},
}


@pytest.mark.parametrize("form", FORMS)
def test_every_form_of_a_row_is_saved(form, tmp_path):
    many = [
        {**ROW, "place": ["north", "south"][t % 2], "size": float(t % 7), "at": time(t % 24),
         "when": ROW["when"] + timedelta(hours=t)}
        for t in range(60)
    ]  # fmt: skip
    model = StreamModel(FOGDRegressor(random_state=0))
    model.partial_fit(many, [row["size"] - 5.0 * (row["place"] == "north") for row in many])
    late = LateLabels(model)
    predicted = late.predict(1, FORMS[form](ROW))
    assert predicted == model.predict(ROW)[0]
    late.save(tmp_path / "late.onkel")
    copy = load(tmp_path / "late.onkel")
    assert copy.learn(1, 3.0) == late.learn(1, 3.0) == predicted
    assert (copy.model.predict(many) == late.model.predict(many)).all()


def test_gaps_of_rows_that_wait_are_saved(tmp_path):
    model = StreamModel(FOGDRegressor(random_state=0))
    model.partial_fit([{**ROW, "size": float(t % 7)} for t in range(30)], np.arange(30.0))
    for gap in (None, float("nan"), pd.NA, pd.NaT):
        for name in ROW:
            late = LateLabels(model)
            predicted = late.predict("a", {**ROW, name: gap})
            late.save(tmp_path / "late.onkel")
            assert load(tmp_path / "late.onkel").learn("a", 1.0) == predicted


@pytest.mark.parametrize("x", ["abc", 3, None, [[1.0, 2.0]] * 2, {"a": 1.0}, [1.0, [2.0]]])
def test_what_is_no_row_is_refused(x):
    late = LateLabels(OnlineKernelRegressor(**PARAMS))
    with pytest.raises(DataError, match=r"one row is expected, an array \(d,\); got"):
        late.predict("a", x)
    assert late.n_waiting == 0


def test_the_model_and_the_number_that_may_wait_are_checked():
    with pytest.raises(TypeError, match="model=None must be a StreamModel or an estimator"):
        LateLabels(None)
    with pytest.raises(ValueError, match="most='3' must be a whole number"):
        LateLabels(OnlineKernelRegressor(), most="3")


@pytest.mark.parametrize(
    ("id", "why"),
    [
        ((1, 2), r"id \(1, 2\): tuple cannot be written"),
        ([1], "list cannot be written"),
        (frozenset({1}), "frozenset cannot be written"),
        (float("nan"), "id nan: is missing"),
        (pd.NaT, "is missing"),
        (np.float64("nan"), "is missing"),
    ],
)
def test_an_id_that_cannot_be_saved_is_refused_at_once(id, why, tmp_path):
    late = LateLabels(OnlineKernelRegressor(**PARAMS))
    with pytest.raises(DataError, match=why):
        late.predict(id, [0.0, 1.0])
    assert late.n_waiting == 0
    for good in ("a", 1, 2.5, np.int64(7), None, datetime(2024, 1, 2)):
        late.predict(good, [0.0, 1.0])
    late.save(tmp_path / "late.onkel")
    assert load(tmp_path / "late.onkel").n_waiting == 6


def test_a_dict_with_a_new_key_is_taken(tmp_path):
    X, y, _ = _rows()
    late = LateLabels(StreamModel(OnlineKernelRegressor(**PARAMS)))
    for t in range(60):
        late.predict(t, {"a": X[t, 0], "b": X[t, 1]})
        late.learn(t, y[t])
    twin = deepcopy(late)
    predicted = late.predict("new", {"a": 0.5, "b": 1.0, "c": 3.0})
    assert predicted == twin.predict("new", {"a": 0.5, "b": 1.0})
    late.save(tmp_path / "late.onkel")
    for one in (late, load(tmp_path / "late.onkel")):
        one.learn("new", 1.0)
        assert list(one.model.encoder.kinds) == ["a", "b", "c"]
        assert np.isfinite(one.predict("next", {"a": 0.5, "b": 1.0, "c": 2.0}))


@pytest.mark.parametrize(
    "change",
    [{"ids": ["a", "a"]}, {"ids": None}, {"groups": []}, {"X": None}, {"predicted": [[1.0]] * 2},
     {"X": np.zeros(2)}],
)  # fmt: skip
def test_a_state_that_is_none_is_refused(change, tmp_path):
    late = LateLabels(OnlineKernelRegressor(**PARAMS))
    late.predict("a", [0.0, 1.0])
    late.predict("b", [0.0, 1.0])
    state = late.get_state()
    state["waiting"] |= change
    late.get_state = lambda: state
    late.save(tmp_path / "late.onkel")
    with pytest.raises(ModelFileError):
        load(tmp_path / "late.onkel")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"model": None}, "model: is NoneType, not a model"),
        ({"model": {"class": "FOGDRegressor"}}, "model/state: is missing"),
        ({"model": {"class": "Nobody", "state": {}}}, "model.*'Nobody' is not a model class"),
        ({"most": 0}, "most: is 0"),
        ({"waiting": None}, "waiting: is no group of fields"),
        ({"waiting": {"due": np.zeros((1, 1))}}, "waiting/due: has shape"),
    ],
)
def test_what_is_wrong_with_a_state_is_named(change, message):
    state = LateLabels(OnlineKernelRegressor(**PARAMS)).get_state()
    with pytest.raises(ModelFileError, match=message):
        LateLabels.from_state(state | change)


def test_a_time_that_is_none_is_refused():
    late = LateLabels(OnlineKernelRegressor(**PARAMS))
    late.predict(date(2026, 1, 2), [0.0, 1.0])
    state = late.get_state()
    assert LateLabels.from_state(state).oldest == date(2026, 1, 2)
    state["waiting"]["ids"] = [{"date": "today"}]
    with pytest.raises(ModelFileError, match="waiting/ids/values: 'today' is no date"):
        LateLabels.from_state(state)


def test_rows_with_more_or_fewer_columns_wait_in_a_file(tmp_path):
    late = LateLabels(StreamModel(FOGDRegressor(n_components=5, random_state=0)))
    late.predict(0, {"a": 1.0})
    late.learn(0, 1.0)
    late.predict(1, {"a": 1.0})
    # a column that the model never had does not move the prediction
    assert late.predict(2, {"a": 1.0, "new": 3.0}) == late.predict(3, {"a": 1.0}, keep=False)
    assert (late.oldest, 2 in late, 3 in late) == (1, True, False)
    late.save(tmp_path / "m.onkel")
    found = load(tmp_path / "m.onkel")
    found.learn(2, 1.0)
    assert found.model.encoder.kinds == {"a": "number", "new": "number"}
    assert found.oldest == 1


def test_a_row_that_waited_while_a_column_came_has_a_gap_there():
    late = LateLabels(StreamModel(make("pa", task="regression")))
    late.predict(1, {"a": 1.0})
    late.predict(2, {"a": 2.0, "b": 5.0})
    late.learn(2, 3.0)
    late.learn(1, 4.0)
    assert late.model.n_rows == 2


@pytest.mark.parametrize("make", [
    lambda: OnlineKernelRegressor(n_components=20, speed="fast"),
    lambda: StreamModel(FOGDRegressor(n_components=20, gamma=0.5, random_state=0)),
])  # fmt: skip
def test_bounds_learn_what_was_said_when_the_row_came(make, tmp_path):
    """A target that wanders: labels eight rows late, so errors grow with the wait."""
    rng = np.random.default_rng(0)
    n, delay = 600, 8
    X = rng.standard_normal((n, 2))
    y = 50.0 + np.cumsum(rng.standard_normal(n)) + X[:, 0]
    late, said, bounds = LateLabels(make()), [], []
    tracker, ways = Intervals(LEVELS), []
    for t in range(n):
        bounds.append(late.predict_interval(X[t]))
        said.append(late.predict(t, X[t]))
        ways.append(tracker.way())
        if (k := t - delay) >= 0:
            late.learn(k, float(y[k]))
            # rows predicted before the first label say nothing of errors
            if k > delay:
                tracker.learn_late(np.array(said[k : k + 1]), y[k : k + 1], ways[k][None])
        if t == 300:
            late.save(tmp_path / "late.onkel")
            late = load(tmp_path / "late.onkel")
    first = delay + 1
    assert bounds[:first] == [None] * first
    model = late.model
    feedback = model.feedback if isinstance(model, StreamModel) else model.feedback_
    assert feedback.next.n_rows == n - delay - first
    np.testing.assert_allclose(feedback.next.q_, tracker.q_, rtol=1e-6)
    found, y = np.array(bounds[200:]), y[200:]
    inside = (found[:, 0] <= y) & (y <= found[:, 1])
    assert abs(inside.mean() - 0.9) < 0.03


@pytest.mark.parametrize("together", [1, 24])
def test_coverage_where_labels_are_late(together):
    """Steps of a walk over 24 rows; judged by bounds of later on, 76 % or 70 % were inside."""
    n, delay = 4000, 24
    walk = np.cumsum(np.random.default_rng(0).standard_normal(n + delay))
    y = walk[delay:] - walk[:-delay]
    late = LateLabels(FOGDRegressor(n_components=2, feedback=True, random_state=0))
    inside, known = [], 0
    for t in range(n):
        if t > 200:
            low, high = late.predict_interval([0.0])
            inside.append(low <= y[t] <= high)
        late.predict(t, [0.0])
        late.predict(f"{t}, whose label never comes", [0.0])
        if t % together == 0:
            while known <= t - delay:
                late.learn(known, y[known])
                known += 1
    assert abs(np.mean(inside) - 0.9) < 0.025


def test_rows_of_a_file_of_before_are_judged_by_the_bounds_of_now():
    rng = np.random.default_rng(0)
    late = LateLabels(OnlineKernelRegressor(**PARAMS))
    for t in range(60):
        late.predict(t, rng.standard_normal(2))
        if t >= 8:
            late.learn(t - 8, float(rng.standard_normal()))
    state = late.get_state()
    old = state | {"waiting": {**state["waiting"]}}
    del old["waiting"]["ways"]
    old, new = LateLabels.from_state(old), LateLabels.from_state(state)
    tracker = deepcopy(new.model.feedback_.next)
    said = [float(late.prediction(t)) for t in range(52, 60)]
    for t in range(52, 60):
        old.learn(t, 1.0)
        new.learn(t, 1.0)
    tracker.learn(said, np.ones(8))
    np.testing.assert_array_equal(old.model.feedback_.next.numbers, tracker.numbers)
    assert not np.array_equal(new.model.feedback_.next.q_, tracker.q_)


def test_sets_of_late_labels():
    rng = np.random.default_rng(0)
    late = LateLabels(OnlineKernelClassifier(n_components=20, speed="fast"))
    for t in range(300):
        x = rng.standard_normal(2)
        if t == 0:
            assert late.predict_set(x) is None
        late.predict(t, x)
        late.learn(t, "up" if x[0] > 0 else "down")
    np.testing.assert_array_equal(late.predict_set([3.0, 0.0], 0.99), [False, True])


def test_rows_with_gaps_of_a_block_are_dropped_and_wait_no_more():
    model = StreamModel(make("pa", task="regression"), settings={"missing": "skip"})
    late = LateLabels(model)
    rows = [{"a": 1.0, "b": 2.0}, {"a": 1.0}, {"a": 2.0, "b": 2.0}]
    for id, row in enumerate(rows):
        late.predict(id, row)
    model.learn_one({"a": 1.0, "b": 3.0}, 1.0)
    late.learn_all([1, 2], [1.0, 2.0])
    assert model.n_rows == 2
    assert [id in late for id in range(3)] == [True, False, False]


def test_room_for_fewer_rows_is_made_by_the_next_row():
    X = _rows()[0]
    late = LateLabels(OnlineKernelRegressor(**PARAMS), most=10)
    for t in range(10):
        late.predict(t, X[t])
    late.most = 4
    late.predict(10, X[10])
    assert (late.n_waiting, late.n_forgotten, late.oldest) == (4, 7, 7)


@pytest.mark.parametrize("together", [1, 24])
@pytest.mark.parametrize("kind", [OnlineKernelClassifier, StreamModel])
def test_coverage_of_sets_where_labels_are_late(kind, together, tmp_path):
    """Classes that stay for a while; judged by sets of later on, fewer than 5 % were inside."""
    n, delay, rng = 3000, 60, np.random.default_rng(0)
    y = np.repeat(rng.integers(0, 3, n // 30), 30)
    learner = OnlineKernelClassifier(n_components=10, speed="fast")
    late, inside, known = LateLabels(learner if kind is not StreamModel else kind(learner)), [], 0
    for t in range(n):
        x = rng.standard_normal(2)
        x = dict(zip("uv", x.tolist(), strict=True)) if kind is StreamModel else x
        if t > 500:
            label = list(late.model.classes_).index("abc"[y[t]])
            inside.append(late.predict_set(x, 0.9)[label])
        late.predict(t, x)
        late.predict(f"{t}, whose label never comes", x)
        if t % together == 0:
            ids = range(known, max(t - delay, -1) + 1)
            if kind is StreamModel:
                late.learn_all(list(ids), ["abc"[y[k]] for k in ids])
            for k in ids if kind is not StreamModel else ():
                late.learn(k, "abc"[y[k]])
            known = max(t - delay + 1, known)
        if t == 2000:
            late.save(tmp_path / "late.onkel")
            late = load(tmp_path / "late.onkel")
    assert abs(np.mean(inside) - 0.9) < 0.03


def test_sets_and_alarm_learn_what_was_known_when_the_row_came():
    """But rows that came before a class that is new are judged by the sets of now."""
    rng = np.random.default_rng(0)
    late = LateLabels(make("krls", task="classification", feedback=True))
    labels = [("up", "down")[k] for k in rng.integers(0, 2, 300)]
    labels[200] = "left"
    shown, n_judged, n_now = {}, 0, 0
    for t in range(300):
        x = rng.standard_normal(2)
        if t > 60:
            sets = [late.predict_set(x, level) for level in LEVELS]
            shown[t] = sets, late.model.feedback_.next.n_rows
        said = late.predict(t, x)
        if t > 60:
            shown[t] += (said,)
        if (k := t - 20) < 0:
            continue
        before = deepcopy(getattr(late.model, "feedback_", None))
        late.learn(k, labels[k])
        if k not in shown:
            continue
        sets, learned, said = shown[k]
        found, tracker = late.model.feedback_, before.next
        code = late.model.classes_.tolist().index(labels[k])
        if len(sets[0]) != len(late.model.classes_):
            assert found.next.between_ == tracker.between_
            n_now += 1
            continue
        between = tracker.between_ + (tracker.n_rows - learned - tracker.between_) / 50.0
        moved = np.array([not own[code] for own in sets]) - (1.0 - np.array(LEVELS))
        q = tracker.q_ + 0.5 / (1.0 + between / 8.0) * moved
        np.testing.assert_allclose(found.next.q_, q, atol=1e-12)
        before.alarm.learn(np.array([float(said != labels[k])]))
        np.testing.assert_equal(found.alarm.get_state(), before.alarm.get_state())
        n_judged += 1
    assert (n_judged, n_now) == (198, 21)


def test_rows_with_sets_that_do_not_fit_are_refused():
    late = LateLabels(make("krls", task="classification", feedback=True))
    for t in range(30):
        late.predict(t, [float(t), 1.0])
        if t >= 5:
            late.learn(t - 5, "up" if t % 3 else "down")
    state = late.get_state()
    again = LateLabels.from_state(state)
    assert [row.sets for row in again.waiting.rows()] == [row.sets for row in late.waiting.rows()]
    assert all(len(row.sets.outside) == 2 for row in again.waiting.rows())
    sets = state["waiting"]["sets"]
    for name, value in (("outside", sets["outside"] + 9), ("best", sets["best"] + 2),
                        ("learned", sets["learned"][1:]), ("best", None)):  # fmt: skip
        bad = state | {"waiting": state["waiting"] | {"sets": sets | {name: value}}}
        with pytest.raises(ModelFileError):
            LateLabels.from_state(bad)
    # a file of before has none
    del state["waiting"]["sets"]
    assert {row.sets for row in LateLabels.from_state(state).waiting.rows()} == {None}
