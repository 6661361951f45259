"""Runs: what one measures, where it is kept, in which process it is made."""
