"""From the columns of a table to numbers: categories, scaling, missing values."""
