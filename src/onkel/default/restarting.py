"""A model that is replaced by a new one when its stream has changed.

When the losses of the predictions rise, a challenger begins beside the model, and takes its place
once it is clearly better (:mod:`onkel.default.rivals`). Until it has taken over, its map postpones
the expensive search. On a steady stream this costs nothing but the losses.

A challenger also begins when a column comes in mid-stream: fixed landmarks, which are 0 there,
barely use a new column.

Source: background learners as in Gomes et al. 2017 (adaptive random forests), with one
model instead of a hundred trees; the test is the two-sample one of Bifet & Gavaldà 2007.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from onkel.default.loss_history import BIN_ROWS
from onkel.default.rivals import Beginning, Rivals
from onkel.errors import MergeError
from onkel.explicit.model import ExplicitModel
from onkel.losses import Loss
from onkel.maps.base import FeatureMap
from onkel.merging import require_same
from onkel.rules.base import Rule


class RestartingModel:
    """One or two explicit models, one of which predicts; the interface is that of a single model.

    Parameters
    ----------
    feature_map : FeatureMap
        Started, not fitted: every model begins with a copy.
    rule, loss, epsilon, n_outputs
        As of :class:`onkel.explicit.model.ExplicitModel`.
    representation : type
        Class of the models: :class:`~onkel.explicit.model.ExplicitModel` or a subclass.
    """

    def __init__(
        self,
        feature_map: FeatureMap,
        rule: Rule,
        loss: Loss,
        epsilon: float,
        n_outputs: int,
        representation: type[ExplicitModel] = ExplicitModel,
    ) -> None:
        self.unfitted = feature_map
        beginning = Beginning(feature_map, (rule, loss, epsilon), representation)
        self.rivals = Rivals(beginning, n_outputs)
        #: whether the model stays, whatever the losses: parts of a stream are to be merged
        self.fixed = False

    @property
    def changed_at(self) -> list[int]:
        """Rows learned when a new model took over, the last 64 times."""
        return [bins * BIN_ROWS for bins in self.rivals.changes]

    @property
    def current(self) -> ExplicitModel:
        """The model that predicts."""
        return self.rivals.current

    @property
    def map(self) -> FeatureMap:
        """The map of the model that predicts."""
        return self.current.map

    @property
    def coef(self) -> np.ndarray:
        """The weights of the model that predicts."""
        return self.current.coef

    @property
    def n_outputs(self) -> int:
        """Number of outputs K."""
        return self.current.n_outputs

    @property
    def cannot_diverge(self) -> bool:
        """Whether the model that predicts cannot diverge."""
        return self.current.cannot_diverge

    @property
    def seed(self) -> int:
        """The seed of every random choice."""
        return self.current.seed

    @seed.setter
    def seed(self, value: int) -> None:
        self.unfitted.seed_ = value
        for model in self.rivals.models():
            model.seed = value

    # ---- prediction ----------------------------------------------------------------------------

    def scores(self, X: Any) -> np.ndarray:
        """f(x) of each row, (n, K) in float64."""
        return self.current.scores(X)

    def score_row(self, X: np.ndarray) -> np.ndarray:
        """f(x) of the one row of X (1, d), (K,)."""
        return self.current.score_row(X)

    def variance(self, X: Any) -> np.ndarray:
        """Predictive variance (n,)."""
        return self.current.variance(X)

    # ---- learning ------------------------------------------------------------------------------

    @property
    def rows_at_once(self) -> int:
        """As many rows as are learned in well under a second: signals wait for their end."""
        return self.current.rows_at_once

    def row_to_learn(self, X: np.ndarray) -> None:
        """None: no compiled call alone learns a row, as its loss counts, too."""

    def learn_row(self, X: np.ndarray, y: float, weight: float) -> None:
        """Learn the one row of X (1, d)."""
        self.learn(X, np.array([y]), np.array([weight]))

    def learn(self, X: Any, y: np.ndarray, weight: np.ndarray) -> np.ndarray:
        """Learn the rows in order; returns the scores (n, K) before each was learned."""
        if self.fixed:
            return self.current.learn(X, y, weight)
        rivals = self.rivals
        if rivals.challenger is None and len(y) < rivals.open_bin.missing:
            # within a bin nothing is decided
            P = self.current.learn(X, y, weight)
            rivals.open_bin.add(self.current, P, None, y, weight)
            return P
        P, known = np.zeros((len(y), self.n_outputs)), 0
        for start, end in rivals.open_bin.parts(weight):
            if known < end:
                # where nothing is to be decided, the model learns the rest of the block at once
                alone = rivals.challenger is None and not rivals.waits_for_search
                stop = len(y) if alone else end
                rows = slice(known, stop)
                P[rows], known = self.current.learn(X[rows], y[rows], weight[rows]), stop
            rows = slice(start, end)
            Q = None
            if rivals.challenger is not None:
                Q = rivals.challenger.learn(X[rows], y[rows], weight[rows])
            rivals.open_bin.add(self.current, P[rows], Q, y[rows], weight[rows])
            if not rivals.open_bin.missing and rivals.end_bin():
                # the new model learns the rows after these; the former model's work is void
                known = end
        return P

    # ---- models of several parts ---------------------------------------------------------------

    def fix_map(self) -> None:
        """Keep the model that predicts: no other begins from now on."""
        self.current.fix_map()
        self.fixed = True
        self.rivals.stay()

    def require_alike(self, other: Any) -> None:
        """MergeError, naming the difference, unless :meth:`take_in` can take in ``other``."""
        require_same("what they are", type(self).__name__, type(other).__name__)
        if not (self.fixed and other.fixed):
            raise MergeError(
                "a learner that may begin anew cannot be merged: let one learn a sample and call "
                "fix_map(); then let each part learn with a copy of it"
            )
        self.current.require_alike(other.current)

    def take_in(self, other: Any, origin: Any) -> None:
        """Add what ``other`` learned since both were ``origin`` (None: since the first row)."""
        self.current.take_in(other.current, None if origin is None else origin.current)

    # ---- the rest of a model -------------------------------------------------------------------

    def add_output(self, position: int) -> None:
        """Make room for a class with zero scores at ``position``."""
        for model in self.rivals.models():
            model.add_output(position)

    def add_columns(self, n: int) -> None:
        """Take rows with n columns more; a challenger begins, unless a fit is still to come."""
        self.widen(n)
        fixed = all(model.ready and model.warmup is None for model in self.rivals.models())
        if fixed and not self.fixed:
            self.rivals.challenge(alarmed=False)

    def widen(self, n: int) -> None:
        """Take rows with n columns more, and go on."""
        self.unfitted.add_columns(n)
        for model in self.rivals.models():
            model.add_columns(n)

    def get_state(self) -> dict[str, Any]:
        """Named arrays and scalars from which :meth:`set_state` goes on bit for bit."""
        return self.rivals.get_state()

    def set_state(self, state: dict[str, Any]) -> None:
        """Take the state of a model of the same map, rule and loss."""
        self.rivals.set_state(state)
