"""Details beside the score, against scikit-learn and against row-by-row loops."""

from __future__ import annotations

import copy
import json
import math
import re

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import (
    balanced_accuracy_score,
    confusion_matrix,
    log_loss,
    r2_score,
    recall_score,
    roc_auc_score,
)
from typer.testing import CliRunner

import onkel
from onkel.cli import app
from onkel.errors import DataError, ModelFileError
from onkel.evaluation import PrequentialRun, prequential
from onkel.evaluation.baselines import Baselines
from onkel.evaluation.class_details import MOST_CLASSES, Ranking
from onkel.evaluation.details import Details
from onkel.evaluation.run_summary import score_lines
from onkel.learners import (
    FOGDClassifier,
    KernelRLSClassifier,
    OnlineKernelClassifier,
    PAClassifier,
    PARegressor,
)
from onkel.learners.predictions import Predictions
from onkel.persistence.contents import flatten, unflatten

RNG = np.random.default_rng(0)
X = RNG.normal(size=(1500, 3))
TWO = np.where(X[:, 0] * X[:, 1] + 0.5 * RNG.normal(size=1500) > 0.3, "yes", "no")
THREE = np.array(["a", "b", "c"])[np.digitize(X[:, 0] + 0.3 * RNG.normal(size=1500), [-0.5, 1])]
VALUE = 1e4 + 100 * X[:, 0] + 10 * RNG.normal(size=1500)


def fogd():
    # in float32, rounding of features depends on the block size on some processors
    parameters = {"n_components": 60, "gamma": 0.5, "loss": "logistic", "random_state": 0}
    return FOGDClassifier(**parameters, dtype="float64")


def cut(y, size):
    return [(X[i : i + size], y[i : i + size]) for i in range(0, len(y), size)]


def details(model, y, size=1500, **more):
    return prequential(model, cut(y, size), warm_up=False, **more).details


def close(a, b):
    """Equal up to the last digits of sums."""
    if isinstance(a, dict):
        return a.keys() == b.keys() and all(close(a[k], b[k]) for k in a)
    if isinstance(a, list):
        return len(a) == len(b) and all(map(close, a, b))
    return a == b or a == pytest.approx(b, rel=1e-9, nan_ok=True)


def naive_baselines(y, values, delay=0):
    """Majority or mean, and the last, of the labels known before each row that knows any."""
    predicted = []
    for t in range(len(y)):
        known = list(y[: max(0, t - delay)])
        if not known:
            continue
        if values:
            predicted.append((np.mean(known), known[-1]))
        else:
            counts, best = {}, None
            for label in known:
                counts[label] = counts.get(label, 0) + 1
                if best is None or counts[label] > counts[best]:
                    best = label
            predicted.append((best, known[-1]))
    return predicted


@pytest.mark.parametrize("delay", [0, 1, 5])
@pytest.mark.parametrize("size", [1, 3, 64])
def test_baselines_are_those_of_a_loop(delay, size):
    codes = np.random.default_rng(1).integers(0, 4, 64)
    values = np.random.default_rng(2).normal(1e6, 1, 64)
    by_class, by_value = Baselines("classification"), Baselines("regression")
    parts = [slice(i, i + size) for i in range(0, 64, size)]
    missing = [np.arange(64)[part].clip(max=delay) if delay else None for part in parts]
    pairs = list(zip(parts, missing, strict=True))
    wrong = np.concatenate([by_class.add(codes[part], late) for part, late in pairs])
    square = np.concatenate([by_value.add(values[part], late) for part, late in pairs])
    first = delay + 1  # the rows before know no label
    predicted = naive_baselines(codes, False, delay)
    np.testing.assert_array_equal(
        wrong, [[p != y for p in row] for row, y in zip(predicted, codes[first:], strict=True)]
    )
    predicted = np.array(naive_baselines(values, True, delay))
    errors = predicted - values[first:, None]
    np.testing.assert_allclose(square, np.square(errors), rtol=1e-6, atol=1e-9)
    assert by_class.n_scored == by_value.n_scored == 64 - first


@pytest.mark.parametrize(
    ("model", "y"),
    [(fogd, TWO), (fogd, THREE), (KernelRLSClassifier, TWO), (PARegressor, VALUE)],
)
def test_blocks_do_not_matter(model, y):
    whole = details(model(), y)
    assert close(details(model(), y, 7), whole)
    assert close(details(model(), y, 333), whole)


def test_two_classes_as_scikit_learn_has_them():
    found = details(fogd(), TWO)
    model = fogd()
    scores = model.predict_then_learn(X, TWO, return_scores=True)
    predicted = fogd().predict_then_learn(X, TWO)
    first = 1 + int(np.flatnonzero(TWO[0] != TWO)[0])  # from then on both classes are known
    positive = 1 / (1 + np.exp(-scores))
    # before, the class known has probability 1; the first rows of both are left out
    loss = log_loss(TWO[first:], positive[first:]) * (1500 - first) / 1498
    assert found["auc"] == pytest.approx(roc_auc_score(TWO[first:], scores[first:]), abs=2e-3)
    assert found["log_loss"] == pytest.approx(loss)
    assert found["balanced_accuracy"] == pytest.approx(
        100 * balanced_accuracy_score(TWO[1:], predicted[1:])
    )
    assert list(found["recall"].values()) == pytest.approx(
        100 * recall_score(TWO[1:], predicted[1:], average=None)
    )
    assert found["confusion"]["labels"] == ["no", "yes"]
    np.testing.assert_array_equal(
        found["confusion"]["rows"], confusion_matrix(TWO[1:], predicted[1:])
    )
    # in every bin, predicted and observed shares are close
    rows = sum(b["rows"] for b in found["calibration"])
    assert rows == 1498
    assert (
        sum(b["rows"] * abs(b["predicted"] - b["observed"]) for b in found["calibration"])
        < 0.1 * rows
    )


def test_three_classes_as_scikit_learn_has_them():
    found = details(fogd(), THREE)
    model = fogd()
    scores = model.predict_then_learn(X, THREE, return_scores=True)
    predicted = fogd().predict_then_learn(X, THREE)
    first = 1 + max(int(np.flatnonzero(c == THREE)[0]) for c in "abc")
    areas = [roc_auc_score(THREE[first:] == c, scores[first:, k]) for k, c in enumerate("abc")]
    assert found["auc"] == pytest.approx(np.mean(areas), abs=5e-3)
    np.testing.assert_array_equal(
        found["confusion"]["rows"], confusion_matrix(THREE[1:], predicted[1:])
    )


def late(n_classes, late_from=400, n=900):
    """Labels of which one class comes alone, and the last one late."""
    y = np.where(X[:n, 0] > 0, "n", "y")
    y[: 1 + np.flatnonzero(y == "y")[5]] = "y"
    if n_classes == 3:
        y[late_from:][X[late_from:n, 1] > 0.3] = "a"
    return y


@pytest.mark.parametrize("n_classes", [1, 2, 3])
@pytest.mark.parametrize(
    "model", [fogd, KernelRLSClassifier, lambda: OnlineKernelClassifier(speed="fast")]
)
def test_the_log_loss_is_that_of_the_learners_probabilities(model, n_classes):
    y = late(n_classes) if n_classes > 1 else np.full(900, "y")
    one, total, n = model(), 0.0, 0
    for t in range(len(y)):
        known = one.classes_.tolist() if t else []
        if y[t] in known:
            p = one.predict_proba_next(X[t : t + 1])[0, known.index(y[t])]
            total, n = total - math.log(p), n + 1
        one.partial_fit(X[t : t + 1], y[t : t + 1])
    for more in ({}, {"intervals": 0.9}):
        found = prequential(model(), cut(y, 1), warm_up=False, **more).details
        assert sum(b["rows"] for b in found["calibration"]) == n == 900 - n_classes
        third = 1e-3 if n_classes == 3 else 1e-9
        assert found["log_loss"] == pytest.approx(total / n, abs=third)


def test_a_learner_that_knew_more_classes_is_not_sure_of_the_first():
    model = fogd().partial_fit(X[:500], TWO[:500])
    y = np.sort(TWO[500:])
    found = prequential(model, [(X[500:], y)], warm_up=False).details
    assert sum(b["rows"] for b in found["calibration"]) < 0.6 * len(y)


@pytest.mark.parametrize("learned", [["b"], ["a", "b"]])
def test_classes_that_a_frozen_model_has_not_learned_have_no_probability(learned):
    rng = np.random.default_rng(0)
    y = np.array([*learned, "c", *rng.choice(["a", "b", "c"], 800)])
    P = rng.dirichlet(np.ones(len(learned)), len(y))
    P[:, -1] += 0.5 * (y == "b")
    P /= P.sum(axis=1, keepdims=True)
    predicted = Predictions(np.array(learned)[P.argmax(axis=1)], np.log(P), np.array(learned))
    measured = Details("classification", "softmax")
    for rows in (slice(0, 300), slice(300, None)):
        part = Predictions(predicted.predictions[rows], predicted.scores[rows], predicted.classes)
        measured.add(y[rows], part, np.asarray(y[rows] != part.predictions, dtype=float))
    found = measured.summary()
    # the first row of each class is left out, too
    counted = np.isin(y, learned)
    counted[[y.tolist().index(label) for label in learned]] = False
    loss = -np.log(P[np.arange(len(y)), np.searchsorted(learned, y).clip(0, len(learned) - 1)])
    assert found["log_loss"] == pytest.approx(loss[counted].mean())
    assert sum(b["rows"] for b in found["calibration"]) == counted.sum()
    if len(learned) == 2:
        areas = [roc_auc_score(y == label, P[:, k]) for k, label in enumerate(learned)]
        assert found["auc"] == pytest.approx(np.mean(areas), abs=0.01)
    else:
        assert math.isnan(found["auc"])


def test_ranking_counts_ties_one_half():
    ranking = Ranking()
    scores = np.array([-3.0, -1.0, 0.0, 0.0, 1e-3, 2.0, 1e9, -1e9])
    codes = np.array([0, 1, 0, 1, 0, 1, 1, 0])
    both = np.column_stack([-scores, scores])
    ranking.add(codes, both, np.full(8, 2))
    assert ranking.area() == roc_auc_score(codes, scores)


def test_more_classes_than_are_ranked_have_no_area_of_the_rows_before():
    ranking = Ranking()
    for K in (2, MOST_CLASSES + 1):
        codes = np.arange(100) % K
        ranking.add(codes, np.eye(K)[codes], np.full(100, K))
        assert math.isnan(ranking.area()) == (K > MOST_CLASSES)


def test_a_regression_has_r2_and_a_sample():
    found = details(PARegressor(), VALUE, delay=0)
    predicted = PARegressor().predict_then_learn(X, VALUE)
    assert found["r2"] == pytest.approx(r2_score(VALUE[1:], predicted[1:]))
    pairs = set(zip(found["sample"]["target"], found["sample"]["prediction"], strict=True))
    assert len(pairs) == 250
    assert pairs <= set(zip(VALUE, predicted, strict=True))


def test_skill_against_the_last_class_is_kappa_temporal():
    y = np.repeat(["a", "b"], 750)  # the last class is wrong only once
    found = details(PAClassifier(), y)
    wrong = 1 - np.trace(found["confusion"]["rows"]) / 1499
    assert found["baselines"]["last class"] == pytest.approx(1 / 1499)
    assert found["baseline"] == "last class"
    assert found["skill"] == pytest.approx(1 - wrong / (1 / 1499))


def test_a_hinge_learner_has_no_log_loss_but_an_area():
    found = details(PAClassifier(), TWO)
    assert "log_loss" not in found
    assert 0 < found["auc"] < 1


def test_windows_add_up_to_the_score():
    result = prequential(fogd(), cut(TWO, 100), warm_up=False)
    windows = result.details["windows"]
    assert windows["rows_before"] == 1
    lengths = np.diff([1, *windows["rows"]])
    assert lengths.max() == windows["width"] == 16
    assert lengths @ windows["loss"] == pytest.approx(1499 * result.final.loss)
    assert lengths @ windows["baselines"][0] == pytest.approx(
        1499 * result.details["baselines"]["majority"]
    )


@pytest.mark.parametrize(("model", "y"), [(KernelRLSClassifier, THREE), (PARegressor, VALUE)])
def test_a_run_that_is_resumed_has_the_details_of_the_whole(model, y):
    whole = details(model(), y, 500)
    learner = model()
    first = PrequentialRun(learner)
    first.step((X[:500], y[:500]))
    tree, arrays = flatten(first.get_state())
    state = unflatten(json.loads(json.dumps(tree)), arrays)
    rest = PrequentialRun(learner)
    rest.set_state(state)
    for i in (500, 1000):
        rest.step((X[i : i + 500], y[i : i + 500]))
    assert close(rest.result().details, whole)
    with pytest.raises(ModelFileError, match="none of a"):
        PrequentialRun(learner).set_state({"totals": {}, "curve": []})


@pytest.mark.parametrize(
    ("path", "value", "said"),
    [
        ("totals/sums", [0.0], "totals/sums: has 1 entries, not 2"),
        ("totals/n_rows", -1, "totals/n_rows: is -1"),
        ("curve/loss", np.array([1.0]), "curve/loss: has shape"),
        ("details/loss", "much", "details/loss: is a string"),
        ("details/labels/names", ["a", "a"], "details/labels/names: a label stands twice"),
        ("details/classes/total", np.zeros(3), "details/classes/total: has dtype float64"),
        ("details/baselines/codes", np.array([0, 7]), "details/baselines/codes: a class was never"),
        ("details/ranking/at", np.array([10**9] * 5), "details/ranking"),
        ("details/windows/n_rows", 10**9, "details/windows/n_rows: are more"),
    ],
)
def test_a_damaged_score_is_refused_with_its_field(path, value, said):
    learner = KernelRLSClassifier()
    run = PrequentialRun(learner)
    run.step((X[:500], TWO[:500]))
    state = copy.deepcopy(run.get_state())
    *groups, name = path.split("/")
    inner = state
    for group in groups:
        inner = inner[group]
    inner[name] = value
    with pytest.raises(ModelFileError, match=re.escape(said)):
        PrequentialRun(learner).set_state(state)


def test_rows_before_a_bad_one_have_their_scores_counted():
    Z = X.copy()
    Z[700, 1] = np.nan
    found = []
    for size in (1, 500, 1500):
        run = PrequentialRun(fogd())
        bad = 700 // size * size
        for i in range(0, bad, size):
            run.step((Z[i : i + size], TWO[i : i + size]))
        with pytest.raises(DataError):
            run.step((Z[bad : bad + size], TWO[bad : bad + size]))
        found.append(run.result().details)
    assert close(found[0], found[1])
    assert close(found[0], found[2])


# ---- from the command line -----------------------------------------------------------------------


@pytest.fixture
def rows(tmp_path):
    rng = np.random.default_rng(1)
    frame = pd.DataFrame(X, columns=list("abc")).assign(label=TWO, value=VALUE)
    # a random walk, independent of the columns
    frame["walk"] = np.cumsum(rng.normal(size=1500))
    path = tmp_path / "rows.csv"
    frame.to_csv(path, index=False)
    return path


def run(*args):
    result = CliRunner().invoke(app, [str(a) for a in args])
    assert result.exit_code == 0, result.stderr
    return result


def learn(rows, target, *args):
    others = {"label", "value", "walk"} - {target}
    return run("learn", rows, "-t", target, *(f"--exclude={o}" for o in sorted(others)), *args)


def test_learn_shows_baselines_and_the_rest(rows, tmp_path):
    saved = tmp_path / "m.onkel"
    shown = learn(rows, "label", "-a", "fogd", "--set", "loss=logistic", "--save", saved)
    for part in ("baselines", "majority", "last class", "skill", "AUC", "log loss", "recall"):
        assert part in shown.stdout
    assert "worse than its baseline" not in shown.stderr
    assert "balanced accuracy" in run("info", saved).stdout
    found = json.loads(run("info", saved, "--json").stdout)["score"]["details"]
    assert found["confusion"]["labels"] == ["no", "yes"]
    assert "R²" in learn(rows, "value", "-a", "pa").stdout


def test_a_learner_below_its_baseline_is_said_to_be(rows):
    shown = learn(rows, "walk", "-a", "pa")
    assert "pa is worse than its baseline, the last value: RMSE" in shown.stderr


def test_a_resumed_run_has_the_details_of_the_whole(rows, tmp_path):
    point = tmp_path / "c.onkel"
    args = ("-a", "krls", "--checkpoint", point, "--json")
    learn(rows, "label", *args, "--limit", 700)
    resumed = json.loads(learn(rows, "label", *args, "--resume").stdout)["details"]
    whole = json.loads(learn(rows, "label", "-a", "krls", "--json").stdout)["details"]
    assert close(resumed, whole)
    assert math.isfinite(resumed["auc"])
    assert onkel.load(point).n_rows == 1500


def test_a_skill_far_below_zero_is_short():
    details = {"baselines": {"mean": 1.0}, "baseline": "mean", "skill": -82_167_537_919.31}
    assert dict(score_lines("regression", details))["skill"].startswith("-8.217e+10 of the squared")
