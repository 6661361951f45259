"""scikit-learn's own checks over every public estimator and map."""

from __future__ import annotations

import pytest
from sklearn.base import is_classifier, is_regressor
from sklearn.utils.estimator_checks import (
    check_methods_sample_order_invariance,
    check_methods_subset_invariance,
    parametrize_with_checks,
)

from onkel import estimators, maps

ABSTRACT = ("OnlineEstimator", "OnlineClassifier", "OnlineRegressor")
ESTIMATORS = [getattr(estimators, name) for name in estimators.__all__ if name not in ABSTRACT]
SMALL = {"n_components": 20, "random_state": 0}

WEIGHTS = (
    "learning is by rows in order: a step of weight 2 is one step from one prediction, two rows "
    "are two steps from two"
)
ROUNDING = "float32 matrix products round by the number of rows; in float64 the check passes"
STOPS_AT_MARGIN = (
    "a passive-aggressive step ends where the row's loss is 0: a weight of 1000 moves f no more "
    "than one of 1"
)
SMALL_STEPS = (
    "200 rows in one pass, each moving f by a small constant step at most, and some forgotten: "
    "too few to reach the score that the check asks for"
)
SMALL_STEP_REGRESSORS = (
    estimators.BudgetPerceptronRegressor,
    estimators.ForgetronRegressor,
    estimators.NORMARegressor,
    estimators.OLKFixedRegressor,
    estimators.OLKGrowingRegressor,
    estimators.RBPRegressor,
)


def small(cls, **params):
    allowed = cls._get_param_names()
    if "n_candidates" in allowed:
        # twenty of 2 000 that agree best are much alike
        params = {"n_components": 100} | params
    params = {name: value for name, value in (SMALL | params).items() if name in allowed}
    return cls(**params)


def expected_failures(estimator):
    if not (is_classifier(estimator) or is_regressor(estimator)):
        return {}
    failures = {
        "check_sample_weight_equivalence_on_dense_data": WEIGHTS,
        "check_sample_weight_equivalence_on_sparse_data": WEIGHTS,
        "check_methods_sample_order_invariance": ROUNDING,
        "check_methods_subset_invariance": ROUNDING,
    }
    if isinstance(estimator, SMALL_STEP_REGRESSORS):
        failures["check_regressors_train"] = SMALL_STEPS
    if isinstance(estimator, estimators.PAClassifier):
        failures["check_class_weight_classifiers"] = STOPS_AT_MARGIN
    return failures


@parametrize_with_checks(
    [small(cls) for cls in (*ESTIMATORS, *maps.MAPS.values())],
    expected_failed_checks=expected_failures,
)
def test_scikit_learn(estimator, check):
    check(estimator)


@pytest.mark.parametrize("cls", ESTIMATORS)
@pytest.mark.parametrize(
    "check", [check_methods_sample_order_invariance, check_methods_subset_invariance]
)
def test_predictions_do_not_depend_on_the_other_rows(cls, check):
    check(cls.__name__, small(cls, dtype="float64"))
