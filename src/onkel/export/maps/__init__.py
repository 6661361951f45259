"""Features z(x) as graphs, one file for each way to make them."""
