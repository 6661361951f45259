"""CSV and TSV files: header and types, parsing chunks into record batches, the source."""
