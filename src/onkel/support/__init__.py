"""f over stored rows: the contract of budgets, the model, and a folder for each family."""
