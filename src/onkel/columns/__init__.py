"""Turn the columns of a table into numbers: categories, scaling, missing values."""
