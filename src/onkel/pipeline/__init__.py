"""What a stream is learned with: encoding, scaling, target scaling and a learner, as one model."""

from onkel.pipeline.late_labels import LateLabels
from onkel.pipeline.stream_model import StreamModel

__all__ = ["LateLabels", "StreamModel"]
