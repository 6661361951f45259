"""Kinds of column values: categories, times, numbers written as text, gaps."""
