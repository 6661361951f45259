"""JSON Lines: one object a line; objects within objects are keys with a dot."""
