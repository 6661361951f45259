"""Measures beside the main score of a run: baselines, classes, ranking, windows."""
