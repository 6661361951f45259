"""The scores f(x) of models as graphs: over features, over stored rows, and of the default learner.

Learners over features are okl, krls, fogd, nogd and their like; those over stored rows have a
budget. A learner's own scores, labels and probabilities are in :mod:`onkel.export.outputs`.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import solve_triangular

from onkel.default.bins import PairBins
from onkel.default.cells import PairCells, share
from onkel.default.challenger import RestartingModel
from onkel.default.corrected_by_cells import CorrectedModel, SecondModel
from onkel.default.linear_follower import LinearFollower
from onkel.default.linear_part import LinearPart
from onkel.default.losses import SQUARED, TWO
from onkel.default.tree_part import TreePart
from onkel.default.with_search import ModelWithSearch
from onkel.default.without_search import ModelWithoutSearch
from onkel.explicit.changing_maps import Growing
from onkel.explicit.model import ExplicitModel
from onkel.export.functions import filled, pick
from onkel.export.graph import Builders, Value
from onkel.export.kernels import kernel_values
from onkel.export.maps import features, in_units
from onkel.kernels import make_kernel
from onkel.model.contract import Model
from onkel.support.exchange.exchange_model import ExchangeModel
from onkel.support.merging.merging_model import MergingModel
from onkel.support.model import SupportModel
from onkel.support.projection.projectron import ProjectionModel
from onkel.support.removal.removal_model import RemovalModel
from onkel.support.transfer import TransferModel
from onkel.support.twin.twin_model import TwinModel


def scores(model: Model, X: Value) -> Value:
    """f(x), (n, K) in float64, of rows X (n, d) in the model's precision."""
    values: Value = MODELS.of(model)(model, X)
    return values.to(np.float64)


def _weighed(Z: Value, coef: np.ndarray) -> Value:
    """Z coefᵀ, in the higher precision of both."""
    dtype = np.result_type(Z.dtype, coef.dtype)
    return Z.to(dtype) @ coef.T


def _zero(model: Model, X: Value) -> Value:
    return filled(X, 0.0, model.n_outputs, np.float64)


# ---- over features -------------------------------------------------------------------------------


def _explicit(model: ExplicitModel, X: Value) -> Value:
    if not model.ready or not model.coef.shape[1]:
        return _zero(model, X)
    loop = model.training
    if isinstance(loop, Growing) and loop.map.grows:
        # rows are still gathered as landmarks
        kernel = make_kernel(loop.map.kernel)
        return _weighed(kernel_values(kernel, X, loop.support, loop.map.gamma_), model.coef)
    return _weighed(features(model.map, X), model.coef)


def _corrected(model: CorrectedModel, X: Value) -> Value:
    f = _explicit(model, X).to(np.float64)
    for stage in model.stages:
        more = correction(stage, X)
        f = f if more is None else f + more
    if model.linear is not None:
        f = _with_linear(model.linear, f, X, model.map.n_features_in_)
    f = f if model.trees is None else _with_trees(model.trees, f, X)
    return f if model.follower is None else _with_follower(model.follower, f, X)


def _with_linear(linear: LinearPart, p: Value, X: Value, n_columns: int) -> Value:
    """p + a (ℓ(x) - p); p where ℓ has won, and rows have a column that came later."""
    with_l = p * (1.0 - linear.share) + _of_units(_units(linear, X), linear.W) * linear.share
    d = len(linear.middle)
    if not linear.won or d == n_columns:
        return with_l
    later = X.columns(np.arange(d, n_columns)).to(np.float64).of("Abs").sum(axis=1) > 0.0
    have = later.to(np.float64).shaped(-1, 1)
    return p * have + with_l * (have * -1.0 + 1.0)


def _with_follower(follower: LinearFollower, p: Value, X: Value) -> Value:
    """p + a (ℓ(x) - p), where ℓ has a link, for each of its models that counts; cut off."""
    if not any(follower.shares):
        return p
    U = _units(follower, X)
    for W, a, far in zip(follower.W, follower.shares, follower.reach, strict=True):
        if a:
            more = _linked(_of_units(U, W), follower.loss) - p
            p = p + X.graph.node("Clip", more, -far, far) * a
    return p


def _units(part: LinearPart | LinearFollower, X: Value) -> Value:
    """Standardised columns, cut off where the part does."""
    U = in_units(X.columns(np.arange(len(part.middle))).to(np.float64), part.get_state())
    return X.graph.node("Clip", U, -part.farthest, part.farthest)


def _of_units(U: Value, W: np.ndarray) -> Value:
    return U @ W[:-1] + W[-1]


def _linked(F: Value, loss: int) -> Value:
    """What log-odds, or numbers, predict of targets."""
    if loss == SQUARED:
        return F
    return F.of("Sigmoid") * 2.0 - 1.0 if loss == TWO else F.graph.node("Softmax", F, axis=1)


def _with_trees(trees: TreePart, p: Value, X: Value) -> Value:
    """p + a (t(x) - p)."""
    (T, D), n_leaves, a = trees.columns.shape, trees.values.shape[1], trees.share
    above = X.columns(trees.columns.ravel()).to(np.float64) > trees.edges.ravel()
    bits = above.to(np.int64) * np.tile(1 << np.arange(D), T)
    at = bits.shaped(-1, T, D).sum(axis=2) + n_leaves * np.arange(T)
    F = _looked_up(trees.values.reshape(T * n_leaves, -1).astype(np.float64), at, T) + trees.base
    t = F * trees.scale + trees.middle if trees.loss == SQUARED else _linked(F, trees.loss)
    return p * (1.0 - a) + t * a


# ---- over stored rows ----------------------------------------------------------------------------


def _support(model: SupportModel, X: Value) -> Value:
    if not model.size:
        return _zero(model, X)
    return _weighed(kernel_values(model.kernel, X, model.support, model.gamma_), model.coef)


def _projection(model: ProjectionModel, X: Value) -> Value:
    """As :func:`_support`, but in float64: coefficients of very similar rows cancel."""
    m = model.size
    if not m:
        return _zero(model, X)
    upper = model.factor[:m, :m].astype(np.float64)
    coef = solve_triangular(upper, model.basis_coef.astype(np.float64).T).T
    return kernel_values(model.kernel, X.to(np.float64), model.support, model.gamma_) @ coef.T


def _transfer(model: TransferModel, X: Value) -> Value:
    f = _support(model, X).to(np.float64)
    if not model.ready:
        return f
    return f + _weighed(features(model.features, X), model.feature_coef).to(np.float64)


MODELS = Builders(
    "model",
    "onkel.export.models.MODELS",
    "(model, X)",
    {
        ExplicitModel: _explicit,
        ModelWithSearch: _corrected,
        ModelWithoutSearch: _corrected,
        SecondModel: _corrected,
        RestartingModel: lambda model, X: scores(model.current, X),
        RemovalModel: _support,
        ExchangeModel: _support,
        MergingModel: _support,
        TwinModel: _support,
        ProjectionModel: _projection,
        TransferModel: _transfer,
    },
)


# Numbers looked up at once for each row: a graph computes all rows together.
_AT_ONCE = 256


def correction(cells: PairCells, X: Value) -> Value | None:
    """a·s(x), (n, K); None where it is 0 for every row."""
    bins, a = cells.bins, float(share(cells.sums))
    if not len(bins.pairs) or a == 0.0:
        return None
    B, W = _bins(bins, X), cells.W * a
    first, second, offset, stride = bins.pairs.T
    at = B.columns(first) * stride + B.columns(second) + offset
    return _looked_up(W, at, len(first))


def _looked_up(W: np.ndarray, at: Value, n: int) -> Value:
    """The sum (n_rows, K) of the rows of W that ``at`` (n_rows, n) names for each row."""
    total: Value | None = None
    step = max(_AT_ONCE // W.shape[1], 1)
    table = at.graph.constant(W)
    for start in range(0, n, step):
        some = at.span(start, min(start + step, n))
        part = at.graph.node("Gather", table, some, axis=0).sum(axis=1)
        total = part if total is None else total + part
    assert total is not None
    return total


def _bins(bins: PairBins, X: Value) -> Value:
    """The bins (n, m) of rows X (n, d): find the block of bins first, then the bin in it."""
    m, n_bins = len(bins.columns), bins.edges.shape[1] + 1
    values = X.columns(bins.columns).to(np.float64).shaped(-1, m, 1)
    size = 2 ** (n_bins.bit_length() // 2)
    # an infinite end is above every value
    ends = np.pad(bins.edges, ((0, 0), (0, 1)), constant_values=np.inf).reshape(m, -1, size)
    n_blocks = ends.shape[1]
    if n_blocks == 1:
        return (values > ends[:, 0]).to(np.int64).sum(axis=2)
    block = (values > ends[:, :-1, -1]).to(np.int64).sum(axis=2)
    own = pick(ends.reshape(-1, size), block + n_blocks * np.arange(m))
    return block * size + (values > own).to(np.int64).sum(axis=2)
