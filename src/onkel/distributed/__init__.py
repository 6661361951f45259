"""Learning and predicting over several cores and machines, on Dask: ``pip install onkel[dask]``.

A map is fixed on a sample of the rows. Partitions of the source are learned where they lie, each
with a copy of the sample's model, and the models are merged in a tree. See docs/guide/scaling.md.

``partitions`` finds the partitions of a source. ``tasks`` says how they are read and holds the pure
functions that workers run. ``learning`` and ``predicting`` make graphs of these. ``reports`` holds
the result of each partition.
"""

from onkel.distributed.learning import learn as learn
from onkel.distributed.partitions import parts_of as parts_of
from onkel.distributed.predicting import predict as predict
from onkel.distributed.reports import Learned as Learned
from onkel.distributed.reports import PartReport as PartReport
from onkel.distributed.reports import Predicted as Predicted
from onkel.distributed.tasks import LearnedPart as LearnedPart
from onkel.distributed.tasks import Plan as Plan
from onkel.distributed.tasks import Sample as Sample
from onkel.distributed.tasks import learn_part as learn_part
from onkel.distributed.tasks import learn_sample as learn_sample
from onkel.distributed.tasks import merge_parts as merge_parts
