"""The columns of a table as features, in a graph."""
