"""Budgets that drop one stored row for each new one, and learners without a budget.

The Forgetron's and BOGD's have a file each, as a budget of your own would; the shorter ones are in
:mod:`~onkel.support.removal.choices` and :mod:`~onkel.support.removal.unbounded`.
:func:`~onkel.support.removal.removal_model.slot_to_drop` says which function chooses the row.
"""
