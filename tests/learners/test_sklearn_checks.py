"""scikit-learn's own checks over every public estimator and map."""

from __future__ import annotations

import pytest
from sklearn.base import is_classifier, is_regressor
from sklearn.utils.estimator_checks import (
    check_methods_sample_order_invariance,
    check_methods_subset_invariance,
    estimator_checks_generator,
)
from tests.learners.conftest import shared_path

from onkel import learners, maps

pytestmark = pytest.mark.slow

ABSTRACT = ("OnlineEstimator", "OnlineClassifier", "OnlineRegressor")
ESTIMATORS = [getattr(learners, name) for name in learners.__all__ if name not in ABSTRACT]
SMALL = {"n_components": 20, "random_state": 0, "speed": "fast"}

WEIGHTS = (
    "learning is by rows in order: a step of weight 2 is one step from one prediction, two rows "
    "are two steps from two"
)
ROUNDING = "float32 matrix products round by the number of rows; in float64 the check passes"
STOPS_AT_MARGIN = (
    "a passive-aggressive step ends where the row's loss is 0: a weight of 1000 moves f no more "
    "than one of 1"
)
STEPS_OF_ANY_WEIGHT = (
    "AdaGrad divides a gradient by the root of all squares: weights of 1000 and of 1 move f alike"
)
BELOW_ROUNDING = (
    "weights of 1000 and 0.0001 leave the light classes below the rounding of float32 sums, which "
    "count as 0: features are then not chosen by these labels"
)
SMALL_STEPS = (
    "200 rows in one pass, each moving f by a small constant step at most, and some forgotten: "
    "too few to reach the score that the check asks for"
)
SMALL_STEP_REGRESSORS = (
    learners.BudgetPerceptronRegressor,
    learners.ForgetronRegressor,
    learners.NORMARegressor,
    learners.OLKFixedRegressor,
    learners.OLKGrowingRegressor,
    learners.RBPRegressor,
)


def small(cls, **params):
    allowed = cls._get_param_names()
    if "n_candidates" in allowed:
        # the twenty best-aligned of 2 000 candidates are too similar
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
    if isinstance(estimator, learners.PAClassifier):
        failures["check_class_weight_classifiers"] = STOPS_AT_MARGIN
    if isinstance(estimator, learners.AdaGradClassifier):
        failures["check_class_weight_classifiers"] = STEPS_OF_ANY_WEIGHT
    if isinstance(estimator, learners.AlignedClassifier):
        failures["check_class_weight_classifiers"] = BELOW_ROUNDING
    return failures


# These checks end before a row reaches a model: they test how X, y and weights are read, which is
# the same code for all learners that resolve the same methods. One learner of each such group runs
# them (`shared_path` finds the groups, so that a learner with a method of its own is a group).
# What depends on a learner's declaration, model or map runs for all.
OF_READING = {
    "check_all_zero_sample_weights_error",
    "check_array_api_input",
    "check_classifier_data_not_an_array",
    "check_classifiers_regression_target",
    "check_complex_data",
    "check_dtype_object",
    "check_estimator_sparse_matrix",  # the array check has the same formats and runs for all
    "check_estimators_dtypes",
    "check_estimators_empty_data_messages",
    "check_estimators_nan_inf",
    "check_estimators_partial_fit_n_features",
    "check_f_contiguous_array_estimator",
    "check_fit1d",
    "check_fit2d_predict1d",
    "check_fit_score_takes_y",
    "check_n_features_in",
    "check_n_features_in_after_fitting",
    "check_pipeline_consistency",
    "check_positive_only_tag_during_fit",
    "check_readonly_memmap_input",  # float64 is copied; float32 is not, and runs for all
    "check_regressor_data_not_an_array",
    "check_requires_y_none",
    "check_sample_weights_list",
    "check_sample_weights_not_an_array",
    "check_sample_weights_not_overwritten",
    "check_sample_weights_pandas_series",
    "check_sample_weights_shape",
    "check_supervised_y_2d",
    "check_supervised_y_no_nan",
    # fail for all, for the same reason
    "check_methods_sample_order_invariance",
    "check_methods_subset_invariance",
    "check_sample_weight_equivalence_on_dense_data",
    "check_sample_weight_equivalence_on_sparse_data",
}


def of_reading(check):
    trained_from_file = check.keywords.get("readonly_memmap") and "train" in check.func.__name__
    copied = trained_from_file and "X_dtype" not in check.keywords
    return copied or check.func.__name__ in OF_READING


def cases():
    """All checks of every estimator and map; those of reading only once per group of learners."""
    paths = set()
    for cls in (*ESTIMATORS, *maps.MAPS.values()):
        learner = cls in ESTIMATORS
        first = not learner or shared_path(cls) not in paths
        if learner:
            paths.add(shared_path(cls))
        failures = expected_failures(small(cls))
        for estimator, check in estimator_checks_generator(small(cls)):
            if not first and of_reading(check):
                continue
            name = "-".join([cls.__name__, check.func.__name__, *map(str, check.keywords)])
            yield pytest.param(estimator, check, failures.get(check.func.__name__), id=name)


def fails(check, estimator):
    try:
        check(estimator)
    except Exception:
        return True
    return False


@pytest.mark.parametrize(("estimator", "check", "excuse"), list(cases()))
def test_scikit_learn(estimator, check, excuse):
    """Every check passes, but for those that are excused.

    A failure that is excused leaves no traceback: it would take longer to write than all checks.
    """
    if excuse is None:
        check(estimator)
    elif fails(check, estimator):
        pytest.xfail(excuse)


@pytest.mark.parametrize("cls", ESTIMATORS)
@pytest.mark.parametrize(
    "check", [check_methods_sample_order_invariance, check_methods_subset_invariance]
)
def test_predictions_do_not_depend_on_the_other_rows(cls, check):
    check(cls.__name__, small(cls, dtype="float64"))
