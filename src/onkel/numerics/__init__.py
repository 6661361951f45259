"""Compiled pieces, linear algebra and memory that every room uses."""
