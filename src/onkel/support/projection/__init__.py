"""Budgets that project a new row onto the stored ones."""
