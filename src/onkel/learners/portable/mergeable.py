"""Merging learners of parts of a stream into one learner."""

from __future__ import annotations

from typing import Any, Self

from sklearn.utils.validation import check_is_fitted

from onkel.errors import MergeError, ModelFileError
from onkel.learners.checking import column_names
from onkel.learners.components import params_to_state
from onkel.learners.portable.saved import SavedLearner
from onkel.merging import differ, require_same
from onkel.model.lock import locked
from onkel.state import Flag, check


class Mergeable(SavedLearner):
    """A learner that can fix its map, and take in what others learned over that map."""

    #: whether what was fitted on first rows is frozen: see :meth:`fix_map`
    map_fixed_ = False

    @locked
    def fix_map(self) -> Self:
        """Freeze what was fitted on first rows, so that copies can learn parts of a stream apart.

        Landmarks, widths, penalties, bandwidths, bins and classes stay as they are. The default
        learner no longer begins anew when the stream changes, and drops the memory of the last
        labels, because parts of a stream have no common order. This cannot be undone.

        Raises
        ------
        MergeError
            The learner cannot be merged, or has learned too little for a map; the message says why.

        Examples
        --------
        See :meth:`merge`.
        """
        check_is_fitted(self)
        self.model_.fix_map()
        self.map_fixed_ = True
        return self

    @locked
    def merge(self, other: Any, since: Any = None) -> Self:
        """Take in what another learner has learned, as if one had learned the rows of both.

        Wherever possible, sums over rows add up: a + b - o, with ``since`` as o.

        ==================  ========================================================================
        least squares       exact: the sums add, so the weights are those of one pass over all
                            rows, to rounding. With ``forgetting``, b's rows follow a's.
        online Newton       the sums add, each linearised at the scores of its own part.
        gradient rules      the weights are mixed, in proportion to the rows learned (Zinkevich et
                            al. 2010). AdaGrad's sums of squares add. A mean of P learners varies
                            less, but has moved only as far as one of them: less than one pass.
        cells               between the mean of both and the sum, by the precision that each
                            gained. Cells learn from the errors of their own part's model, and the
                            cells of a row share one error, so the result is near one pass, not
                            equal to it. Together they have less noise, so more is added to f.
        calibration         the mean of both, weighted by the precision gained.
        ==================  ========================================================================

        Parameters
        ----------
        other : estimator
            Of the same class and parameters, over the same map. It is left as it is.
        since : estimator, optional
            The learner that both went on from: the rows it had learned count once. Leave it out if
            no row was learned by both.

        Raises
        ------
        MergeError
            They differ in map, kernel, seed, classes, columns or parameters (the first difference
            is named); the map is not fixed; or learners of this kind cannot be merged. Nothing is
            changed then.

        Examples
        --------
        >>> import copy
        >>> import numpy as np
        >>> from onkel import OnlineKernelClassifier
        >>> rng = np.random.default_rng(0)
        >>> X = rng.uniform(-3, 3, (6000, 2))
        >>> y = np.sin(X[:, 0] * X[:, 1]) > 0
        >>> sample = OnlineKernelClassifier(n_components=50).fit(X[:2000], y[:2000]).fix_map()
        >>> parts = [copy.deepcopy(sample) for _ in range(2)]
        >>> for k, part in enumerate(parts):
        ...     _ = part.partial_fit(X[2000 + k:5000:2], y[2000 + k:5000:2])
        >>> whole = parts[0].merge(parts[1], since=sample)
        >>> whole.n_rows_, round(whole.score(X[5000:], y[5000:]), 2)
        (5000, 0.97)

        Notes
        -----
        Source: Zinkevich, Weimer, Smola & Li 2010 (mixing).
        """
        for one in (other,) if since is None else (other, since):
            self._require_alike(one)
        least = 0 if since is None else since.n_rows_
        for one in (self, other):
            if one.n_rows_ < least:
                raise MergeError(
                    f"since= has learned {least:,} rows, and a learner to be merged "
                    f"{one.n_rows_:,}: give the one that both went on from"
                )
        self._take_in(other, since)
        return self

    def _require_alike(self, other: Any) -> None:
        """Raise a MergeError, naming the difference, unless the other learned over the same map."""
        if type(other) is not type(self):
            raise differ("their class", type(self).__name__, type(other).__name__)
        check_is_fitted(self)
        check_is_fitted(other)
        require_same("the parameters", params_to_state(self), params_to_state(other))
        require_same("the columns", self.n_features_in_, other.n_features_in_)
        names = (column_names(self), column_names(other))
        if all(own is not None for own in names):
            require_same("the columns", *names)
        require_same("whether the map is fixed", self.map_fixed_, other.map_fixed_)
        self.model_.require_alike(other.model_)

    def _take_in(self, other: Any, since: Any) -> None:
        """Add what ``other``, which is alike, learned since both were ``since`` (or None)."""
        self.model_.take_in(other.model_, None if since is None else since.model_)
        self.n_rows_ += other.n_rows_ - (0 if since is None else since.n_rows_)

    def _fitted_state(self) -> dict[str, Any]:
        state = super()._fitted_state()
        return state | {"map_fixed": True} if self.map_fixed_ else state

    def _set_fitted_state(self, state: dict[str, Any]) -> None:
        super()._set_fitted_state(state)
        if "map_fixed" in state:
            check(state, {"map_fixed": Flag()})
        if state.get("map_fixed"):
            try:
                self.model_.fix_map()
            except MergeError as error:
                raise ModelFileError(f"map_fixed: {error}") from None
            self.map_fixed_ = True
