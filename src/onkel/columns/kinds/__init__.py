"""What stands in a column: categories, times, numbers as they are written, gaps."""
