"""Several learners over the same rows in the same orders, and what the differences are worth."""
