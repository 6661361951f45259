"""``onkel compare``: its verb, and which learners take part."""
