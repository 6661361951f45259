"""Base classes of sources: of any rows (``source``) and of tables (``table_source``)."""
