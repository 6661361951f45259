"""``onkel learn``: its verb and options, the run behind it, and what the run goes on from."""
