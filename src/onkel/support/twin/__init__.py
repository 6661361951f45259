"""The twin vector machine: prototypes that stand for rows of every class at one place.

It does not combine a rule and a budget: a solver moves f, and the prototypes are part of its
problem. It shares the base model over stored rows with the budgets, and has a loop of its own.
"""
