"""Events one by one: the predictions and the model of a block, and of a loop over late labels."""

from __future__ import annotations

import math
import signal
from unittest.mock import Mock

import numpy as np
import pytest

import onkel
from onkel import LateLabels, StreamModel
from onkel.errors import ModelFileError
from onkel.serve import LiveModel

SETTINGS = {"missing": "auto", "dtype": "float32"}


def _new(task="regression", name="pa", **settings):
    return StreamModel(onkel.make(name, task=task), settings={**SETTINGS, **settings})


def _messy(seed, n=120, task="regression", late=60):
    """Rows with gaps, absent keys, growing categories, a column that begins late; and labels."""
    rng = np.random.default_rng(seed)
    rows, labels = [], []
    for t in range(n):
        a, b = rng.normal(size=2).tolist()
        row = {"a": a, "b": b * 1000, "place": f"p{int(rng.integers(0, 2 + t // 20))}"}
        if t >= late:
            row["late"] = float(rng.normal())
        if t:
            for name in list(row):
                chance = rng.uniform()
                if chance < 0.05:
                    row[name] = None
                elif chance < 0.1 and len(row) > 1:
                    del row[name]
        rows.append(row)
        value = a + 0.5 * b
        labels.append(value if task == "regression" else ("up" if value > 0 else "down"))
    return rows, labels


def _bytes(model, path):
    model.save(path)
    return path.read_bytes()


@pytest.mark.parametrize("task", ["regression", "classification"])
@pytest.mark.parametrize("seed", range(4))
def test_rows_with_labels_are_those_of_a_block(tmp_path, seed, task):
    rows, labels = _messy(seed, task=task, late=5)
    base = _new(task)
    base.partial_fit(rows[:30], labels[:30])
    base.save(tmp_path / "base.onkel")

    block = onkel.load(tmp_path / "base.onkel")
    expected = block.predict_then_learn(rows[30:], labels[30:]).tolist()

    live = LiveModel.load(tmp_path / "base.onkel", target="label", proba=False, say=pytest.fail)
    answers = [live.take({**row, "label": y})
               for row, y in zip(rows[30:], labels[30:], strict=True)]  # fmt: skip
    found = [answer["prediction"] for answer in answers]
    assert [answer["model_rows"] for answer in answers] == list(range(30, 120))
    assert found == expected

    loop = onkel.load(tmp_path / "base.onkel")
    looped = []
    for row, y in zip(rows[30:], labels[30:], strict=True):
        gaps = dict.fromkeys(loop.encoder.kinds)
        looped.append(loop.predict_then_learn(gaps | row, [y])[0].item())
    assert found == looped
    loop.encoder.target = live.model.encoder.target
    assert _bytes(live.model, tmp_path / "live.onkel") == _bytes(loop, tmp_path / "loop.onkel")
    probe = [dict.fromkeys(base.encoder.kinds) | row for row in rows]
    assert live.model.predict(probe).tolist() == block.predict(probe).tolist()


@pytest.mark.parametrize("grouped", [False, True])
@pytest.mark.parametrize("seed", range(3))
def test_labels_in_any_order_are_those_of_a_loop(tmp_path, seed, grouped):
    rows, labels = _messy(seed)
    more = {"group": "place"} if grouped else {}
    live = LiveModel(_new(**more), target="label", say=pytest.fail)
    late = LateLabels(_new(**more))
    rng, waiting = np.random.default_rng(seed), []
    for t, row in enumerate(rows):
        full = {**row, "place": row.get("place") or "p0"}
        encoder = late.model.encoder
        gaps = {} if encoder is None else dict.fromkeys(encoder.kinds)
        before = late.model.n_rows
        answer = live.take({"id": t, **full})
        expected = late.predict(t, gaps | full)
        wanted = expected if before else None
        assert answer == {"id": t, "prediction": wanted, "model_rows": before}
        waiting.append(t)
        while len(waiting) > 5 or (waiting and rng.uniform() < 0.4):
            s = waiting.pop(int(rng.integers(len(waiting))))
            assert live.take({"id": s, "y": labels[s]}) is None
            late.learn(s, labels[s])
            late.model.encoder.target = "label"
        if t == 60:  # it goes on where it was saved
            live.save(tmp_path / "m.onkel")
            live = LiveModel.load(tmp_path / "m.onkel", say=pytest.fail)
    assert live.late.n_waiting == len(waiting)
    assert _bytes(live.model, tmp_path / "a") == _bytes(late.model, tmp_path / "b")


@pytest.mark.parametrize("together", [False, True])
def test_fewer_rows_may_wait_after_a_restart(tmp_path, together):
    said = []
    live = LiveModel(_new(), most=20, say=said.append)
    live.take({"id": "first", "a": 1.0, "y": 1.0})
    for k in range(20):
        live.take({"id": k, "a": 1.0})
    live.save(tmp_path / "m.onkel")
    assert said == []
    live = LiveModel.load(tmp_path / "m.onkel", most=5, say=said.append)
    new = [{"id": 20 + k, "a": 1.0} for k in range(3)]
    answers = list(live.take_all(new)) if together else [live.take(row) for row in new]
    assert not any("error" in answer for answer in answers)
    assert said == [f"id {k}: forgotten, as 5 younger rows wait" for k in range(18)]
    assert (live.late.n_waiting, live.late.n_forgotten, len(live.ids.waiting)) == (5, 18, 5)
    assert live.late.oldest == 18
    live.take({"id": 17, "y": 1.0})
    assert live.counts["late"] == 1


def test_labels_unknown_doubled_and_late_are_told():
    said = []
    live = LiveModel(_new(), target="price", most=2, say=said.append)
    live.take({"id": 0, "a": 1.0, "price": 1.0})
    for id in (1, 2, 3):
        live.take({"id": id, "a": 1.0})
    for id, word in ((9, "unknown"), (0, "doubled"), (1, "late"), (None, "unknown")):
        before = len(said)
        assert live.take({"id": id, "y": 4.5}) is None
        assert said[before:] == [said[-1]]
        assert said[-1].startswith(f"{word} label 4.5 of id {id!r}")
    assert said[0] == "id 1: forgotten, as 2 younger rows wait"
    assert live.counts == {
        "rows": 4, "labels": 1, "refused": 0, "unknown": 2, "doubled": 1, "late": 1,
        "repeated": 0,
    }  # fmt: skip
    assert live.take({"id": 3, "price": 2.0}) is None
    assert live.model.n_rows == 2


@pytest.mark.parametrize("bad", [None, [1], {"a": 1}, math.nan, "much", 10**400])
def test_after_a_bad_label_the_row_waits_for_another(bad):
    said = []
    live = LiveModel(_new(), say=said.append)
    live.take({"id": 0, "a": 1.0, "y": 1.0})
    live.take({"id": 1, "a": 2.0})
    live.take({"id": 1, "y": bad})
    assert "the row waits for another" in said[0]
    assert live.model.n_rows == 1
    live.take({"id": 1, "y": 2.0})
    assert live.model.n_rows == 2
    assert len(said) == 1


@pytest.mark.parametrize("level", [0.0, 0.9])
def test_a_number_as_text_is_learned_once_as_that_number(level):
    said = []
    live = LiveModel(_new(), level=level, say=said.append)
    same = LiveModel(_new(), level=level, say=pytest.fail)
    for t in range(20):
        live.take({"id": t, "a": t % 5, "y": f" {t % 5 + 0.5}"})
        same.take({"id": t, "a": t % 5, "y": t % 5 + 0.5})
    for own, y in ((live, "5.5"), (same, 5.5)):
        own.take({"id": "late", "a": 2.0})
        own.take({"id": "late", "y": y})
    assert live.model.n_rows == live.counts["labels"] == 21
    assert live.report() == same.report()
    assert live.to_bytes() == same.to_bytes()
    live.take({"id": "late", "y": "5.5"})
    assert said == ["doubled label '5.5' of id 'late': the row was learned already"]
    for text in ("1_000", "１２", "0x1", "much", "1 2"):
        live.take({"id": text, "a": 1.0, "y": text})
        assert f"{text!r} is not a number; every target must be one" in said[-1]
    assert live.model.n_rows == 21


@pytest.mark.parametrize(
    "bad", [{"a": "much"}, {"a": [1.0]}, {"a": {}}, {"id": [1], "a": 1.0}, {"id": 7, "a": 1.0},
            {"id": math.nan, "a": 1.0}]
)  # fmt: skip
def test_a_bad_row_is_answered_and_changes_nothing(bad):
    said = []
    live = LiveModel(_new(), say=said.append)
    live.take({"id": 0, "a": 1.0, "y": 1.0})
    live.take({"id": 7, "a": 1.0})
    answer = live.take(bad)
    assert set(answer) == {"id", "error"}
    assert len(said) == live.counts["refused"] == 1
    assert (live.model.n_rows, live.late.n_waiting) == (1, 1)


@pytest.mark.parametrize("bad", [{"a": "much"}, {"a": None}])
def test_a_bad_row_with_its_label_is_refused_once(bad):
    said = []
    live = LiveModel(_new(missing="error"), say=said.append)
    live.take({"id": 0, "a": 1.0, "y": 1.0})
    assert set(live.take({"id": 1, "y": 2.0, **bad})) == {"id", "error"}
    assert len(said) == live.counts["refused"] == 1
    assert "waits" not in said[0]  # the row itself is refused: no other label can come
    assert live.late.n_waiting == 0


def test_a_row_without_an_id_is_predicted_and_displaces_none():
    live = LiveModel(_new(), most=1, say=pytest.fail)
    live.take({"id": 0, "a": 1.0, "y": 1.0})
    live.take({"id": 1, "a": 1.0})
    assert live.take({"a": 3.0})["prediction"] is not None
    live.take({"id": 2, "a": 1.0, "y": 1.0})
    assert live.late.oldest == 1


def test_a_classifier_answers_with_probabilities():
    live = LiveModel(_new("classification", "okl"), say=pytest.fail)
    live.take({"a": 1.0, "y": "up"})
    live.take({"a": -1.0, "y": "down"})
    shares = live.take({"a": 1.0})["probabilities"]
    assert set(shares) == {"up", "down"}
    assert sum(shares.values()) == pytest.approx(1.0)


def test_the_report_has_score_and_skill():
    live = LiveModel(_new(name="okl"), say=pytest.fail)
    rng = np.random.default_rng(0)
    losses, means, seen = [], [], []
    for t in range(200):
        x = float(rng.normal())
        answer = live.take({"id": t, "a": x, "y": x})
        if t:
            losses.append((answer["prediction"] - x) ** 2)
            means.append([(np.mean(seen) - x) ** 2, (seen[-1] - x) ** 2])
        seen.append(x)
    report = live.report()
    assert report["score"]["rmse"] == pytest.approx(np.mean(losses) ** 0.5)
    skill = 1 - np.sum(losses) / np.sum(means, axis=0).min()
    assert report["skill"] == pytest.approx(skill)
    assert live.report()["recent"] == {}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"counts": {"rows": -1}}, "counts: holds 'rows', which is -1"),
        ({"options": None}, "options: is nothing"),
        ({"position": 3}, "position: is int"),
        ({"position": "{"}, "position holds what cannot be read"),
        ({"ids": np.zeros(3, np.uint8)}, "ids holds what cannot be read"),
        ({"ids": np.frombuffer(b"[[1]]", np.uint8)}, "ids holds what cannot be read"),
        ({"number": 0.5}, "number: is float"),
        ({"waiting": {}}, "waiting/due: is missing"),
    ],
)
def test_what_is_wrong_with_the_state_of_a_live_model_is_named(change, message):
    live = LiveModel(_new(), say=pytest.fail)
    live.take({"id": 0, "a": 1.0, "y": 1.0})
    state = live.get_state()
    with pytest.raises(ModelFileError, match=message):
        LiveModel(_new()).set_state(state | change)
    del state["counts"]  # of an earlier version
    LiveModel(_new()).set_state(state)


def test_what_does_not_fit_is_refused(tmp_path):
    with pytest.raises(ValueError, match="the label has that name, too"):
        LiveModel(_new(), id="y")
    onkel.make("pa", task="regression").partial_fit(np.ones((3, 1)), np.arange(3.0)).save(
        tmp_path / "m.onkel"
    )
    with pytest.raises(ModelFileError, match="without its columns"):
        LiveModel.load(tmp_path / "m.onkel")
    live = LiveModel(_new(), target="price")
    live.take({"a": 1.0, "price": 2.0})
    live.save(tmp_path / "n.onkel")
    with pytest.raises(ValueError, match="with the target 'price'"):
        LiveModel.load(tmp_path / "n.onkel", target="cost")


def test_a_model_knows_its_target_before_the_first_label(tmp_path):
    live = LiveModel(_new(target="price"), target="price", say=pytest.fail)
    live.take({"id": 1, "a": 1.0})
    live.write(tmp_path / "m.onkel")
    again = LiveModel.load(tmp_path / "m.onkel", say=pytest.fail)
    assert again.target == "price"
    assert again.take({"id": 1, "price": 2.0}) is None
    again.take({"id": 2, "a": 1.0, "price": 2.0})
    assert list(again.model.encoder.kinds) == ["a"]
    with pytest.raises(ValueError, match="with the target 'price'"):
        LiveModel.load(tmp_path / "m.onkel", target="cost")


def test_a_regressor_answers_with_intervals():
    live = LiveModel(_new(), level=0.9, say=pytest.fail)
    assert "interval" not in live.take({"a": 0.0, "y": 0.0})
    for t in range(1, 30):
        live.take({"a": t % 5 + 0.5, "y": t % 5})
    answer = live.take({"id": 1, "a": 1.5})
    low, high = answer["interval"]
    assert low < answer["prediction"] < high


@pytest.mark.parametrize("block", [1, 50])
def test_coverage_where_labels_are_late(block, tmp_path):
    """Steps of a walk over 24 rows; judged by bounds of later on, 78 % or 66 % were inside."""
    n, delay = 3000, 24
    walk = np.cumsum(np.random.default_rng(0).standard_normal(n + delay))
    labels = [{"id": t, "y": y} for t, y in enumerate((walk[delay:] - walk[:-delay]).tolist())]
    live, known = LiveModel(_new(), level=0.9, say=pytest.fail), 0
    for t in range(0, n, block):
        rows = [{"id": k, "a": 0.0} for k in range(t, t + block)]
        list(live.take_all(rows))
        if (last := t + block - delay) > known:
            list(live.take_all(labels[known:last]))
            known = last
        if t == 1000:
            live.report()
            live.save(tmp_path / "m.onkel")
            live = LiveModel.load(tmp_path / "m.onkel", level=0.9, say=pytest.fail)
    assert abs(live.report()["recent"]["coverage"] - 0.9) < 0.025


def test_the_report_has_coverage_and_alarms():
    live = LiveModel(_new(), level=0.9, say=pytest.fail)
    rng, inside = np.random.default_rng(0), []
    for t in range(700):
        x, y = (rng.normal(size=2) * (1.0 if t < 500 else 50.0)).tolist()
        if t % 2:
            answer = live.take({"id": t, "a": x, "y": y})
        else:
            answer = live.take({"id": t, "a": x})
            live.take({"id": t, "y": y})
        if t:
            low, high = (math.inf if end is None else end for end in answer["interval"])
            inside.append((low <= y or math.isinf(low)) and y <= high)
    report = live.report()
    assert report["score"]["coverage"] == pytest.approx(np.mean(inside))
    assert report["recent"]["coverage"] == report["score"]["coverage"]
    assert report["alarms"] == live.model.alarms_
    assert report["alarms"][0] > 500
    assert "coverage" not in live.report()["recent"]


def _events(seed, n=400):
    """Bursts of rows, labels and rows with labels; some bad, doubled, unknown or cut short."""
    rng = np.random.default_rng(seed)
    rows, labels = _messy(seed)
    events, waiting = [], []
    while len(events) < n:
        for _ in range(int(rng.integers(1, 30))):
            k = int(rng.integers(len(rows)))
            id, kind = (
                len(events),
                int(rng.integers(3)) if rng.random() < 0.1 else len(events) // 40,
            )
            if kind % 3 == 0:
                events.append({"id": id, **rows[k]})
                waiting.append((id, labels[k]))
            elif kind % 3 == 1 and waiting:
                own, y = waiting.pop(int(rng.integers(len(waiting))))
                events.append({"id": own, "y": y})
            else:
                events.append({"id": id, **rows[k], "label": labels[k]})
            if rng.random() < 0.05:
                bad = [{"id": 0, "y": 1.0}, {"id": 10**6, "y": 1.0}, dict(events[-1]), {"id": id},
                       {"id": id, "x": [1]}, {**events[-1], "label": None}, {"id": None, "x": 1.0},
                       {**events[-1], "id": -id, "label": math.nan}, {**events[-1], "new": 3.0},
                       {**events[-1], "id": 0.5}, {"id": events[0]["id"], "y": None}]  # fmt: skip
                events.append(bad[int(rng.integers(len(bad)))])
    return events


def _near(a, b):
    """Whether two answers or states are equal but for the last digits."""
    if isinstance(a, dict):
        return a.keys() == b.keys() and all(_near(a[name], b[name]) for name in a)
    if isinstance(a, list | tuple):
        return len(a) == len(b) and all(map(_near, a, b))
    if isinstance(a, float | np.ndarray) and np.asarray(a).dtype.kind == "f":
        return np.shape(a) == np.shape(b) and np.allclose(a, b, 1e-9, 1e-9, equal_nan=True)
    return np.array_equal(a, b) if isinstance(a, np.ndarray) else a == b


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("level", [0.0, 0.9])
@pytest.mark.parametrize("most", [100_000, 20])
def test_events_that_came_together_are_taken_as_one_by_one(seed, level, most):
    events = _events(seed)
    both, rng = [], np.random.default_rng(seed)
    for whole in (True, False):
        said = []
        learner = onkel.make("pa", task="regression", dtype="float64")
        model = StreamModel(learner, settings={"missing": "auto", "dtype": "float64"})
        live = LiveModel(model, target="label", level=level, most=most, say=said.append)
        answers, start = [], 0
        while start < len(events):
            part = events[start : start + (int(rng.integers(1, 90)) if whole else 1)]
            start += len(part)
            answers += live.take_all(part) if whole else [live.take(part[0])]
        state = model.get_state()
        # means of the numbers that are there from the start; others have no gaps to fill
        state["encoder"]["means"] = state["encoder"]["means"][:2]
        del state["encoder"]["counts"]
        # which of two errors is larger may hang on the last digit
        del state["feedback"]["alarm"]["ties"]
        both.append((answers, said, live.report(), live.late.waiting.get_state(), state))
    for found, wanted in zip(*both, strict=True):
        assert _near(found, wanted)
    assert both[0][2]["labels"] > 100


def test_rows_in_a_burst_have_probabilities():
    live = LiveModel(_new("classification", "krls"), target="label", say=pytest.fail)
    rows, labels = _messy(0, task="classification", late=9)
    for row, y in zip(rows[:60], labels, strict=False):
        live.take({**row, "label": y})
    found = list(live.take_all([{"id": t, **row} for t, row in enumerate(rows[60:80])]))
    assert len(found) == 20
    for t, answer in enumerate(found):
        row = dict.fromkeys(live.model.encoder.kinds) | rows[60 + t]
        wanted = live.model.predict_proba_next(row, t)[0].tolist()
        assert list(answer["probabilities"].values()) == pytest.approx(wanted, abs=1e-6)
        assert answer["model_rows"] == 60


def test_a_row_whose_label_comes_after_a_thousand_others_is_scored():
    live = LiveModel(onkel.StreamModel(onkel.make("pa", task="regression")))
    live.take({"id": "first", "a": 0.5, "y": 1.0})
    live.take({"id": "old", "a": 2.0})
    for t in range(1024):
        live.take({"id": t, "a": 0.5, "y": 1.0})
    live.take({"id": "old", "y": 3.0})
    # the baselines know what they knew of the rows before
    assert live.report()["labels"] == 1026
    assert live.report()["skill"] < 1


@pytest.mark.parametrize("n", [2, 2000])
@pytest.mark.parametrize("task", ["regression", "classification"])
def test_a_row_without_a_prediction_is_never_scored(task, n):
    """Its label comes after those of rows that were predicted."""
    label, other = (1000.0, 1.0) if task == "regression" else ("up", "down")
    live = LiveModel(_new(task), say=pytest.fail)
    assert live.take({"id": "late", "a": 1.0})["prediction"] is None
    assert live.take({"id": "first", "a": 1.0, "y": label})["prediction"] is None
    for t in range(n):
        assert live.take({"id": t, "a": 1.0, "y": label})["prediction"] == label
    live.take({"id": "late", "y": other})
    score = live.report()["score"]
    assert set(score.values()) == {0.0}
    assert live.score._now().n_rows == n


def test_baselines_know_the_labels_that_had_come():
    rng = np.random.default_rng(0)
    live = LiveModel(_new(), say=pytest.fail)
    learned, known, losses, own = [], {}, [], []
    ids = list(rng.permutation(60).tolist())
    for id in ids:
        y = float(rng.normal())
        answer = live.take({"id": id, "a": 1.0})
        known[id] = y, list(learned), answer["prediction"]
        while len(known) > 8 or (known and rng.random() < 0.4):
            which = list(known)[int(rng.integers(len(known)))]
            y, had, predicted = known.pop(which)
            live.take({"id": which, "y": y})
            learned.append(y)
            if had:
                losses.append([(np.mean(had) - y) ** 2, (had[-1] - y) ** 2])
                own.append((predicted - y) ** 2)
    baseline = np.sum(losses, axis=0).min()
    assert live.report()["skill"] == pytest.approx(1 - np.sum(own) / baseline)


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize(
    ("name", "parameters"),
    [("krls", {"n_components": 20}), ("adagrad", {"loss": "logistic"}), ("okl", {"speed": "fast"})],
)
def test_labelled_rows_in_a_burst_have_the_probabilities_they_have_alone(
    monkeypatch, name, parameters, seed
):
    rows, labels = _messy(seed, n=260, task="classification", late=9)
    labels[150:] = ["other" if t % 5 == 0 else y for t, y in enumerate(labels[150:])]
    events = [
        {"id": t, **row, "label": y} for t, (row, y) in enumerate(zip(rows, labels, strict=True))
    ]
    events[100]["label"], events[120]["a"], events[140]["label"] = 3, [1.0], None
    both = []
    for whole in (True, False):
        said = []
        learner = onkel.make(name, task="classification", dtype="float64", **parameters)
        model = StreamModel(learner, settings={"missing": "auto", "dtype": "float64"})
        live = LiveModel(model, target="label", say=said.append)
        answers = [live.take(event) for event in events[:60]]
        if whole:
            # no row by itself but those with a new class, a bad value or no label
            monkeypatch.setattr(live, "take", Mock(side_effect=live.take))
            answers += live.take_all(events[60:])
            assert live.take.call_count < 60
        else:
            answers += map(live.take, events[60:])
        both.append((answers, said, live.report()))
    (found, said, report), (wanted, others, other) = both
    assert said == others
    assert _near(report, other)
    for a, b in zip(found, wanted, strict=True):
        assert a.keys() == b.keys()
        assert a.get("prediction") == b.get("prediction")
        if "probabilities" in a:
            assert a["probabilities"] == pytest.approx(b["probabilities"], abs=1e-6)


def test_probabilities_before_learning_need_known_classes():
    rows, labels = _messy(3, n=80, task="classification", late=9)
    model = _new("classification", "krls")
    with pytest.raises(ValueError, match="two classes"):
        model.predict_proba_then_learn(rows[:5], labels[:5])
    model.partial_fit(rows[:40], labels[:40])
    with pytest.raises(ValueError, match="no known class"):
        model.predict_proba_then_learn(rows[40:42], ["up", "sideways"])
    assert model.n_rows == 40
    predicted, shares = model.predict_proba_then_learn(rows[40:], labels[40:])
    assert shares.shape == (40, 2)
    assert np.allclose(shares.sum(axis=1), 1.0)
    assert predicted.tolist() == np.where(shares[:, 1] > 0.5, "up", "down").tolist()
    good = {**dict.fromkeys(model.encoder.kinds), "a": 1.0, "b": 1.0, "place": "p0"}
    with pytest.raises(onkel.DataError) as caught:
        model.predict_proba_then_learn([good, good, {**good, "a": 1e300}], ["up", "up", "down"])
    assert model.n_rows == 80 + len(caught.value.predictions)
    assert len(caught.value.probabilities) == len(caught.value.predictions)


@pytest.mark.parametrize("algorithm", ["pa", "krls", "okl", "ogd", "adagrad"])
def test_what_is_learned_after_a_snapshot_is_not_in_it(algorithm):
    """A thread makes the bytes while the model goes on."""
    learner = onkel.make(algorithm, task="regression")
    live = LiveModel(onkel.StreamModel(learner, settings={"statistics": True}), level=0.9)
    rows = [{"id": t, "a": 0.1 * (t % 13), "place": f"p{t % 3}"} for t in range(400)]

    def go_on(start):
        for t in range(start, start + 100):
            list(live.take_all([rows[t]]))
            list(live.take_all([{"id": t - t % 3, "y": rows[t]["a"] ** 2}]))

    live.say = lambda line: None
    for start in (0, 100, 200):
        go_on(start)
        before, content = live.to_bytes(), live.snapshot()
        go_on(start + 100)
        assert content() == before
        assert live.to_bytes() != before


@pytest.mark.parametrize(
    ("name", "task", "level"),
    [("pa", "regression", 0.0), ("pa", "regression", 0.9), ("okl", "classification", 0.0)],
)
@pytest.mark.parametrize("group", [{}, {"group": "place"}])
def test_a_row_with_a_gap_is_refused_where_such_rows_are_dropped(name, task, level, group):
    label = (lambda v: v) if task == "regression" else (lambda v: f"c{v}")
    said = []
    live = LiveModel(_new(task, name, missing="skip", **group), level=level, say=said.append)
    row = {"a": 1.0, "b": 2.0, "place": "p0"}
    # it waits before the first row says what its columns are
    live.take({"id": "early", "a": 1.0, "place": "p0"})
    for k in range(3):
        assert "error" not in live.take({"id": k, **row, "y": label(k % 2)})
    for gap in ({"b": None}, {"b": "NA"}):
        for more in ({}, {"y": label(1)}):
            answer = live.take({"id": "gap", **row, **gap, **more})
            assert "a row with a gap is dropped" in answer["error"]
            assert "gap" not in live.late
    assert live.take({"id": "early", "y": label(1)}) is None
    assert said[-1].startswith(f"refused: label {label(1)!r} of id 'early': a row with a gap is dr")
    assert "waits" not in said[-1]
    assert (live.late.n_waiting, len(live.ids.waiting)) == (0, 0)
    assert live.counts["refused"] == len(said) == 5
    answers = list(live.take_all([{"id": 10 + k, **row, "b": k % 2 or None, "y": label(1)}
                                  for k in range(6)]))  # fmt: skip
    assert ["error" in answer for answer in answers] == [True, False] * 3
    assert live.model.n_rows == live.counts["labels"] == 6


@pytest.mark.parametrize("together", [False, True])
def test_a_signal_leaves_no_event_half_noted(together, monkeypatch):
    def made():
        live = LiveModel(onkel.StreamModel(onkel.make("pa", task="regression")), once=True)
        live.take({"id": 0, "size": 1.0, "y": 2.0})
        list(live.take_all([{"id": id, "size": float(id)} for id in range(1, 5)]))
        return live

    labels = [{"id": id, "y": 2.0 * id} for id in range(1, 5 if together else 2)]
    take = LiveModel.take_all if together else lambda live, events: [live.take(events[0])]
    live, whole = made(), made()
    learned = onkel.LateLabels.learn_all if together else onkel.LateLabels.learn

    def interrupted(late, *args):
        found = learned(late, *args)
        signal.raise_signal(signal.SIGINT)
        return found

    # what runs in the background may ignore Ctrl-C
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with monkeypatch.context() as patch:
            patch.setattr(onkel.LateLabels, learned.__name__, interrupted)
            with pytest.raises(KeyboardInterrupt):
                list(take(live, labels))
    finally:
        signal.signal(signal.SIGINT, before)
    list(take(whole, labels))
    assert live.to_bytes() == whole.to_bytes()
    list(take(live, labels))
    assert live.counts["doubled"] == len(labels)
