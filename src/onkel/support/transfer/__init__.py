"""Budgets that carry stored rows over into random Fourier features."""
