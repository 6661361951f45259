"""Regret beside its bound: LSOKL's Theorems 1 to 4 and NOLANA's 4.1, on a stream of noisy classes.

The comparator f* is the best f in hindsight, the SVM without offset:

    f* = argmin P(f),   P(f) = λ/2 ‖f‖² + 1/T Σ_t ℓ_t(f),

with the hinge loss, of several classes that of Crammer and Singer. With ε the largest error of the
features' kernel on the stream, K̂ the kernel matrix of the Nyström features, m classes and hinge
losses of features of length 1, the theorems bound

    1    FOGD, 2 classes    Σ ℓ_t(w_t) - ℓ_t(f*)   (1+ε)‖f*‖₁²/2η + η/2 T + ε T ‖f*‖₁
    2    NOGD, 2 classes    Σ L_t(w_t) - L_t(f*)   ‖w_N‖²/2η + η/2 L² T + ‖K - K̂‖/2λ
    3    FOGD, m classes    Σ ℓ_t(w_t) - ℓ_t(f*)   m(1+ε)‖f*‖₁²/2η + η T + 2 ε T ‖f*‖₁
    4    NOGD, m classes    Σ L_t(w_t) - L_t(f*)   Σ_r ‖w_N^r‖²/2η + η/2 L² T + m ‖K - K̂‖/2λ
    4.1  NOLANA             Σ L_t(w_t) - L_t(f*)   ‖w*_T‖²/2η + η/2 L² T + τ(R + C)
                                                + Σ_t ‖K - K̄_t‖/2λT

with L_t(w) = λ/2 ‖w‖² + ℓ_t(w). w_N is the best over the features, τ the number of moves, R and C
the largest squared change of w and of the best w at a move. As the remarks of the papers have it,
η = 1/√T, D = T frequencies and √T landmarks: here 2√T, at full rank. The term τ(R + C) stands as
printed; in the paper's proof it is divided by 2η.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse.linalg import eigsh
from sklearn.svm import LinearSVC

from onkel import make
from onkel.kernels import Gaussian
from papers.cases import Case, Experiment, Picture, Rows
from papers.olk import coordinates

HORIZONS = tuple(2**k for k in range(6, 11))
GAMMA, PENALTY, FLIPPED = 1.0, 0.01, 0.1
#: ε of NOLANA, at which about √T landmarks move
THRESHOLD = 0.2
# of Σ_t ‖K - K̄_t‖ so many terms are computed, evenly over the rows
_TERMS = 16
_SHARED: dict[str, Any] = {"gamma": GAMMA, "dtype": "float64"}


def stream(n_rows: int, seed: int, n_classes: int) -> tuple[np.ndarray, np.ndarray]:
    """Rows X (n, 2) and classes (n,): levels of a smooth function, a tenth of them at random."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(-2.0, 2.0, (n_rows, 2))
    height = np.sin(2.0 * X[:, 0]) * np.cos(X[:, 1])
    y = (height > 0.0).astype(int) if n_classes == 2 else np.digitize(height, (-0.3, 0.3))
    flipped = rng.random(n_rows) < FLIPPED
    return X, np.where(flipped, rng.integers(n_classes, size=n_rows), y)


def best(Z: np.ndarray, y: np.ndarray) -> np.ndarray:
    """w (K, m) of the least P over features Z (n, m)."""
    several = "crammer_singer" if y.max() > 1 else "ovr"
    svm = LinearSVC(C=1.0 / (PENALTY * len(y)), loss="hinge", dual=True, fit_intercept=False,
                    multi_class=several, tol=1e-5, max_iter=200_000, random_state=0)  # fmt: skip
    return np.asarray(svm.fit(Z, y).coef_)


def hinge(P: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Losses (n,) of scores P (n, K): of two classes one score."""
    if P.shape[1] == 1:
        return np.maximum(0.0, 1.0 - (2.0 * y - 1.0) * P[:, 0])
    own = np.arange(len(y)), y
    others = P.copy()
    others[own] = -np.inf
    return np.maximum(0.0, 1.0 - P[own] + others.max(axis=1))


def gap(K: np.ndarray, Z: np.ndarray) -> float:
    """‖K - ZZᵀ‖, the largest size of an eigenvalue."""
    return float(abs(eigsh(K - Z @ Z.T, k=1, return_eigenvectors=False, tol=1e-4)[0]))


@dataclass(frozen=True)
class Rest:
    """One stream up to a horizon: its rows, its kernel matrix, and f* over coordinates Z."""

    X: np.ndarray
    y: np.ndarray
    K: np.ndarray
    Z: np.ndarray
    w: np.ndarray

    @property
    def eta(self) -> float:
        return float(len(self.y) ** -0.5)

    @property
    def size(self) -> float:
        """‖f*‖₁ = Σ_t max_r |α_t^r|, of the smallest α (in squares) with f* = Σ α_t κ(x_t, ·)."""
        alpha = np.linalg.lstsq(self.Z.T, self.w.T, rcond=1e-8)[0]
        return float(np.abs(alpha).max(axis=1).sum())

    def loss(self, penalised: bool) -> float:
        """Σ ℓ_t(f*), or Σ L_t(f*)."""
        total = float(hinge(self.Z @ self.w.T, self.y).sum())
        return total + penalised * 0.5 * PENALTY * len(self.y) * float((self.w**2).sum())


def _fourier(of: Rest, m: int, seed: int) -> tuple[float, float]:
    """Regret of FOGD, and the bound of Theorem 1 or 3."""
    T = len(of.y)
    model = make("fogd", n_components=T, learning_rate=of.eta, random_state=seed, **_SHARED)
    P = model.predict_then_learn(of.X, of.y, classes=np.arange(m), return_scores=True)
    regret = float(hinge(P.reshape(T, -1), of.y).sum()) - of.loss(penalised=False)
    Z = model.map_.transform(of.X)
    error, size = float(np.abs(Z @ Z.T - of.K).max()), of.size
    classes, most = (1, 1) if m == 2 else (m, 2)
    bound = classes * (1.0 + error) * size**2 / (2.0 * of.eta)
    return regret, bound + 0.5 * most * of.eta * T + most * error * T * size


@dataclass
class _Course:
    """What a bound of a Nyström learner needs of its pass; `total` is Σ L_t(w_t)."""

    total: float = 0.0
    norm: float = 0.0
    moves: int = 0
    change: float = 0.0
    change_of_best: float = 0.0
    gaps: tuple[float, ...] = ()


def _squared_norm(model: Any, stored: np.ndarray) -> float:
    """‖w‖²; while NOGD collects its landmarks, that of f over the rows it has stored."""
    W = model.coef_
    if hasattr(model.map_, "landmarks_"):
        return float((W**2).sum())
    S = stored[: W.shape[1]]
    return float(((W @ Gaussian().gram(S, S, GAMMA)) * W).sum())


def _passed(model: Any, of: Rest, m: int) -> _Course:
    """One pass, row by row."""
    course, stored = _Course(), np.empty((0, of.X.shape[1]))
    marks = set(((np.arange(_TERMS) + 0.5) * len(of.y) / _TERMS).astype(int))
    moving, W, w_best = hasattr(model, "threshold"), np.zeros((1, 0)), np.zeros((1, 0))
    more: dict[str, Any] = {"classes": np.arange(m)}
    for t in range(len(of.y)):
        x, y = of.X[t : t + 1], of.y[t : t + 1]
        squared = _squared_norm(model, stored) if t else 0.0
        p = model.predict_then_learn(x, y, return_scores=True, **more).reshape(1, -1)
        more, loss = {}, hinge(p, y)[0]
        course.total += 0.5 * PENALTY * squared + loss
        course.norm = max(course.norm, squared**0.5)
        stored = np.concatenate([stored, x]) if loss > 0.0 else stored
        moves = model.map_.n_moves_ if moving else 0
        if moving and (moves != course.moves or W.shape != model.coef_.shape):
            found = best(model.map_.transform(of.X), of.y)
            if W.shape == model.coef_.shape:
                course.change = max(course.change, float(((model.coef_ - W) ** 2).sum()))
                change = float(((found - w_best) ** 2).sum())
                course.change_of_best = max(course.change_of_best, change)
            w_best = found
        course.moves, W = moves, model.coef_
        if moving and t in marks:
            course.gaps += (gap(of.K, model.map_.transform(of.X)),)
    return course


def _nystroem(name: str, of: Rest, m: int) -> tuple[float, float]:
    """Regret of NOGD or NOLANA, and the bound of Theorem 2, 4 or 4.1."""
    T = len(of.y)
    more: dict[str, Any] = {"threshold": THRESHOLD} if name == "nolana" else {}
    budget = round(2 * T**0.5)
    model = make(name, n_components=budget, rank=budget, learning_rate=of.eta, alpha=PENALTY,
                 **more, **_SHARED)  # fmt: skip
    course = _passed(model, of, m)
    Z = model.map_.transform(of.X)
    steepest = (1.0 if m == 2 else 2.0**0.5) + PENALTY * course.norm
    bound = float((best(Z, of.y) ** 2).sum()) / (2.0 * of.eta) + 0.5 * of.eta * steepest**2 * T
    if name == "nolana":
        bound += course.moves * (course.change + course.change_of_best)
        bound += float(np.mean(course.gaps)) / (2.0 * PENALTY)
    else:
        bound += (1 if m == 2 else m) * gap(of.K, Z) / (2.0 * PENALTY)
    return course.total - of.loss(penalised=True), bound


def bounded(case: Case, run: int) -> dict[str, Any]:
    """Regret and bound over the horizons on one stream, each horizon a run of its own."""
    m, name = case.parameters["classes"], case.algorithm
    X, y = stream(HORIZONS[-1], run, m)
    Z = coordinates(X)
    began, found = time.perf_counter(), []
    for T in HORIZONS:
        K = Gaussian().gram(X[:T], X[:T], GAMMA)
        of = Rest(X[:T], y[:T], K, Z[:T], best(Z[:T], y[:T]))
        found.append(_fourier(of, m, run) if name == "fogd" else _nystroem(name, of, m))
    regrets, bounds = np.array(found).T
    return {"value": float(regrets[-1]), "bound": float(bounds[-1]),
            "curve": [list(HORIZONS), regrets.tolist(), bounds.tolist()],
            "seconds": time.perf_counter() - began, "rows": HORIZONS[-1],
            "comparable": True}  # fmt: skip


def _cases(theorems: dict[str, tuple[str, int]]) -> Iterator[Case]:
    for panel, (name, m) in theorems.items():
        for take, label in (("value", "regret"), ("bound", "bound")):
            yield Case(
                rows=Rows(""), algorithm=name, task="binary" if m == 2 else "multiclass",
                label=label, panel=panel, take=take, metric="regret", measure="bounded",
                parameters={"classes": m}, n_runs=5, step="prior",
            )  # fmt: skip


_PROTOCOL = (
    "Streams of T = 64, ..., 1 024 rows in two columns, five of each, a tenth of the labels at "
    "random; hinge loss, Gaussian kernel, λ = 0.01, η = 1/√T. Regret against the SVM over the same "
    "rows, and the bound with all its terms measured on the stream."
)
_PICTURE = (Picture("rows", "value", "rows T", "regret and bound", log_x=True, log_y=True),)
EXPERIMENTS = (
    Experiment(
        "lsokl.regret", "lsokl", "Regret beside the bounds of Theorems 1 to 4",
        f"{_PROTOCOL} FOGD with D = T frequencies; NOGD with 2√T landmarks at full rank.",
        tuple(_cases({
            "Theorem 1: fogd": ("fogd", 2), "Theorem 2: nogd": ("nogd", 2),
            "Theorem 3: fogd, 3 classes": ("fogd", 3), "Theorem 4: nogd, 3 classes": ("nogd", 3),
        })), _PICTURE,
    ),
    Experiment(
        "nolana.regret", "nolana", "Regret beside the bound of Theorem 4.1",
        f"{_PROTOCOL} 2√T landmarks at full rank, of which about √T move.",
        tuple(_cases({"Theorem 4.1: nolana": ("nolana", 2)})), _PICTURE,
    ),
)  # fmt: skip
