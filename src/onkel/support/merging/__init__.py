"""Budgets that merge two stored rows into one."""
