"""Feature maps: how the infinite-dimensional f is made finite."""

from collections.abc import Callable

from onkel.maps.adaptive_nystroem import AdaptiveNystroem
from onkel.maps.aligned import AlignedFourier
from onkel.maps.base import FeatureMap
from onkel.maps.candidates import register_features as register_features
from onkel.maps.fastfood import FastfoodFeatures
from onkel.maps.fourier import FourierFeatures, RegeneratedFeatures
from onkel.maps.landmarks.learned import LearnedLandmarks
from onkel.maps.nystroem import NystroemFeatures
from onkel.maps.projections import IdentityFeatures, SignProjection
from onkel.maps.reparameterized import ReparameterizedFeatures
from onkel.tables import Table

MAPS: Table[FeatureMap] = Table("map", FeatureMap, globals())
make_map: Callable[[str | FeatureMap], FeatureMap] = MAPS.make
register: Callable[[type[FeatureMap]], type[FeatureMap]] = MAPS.register
