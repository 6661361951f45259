"""Budgets that move stored rows into random Fourier features."""
