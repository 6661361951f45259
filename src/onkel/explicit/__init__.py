"""f as weights over explicit features: the model, its compiled loops, and its training loops."""
