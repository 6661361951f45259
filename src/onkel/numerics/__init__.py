"""Compiled pieces, linear algebra, threads and scratch memory that all packages use."""
