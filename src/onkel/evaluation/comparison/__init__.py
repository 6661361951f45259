"""Several learners over the same rows in the same orders, and which differences are significant."""
