"""CSV and TSV files: header and types, chunks to record batches, the source."""
