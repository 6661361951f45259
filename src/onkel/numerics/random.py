"""A random generator for compiled loops, whose whole state is one saved number.

Random choices of a learner must be reproducible, go on bit for bit from a saved state, and not
depend on how a stream was cut into blocks: so the state is an array of the model. Shifts alone
(no products that wrap around) run the same way with the compiler switched off.
"""

from __future__ import annotations

import numpy as np

from onkel.numerics.jit import jit_inline

_MASK = (1 << 64) - 1


def new_state(seed: int) -> np.ndarray:
    """The state (1,) that a seed stands for; never 0, which the generator couldn't leave."""
    words = np.random.SeedSequence(seed).generate_state(1, np.uint64)
    return np.maximum(words, np.uint64(1))


def splitmix64(t: np.ndarray) -> np.ndarray:
    """Random 64 bits for each of the numbers t (n,) from 0 on, which depend on it alone.

    Source: Steele, Lea & Flood 2014.
    """
    z = (t + 1).astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


def splitmix64_of(t: int) -> int:
    """As :func:`splitmix64`, of one number, without an array."""
    z = (t + 1) * 0x9E3779B97F4A7C15 & _MASK
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9 & _MASK
    z = (z ^ (z >> 27)) * 0x94D049BB133111EB & _MASK
    return z ^ (z >> 31)


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
