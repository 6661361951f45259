"""Which classes are mistaken for which: counts of true and predicted labels."""

from __future__ import annotations

from typing import Any

import numpy as np

MOST_CLASSES = 50
"""With more classes no confusion matrix is kept: its size is their number squared."""


class Labels:
    """Labels as codes, in the order in which they first appear."""

    def __init__(self, names: list[Any] | None = None) -> None:
        self.names: list[Any] = list(names or ())
        self._codes = {name: code for code, name in enumerate(self.names)}

    def codes(self, labels: np.ndarray) -> np.ndarray:
        """Codes (n,) of labels; -1 for None, which means that nothing was predicted."""
        if labels.dtype.kind == "O":
            return np.array([self._code(label) for label in labels.tolist()], dtype=np.int64)
        values, first, inverse = np.unique(labels, return_index=True, return_inverse=True)
        named = values.tolist()
        for i in np.argsort(first):
            self._code(named[i])
        return np.array([self._codes[name] for name in named], dtype=np.int64)[inverse]

    def _code(self, label: Any) -> int:
        return -1 if label is None else self._codes.setdefault(label, self._next(label))

    def _next(self, label: Any) -> int:
        if label not in self._codes:
            self.names.append(label)
        return len(self.names) - 1


class ClassCounts:
    """Rows and right predictions of each class, and the confusion matrix of few classes."""

    def __init__(self) -> None:
        self.right = np.zeros(0, dtype=np.int64)
        self.total = np.zeros(0, dtype=np.int64)
        #: rows by true (first) and predicted class; None above `MOST_CLASSES`
        self.confusion: np.ndarray | None = np.zeros((0, 0), dtype=np.int64)

    def add(self, y: np.ndarray, p: np.ndarray, n_classes: int) -> None:
        """Codes (n,) of true and of predicted labels; -1: nothing was predicted."""
        K = n_classes
        self.right = _grown(self.right, (K,)) + np.bincount(y[y == p], minlength=K)
        self.total = _grown(self.total, (K,)) + np.bincount(y, minlength=K)
        if K > MOST_CLASSES:
            self.confusion = None
        if self.confusion is not None:
            told = p >= 0
            pairs = np.bincount(y[told] * K + p[told], minlength=K * K)
            self.confusion = _grown(self.confusion, (K, K)) + pairs.reshape(K, K)

    def summary(self, names: list[Any]) -> dict[str, Any]:
        """Recall of each class seen, their mean, and the confusion matrix; sorted by label."""
        order = sorted(range(len(self.total)), key=lambda k: (str(type(names[k])), names[k]))
        order = [k for k in order if self.total[k] or self._was_predicted(k)]
        recall = {str(names[k]): self.right[k] / self.total[k] for k in order if self.total[k]}
        found: dict[str, Any] = {
            "balanced_accuracy": 100.0 * float(np.mean(list(recall.values()))),
            "recall": {name: 100.0 * float(value) for name, value in recall.items()},
        }
        if self.confusion is not None:
            found["confusion"] = {
                "labels": [str(names[k]) for k in order],
                "rows": self.confusion[np.ix_(order, order)].tolist(),
            }
        return found

    def _was_predicted(self, k: int) -> bool:
        return self.confusion is not None and bool(self.confusion[:, k].any())

    def get_state(self) -> dict[str, Any]:
        """JSON-able."""
        confusion = None if self.confusion is None else self.confusion.tolist()
        return {
            "right": self.right.tolist(),
            "total": self.total.tolist(),
            "confusion": confusion,
        }

    def set_state(self, state: dict[str, Any]) -> None:
        """The inverse of :meth:`get_state`."""
        self.right = np.array(state["right"], dtype=np.int64)
        self.total = np.array(state["total"], dtype=np.int64)
        K, rows = len(self.total), state["confusion"]
        self.confusion = None if rows is None else np.array(rows, dtype=np.int64).reshape(K, K)


def _grown(counts: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    """Counts with zeros up to a shape."""
    if counts.shape == shape:
        return counts
    out = np.zeros(shape, dtype=counts.dtype)
    out[tuple(slice(n) for n in counts.shape)] = counts
    return out
