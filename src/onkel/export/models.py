"""The scores f(x) of models: over features, over stored rows, and of the default learner."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.linalg import solve_triangular

from onkel.default.corrected_by_cells import CorrectedModel
from onkel.default.restarting import RestartingModel
from onkel.explicit.growing import Growing
from onkel.explicit.model import ExplicitModel
from onkel.export.builders import Builders
from onkel.export.cells import correction
from onkel.export.functions import filled
from onkel.export.graph import Value
from onkel.export.kernels import kernel_values
from onkel.export.maps.table import features
from onkel.kernels import make_kernel
from onkel.support.exchange.exchange_model import ExchangeModel
from onkel.support.merging.merging_model import MergingModel
from onkel.support.model import SupportModel
from onkel.support.projection.projectron import ProjectionModel
from onkel.support.removal.removal_model import RemovalModel
from onkel.support.transfer import TransferModel
from onkel.support.twin.twin_model import TwinModel


def scores(model: Any, X: Value) -> Value:
    """f(x), (n, K) in float64, of rows X (n, d) in the model's precision."""
    values: Value = MODELS.of(model)(model, X)
    return values.to(np.float64)


def _weighed(Z: Value, coef: np.ndarray) -> Value:
    """Z coefᵀ, in the higher precision of both."""
    dtype = np.result_type(Z.dtype, coef.dtype)
    return Z.to(dtype) @ coef.T


def _zero(model: Any, X: Value) -> Value:
    return filled(X, 0.0, model.n_outputs, np.float64)


# ---- over features -------------------------------------------------------------------------------


def _explicit(model: ExplicitModel, X: Value) -> Value:
    if not model.ready or not model.coef.shape[1]:
        return _zero(model, X)
    return _weighed(_coordinates(model, X), model.coef)


def _coordinates(model: ExplicitModel, X: Value) -> Value:
    """Features, or kernel values while rows are still gathered as landmarks."""
    m, walk = model.map, model.walk
    if isinstance(walk, Growing) and walk.map.grows:
        return kernel_values(make_kernel(walk.map.kernel), X, walk.support, walk.map.gamma_)
    return features(m, X)


def _corrected(model: CorrectedModel, X: Value) -> Value:
    f = _explicit(model, X).to(np.float64)
    for stage in model.stages:
        more = correction(stage, X)
        f = f if more is None else f + more
    return f


def _restarting(model: RestartingModel, X: Value) -> Value:
    return scores(model.current, X)


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
    {
        ExplicitModel: _explicit,
        CorrectedModel: _corrected,
        RestartingModel: _restarting,
        RemovalModel: _support,
        ExchangeModel: _support,
        MergingModel: _support,
        TwinModel: _support,
        ProjectionModel: _projection,
        TransferModel: _transfer,
    },
)
