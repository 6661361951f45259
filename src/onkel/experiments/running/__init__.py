"""Runs: what one is, where it is kept, in which process it is made."""
