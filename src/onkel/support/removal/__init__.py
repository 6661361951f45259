"""Budgets that drop one stored row for each new one, and learners without a budget.

One file per budget. :mod:`~onkel.support.removal.slot` says which function chooses the row.
"""
