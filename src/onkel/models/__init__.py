"""The representations of f and the loops that move it."""
