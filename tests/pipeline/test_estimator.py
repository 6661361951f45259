"""A `StreamModel` is a scikit-learn estimator over frames with text."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.metrics import accuracy_score, r2_score
from sklearn.model_selection import GridSearchCV, cross_val_predict, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.utils import get_tags
from sklearn.utils.estimator_checks import parametrize_with_checks
from typer.testing import CliRunner

import onkel
from onkel import DataError, StreamModel
from onkel.cli import app
from onkel.learners import FOGDClassifier, KernelRLSClassifier, KernelRLSRegressor


def frame(n=400, seed=0):
    """Text, numbers and gaps; targets of both kinds, apart."""
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(
        {
            "place": rng.choice(["north", "south", "west"], size=n),
            "small": rng.normal(size=n),
            "large": 1000.0 * rng.normal(size=n),
        }
    )
    X.loc[rng.random(n) < 0.1, "small"] = np.nan
    value = np.where(X["place"] == "north", 2.0, -1.0) + X["large"] / 1000.0
    return X, pd.Series(np.where(value > 0, "up", "down"), name="move"), value.rename("move")


def learner(task, **params):
    kind = KernelRLSClassifier if task == "classification" else KernelRLSRegressor
    return kind(**{"n_components": 30} | params)


@pytest.fixture(params=["classification", "regression"])
def task(request):
    return request.param


def data(task, **how):
    X, labels, values = frame(**how)
    return X, labels if task == "classification" else values


def test_fit_begins_anew_and_score_is_scikit_learns(task):
    X, y = data(task)
    model = StreamModel(learner(task))
    assert model.fit(X, y) is model
    once = model.predict(X)
    assert model.n_rows == 400
    model.partial_fit(X, y)
    assert model.n_rows == 800
    assert (model.fit(X, y).predict(X) == once).all()
    measured = accuracy_score if task == "classification" else r2_score
    assert model.score(X, y) == measured(y, once)
    weight = np.arange(400.0)
    assert model.score(X, y, weight) == measured(y, once, sample_weight=weight)


@pytest.mark.parametrize("kind", ["pandas", "polars"])
def test_a_column_with_the_name_of_y_but_other_values_is_refused(kind):
    X, _ = data("regression")
    X["small"] = X["small"].astype("Float64")
    after = X["large"].shift(-1).fillna(0.0)
    if kind == "polars":
        X, after = pl.from_pandas(X), pl.from_pandas(after)
    model = StreamModel(learner("regression"))
    with pytest.raises(
        DataError, match=r"column 'large': .* other values; rename y .*'next large'"
    ):
        model.partial_fit(X, after)
    model.partial_fit(X, after.rename("next large"))
    assert [column["name"] for column in model.describe_columns()] == ["place", "small", "large"]
    for name in ("place", "large"):
        own = onkel.make("krls", "classification" if name == "place" else "regression")
        model = StreamModel(own).partial_fit(X, X[name])
        assert name not in [column["name"] for column in model.describe_columns()]


def test_a_table_that_holds_its_target_is_fitted_and_scored_by_its_name(task):
    X, y = data(task)
    table = X.assign(move=y)
    apart, whole = StreamModel(learner(task)), StreamModel(learner(task))
    apart.fit(X, y)
    whole.fit(table, target="move")
    assert (apart.predict(X) == whole.predict(X)).all()
    assert whole.score(table) == whole.score(X, y) == apart.score(X, y)
    table.loc[[3, 7], "move"] = None
    rest = table["move"].notna()
    assert whole.score(table) == whole.score(X[rest], y[rest])
    with pytest.raises(DataError, match="no targets to score: give y, or the column 'move'"):
        whole.score(X)


def test_a_fit_that_fails_leaves_the_model_as_it_was(task):
    X, y = data(task)
    model = StreamModel(learner(task)).fit(X, y)
    before = model.to_bytes()
    bad = X.assign(large=[*X["large"][:-1], np.inf])
    for rows, targets in ((bad, y), (X[:0], y[:0])):
        with pytest.raises(DataError):
            model.fit(rows, targets)
        assert model.to_bytes() == before


def test_clones_and_parameters(task):
    X, y = data(task)
    model = StreamModel(
        learner(task, gamma=0.5), scaling="minmax", settings={"missing": "zero"}, extra="error"
    ).fit(X, y)
    other = clone(model)
    assert other.n_rows == 0
    assert other.encoder is None
    params, expected = other.get_params(), model.get_params()
    assert params.pop("estimator").get_params() == expected.pop("estimator").get_params()
    assert params == expected
    assert params["estimator__gamma"] == 0.5
    assert params["scaling"] == "minmax"
    assert (other.fit(X, y).predict(X) == model.predict(X)).all()
    assert clone(StreamModel(learner(task), missing="gap")).missing == "gap"


def test_set_params_counts_at_once_before_learning_and_from_the_next_fit_on(task):
    X, y = data(task)
    expected = StreamModel(learner(task, gamma=0.3), scaling="minmax").fit(X, y).predict(X)
    model = StreamModel(learner(task)).set_params(scaling="minmax", estimator__gamma=0.3)
    assert (model.partial_fit(X, y).predict(X) == expected).all()
    model = StreamModel(learner(task)).fit(X, y)
    before = model.predict(X)
    model.set_params(scaling="minmax", estimator__gamma=0.3)
    assert (model.predict(X) == before).all()
    assert (model.fit(X, y).predict(X) == expected).all()
    for wrong in ({"depth": 3}, {"estimator__depth": 3}, {"scaler__mode": "none"}):
        with pytest.raises(ValueError, match="parameter"):
            model.set_params(**wrong)
    with pytest.raises(ValueError, match="scaling='other'"):
        model.set_params(scaling="other")
    with pytest.raises(ValueError, match="missing='zero' must be 'gap', 'error' or None"):
        model.set_params(missing="zero")


def test_cross_validation_and_searches_over_frames_with_text(task):
    X, y = data(task)
    model = StreamModel(learner(task))
    scores = cross_val_score(model, X, y, cv=3)
    assert scores.shape == (3,)
    assert scores.min() > 0.8
    assert cross_val_predict(model, X, y, cv=3).shape == (400,)
    grid = {"estimator__n_components": [5, 30], "scaling": ["standard", "none"]}
    search = GridSearchCV(model, grid, cv=3).fit(X, y)
    assert search.best_params_ == {"estimator__n_components": 30, "scaling": "standard"}
    assert search.best_estimator_.n_rows == 400
    assert search.score(X, y) > 0.8
    if task == "classification":
        assert cross_val_score(model, X, y, cv=3, scoring="roc_auc").min() > 0.9
        assert cross_val_score(model, X, y, cv=3, scoring="neg_log_loss").min() > -0.5


def test_a_pipeline_ends_in_it(task):
    X, y = data(task)
    pipeline = make_pipeline(FunctionTransformer(), StreamModel(learner(task)))
    assert pipeline.fit(X, y).score(X, y) == StreamModel(learner(task)).fit(X, y).score(X, y)


def test_tags_and_what_a_fitted_estimator_knows(task):
    X, y = data(task)
    model = StreamModel(learner(task))
    tags = get_tags(model)
    assert is_classifier(model) == (task == "classification")
    assert is_regressor(model) == (task == "regression")
    assert tags.input_tags.string
    assert tags.input_tags.allow_nan
    assert not hasattr(model, "n_features_in_")
    assert not hasattr(model, "feature_names_in_")
    model.fit(X, y)
    assert model.n_features_in_ == 3
    assert model.feature_names_in_.tolist() == ["place", "small", "large"]


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda m: pickle.loads(pickle.dumps(m))])
def test_copies_go_on_apart(task, copied):
    X, y = data(task)
    model = StreamModel(learner(task)).fit(X, y)
    other = copied(model).partial_fit(X, y)
    assert (model.n_rows, other.n_rows) == (400, 800)
    assert other.to_bytes() == model.partial_fit(X, y).to_bytes()


@pytest.mark.parametrize("column", ["object", "category", "str"])
def test_text_for_a_bare_learner_names_the_model_that_takes_it(column):
    X, y, _ = frame(50)
    with pytest.raises(DataError, match=r"column 'place': '\w+' is not a number.*StreamModel"):
        FOGDClassifier().fit(X.astype({"place": column}), y)
    with pytest.raises(DataError, match="StreamModel"):
        FOGDClassifier().fit([["a"], ["b"]], [0, 1])


# ---- rows with keys too few or too many --------------------------------------------------------


@pytest.fixture(scope="module")
def model():
    X, y, _ = frame()
    return StreamModel(KernelRLSClassifier(n_components=30)).fit(X, y)


ROW = {"place": "north", "small": 0.5, "large": 100.0}


def test_a_row_without_a_key_is_one_with_a_gap_and_a_key_too_many_is_ignored(model):
    for name in ROW:
        short = {key: value for key, value in ROW.items() if key != name}
        expected = model.decision_function({**ROW, name: None})
        for row in (
            short,
            {**short, "new": object()},
            pd.Series(short),
            [short],
            {**short, 3: "b"},
        ):
            assert model.decision_function(row) == expected
    rows = [{"place": "north", "more": 1}, {"small": 0.5}]
    full = [{"place": "north", "small": None, "large": None}, {"place": None, "small": 0.5}]
    assert (model.decision_function(rows) == model.decision_function(full)).all()
    with pytest.raises(DataError, match=r"none of its keys is a column of the model.*'place'"):
        model.predict({"plaec": "north"})
    with pytest.raises(DataError, match="row 1: none of its keys"):
        model.predict([ROW, {"new": 1}])


def test_tables_are_refused_unless_the_model_says_otherwise(model, tmp_path):
    X, _, _ = frame(20, seed=1)
    short, long = X.drop(columns="small"), X.assign(new=1.0)
    path = tmp_path / "short.csv"
    short.assign(new=1.0).to_csv(path, index=False)
    with pytest.raises(DataError, match=r"'small': no such column.*missing='gap'"):
        model.predict(short)
    with pytest.raises(DataError, match=r"never had the columns 'new'.*extra='ignore'"):
        model.predict(long)
    lenient = copy.deepcopy(model).set_params(missing="gap", extra="ignore")
    expected = model.decision_function(X.assign(small=np.nan))
    assert (lenient.decision_function(short.assign(new=1.0)) == expected).all()
    assert (lenient.decision_function(path) == expected).all()
    assert (lenient.predict(long) == model.predict(X)).all()
    with pytest.raises(DataError, match="no such column"):
        lenient.predict(pd.DataFrame({"new": [1.0]}))


def test_onkel_predict_takes_a_file_as_its_model_says(model, tmp_path):
    X, _, _ = frame(20, seed=1)
    rows, saved = tmp_path / "rows.csv", tmp_path / "m.onkel"
    X.drop(columns="small").to_csv(rows, index=False)
    for missing, status in (("gap", 0), ("error", 2), (None, 2)):
        copy.deepcopy(model).set_params(missing=missing).save(saved)
        output = CliRunner().invoke(app, ["predict", str(saved), str(rows)])
        assert output.exit_code == status, output.stderr
        if missing == "gap":
            expected = model.predict(X.assign(small=np.nan)).tolist()
            assert output.stdout.replace('"', "").split()[1:] == expected


def test_how_keys_are_taken_is_kept_with_the_model_and_given_at_load(model, tmp_path):
    path = tmp_path / "m.onkel"
    strict = copy.deepcopy(model).set_params(missing="error", extra="error")
    strict.save(path)
    short = {"place": "north", "large": 100.0}
    again = onkel.load(path)
    with pytest.raises(DataError, match="'small': no such column"):
        again.predict(short)
    with pytest.raises(DataError, match="never had the columns 'new'"):
        again.predict({**ROW, "new": 1})
    lenient = onkel.load(path, missing="gap")
    assert lenient.predict(short) == model.predict(short)
    with pytest.raises(DataError, match="never had the columns 'new'"):
        lenient.predict({**ROW, "new": 1})
    assert onkel.load(path, extra="ignore").predict({**ROW, "new": 1}) == model.predict(ROW)
    late = onkel.from_bytes(onkel.LateLabels(strict).to_bytes(), missing="gap")
    assert late.predict("a", short) == model.predict(short)[0]


def test_a_row_without_a_key_is_learned_as_one_with_a_gap(model):
    short, full = copy.deepcopy(model), copy.deepcopy(model)
    for row, value in (({"large": 10.0}, "up"), ({"place": "west", "small": 1.0}, "down")):
        for _ in range(3):
            short.learn_one(row, value)
            full.learn_one({"place": None, "small": None, "large": None, **row}, value)
    assert short.to_bytes() == full.to_bytes()
    with pytest.raises(DataError, match="'place': no such column"):
        copy.deepcopy(model).set_params(missing="error").learn_one({"large": 10.0}, "up")


# ---- no rows ----------------------------------------------------------------------------------


def nothing(X, tmp_path):
    path = tmp_path / "empty.csv"
    X[:0].to_csv(path, index=False)
    records = X[:0].to_dict("list")
    return [X[:0], [], {}, records, X[:0].to_numpy(), pd.DataFrame(), path]


def test_no_rows_give_an_empty_answer_of_the_right_type(task, tmp_path):
    X, y = data(task)
    model = StreamModel(learner(task)).fit(X, y)
    methods = ["predict", "predict_next", "predict_then_learn"]
    if task == "classification":
        methods += ["predict_proba", "predict_proba_next", "decision_function"]
    else:
        methods += ["predict_interval", "predict_interval_next"]
    before = model.to_bytes()
    for name in methods:
        more = (y[:0],) if name == "predict_then_learn" else ()
        for rows in nothing(X, tmp_path):
            if more and not isinstance(rows, pd.DataFrame):
                continue
            some = getattr(model, name if not more else "predict")(X[:3])
            none = getattr(model, name)(rows, *more)
            assert none.dtype == some.dtype, name
            assert none.shape == (0, *some.shape[1:]), name
    assert model.partial_fit([]).to_bytes() == before
    assert StreamModel(learner(task)).partial_fit([]).n_rows == 0
    with pytest.raises(DataError, match="one row is expected"):
        model.predict_one({})


def test_a_model_of_a_stream_is_no_learner_of_another():
    with pytest.raises(TypeError, match="is no learner"):
        StreamModel(StreamModel(FOGDClassifier()))


LEARNS = "partial_fit learns the estimator itself, and says what the stream taught about columns"
OWN_WORDS = "the error is of the source that was read, in its own words"
EXCUSED = {
    "check_no_attributes_set_in_init": "a model holds its running statistics from the start",
    "check_estimators_overwrite_params": LEARNS,
    "check_dont_overwrite_parameters": LEARNS,
    "check_do_not_raise_errors_in_init_or_set_params": "a wrong parameter is refused at once",
    "check_set_params": "a wrong parameter is refused at once",
    "check_n_features_in_after_fitting": OWN_WORDS,
    "check_complex_data": OWN_WORDS,
    "check_estimators_empty_data_messages": OWN_WORDS,
    "check_fit2d_predict1d": OWN_WORDS,
    "check_requires_y_none": OWN_WORDS,
    "check_supervised_y_2d": "a target of one column is one, without a warning",
    "check_classifier_data_not_an_array": "rows come as arrays, frames, tables, dicts or paths",
    "check_regressor_data_not_an_array": "rows come as arrays, frames, tables, dicts or paths",
}
OF_CLASSIFIERS = {"check_estimators_partial_fit_n_features": "classes need not be announced"}


@pytest.mark.slow
@parametrize_with_checks(
    [StreamModel(learner(task, n_components=20)) for task in ("classification", "regression")],
    expected_failed_checks=lambda model: EXCUSED | (OF_CLASSIFIERS if is_classifier(model) else {}),
)
def test_scikit_learns_checks(estimator, check):
    check(estimator)
