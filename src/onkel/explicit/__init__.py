"""f as weights over explicit features: the model, its loop, and one file for each walk."""
