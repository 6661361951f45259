"""``onkel learn``: its verb and options, the run behind it, and what a run continues from."""
