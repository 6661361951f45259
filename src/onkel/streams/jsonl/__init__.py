"""JSON Lines: one object per line; nested objects become keys with a dot."""
