"""onkel inside River: River's own checks, and one row equal to many."""

from __future__ import annotations

import copy
import pickle
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest

from onkel.errors import DataError
from onkel.learners import (
    BOGDRegressor,
    FOGDClassifier,
    FOGDRegressor,
    KernelRLSRegressor,
    NOGDClassifier,
    NOGDRegressor,
    NOLANAClassifier,
    NOLANARegressor,
    OnlineKernelClassifier,
    OnlineKernelRegressor,
    PAClassifier,
    PARegressor,
    RRFClassifier,
    RRFRegressor,
    SupportKernelRegressor,
)

checks = pytest.importorskip("river.checks", reason="River is not installed")
ensemble = pytest.importorskip("river.ensemble")
multiclass = pytest.importorskip("river.multiclass")

from onkel.compat.river import RiverClassifier, RiverRegressor  # noqa: E402

CLASSIFIERS = {
    "fogd": FOGDClassifier(n_components=20, loss="logistic", random_state=0),
    "nogd": NOGDClassifier(n_components=10, rank=5, loss="logistic", gamma=0.1),
    "nolana": NOLANAClassifier(n_components=10, rank=5, loss="logistic", gamma=0.1),
    "rrf": RRFClassifier(n_components=10, loss="logistic", random_state=0),
    "pa": PAClassifier(),
    "balanced": FOGDClassifier(n_components=20, gamma=0.1, class_weight="balanced", random_state=0),
}
REGRESSORS = {
    "fogd": FOGDRegressor(n_components=20, random_state=0),
    "nogd": NOGDRegressor(n_components=10, rank=5, gamma=1e-4),
    "nolana": NOLANARegressor(n_components=10, rank=5, gamma=1e-4),
    "rrf": RRFRegressor(n_components=10, random_state=0),
    "pa": PARegressor(),
}


def _checks():
    # River's streams have raw columns, such as day numbers, which are too large for float32
    wrapped = [RiverClassifier(e.set_params(dtype="float64"), 32) for e in CLASSIFIERS.values()]
    wrapped += [RiverRegressor(e.set_params(dtype="float64"), 32) for e in REGRESSORS.values()]
    for model in wrapped:
        for check in checks.yield_checks(model):
            yield pytest.param(model, check, id=f"{model.estimator!r}-{check.__name__}")


@pytest.mark.parametrize(("model", "check"), list(_checks()))
def test_rivers_checks(model, check):
    assert not model._unit_test_skips()
    check(model.clone())


def rows(n=300, d=4, seed=0, labels=("no", "yes", "maybe")):
    X = np.random.default_rng(seed).standard_normal((n, d))
    codes = (X[:, 0] * X[:, 1] > 0).astype(int) + (X[:, 2] > 1.0)
    return [{f"f{j}": float(v) for j, v in enumerate(x)} for x in X], [labels[c] for c in codes]


@pytest.mark.parametrize("name", CLASSIFIERS)
def test_one_row_is_what_many_rows_are(name):
    xs, ys = rows()
    estimator = CLASSIFIERS[name]
    one, many = RiverClassifier(estimator), RiverClassifier(estimator)
    before = [(one.predict_one(x), one.learn_one(x, y))[0] for x, y in zip(xs, ys, strict=True)]
    frame = pd.DataFrame(xs)
    for cut in (slice(0, 7), slice(7, 200), slice(200, 300)):
        many.learn_many(frame[cut], pd.Series(ys)[cut])
    plain = copy.deepcopy(estimator)
    expected = plain.predict_then_learn(frame.to_numpy(), np.array(ys))
    np.testing.assert_allclose(one.model.coef_, plain.coef_, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(many.model.coef_, plain.coef_, rtol=1e-9, atol=1e-12)
    assert before[1:] == expected.tolist()[1:]
    assert before[0] is None
    assert one.model.n_rows_ == plain.n_rows_ == 300
    assert one.predict_many(frame).tolist() == [one.predict_one(x) for x in xs]


@pytest.mark.parametrize("name", REGRESSORS)
def test_one_row_is_what_many_rows_are_in_regression(name):
    xs, _ = rows()
    ys = [np.sin(x["f0"]) for x in xs]
    estimator = REGRESSORS[name]
    one, many = RiverRegressor(estimator), RiverRegressor(estimator)
    before = [(one.predict_one(x), one.learn_one(x, y))[0] for x, y in zip(xs, ys, strict=True)]
    many.learn_many(pd.DataFrame(xs), pd.Series(ys))
    expected = copy.deepcopy(estimator).predict_then_learn(pd.DataFrame(xs).to_numpy(), ys)
    np.testing.assert_allclose(before, expected, rtol=1e-8, atol=1e-10)
    np.testing.assert_allclose(one.model.coef_, many.model.coef_, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(
        many.predict_many(pd.DataFrame(xs)), [one.predict_one(x) for x in xs], rtol=1e-8, atol=1e-10
    )


def test_weights():
    xs, ys = rows(50)
    weights = np.random.default_rng(0).choice([0.0, 0.5, 2.0], 50)
    one = RiverClassifier(
        FOGDClassifier(n_components=10, gamma=1.0, random_state=0, dtype="float64")
    )
    for x, y, w in zip(xs, ys, weights, strict=True):
        one.learn_one(x, y, w=w)
    plain = copy.deepcopy(one.estimator)
    plain.partial_fit(pd.DataFrame(xs).to_numpy(), ys, sample_weight=weights)
    np.testing.assert_allclose(one.model.coef_, plain.coef_, rtol=1e-9, atol=1e-12)
    with pytest.raises(ValueError, match="weight"):
        one.learn_one(xs[0], ys[0], w=-1.0)


@pytest.mark.parametrize("duplicate", [copy.deepcopy, lambda m: pickle.loads(pickle.dumps(m))])
@pytest.mark.parametrize("features", [None, 6, ["f3", "f0", "f1", "f2"]])
def test_a_copy_goes_on_by_itself(duplicate, features):
    xs, ys = rows()
    model = RiverClassifier(RRFClassifier(n_components=10, random_state=0), features=features)
    for x, y in zip(xs[:100], ys[:100], strict=True):
        model.learn_one(x, y)
    twin = duplicate(model)
    kept = twin.model.coef_.copy()
    for x, y in zip(xs[100:], ys[100:], strict=True):
        model.learn_one(x, y)
    np.testing.assert_array_equal(twin.model.coef_, kept)
    for x, y in zip(xs[100:], ys[100:], strict=True):
        twin.learn_one(x, y)
    np.testing.assert_array_equal(twin.model.coef_, model.model.coef_)


def test_a_feature_beyond_those_named_is_refused():
    model = RiverClassifier(
        FOGDClassifier(n_components=10, gamma=1.0, random_state=0), features=["a", "b"]
    )
    model.learn_one({"a": 1.0, "b": 2.0}, True)
    model.learn_one({"a": 2.0, "b": 1.0}, False)
    coef = model.model.coef_
    for call in (lambda x: model.learn_one(x, True), model.predict_one):
        with pytest.raises(DataError, match=r"'c'.*new.*'a', 'b'.*features=N") as error:
            call({"a": 1.0, "c": 2.0})
        assert error.value.column == "c"
    with pytest.raises(DataError, match="'c'"):
        model.learn_many(pd.DataFrame({"a": [1.0], "c": [2.0]}), pd.Series([True]))
    np.testing.assert_array_equal(model.model.coef_, coef)


@pytest.mark.parametrize("name", CLASSIFIERS)
def test_features_that_come_in_mid_stream(name):
    """The model equals one with all columns from the start; a feature that vanishes is 0."""
    xs, ys = rows(d=5)
    late = [{k: v for k, v in x.items() if t >= 100 or k < "f3"} for t, x in enumerate(xs)]
    late[250:] = [{k: v for k, v in x.items() if k != "f1"} for x in late[250:]]
    grown, named = (
        RiverClassifier(CLASSIFIERS[name]),
        RiverClassifier(CLASSIFIERS[name], list(xs[0])),
    )
    for t, (x, y) in enumerate(zip(late, ys, strict=True)):
        if t == 100:
            without = grown.predict_one(late[0])
            assert grown.predict_one(x) == grown.predict_one({k: x[k] for k in late[0]})
        for model in (grown, named):
            model.learn_one(x, y)
        if t == 100:
            assert grown.model.n_features_in_ == 5
            assert without in ("yes", "no", "maybe")
    np.testing.assert_allclose(grown.model.coef_, named.model.coef_, rtol=1e-7, atol=1e-10)
    frames = RiverClassifier(CLASSIFIERS[name])
    for a, b in ((0, 40), (40, 100), (100, 250), (250, 300)):
        frames.learn_many(pd.DataFrame(late[a:b]), pd.Series(ys[a:b]))
    np.testing.assert_allclose(frames.model.coef_, grown.model.coef_, rtol=1e-7, atol=1e-10)


@pytest.mark.slow
def test_many_features_come_one_by_one():
    model = RiverRegressor(FOGDRegressor(n_components=10, gamma=1.0, random_state=0))
    widths = set()
    for t in range(200):
        model.learn_one({"always": 1.0, f"f{t:03}": 2.0}, float(t % 2))
        widths.add(model.model.n_features_in_)
    assert len(model._columns.names) == 201
    assert 201 <= model.model.n_features_in_ <= 1.15 * 201
    assert len(widths) < 60
    before = model.predict_one({"always": 1.0, "f000": 2.0})
    model.learn_one({"f000": 2.0, "always": 1.0, "more": 0.0}, before)
    assert model.predict_one({"always": 1.0, "f000": 2.0}) == pytest.approx(before, rel=1e-5)


def test_a_widened_learner_that_has_learned_goes_on():
    xs, ys = rows(d=9)
    model = RiverClassifier(
        FOGDClassifier(n_components=10, gamma=1.0, random_state=0, dtype="float64")
    )
    for t, (x, y) in enumerate(zip(xs[:100], ys, strict=False)):
        model.learn_one({k: v for k, v in x.items() if t > 50 or k != "f8"}, y)
    twin = RiverClassifier(model.model, features=model._columns.names)
    for x, y in zip(xs[100:], ys[100:], strict=True):
        model.learn_one(x, y)
        twin.learn_one(x, y)
    np.testing.assert_array_equal(twin.model.coef_, model.model.coef_)
    frame = pd.DataFrame(xs)
    named = RiverClassifier(
        FOGDClassifier(n_components=10, gamma=1.0, random_state=0).fit(frame, ys)
    )
    named.learn_one({"f0": 1.0, "new": 1.0}, "no")
    assert named.model.feature_names_in_.tolist() == [*frame.columns, "new"]


def test_room_for_features_that_come_later():
    model = RiverRegressor(FOGDRegressor(n_components=10, gamma=1.0, random_state=0), features=3)
    model.learn_one({"b": 1.0}, 1.0)
    value = model.predict_one({"b": 1.0})
    assert model.predict_one({"b": 1.0, "never": 5.0}) == value
    model.learn_one({"b": 1.0, "d": 2.0, "c": 1.0}, 2.0)
    assert model.predict_one({"b": 1.0, "c": 0.0}) == model.predict_one({"b": 1.0})
    with pytest.raises(DataError, match=r"'e'.*all 3 columns are taken by 'b', 'c', 'd'"):
        model.learn_one({"e": 1.0}, 0.0)


@pytest.mark.parametrize(
    ("row", "column"),
    [
        ({"a": 1.0, "b": float("nan")}, "b"),
        ({"a": float("inf"), "b": 1.0}, "a"),
        ({"a": 1e39, "b": 1.0}, "a"),
        ({"a": 1e25, "b": 0.0}, "a"),
        ({"a": 1.0, "b": -1e19}, "b"),
        ({"a": "red", "b": 1.0}, "a"),
        ({"a": 1.0, "b": None}, "b"),
        ({"b": "1.5"}, "b"),
    ],
)
def test_a_bad_value_is_named_and_changes_nothing(row, column):
    model = RiverClassifier(FOGDClassifier(n_components=10, gamma=1.0, random_state=0))
    if not isinstance(row[column], str):
        with pytest.raises(DataError) as error:
            model.learn_one(row, True)
        assert error.value.column == column
    model.learn_one({"a": 1.0, "b": 2.0}, True)
    model.learn_one({"a": 2.0, "b": 1.0}, False)
    before = pickle.dumps(model.model)
    for call in (lambda x: model.learn_one(x, True), model.predict_one):
        with pytest.raises(DataError) as error:
            call(row)
        assert error.value.column == column
    assert pickle.dumps(model.model) == before


@pytest.mark.parametrize("learner", [SupportKernelRegressor, BOGDRegressor])
def test_a_large_finite_value_is_refused(learner):
    rng = np.random.default_rng(0)
    model = RiverRegressor(learner())
    for a, b in rng.standard_normal((200, 2)).tolist():
        model.learn_one({"a": a, "b": b}, a)
    before, expected = pickle.dumps(model.model), model.predict_one({"a": 0.1, "b": 0.2})
    for call in (lambda x: model.learn_one(x, 0.5), model.predict_one):
        for power in (25, 300):
            with pytest.raises(
                DataError, match=rf"column 'a': 1e\+{power} is too large for float32"
            ):
                call({"a": 10.0**power, "b": 0.0})
    assert pickle.dumps(model.model) == before
    assert model.predict_one({"a": 0.1, "b": 0.2}) == expected
    # at the bound of partial_fit, and within it
    largest = float(np.sqrt(np.finfo(np.float32).max / 4.0))
    model.predict_one({"a": 0.999 * largest, "b": 0.0})
    for x in ({"a": 1.001 * largest, "b": 0.0}, {"a": 0.8 * largest, "b": 0.8 * largest}):
        with pytest.raises(DataError, match="too large"):
            model.model.partial_fit([list(x.values())], [0.5])
        with pytest.raises(DataError, match="too large"):
            model.learn_one(x, 0.5)
    assert pickle.dumps(model.model) == before


@pytest.mark.parametrize("y", [float("nan"), None, float("inf"), "x", 1e200, -1e160, 10**400])
@pytest.mark.parametrize("learner", [FOGDRegressor, KernelRLSRegressor])
def test_a_bad_target_is_refused(y, learner):
    model = RiverRegressor(learner(n_components=10, gamma=1.0))
    model.learn_one({"a": 1.0}, 1.0)
    before = pickle.dumps(model.model)
    with pytest.raises(ValueError, match="y"):
        model.learn_one({"a": 1.0}, y)
    assert pickle.dumps(model.model) == before


def test_a_bad_row_of_a_frame_is_named_and_the_rows_before_it_are_learned():
    model = RiverRegressor(FOGDRegressor(n_components=10, gamma=1.0, random_state=0))
    X = pd.DataFrame({"a": [1.0, 2.0, 3.0], "b": [1.0, np.nan, 3.0]})
    with pytest.raises(DataError, match="row 1, column 'b'"):
        model.learn_many(X, pd.Series([1.0, 2.0, 3.0]))
    assert model.model.n_rows_ == 1
    X = pd.DataFrame({"a": [1.0, 2.0, 3.0], "b": [1.0, 1.0, "three"]})
    with pytest.raises(DataError, match=r"row 2, column 'b'.*three"):
        model.learn_many(X, pd.Series([1.0, 2.0, 3.0]))
    assert model.model.n_rows_ == 3


def test_probabilities_come_class_by_class():
    model = RiverClassifier(CLASSIFIERS["fogd"])
    assert model.predict_proba_one({"a": 1.0}) == {}
    model.learn_one({"a": 1.0}, "x")
    assert model.predict_proba_one({"a": 1.0}) == {"x": 1.0}


def test_a_hinge_learner_votes_in_ensembles():
    """Bagging and one-vs-rest ask for class probabilities, whatever the loss."""
    rng = np.random.default_rng(0)
    rows = [{"a": a, "b": b} for a, b in rng.normal(size=(600, 2))]
    for wrapper, labels in (
        (ensemble.BaggingClassifier(RiverClassifier(PAClassifier()), n_models=3, seed=0), 2),
        (multiclass.OneVsRestClassifier(RiverClassifier(PAClassifier())), 3),
    ):
        right = 0
        for row in rows:
            y = int(row["a"] > 0) + (labels == 3) * int(row["a"] > 1)
            right += wrapper.predict_one(row) == y
            wrapper.learn_one(row, y)
        assert right > 400
    model = RiverClassifier(PAClassifier())
    for row in rows:
        model.learn_one(row, row["a"] > 0)
    shares = [model.predict_proba_one(row) for row in rows]
    assert all(sum(share.values()) == pytest.approx(1.0) for share in shares)
    predicted = [max(share, key=share.get) for share in shares]
    assert predicted == [model.predict_one(row) for row in rows]
    many = model.predict_proba_many(pd.DataFrame(rows))
    assert many[True].tolist() == pytest.approx([share[True] for share in shares])


def test_it_takes_onkel_estimators_of_its_own_task():
    with pytest.raises(TypeError, match=r"classifier.*PARegressor"):
        RiverClassifier(PARegressor())
    with pytest.raises(TypeError, match="regressor"):
        RiverRegressor(PAClassifier())
    with pytest.raises(ValueError, match="each of them once"):
        RiverClassifier(PAClassifier(), features=["a", "a"])
    with pytest.raises(ValueError, match="at least 1"):
        RiverClassifier(PAClassifier(), features=0)


def test_a_learner_that_has_learned_goes_on():
    xs, ys = rows()
    X = pd.DataFrame(xs)
    fitted = FOGDClassifier(n_components=10, gamma=1.0, random_state=0, dtype="float64").fit(
        X[:100], ys[:100]
    )
    model = RiverClassifier(fitted)
    assert model.predict_one(xs[0]) == fitted.predict(X[:1])[0]
    for x, y in zip(xs[100:], ys[100:], strict=True):
        model.learn_one(x, y)
    np.testing.assert_allclose(
        model.model.coef_, fitted.partial_fit(X[100:], ys[100:]).coef_, rtol=1e-9, atol=1e-12
    )
    nameless = FOGDClassifier(n_components=10, gamma=1.0).fit(X.to_numpy(), ys)
    with pytest.raises(ValueError, match="must name them"):
        RiverClassifier(nameless)


def test_polars_frames():
    polars = pytest.importorskip("polars", reason="polars is not installed")
    xs, ys = rows()
    model, other = (RiverClassifier(CLASSIFIERS["fogd"]) for _ in range(2))
    model.learn_many(polars.DataFrame(xs), polars.Series(ys))
    other.learn_many(pd.DataFrame(xs), pd.Series(ys))
    labels = model.predict_many(polars.DataFrame(xs))
    assert isinstance(labels, polars.Series)
    assert labels.to_list() == other.predict_many(pd.DataFrame(xs)).to_list()
    P = model.predict_proba_many(polars.DataFrame(xs))
    assert P.columns == ["maybe", "no", "yes"]


def test_without_river_the_error_says_what_to_install():
    code = "import sys; sys.modules['river'] = None; import onkel.compat.river"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert "pip install onkel[river]" in done.stderr


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["values", "classes"])
def test_each_group_has_a_memory_of_its_own(kind):
    rng = np.random.default_rng(0)
    n = 400
    X, site = rng.normal(size=(n, 2)), rng.choice(["a", "b"], n)
    level = {s: np.cumsum(rng.normal(size=n)) for s in ("a", "b")}
    y = np.array([level[s][t] for t, s in enumerate(site)])
    small = {"n_components": 10, "speed": "fast"}
    if kind == "values":
        model = RiverRegressor(OnlineKernelRegressor(**small), group="site")
        plain = OnlineKernelRegressor(**small)
    else:
        y = (y > 0).astype(int)
        model = RiverClassifier(OnlineKernelClassifier(**small), group="site")
        plain = OnlineKernelClassifier(**small)
    predicted = []
    for t in range(n):
        x = {"site": str(site[t]), "a": X[t, 0], "b": X[t, 1]}
        predicted.append(model.predict_one(x))
        model.learn_one(x, y[t].item())
    expected = plain.predict_then_learn(X, y, groups=site)
    np.testing.assert_allclose(predicted[10:], expected[10:], rtol=1e-4, atol=1e-4)
    if kind == "classes":
        assert sum(model.predict_proba_one(x).values()) == pytest.approx(1.0)
    with pytest.raises(DataError, match="group is missing"):
        model.learn_one({"a": 1.0, "b": 1.0}, y[0].item())
    frame = pd.DataFrame(X, columns=["a", "b"]).assign(site=site)
    many = type(model)(type(plain)(**small), group="site")
    many.learn_many(frame, pd.Series(y))
    assert many.predict_one(x) == pytest.approx(model.predict_one(x), rel=1e-4, abs=1e-4)


def test_a_group_needs_a_learner_with_a_memory():
    with pytest.raises(ValueError, match="FOGDRegressor has no memory"):
        RiverRegressor(FOGDRegressor(), group="site")


def texts(n=200, seed=0):
    """Rows with text and gaps in it, and labels that follow from it."""
    rng = np.random.default_rng(seed)
    xs = [
        {"x": float(rng.normal()), "place": rng.choice(["north", "south", "west"]).item()}
        for _ in range(n)
    ]
    for x in xs[7::11]:
        x["place"] = None
    ys = [x["place"] == "north" or x["x"] > 1.0 for x in xs]
    return xs, ys


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_text_is_a_feature_for_each_value(library):
    xs, ys = texts()
    estimator = FOGDClassifier(
        n_components=50, gamma=0.5, loss="logistic", dtype="float64", random_state=0
    )
    one, many = RiverClassifier(estimator), RiverClassifier(estimator)
    right = []
    for x, y in zip(xs, ys, strict=True):
        right.append(one.predict_one(x) == y)
        one.learn_one(x, y)
    assert np.mean(right[100:]) > 0.8
    spelled = [{"x": x["x"]} | ({f"place={x['place']}": 1.0} if x["place"] else {}) for x in xs]
    plain = RiverClassifier(one.estimator)
    for x, y in zip(spelled, ys, strict=True):
        plain.learn_one(x, y)
    assert one.predict_proba_one(xs[3]) == plain.predict_proba_one(spelled[3])
    frame = pytest.importorskip(library).DataFrame(xs)
    series = pytest.importorskip(library).Series(ys)
    many.learn_many(frame[:120], series[:120])
    many.learn_many(frame[120:], series[120:])
    assert len(many.predict_many(frame[:0])) == 0
    assert many.predict_proba_many(frame[:0]).shape == (0, 2)
    np.testing.assert_allclose(one.model.coef_, many.model.coef_, rtol=1e-9, atol=1e-12)
    assert list(many.predict_many(frame)) == [one.predict_one(x) for x in xs]
    assert one.predict_one({"x": 0.0, "place": "unknown"}) == one.predict_one({"x": 0.0})
    again = pickle.loads(pickle.dumps(one))
    assert again.predict_proba_one(xs[5]) == one.predict_proba_one(xs[5])
    # what was text stays text
    one.learn_one({"x": 0.1, "place": 3}, True)
    assert "place=3" in one._columns.names


def test_a_large_value_in_a_frame_with_text_is_named():
    model = RiverRegressor(FOGDRegressor(n_components=10, gamma=1.0, random_state=0))
    good = pd.DataFrame({"a": [1.0, 2.0, 3.0], "t": ["red", "blue", "red"]})
    model.learn_many(good, pd.Series([1.0, 2.0, 3.0]))
    bad = good.assign(a=[1.0, 1e25, 3.0])
    with pytest.raises(DataError, match=r"row 1, column 'a': 1e\+25 is too large"):
        model.predict_many(bad)
    with pytest.raises(DataError, match=r"row 1, column 'a': 1e\+25 is too large"):
        model.learn_many(bad, pd.Series([1.0, 2.0, 3.0]))
    assert model.model.n_rows_ == 4


def test_text_where_numbers_were_is_refused():
    model = RiverRegressor(FOGDRegressor(gamma=1.0))
    model.learn_one({"a": 1.0}, 1.0)
    with pytest.raises(DataError, match="column 'a': 'high' is not a number"):
        model.learn_one({"a": "high"}, 1.0)


def test_bounds_and_sets_of_a_row():
    rng = np.random.default_rng(0)
    values = RiverRegressor(
        FOGDRegressor(n_components=50, gamma=0.5, random_state=0, feedback=True)
    )
    labels = RiverClassifier(
        FOGDClassifier(n_components=50, gamma=0.5, loss="logistic", random_state=0, feedback=True)
    )
    assert values.predict_interval_one({"a": 1.0, "b": 0.0}) == (-np.inf, np.inf)
    assert labels.predict_set_one({"a": 1.0, "b": 0.0}) == set()
    inside, hits = [], []
    for _ in range(1500):
        x = {"a": rng.standard_normal(), "b": rng.standard_normal()}
        y = x["a"] + 0.3 * rng.standard_normal()
        low, high = values.predict_interval_one(x, 0.8)
        inside.append(low <= y <= high)
        hits.append((y > 0) in labels.predict_set_one(x, 0.95))
        values.learn_one(x, y)
        labels.learn_one(x, y > 0)
    assert abs(np.mean(inside[200:]) - 0.8) < 0.03
    assert abs(np.mean(hits[200:]) - 0.95) < 0.02
    plain = RiverRegressor(FOGDRegressor())
    plain.learn_one({"a": 1.0}, 1.0)
    with pytest.raises(ValueError, match="feedback=True"):
        plain.predict_interval_one({"a": 1.0})
