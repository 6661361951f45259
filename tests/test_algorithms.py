"""Learners made by name."""

from __future__ import annotations

import pytest

from onkel import FOGDClassifier, FOGDRegressor, make


@pytest.mark.parametrize("task", ["classification", "binary", "multiclass"])
def test_a_data_sets_task_is_taken_as_it_is(task):
    model = make("fogd", task, n_components=50)
    assert isinstance(model, FOGDClassifier)
    assert model.n_components == 50
    assert isinstance(make("fogd", "regression"), FOGDRegressor)


@pytest.mark.parametrize(
    ("name", "task", "params", "message"),
    [
        ("fodg", "binary", {}, r"'fodg' is not one of .*did you mean 'fogd'"),
        ("fogd", "ranking", {}, r"'ranking' must be one of 'classification', 'binary'"),
        ("tvm", "regression", {}, "tvm does not learn regression, but"),
        ("fogd", "binary", {"gama": 1.0}, "gama"),
    ],
)
def test_what_there_is_not_is_named(name, task, params, message):
    with pytest.raises(ValueError, match=message):
        make(name, task, **params)
