"""Feature maps: how the infinite-dimensional f is made finite."""

from onkel import tables
from onkel.maps.adaptive_nystroem import AdaptiveNystroem
from onkel.maps.aligned import AlignedFourier
from onkel.maps.base import FeatureMap
from onkel.maps.fastfood import FastfoodFeatures
from onkel.maps.fourier import FourierFeatures
from onkel.maps.identity import IdentityFeatures
from onkel.maps.landmarks.learned import LearnedLandmarks
from onkel.maps.nystroem import NystroemFeatures
from onkel.maps.regenerated import RegeneratedFeatures
from onkel.maps.reparameterized import ReparameterizedFeatures
from onkel.maps.sign_projection import SignProjection

__all__ = [
    "MAPS",
    "AdaptiveNystroem",
    "AlignedFourier",
    "FastfoodFeatures",
    "FeatureMap",
    "FourierFeatures",
    "IdentityFeatures",
    "LearnedLandmarks",
    "NystroemFeatures",
    "RegeneratedFeatures",
    "ReparameterizedFeatures",
    "SignProjection",
    "make_map",
    "register",
]

MAPS: dict[str, type[FeatureMap]] = {
    cls.name: cls
    for cls in (
        IdentityFeatures,
        FourierFeatures,
        NystroemFeatures,
        LearnedLandmarks,
        ReparameterizedFeatures,
        AlignedFourier,
        FastfoodFeatures,
        RegeneratedFeatures,
        AdaptiveNystroem,
        SignProjection,
    )
}


def make_map(map: str | FeatureMap) -> FeatureMap:
    """A map object from a name or an object."""
    return tables.make("map", map, MAPS, FeatureMap)


def register(cls: type[FeatureMap]) -> type[FeatureMap]:
    """Add a map of your own under its ``name``; may be used as a decorator.

    It can then be named wherever a map can, and is saved and loaded with a model; register it
    before loading. See docs/extending.md.
    """
    return tables.add(cls, MAPS, FeatureMap)
