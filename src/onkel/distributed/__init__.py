"""Learning and predicting over several cores and machines, on Dask: ``pip install onkel[dask]``.

A map is fixed on a sample of the rows. Partitions of the source are learned where they lie, each
with a copy of the sample's model, and the models are merged in a tree. See docs/guide/scaling.md.

``partitions`` finds the partitions of a source. ``tasks`` says how they are read and holds the pure
functions that workers run. ``learning`` and ``predicting`` make graphs of these. ``reports`` holds
the result of each partition.
"""

from onkel.distributed.learning import learn
from onkel.distributed.partitions import parts_of
from onkel.distributed.predicting import predict
from onkel.distributed.reports import Learned, PartReport, Predicted
from onkel.distributed.tasks import LearnedPart, Plan, Sample, learn_part, learn_sample, merge_parts

__all__ = [
    "Learned",
    "LearnedPart",
    "PartReport",
    "Plan",
    "Predicted",
    "Sample",
    "learn",
    "learn_part",
    "learn_sample",
    "merge_parts",
    "parts_of",
    "predict",
]
