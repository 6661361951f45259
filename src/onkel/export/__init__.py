"""Models as ONNX graphs, for runtimes without Python.

A graph computes what ``predict`` does, in the model's own precision. A learner begins the graph
(:mod:`onkel.learners.graphs`); its model, map and kernel add their parts. The builders of these are
listed by class in :mod:`~onkel.export.models`, :mod:`~onkel.export.maps` and
:mod:`~onkel.export.kernels`. The encoding and scaling of columns come before the learner
(:mod:`~onkel.export.columns`), labels and probabilities after it (:mod:`~onkel.export.outputs`).
"""
