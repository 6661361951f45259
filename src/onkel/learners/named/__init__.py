"""The learners of the literature, each declared once: one file a family."""
