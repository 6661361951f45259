"""Cosines and sines of x·ω: random features with frequencies stored in the file."""

from __future__ import annotations

import math

import numpy as np

from onkel.export.functions import concat, cosines_and_sines
from onkel.export.graph import Value
from onkel.maps import (
    AlignedFourier,
    FourierFeatures,
    RegeneratedFeatures,
    ReparameterizedFeatures,
)
from onkel.maps.reparameterized import amplitudes_of

_TURN = 1.0 / (2.0 * math.pi)


def waves(turns: Value, amplitude: float | np.ndarray) -> Value:
    """[cos, sin] of angles (n, D) in turns, times an amplitude of each."""
    return concat(*(part * amplitude for part in cosines_and_sines(turns)))


def fourier(feature_map: FourierFeatures, X: Value) -> Value:
    """[cos, sin](x·ω)/√D."""
    frequencies = feature_map.frequencies_ * _TURN
    return waves(X @ frequencies, 1.0 / math.sqrt(frequencies.shape[1]))


def regenerated(feature_map: RegeneratedFeatures, X: Value) -> Value:
    """The same; the file stores the frequencies, which Python draws anew."""
    frequencies = feature_map.all_frequencies() * _TURN
    return waves(X @ frequencies, 1.0 / math.sqrt(frequencies.shape[1]))


def reparameterized(feature_map: ReparameterizedFeatures, X: Value) -> Value:
    """The same at the current frequencies; components of a mixture have shares."""
    D = feature_map.n_components
    amplitude = np.full(D, 1.0 / math.sqrt(D))
    if feature_map.law == "mixture":
        amplitudes_of(feature_map.logit_, feature_map.first_, amplitude)
    return waves(X @ (feature_map.frequencies_ * _TURN), amplitude)


def aligned(feature_map: AlignedFourier, X: Value) -> Value:
    """√(2q) cos(x·ω + b)."""
    turns = X @ (feature_map.frequencies_ * _TURN) + feature_map.offsets_ * _TURN
    cosines, _ = cosines_and_sines(turns)
    return cosines * np.sqrt(2.0 * feature_map.weights_)
