"""Landmarks that follow the rows, and landmarks and widths learned from the rows' labels.

The default learner's search is :mod:`onkel.maps.landmarks.search`.
"""
