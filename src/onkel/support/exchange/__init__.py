"""Budgets that give a dropped row's part of f to those that stay."""
