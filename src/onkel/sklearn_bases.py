"""The base classes of scikit-learn that onkel's classes inherit, with their types.

scikit-learn declares no types: to a strict checker, all that derives from its classes is unknown.
So checkers read here what these classes bring; when a program runs, they are scikit-learn's own.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

from onkel.annotations import ArrayLike, MatrixLike

if TYPE_CHECKING:
    import numpy as np

    class BaseEstimator:
        """Parameters by name."""

        @classmethod
        def _get_param_names(cls) -> list[str]: ...
        def get_params(self, deep: bool = True) -> dict[str, Any]: ...
        def set_params(self, **params: Any) -> Self: ...
        def get_metadata_routing(self) -> Any: ...
        def __sklearn_tags__(self) -> Any: ...

    class ClassifierMixin:
        """Mean accuracy as score."""

        def score(
            self, X: MatrixLike, y: ArrayLike, sample_weight: ArrayLike | None = None
        ) -> float: ...

    class RegressorMixin:
        """R² as score."""

        def score(
            self, X: MatrixLike, y: ArrayLike, sample_weight: ArrayLike | None = None
        ) -> float: ...

    class TransformerMixin:
        """Fit and transform in one call; output as arrays or tables."""

        def fit_transform(
            self, X: MatrixLike, y: ArrayLike | None = None, **fit_params: object
        ) -> Any: ...
        def set_output(self, *, transform: str | None = None) -> Self: ...

    class OneToOneFeatureMixin:
        """A column out for each column in."""

        def get_feature_names_out(self, input_features: ArrayLike | None = None) -> np.ndarray: ...

    class ClassNamePrefixFeaturesOutMixin:
        """Columns out that are named for the class."""

        def get_feature_names_out(self, input_features: ArrayLike | None = None) -> np.ndarray: ...

else:
    from sklearn.base import BaseEstimator as BaseEstimator
    from sklearn.base import ClassifierMixin as ClassifierMixin
    from sklearn.base import ClassNamePrefixFeaturesOutMixin as ClassNamePrefixFeaturesOutMixin
    from sklearn.base import OneToOneFeatureMixin as OneToOneFeatureMixin
    from sklearn.base import RegressorMixin as RegressorMixin
    from sklearn.base import TransformerMixin as TransformerMixin
