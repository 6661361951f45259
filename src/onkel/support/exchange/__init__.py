"""Budgets that give a dropped row's part of f to those that stay. One file per budget."""
