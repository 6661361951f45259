"""A random generator for compiled loops, whose whole state is one saved number.

Random choices of a learner must be reproducible, go on bit for bit from a saved state, and not
depend on how a stream was cut into blocks: so the state is an array of the model. Shifts alone
(no products that wrap around) run the same way with the compiler switched off.
"""

from __future__ import annotations

import numpy as np

from onkel.numerics.jit import jit_inline


def new_state(seed: int) -> np.ndarray:
    """The state (1,) that a seed stands for; never 0, which the generator couldn't leave."""
    words = np.random.SeedSequence(seed).generate_state(1, np.uint64)
    return np.maximum(words, np.uint64(1))


@jit_inline
def uniform(rng):
    """The next number of [0, 1): xorshift64 (Marsaglia 2003), its upper 53 bits."""
    x = rng[0]
    x ^= x << np.uint64(13)
    x ^= x >> np.uint64(7)
    x ^= x << np.uint64(17)
    rng[0] = x
    return float(x >> np.uint64(11)) * 2.0**-53


@jit_inline
def pick(rng, n):
    """One of 0..n-1."""
    return int(uniform(rng) * n)
