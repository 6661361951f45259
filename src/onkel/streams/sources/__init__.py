"""What a stream reads from: every source (``source``), and those of tables (``table_source``)."""
