"""The public names of ``onkel``: those imported here."""

from onkel.algorithms import ALGORITHMS as ALGORITHMS
from onkel.algorithms import make as make
from onkel.errors import DataError as DataError
from onkel.errors import DivergenceError as DivergenceError
from onkel.errors import ExportError as ExportError
from onkel.errors import MergeError as MergeError
from onkel.errors import ModelFileError as ModelFileError
from onkel.evaluation.compare import compare as compare
from onkel.evaluation.prequential import prequential as prequential
from onkel.intervals import Alarm as Alarm
from onkel.intervals import ClassSets as ClassSets
from onkel.intervals import Intervals as Intervals
from onkel.learners import *
from onkel.maps import AdaptiveNystroem as AdaptiveNystroem
from onkel.maps import AlignedFourier as AlignedFourier
from onkel.maps import FastfoodFeatures as FastfoodFeatures
from onkel.maps import FourierFeatures as FourierFeatures
from onkel.maps import IdentityFeatures as IdentityFeatures
from onkel.maps import LearnedLandmarks as LearnedLandmarks
from onkel.maps import NystroemFeatures as NystroemFeatures
from onkel.maps import RegeneratedFeatures as RegeneratedFeatures
from onkel.maps import ReparameterizedFeatures as ReparameterizedFeatures
from onkel.persistence import from_bytes as from_bytes
from onkel.persistence import load as load
from onkel.persistence import save as save
from onkel.persistence import to_bytes as to_bytes
from onkel.pipeline import LateLabels as LateLabels
from onkel.pipeline import StreamModel as StreamModel
from onkel.streams import OnlineScaler as OnlineScaler
from onkel.streams import open_stream as open_stream
