"""Learning and predicting over several cores and machines, on Dask: ``pip install onkel[dask]``.

A map is fixed on a sample of the rows. Partitions of the source are learned where they lie, each
with a copy of the sample's model, and the models are merged in a tree. See docs/scaling.md.

``sources`` finds the partitions, ``plan`` says how they are read, ``tasks`` are the pure functions
that workers run, ``learning`` and ``predicting`` make graphs of them, ``reports`` hold the results
of each partition.
"""

from onkel.distributed.learning import learn
from onkel.distributed.plan import Plan
from onkel.distributed.predicting import predict
from onkel.distributed.reports import Learned, PartReport, Predicted
from onkel.distributed.sources import parts_of
from onkel.distributed.tasks import LearnedPart, Sample, learn_part, learn_sample, merge_parts

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
