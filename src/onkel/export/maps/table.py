"""The builder of each map's features."""

from __future__ import annotations

from onkel.export.builders import Builders
from onkel.export.graph import Value
from onkel.export.maps import fourier, linear
from onkel.export.maps.fastfood import fastfood
from onkel.export.maps.landmarks import learned_landmarks, nystroem
from onkel.maps import (
    AdaptiveNystroem,
    AlignedFourier,
    FastfoodFeatures,
    FeatureMap,
    FourierFeatures,
    IdentityFeatures,
    LearnedLandmarks,
    NystroemFeatures,
    RegeneratedFeatures,
    ReparameterizedFeatures,
    SignProjection,
)

MAPS = Builders(
    "map",
    {
        IdentityFeatures: linear.identity,
        SignProjection: linear.sign_projection,
        FourierFeatures: fourier.fourier,
        RegeneratedFeatures: fourier.regenerated,
        ReparameterizedFeatures: fourier.reparameterized,
        AlignedFourier: fourier.aligned,
        FastfoodFeatures: fastfood,
        NystroemFeatures: nystroem,
        AdaptiveNystroem: nystroem,
        LearnedLandmarks: learned_landmarks,
    },
)


def features(feature_map: FeatureMap, X: Value) -> Value:
    """z (n, m) of rows X (n, d), in the map's precision."""
    values: Value = MAPS.of(feature_map)(feature_map, X)
    return values
