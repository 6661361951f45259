"""The explicit representation: weights over a feature map, moved row by row."""

from __future__ import annotations

import copy
import math
from collections.abc import Generator
from typing import Any, ClassVar, Self

import numpy as np

from onkel.annotations import Matrix
from onkel.errors import MergeError
from onkel.explicit.ahead import REPLAYED, Ahead, CorrectionsAnew, Replay, fitted_last
from onkel.explicit.changing_maps import training_loop_for
from onkel.explicit.loop import learn_one_or_undo, weigh_row
from onkel.explicit.training_loop import MOST_OWN, TrainingLoop
from onkel.explicit.weights import Weights
from onkel.fields import Fields, Sizes, State, Whole, require
from onkel.losses import Loss
from onkel.maps.base import Change, FeatureMap
from onkel.merging import require_same
from onkel.model.contract import Model, WorkOfFits, diverged
from onkel.model.labels import targets_of_fit
from onkel.model.warmup import Warmup
from onkel.numerics.notices import working
from onkel.numerics.threads import one_blas_thread
from onkel.rules.base import Rule, T
from onkel.rules.second_order import ExactScalars
from onkel.state import Part

# Targets are close together where they are so near their mean on average, as a share of it.
_CLOSE = 1e-4


class ExplicitModel(Model):
    """f_k(x) = w_k · z(x) for K outputs: a map, a rule and a loss, with all their state.

    The map is started for the data's columns; the model drives and owns it. ``epsilon`` is the
    half-width of the tube in which a regression row is not learned, K is 1 for two classes and in
    regression. ``average``: predict with the mean of the weights after each row.
    """

    n_outputs: int

    rule: Rule

    def __init__(
        self,
        feature_map: FeatureMap,
        rule: Rule,
        loss: Loss,
        epsilon: float,
        n_outputs: int,
        average: bool = False,
    ) -> None:
        super().__init__(rule, loss, epsilon, n_outputs)
        self.map: FeatureMap = feature_map
        self.average: bool = average
        #: whether the rule's state is a matrix over the features
        self.exact: bool = rule.kind.exact
        # ridge regression on bounded features is finite for all rows that have finite squares
        self.cannot_diverge: bool = self.exact and feature_map.is_bounded()
        self.moves_features: bool = feature_map.changes() == Change.BY_LOSS
        self._check_pair()
        #: None before the first row of a map that is fitted on first rows
        self.training: TrainingLoop | None = None
        #: the next fit, where it is made ahead: no state, it can always begin again
        self.ahead: Ahead | None = None
        rows = feature_map.warmup_rows()
        self.warmup = self._new_warmup(rows) if rows else None
        if self.warmup is None:
            self.map.fit_first(np.empty((0, feature_map.n_features_in_), feature_map.dtype_))
            self._reset()

    def _check_pair(self) -> None:
        """ValueError for a rule, a map and ``average`` that do not go together."""
        if self.rule.by_feature and self.map.changes() == Change.BY_SUPPORT:
            raise ValueError(
                f"rule {self.rule.name!r} works feature by feature and cannot learn in the "
                "kernel's space while landmarks='support' are gathered; use landmarks='first'"
            )
        if self.average and self.exact:
            raise ValueError(
                f"average=True cannot be used with rule {self.rule.name!r}: its weights are the "
                "solution of all rows so far, and not steps around one"
            )
        if self.average and self.map.changes() == Change.BY_LOSS:
            raise ValueError(
                f"average=True cannot be used with map {self.map.name!r}: its features move with "
                "every row, so the weights of two rows belong to different features"
            )

    # ---- state ---------------------------------------------------------------------------------

    def _fit_first(self, X: np.ndarray, y: np.ndarray, weight: np.ndarray) -> None:
        self.map.fit_labelled(X, self._targets_of_fit(y), weight)

    def _reset(self) -> None:
        loop = training_loop_for(self.map, self.rule)
        state = self._new_state()
        context = state, self.loss, self.epsilon, self.par
        shape = self.n_outputs, loop.n_weights(self.map)
        prior = self.map.prior() if self.exact else None
        dtype = self.map.dtype_
        weights = Weights(self.rule, context, shape, dtype, prior, self.average)
        self.training = loop(weights, self.map)

    @property
    def weights(self) -> Weights:
        """W, and what belongs to it; only when :attr:`ready`."""
        assert self.training is not None
        return self.training.weights

    @property
    def seed(self) -> int:
        """The seed of every random choice."""
        return self.map.seed_

    @seed.setter
    def seed(self, value: int) -> None:
        self.map.seed_ = value

    @property
    def fits(self) -> str:
        return self.map.fits

    @property
    def ready(self) -> bool:
        return self.training is not None

    @property
    def coef(self) -> np.ndarray:
        """Weights (K, m), or coefficients of the support set (K, |S|) while it grows."""
        assert self.training is not None
        return self.training.coef

    STATE: ClassVar[Fields] = {
        "n_outputs": Whole(size="n_outputs"),
        "map": Part(where="ready"),
        "training": Part(lambda model: model._begun(), anew=True, among="W", optional=True),
        "warmup": Part(lambda model: model._new_warmup(1), anew=True, optional=True),
    }

    def check_state(self, state: State, sizes: Sizes) -> None:
        require("W" in state or "warmup" in state, "W: is missing, and so are the first rows")
        require("W" not in state or "map" in state, "map: is missing")

    def state_is_set(self) -> None:
        self.ahead = None

    def _begun(self) -> TrainingLoop:
        """The training loop at f = 0, over the map as it is now."""
        self._reset()
        assert self.training is not None
        return self.training

    def _new_warmup(self, n_rows: int) -> Warmup:
        return Warmup(n_rows, self.map.n_features_in_, self.map.dtype_)

    def add_output(self, position: int) -> None:
        """Make room for a class with zero scores at ``position``; see :class:`Weights`."""
        if self.n_outputs == 1:
            # the targets of a fit that is under way were ±1
            self.ahead = None
        if self.training is not None:
            self.training.add_output(position)
            self.weights.add_output(position)
        if self.warmup is not None:
            self.warmup.add_class(position, from_signs=self.n_outputs == 1)
        self.n_outputs = 3 if self.n_outputs == 1 else self.n_outputs + 1

    def add_columns(self, n: int) -> None:
        super().add_columns(n)
        self.map.expect_news()

    def widen(self, n: int) -> None:
        self.ahead = None
        place = self.map.add_columns(n)
        super().widen(n)
        if self.training is not None:
            self.training.add_columns(n)
            if place is not None:
                self.weights.add_features(place, n)

    # ---- models of several parts ---------------------------------------------------------------

    def fix_map(self) -> None:
        if self.training is None:
            raise MergeError("nothing is fitted yet: learn a sample of the rows first")
        if not self.training.settled():
            raise MergeError(
                f"map {self.map.name!r} still changes while rows are learned; let it learn more "
                "rows first, or use one that stays, such as fourier or learned_landmarks"
            )
        self.warmup = self.ahead = None
        self.undo_log.forget()

    def require_alike(self, other: Self) -> None:
        require_same("what they are", type(self).__name__, type(other).__name__)
        for model in (self, other):
            if model.training is None or model.warmup is not None or not model.training.settled():
                raise MergeError(
                    f"map {self.map.name!r} is still being fitted on first rows: let one model "
                    "learn a sample and call fix_map(); then let each part learn with a copy of it"
                )
        require_same("the loss", Loss(self.loss).name, Loss(other.loss).name)
        require_same("epsilon", self.epsilon, other.epsilon)
        require_same("the number of outputs", self.n_outputs, other.n_outputs)
        require_same("the seed", self.seed, other.seed)
        require_same("the map", self.map.name, other.map.name)
        require_same(f"the map {self.map.name!r}", self.map.get_state(), other.map.get_state())
        self.weights.require_alike(other.weights)

    def take_in(self, other: Self, origin: Self | None) -> None:
        self.weights.take_in(other.weights, None if origin is None else origin.weights)
        self.undo_log.forget()

    # ---- the fit that is due next --------------------------------------------------------------

    def _next_fit(self) -> int:
        assert self.warmup is not None
        count = self.warmup.count
        due, rows = self.map.next_fit(count, self.warmup.n_rows)
        if rows <= count < due:
            with working(self._fit_of(due), done=False):
                self._ahead_of(due, rows).advance(count + 1)
        return due

    def _ahead_of(self, due: int, rows: int) -> Ahead:
        """The fit that is due at ``due`` rows, and uses ``rows`` of them."""
        if self.ahead is None or self.ahead.due != due:
            self.ahead = Ahead.of_fit(self, rows, due)
        return self.ahead

    def fit_ahead(self) -> bool:
        if self.warmup is None:
            return False
        count = self.warmup.count
        due, rows = self.map.next_fit(count, self.warmup.n_rows)
        return rows <= count < due and self._ahead_of(due, rows).go_on()

    def _fit_of(self, due: int) -> str:
        return f"{self.fits} to {due:,} rows"

    def work_of_fits(self, rows: int) -> WorkOfFits:
        if self.warmup is None:
            return WorkOfFits()
        count, ahead = self.warmup.count, self.ahead
        done = 0.0 if ahead is None else ahead.share * self.map.work_of_fit(ahead.due)
        # of the rows that are kept: with columns that came since, there would be room for fewer
        last, end = self.warmup.n_rows, count + rows
        return WorkOfFits(
            self.map.work_between(0, count, last)[1] + done,
            max(self.map.work_between(count, end, last)[1] - done, 0.0),
            self.map.work_of_last_fit(end) if end < last else 0.0,
        )

    def rows_before_fit(self) -> float:
        if self.warmup is None:
            return math.inf
        count = self.warmup.count
        due, seen = self.map.next_fit(count, self.warmup.n_rows)
        if self.ahead is not None and self.ahead.due == due:
            seen = self.ahead.rows_covered()
        return max(min(seen, due - 1) - count, 0)

    def refit(self) -> None:
        if self.warmup is None:
            return
        due, ahead = self.warmup.count, self.ahead
        if not self.map.fit_is_due(due):
            if self.warmup.complete:
                self.warmup = None
            return
        rows, self.ahead = self.map.rows_of_fit(due), None
        if rows == due:
            super().refit()
            return
        if ahead is None or ahead.due != due:
            ahead = Ahead.of_fit(self, rows, due)
        with working(self._fit_of(due)):
            self._go_on_as(ahead.finish())
        if self.warmup.complete:
            self.warmup = None

    def _go_on_as(self, new: Self) -> None:
        """Take over the map of ``new``, and what it has learned over it."""
        if new.training is not None:
            self.training = new.training
        elif self.training is not None:
            self.training.map = new.map
        self.map = new.map

    def fits_last(self) -> bool:
        """Whether :meth:`consolidate` fits the map to the rows kept."""
        return self.warmup is not None and self.map.fits_last(self.warmup.count)

    def change_rows_kept(self, columns: np.ndarray, values: np.ndarray) -> None:
        if self.warmup is not None and self.fits_last():
            self.warmup.replace(columns, values)
            self.ahead = None
            self.undo_log.forget()

    def consolidate(self) -> None:
        if self.warmup is None or not self.fits_last():
            return
        with working(f"{self.fits} to all {self.warmup.count:,} rows kept"):
            new = fitted_last(self)
        self.map, self.training, self.ahead = new.map, new.training, None
        self.undo_log.forget()

    def fit_anew(
        self, X: np.ndarray, y: np.ndarray, weight: np.ndarray, due: int | None
    ) -> Generator[float, None, ExplicitModel]:
        """A copy that has learned nothing, over this map fitted anew; steps give the share done.

        ``due``: how many rows there are then; None for the last fit of the map. Where features
        stay as they are, so does what was learned over them, and the copy is not ready to learn.
        """
        new = copy.copy(self)
        new.map, new.training, new.ahead = copy.copy(self.map), None, None
        rows = X, new._targets_of_fit(y), weight
        fit = new.map.fit_last(*rows) if due is None else new.map.fit_in_steps(*rows, due)
        if (yield from fit):
            # classes may have come meanwhile: none of them is in these rows
            new.begin_anew(self.n_outputs)
            new._begin_at_level(y, weight)
        return new

    def begin_anew(self, n_outputs: int) -> None:
        """Forget what was learned, over the map as it is, with ``n_outputs`` outputs."""
        self.n_outputs = n_outputs
        self._reset()

    @property
    def penalty(self) -> np.ndarray:
        """ridge·K₀ (m, m) of exact rules over the map as it is."""
        return np.asarray(self.map.prior()) * ExactScalars.of(self.par).ridge

    def corrections_anew(self) -> CorrectionsAnew | None:
        """What begins anew to correct f, over the map as it is now; None where nothing does."""
        return None

    def replay(self) -> Replay:
        """Takes rows that have been predicted already."""
        assert self.training is not None
        return Replay(self.training)

    def _learn_again(self, X: np.ndarray, y: np.ndarray, weight: np.ndarray) -> None:
        self._begin_at_level(y, weight)
        matrix, loop = self.weights.matrix, self.training
        stays = loop is not None and loop.settled()
        if matrix is None or not stays or not matrix.can_sum(weight[:REPLAYED]):
            super()._learn_again(X, y, weight)
            return
        replay = self.replay()
        for a in range(0, len(X), REPLAYED):
            some = slice(a, a + REPLAYED)
            replay.learn(X[some], y[some], weight[some])
        replay.finish()

    def _begin_at_level(self, y: np.ndarray, weight: np.ndarray) -> None:
        """Let exact rules begin at the mean of y where targets lie far from 0, and close together.

        From 0, their differences would be lost in rounding.
        """
        if self.exact and self.n_outputs == 1 and self.map.ends_with_constant:
            level = float(np.average(y, weights=weight))
            away = float(np.average(np.abs(y - level), weights=weight))
            self.weights.level = level if 0.0 < away < _CLOSE * abs(level) else 0.0

    # ---- what undoing asks ---------------------------------------------------------------------

    def is_finite(self) -> bool:
        if self.training is None:
            return True
        weights = self.training.weights
        own = weights.W, weights.H, weights.state
        return all(np.isfinite(values.sum()) for values in own) and self.map.is_finite()

    def few_weights(self) -> list[np.ndarray] | None:
        loop = self.training
        if loop is None or self.warmup is not None or self.exact:
            return None
        weights = loop.weights
        few = [weights.W, weights.H, weights.state, weights.total]
        if self.moves_features:
            return [*few, *self.map.moving().values()]
        return few if loop.settled() else None

    # ---- prediction ----------------------------------------------------------------------------

    def scores(self, X: Matrix) -> np.ndarray:
        out = np.zeros((X.shape[0], self.n_outputs))
        if self.training is None:
            return out
        matrix = self.weights.matrix
        if matrix is not None and self.weights.does_without(X.shape[0]):
            return matrix.predictions(self.training.features(X))
        coef = self.coef
        if coef.shape[1]:
            with one_blas_thread(X.shape[0]):
                for a, b in self.training.sub_blocks(X.shape[0]):
                    out[a:b] = self.training.features(X[a:b]) @ coef.T
        return out

    def score_row(self, X: np.ndarray) -> np.ndarray:
        Z = None if self.training is None else self.training.row_features(X)
        if Z is None:
            return self.scores(X)[0]
        if self.weights.averages:
            return np.asarray(self.weights.predicting @ Z[0], dtype=np.float64)
        p = np.empty(self.n_outputs)
        weigh_row(Z, self.weights.W, self.weights.state, p)
        return p

    def variance(self, X: Matrix) -> np.ndarray:
        """Predictive variance (n,) of least squares."""
        if self.training is None or self.weights.matrix is None:
            return np.full(X.shape[0], np.nan)
        out = np.empty(X.shape[0])
        for a, b in self.training.sub_blocks(X.shape[0]):
            out[a:b] = self.weights.matrix.variance(self.training.features(X[a:b]))
        return out

    def residuals_left_out(self, X: np.ndarray, Y: np.ndarray, weight: np.ndarray) -> np.ndarray:
        """What f leaves of targets Y (n, K) of learned rows X, each predicted by all other rows.

        By least squares that is (Y - f)/(1 - h), with h = w zᵀ P z for a row of weight w.
        """
        assert self.training is not None
        own = self.training.own_shares(X, weight)
        left = Y - ExplicitModel.scores(self, X)
        return left / (1.0 - np.minimum(own, MOST_OWN))[:, None]

    # ---- learning ------------------------------------------------------------------------------

    def learn_apart(
        self, X: Matrix, y: np.ndarray, weight: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """As :meth:`learn`, in two parts that add up; by the first, models are compared."""
        P = self.learn(X, y, weight)
        return P, np.zeros(P.shape)

    def learn_ahead(
        self, X: Matrix, y: np.ndarray, weight: np.ndarray
    ) -> tuple[Any, np.ndarray, np.ndarray]:
        """As :meth:`learn_apart`, of as many rows as :meth:`go_back` can undo.

        First comes what a successor would take over (:meth:`succeed`), as it is before these rows.
        """
        return None, *self.learn_apart(X, y, weight)

    def go_back(
        self, parts: Any, X: Matrix, y: np.ndarray, weight: np.ndarray, P: np.ndarray
    ) -> None:
        """Undo the rows after X in what a successor takes over; the rest is used no more.

        ``parts``: what it takes over, as it was before rows X (n, d). P (n, K): the predictions of
        these rows without it.
        """

    def succeed(self, before: Self) -> None:
        """Take the place of a model whose stream has changed, and take over what goes on."""

    def _learn_in_order(self, X: Matrix, y: np.ndarray, weight: np.ndarray, P: np.ndarray) -> None:
        if self.training is not None:
            self.training.learn_block(X, y, weight, P)

    @property
    def rows_at_once(self) -> int:
        if not self.exact:
            return 16_384
        # while more first rows come, each pays its part of a search
        return 4096 if self.warmup is None else 2048

    def learn_row(self, X: np.ndarray, y: float, weight: float) -> None:
        Z = self.row_to_learn(X)
        if Z is None:
            super().learn_row(X, y, weight)
        else:
            self.learn_made_row(Z, y, weight)

    def learn_made_row(self, Z: np.ndarray, y: float, weight: float) -> None:
        numbers, weights = np.array([y, weight]), self.weights
        row = Z, numbers[:1], numbers[1:]
        if not learn_one_or_undo(*row, weights.W, weights.H, *weights.context):
            raise diverged(0)

    def made_rows(self) -> float:
        return float(self.weights.state[T])

    def row_to_learn(self, X: np.ndarray) -> np.ndarray | None:
        """Features of the row where one compiled call can learn it, else None."""
        if self.training is None or self.warmup is not None or self.exact:
            return None
        return self.training.row_features(X) if self.training.settled() else None

    def _targets_of_fit(self, y: np.ndarray) -> np.ndarray:
        """Targets (n, C) of the rows that the map is fitted on."""
        return targets_of_fit(y, self.n_outputs, self.seed)
