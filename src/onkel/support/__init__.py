"""f over stored rows: the budgets' contract, the model, and one room for each family of budgets."""
