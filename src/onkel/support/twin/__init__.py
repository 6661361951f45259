"""The twin vector machine: prototypes that stand for rows of every class at one place.

It is no rule × budget: a solver moves f, and the prototypes are part of its problem. It shares the
stored rows with the other rooms, and nothing else.
"""
