"""How well landmarks and widths explain rows: the evidence of a Gaussian process seen through them.

With features K = κ(X, S), κ(x, s) = 1/(1 + ‖w ∘ (x - s)‖²), and penalty λ K₀, K₀ = κ(S, S), the
targets Y (n, C) have, up to constants and with the noise σ² profiled out, -2 log evidence

    E(S, w, λ) = n C log(J/(n C)) + C (log|H| - log|λ K₀|),
    H = Kᵀ K + λ K₀,   α = H⁻¹ Kᵀ Y,   J = ‖Y - K α‖² + λ tr(αᵀ K₀ α).

α is the best for given S, w and λ, so dJ is its derivative at fixed α (variable projection):

    ∂E/∂K = -2 (Y - K α) αᵀ/σ² + 2 C K H⁻¹,   ∂E/∂K₀ = λ α αᵀ/σ² + C (λ H⁻¹ - K₀⁻¹).

Source: Seeger, Williams & Lawrence 2003 (the projected process); Snelson & Ghahramani 2006
(learning the landmarks by gradients).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.linalg import cho_solve
from scipy.linalg.blas import dsyrk
from scipy.linalg.lapack import dpotri

from onkel._jit import jit
from onkel._linalg import cholesky_upper

__all__ = [
    "Fit",
    "Gradient",
    "Landmarks",
    "chain",
    "fit_alpha",
    "gradient",
    "kernel_columns",
    "through_distances",
]

#: added to κ(S, S): landmarks may come to lie on each other
JITTER = 1e-7
# Rows whose derivatives are made at once: they are to stay in the second-level cache.
_PART_ROWS = 256


class Landmarks(NamedTuple):
    """S (m, d), log w (d,) and log λ."""

    S: np.ndarray
    log_width: np.ndarray
    log_ridge: float

    @property
    def ridge(self) -> float:
        """λ."""
        return float(np.exp(self.log_ridge))


class Gradient(NamedTuple):
    """∂E/∂S (m, d), ∂E/∂log w (d,), ∂E/∂log λ."""

    of_S: np.ndarray
    of_log_width: np.ndarray
    of_log_ridge: float


class Fit(NamedTuple):
    """α and what its gradient needs: K, K₀, the factor C of H = CᵀC, √weight·(Y - K α), σ², J₀."""

    K: np.ndarray
    K0: np.ndarray
    C: np.ndarray
    alpha: np.ndarray
    residual: np.ndarray
    noise: float
    penalty: float


@jit
def _rational(products, x2, s2):
    """⟨x, s⟩ → 1/(1 + ‖x - s‖²), in place."""
    for i in range(products.shape[0]):
        for j in range(products.shape[1]):
            products[i, j] = 1.0 / (1.0 + max(x2[i] + s2[j] - 2.0 * products[i, j], 0.0))


@jit
def chain(of_kernel, K):
    """∂E/∂κ → ∂E/∂‖·‖², in place: κ' = -κ²."""
    for i in range(K.shape[0]):
        for j in range(K.shape[1]):
            of_kernel[i, j] *= -K[i, j] * K[i, j]


def kernel_columns(A: np.ndarray, B: np.ndarray, out: np.ndarray | None = None) -> np.ndarray:
    """1/(1 + ‖a - b‖²), (n, m), of rows that are scaled already."""
    K = np.matmul(A, B.T, out=out)
    _rational(K, np.einsum("ij,ij->i", A, A), np.einsum("ij,ij->i", B, B))
    return K


def landmark_gram(B: np.ndarray) -> np.ndarray:
    """K₀ (m, m) of landmarks that are scaled already, never quite singular."""
    K0 = kernel_columns(B, B)
    K0.flat[:: len(K0) + 1] += JITTER
    return K0


def fit_alpha(at: Landmarks, X: np.ndarray, Y: np.ndarray, root: np.ndarray) -> Fit:
    """The penalised least squares α on rows X (n, d), targets Y (n, C), √weights (n, 1)."""
    w = np.exp(at.log_width)
    B = at.S * w
    K, K0 = kernel_columns(X * w, B), landmark_gram(B)
    Kw, Yw = (K, Y) if root.size == 0 else (K * root, Y * root)
    H = dsyrk(1.0, Kw.T, beta=1.0, c=np.asfortranarray(at.ridge * K0), overwrite_c=1)
    H.flat[:: len(H) + 1] += 1e-13 * np.trace(H)
    C = cholesky_upper(H)
    alpha = cho_solve((C, False), Kw.T @ Yw, check_finite=False)
    residual = Yw - Kw @ alpha
    penalty = at.ridge * float(np.sum(alpha * (K0 @ alpha)))
    noise = (float(np.sum(residual**2)) + penalty) / Y.size
    return Fit(K, K0, C, alpha, residual, max(noise, 1e-12), penalty)


def gradient(
    at: Landmarks, fit: Fit, X: np.ndarray, root: np.ndarray, every: int = 1, first: int = 0
) -> Gradient:
    """The gradient of E at the landmarks of ``fit``, which consumes ``fit``.

    With ``every`` > 1, 2 C K H⁻¹, which takes most of the time, is estimated from one part in
    ``every`` of the rows, those of the parts ``first``, ``first`` + ``every``, ...; they are to be
    in random order.
    """
    w = np.exp(at.log_width)
    B, C = at.S * w, fit.alpha.shape[1]
    H_inv, K0_inv = _inverse(fit.C), _inverse(cholesky_upper(fit.K0))
    parts = [slice(a, a + _PART_ROWS) for a in range(0, len(X), _PART_ROWS)]
    seen = sum(len(X[part]) for part in parts[first::every])
    of_weights = 2.0 * C * len(X) / seen * H_inv
    of_residual = -2.0 / fit.noise * fit.alpha.T
    of_S, of_width = np.zeros(B.shape), np.zeros(len(w))
    for number, part in enumerate(parts):
        K, weighted = fit.K[part], fit.residual[part]
        G = weighted @ of_residual if not root.size else (weighted * root[part]) @ of_residual
        if number % every == first:
            G += K @ of_weights if not root.size else (K * root[part] ** 2) @ of_weights
        chain(G, K)
        _add(of_S, of_width, *through_distances(G, X[part] * w, B))
    G = at.ridge / fit.noise * (fit.alpha @ fit.alpha.T) + C * (at.ridge * H_inv - K0_inv)
    of_ridge = fit.penalty / fit.noise + C * (at.ridge * np.sum(H_inv * fit.K0) - len(B))
    chain(G, fit.K0)
    of_S0, of_width0 = through_distances(G, B, B)
    _add(of_S, of_width, 2.0 * of_S0, of_width0)
    return Gradient(of_S * w, of_width, float(of_ridge))


def _add(of_S: np.ndarray, of_width: np.ndarray, more_S: np.ndarray, more: np.ndarray) -> None:
    of_S += more_S
    of_width += more


def through_distances(G: np.ndarray, A: np.ndarray, B: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Σ G_ij ∂‖a_i - b_j‖²/∂b_j, (m, d), and /∂log w, (d,)."""
    rows, columns = G.sum(axis=1), G.sum(axis=0)
    of_B = 2.0 * (columns[:, None] * B - G.T @ A)
    crossed = np.einsum("ij,ij->j", G @ B, A)
    return of_B, 2.0 * (rows @ A**2 + columns @ B**2 - 2.0 * crossed)


def _inverse(C: np.ndarray) -> np.ndarray:
    """(CᵀC)⁻¹, full."""
    upper = np.triu(dpotri(C)[0])
    return np.asarray(upper + np.triu(upper, 1).T)
