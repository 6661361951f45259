"""What both representations share: rows in order, the first of them kept where a fit needs them."""

from __future__ import annotations

from typing import Any

import numpy as np

from onkel._dense import as_dense
from onkel.losses import Loss
from onkel.models import loops
from onkel.models.threads import one_blas_thread
from onkel.models.warmup import Warmup
from onkel.rules.base import Rule

__all__ = ["Model"]


class Model:
    """K outputs f, moved by a rule along a loss.

    A representation gives ``_fit_first(X, y, weight)``, ``_reset()``, ``ready`` and
    ``_walk(X, y, weight, P)``.
    """

    state: np.ndarray
    warmup: Warmup | None

    def __init__(self, rule: Rule, loss: Loss, epsilon: float, n_outputs: int) -> None:
        self.rule = rule
        self.loss = int(loss)
        self.epsilon = float(epsilon)
        self.par = rule.parameters()
        self.n_outputs = n_outputs

    def _new_state(self, n: int) -> np.ndarray:
        """The loops' state vector of n numbers for f = 0."""
        state = np.zeros(n)
        state[loops.SCALE] = 1.0
        state[loops.TUBE] = 1.0 if self.loss <= Loss.PERCEPTRON else self.epsilon
        return state

    @property
    def ready(self) -> bool:
        """False before the first row of a model that is fitted on first rows."""
        raise NotImplementedError

    def _fit_first(self, X: np.ndarray, y: np.ndarray, weight: np.ndarray) -> None:
        """Fit what is fitted on the first rows X (n, d), with their labels and weights."""
        raise NotImplementedError

    def _reset(self) -> None:
        """f = 0 over what is fitted now."""
        raise NotImplementedError

    def _walk(self, X: Any, y: np.ndarray, weight: np.ndarray, P: np.ndarray) -> None:
        """Learn the rows in order; P (n, K) gets the scores before each."""
        raise NotImplementedError

    def add_columns(self, n: int) -> None:
        """Take rows of n columns more; f(x) stays where they are 0, as if they always had been."""
        if self.warmup is not None:
            self.warmup.add_columns(n)

    def learn(self, X: Any, y: np.ndarray, weight: np.ndarray) -> np.ndarray:
        """Learn the rows in order; returns the scores (n, K) before each was learned.

        ``y`` float64: -1 and +1 (K = 1), class codes (K > 2), or targets; ``weight`` float64 ≥ 0.
        """
        P = np.zeros((X.shape[0], self.n_outputs))
        done = 0
        with one_blas_thread(X.shape[0]):
            while self.warmup is not None and done < X.shape[0]:
                done = self._warm_up(X, y, weight, P, done)
            if done < X.shape[0]:
                self._walk(X[done:], y[done:], weight[done:], P[done:])
        return P

    def _warm_up(self, X: Any, y: np.ndarray, weight: np.ndarray, P: np.ndarray, a: int) -> int:
        """Learn rows from a to the next refit with the provisional fit, then refit and replay."""
        assert self.warmup is not None
        b, learnable = self.warmup.until_refit(weight, a)
        if self.ready:
            self._walk(X[a:b], y[a:b], weight[a:b], P[a:b])
        self.warmup.keep(as_dense(X[a:b]), y[a:b], weight[a:b])
        if learnable:
            self.refit()
        return b

    def refit(self) -> None:
        """Fit on the first rows that have come and replay them; after them it does nothing."""
        if self.warmup is None:
            return
        first, labels, weights = self.warmup.rows()
        # of few rows, too: a search makes the last digits that threads differ by into more
        with one_blas_thread():
            self._fit_first(first, labels, weights)
            self._reset()
            self._walk(first, labels, weights, np.zeros((len(first), self.n_outputs)))
        if self.warmup.complete:
            self.warmup = None

    def how(self) -> tuple[Any, ...]:
        """The arguments of every loop that say how f moves."""
        return self.state, self.loss, self.epsilon, int(self.rule.kind), self.par
