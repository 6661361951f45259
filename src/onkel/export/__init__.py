"""Models as ONNX graphs, for runtimes without Python.

A graph predicts what ``predict`` predicts, in the model's own precision. A learner begins one
(:mod:`onkel.learners.portable.exported`); its model, map and kernel say their parts: a table from
class to builder each, in :mod:`~onkel.export.models`, :mod:`~onkel.export.maps.table` and
:mod:`~onkel.export.kernels`. Before the learner come scaling and the encoding of columns
(:mod:`~onkel.export.scaling`, :mod:`~onkel.export.columns`).
"""
