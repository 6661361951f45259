"""Feature maps: how the infinite-dimensional f is made finite."""

from onkel.maps.adaptive_nystroem import AdaptiveNystroem
from onkel.maps.aligned import AlignedFourier
from onkel.maps.base import FeatureMap
from onkel.maps.fastfood import FastfoodFeatures
from onkel.maps.fourier import FourierFeatures
from onkel.maps.identity import IdentityFeatures
from onkel.maps.learned_landmarks import LearnedLandmarks
from onkel.maps.nystroem import NystroemFeatures
from onkel.maps.regenerated import RegeneratedFeatures
from onkel.maps.reparameterized import ReparameterizedFeatures

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
    "make_map",
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
    )
}


def make_map(map: str | FeatureMap) -> FeatureMap:
    """A map object from a name or an object."""
    if isinstance(map, FeatureMap):
        return map
    if map not in MAPS:
        raise ValueError(f"map={map!r} is not one of {', '.join(repr(name) for name in MAPS)}")
    return MAPS[map]()
