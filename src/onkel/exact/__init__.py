"""Exact second-order rules: least squares and Newton, with their factored matrices."""
