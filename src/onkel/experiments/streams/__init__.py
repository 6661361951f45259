"""Streams in the order of time: the default beside its rivals, on the same rows."""
