"""Other libraries on the same rows: see ``python -m benchmarks.peers --help``."""
