"""Feature maps: how the infinite-dimensional f is made finite."""

from onkel.maps.adaptive_nystroem import AdaptiveNystroem
from onkel.maps.base import FeatureMap
from onkel.maps.fourier import FourierFeatures
from onkel.maps.identity import IdentityFeatures
from onkel.maps.nystroem import NystroemFeatures
from onkel.maps.reparameterized import ReparameterizedFeatures

__all__ = [
    "MAPS",
    "AdaptiveNystroem",
    "FeatureMap",
    "FourierFeatures",
    "IdentityFeatures",
    "NystroemFeatures",
    "ReparameterizedFeatures",
    "make_map",
]

MAPS: dict[str, type[FeatureMap]] = {
    cls.name: cls
    for cls in (
        IdentityFeatures,
        FourierFeatures,
        NystroemFeatures,
        ReparameterizedFeatures,
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
