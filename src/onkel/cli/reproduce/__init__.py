"""``onkel reproduce``: its verbs, and the part of the papers."""
