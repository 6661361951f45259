"""How an alarm with a known rate of false ones watches scores: a conformal test martingale.

**p-values.** The sorted scores of ``reference`` rows cut the line into bins; random numbers order
equal scores. The share of a bin is 1 plus the rows that fell into it since. Bins between equal
scores count as one: in all of them lies that score. As long as the scores are exchangeable, as
they are where nothing changes, a row falls into a bin with the probability of its share, whatever
the scores' distribution. With a = share above the bin and b = a + its own share, as parts of all
shares, the row's p-value is spread evenly over [a, b]. Large scores have small p-values.

**Betting.** Four bettors bet on small p-values. Each multiplies its capital by the mean over [a, b]
of its density g on (0, 1):

    C ← C · (G(b) - G(a))/(b - a),    G the integral of g.

This is a fair bet, as the mean of these factors, weighted by the shares, is G(1) - G(0) = 1. A bet
on the mean grows faster than one on a random p in [a, b], above all where many scores are equal,
such as mistakes, 0 or 1. The densities are 1 + e(½ - p) with e = 2/5 and 6/5, for many scores
that became somewhat larger, and κ·p^(κ-1) with κ = 7/8 and 1/2, for a few that became much larger.
Before each bet a share J = 1/1000 of the capitals is dealt out evenly, as in the Simple Jumper, so
that bettors who were wrong so far can come back.

**Watching.** Shiryaev and Roberts let a new bettor start with every row, here with 4/5. The sum R
of all capitals grows by 4/5 a row on average where nothing changes. So the mean number of rows
until R reaches a threshold A is at least 5/4·A. The alarm then rings. The quarter is a margin: the
number of false alarms in a stretch of rows varies around its mean.

A second sum bets on large p-values. When it reaches A, the scores have become smaller: the
reference is renewed without an alarm.

Source: Vovk, Petej, Nouretdinov, Ahlberg, Carlsson & Gammerman 2021, arXiv:2102.10439 (Simple
Jumper, conformal Shiryaev-Roberts); Fedorova, Gammerman, Nouretdinov & Vovk 2012, arXiv:1204.3251
(powers of p). The mean over equal scores is ours.
"""

from __future__ import annotations

from typing import Any

import numba
import numpy as np

from onkel.numerics.jit import jit_in_order, jit_inline_in_order

#: bettors of a sum of capitals
BETTORS = 4
# e of the two bettors that are linear in p
_SMALL, _LARGE = 0.4, 1.2
# what is dealt out evenly before each bet, and what a new bettor puts into each capital: 4/5 in all
_JUMP, _BEGUN = 0.001, 0.2


@jit_inline_in_order
def _uniform(seed, number):
    """A number in (0, 1) that depends on the seed and a running number only (splitmix64)."""
    z = np.uint64(seed) * np.uint64(0xD1342543DE82EF95)
    z += np.uint64(number + 1) * np.uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    z = z ^ (z >> np.uint64(31))
    return (float(z >> np.uint64(11)) + 0.5) / 9007199254740992.0


@jit_inline_in_order
def _begin(edges, ties, shares, capital):
    """Put the edges in order, equal ones by their tie-breaking numbers; all bins count 1."""
    E = edges.shape[0]
    for i in range(1, E):
        # insertion: once in a while, and no array is made
        score, tie, j = edges[i], ties[i], i
        while j > 0 and (edges[j - 1] > score or (edges[j - 1] == score and ties[j - 1] > tie)):
            edges[j], ties[j] = edges[j - 1], ties[j - 1]
            j -= 1
        edges[j], ties[j] = score, tie
    first = 0
    for k in range(E + 1):
        shares[k] = 1
        if k > 1 and k < E and edges[k - 2] == edges[k]:
            # a bin between equal edges, after another one: the first of them stands for all
            shares[k] = 0
            shares[first] += 1
        else:
            first = k
    capital[:] = 0.0


@jit_inline_in_order
def _first_edge(edges, score, equal_too):
    """The first edge at or above a score; with ``equal_too`` the first above it."""
    first, last = 0, edges.shape[0]
    while first < last:
        middle = (first + last) // 2
        if edges[middle] < score or (equal_too and edges[middle] == score):
            first = middle + 1
        else:
            last = middle
    return first


@jit_inline_in_order
def _place(score, tie, edges, ties, shares, total):
    """The shares above a score's bin, and those of its bin, which then grow by 1.

    ``total``: of all shares; the shorter side of the bin is added up.
    """
    k = _first_edge(edges, score, False)
    if k < edges.shape[0] and edges[k] == score and ties[k] < tie:
        end = _first_edge(edges, score, True)
        k = end if ties[end - 1] < tie else k + 1
    above, own = 0, shares[k]
    if 2 * k < shares.shape[0]:
        above = total - own
        for i in range(k):
            above -= shares[i]
    else:
        for i in range(k + 1, shares.shape[0]):
            above += shares[i]
    shares[k] += 1
    return above, own


@jit_inline_in_order
def _bet(C, a, b):
    """Let a new bettor start, and all bet on a p-value in [a, b]; returns the sum of capitals."""
    dealt = 0.0
    for k in range(BETTORS):
        C[k] += _BEGUN
        dealt += _JUMP / BETTORS * C[k]
    for k in range(BETTORS):
        C[k] = (1.0 - _JUMP) * C[k] + dealt
    low = 0.5 - 0.5 * (a + b)
    C[0] *= 1.0 + _SMALL * low
    C[1] *= 1.0 + _LARGE * low
    # of √p and of p^(7/8)
    of_a, of_b = np.sqrt(a), np.sqrt(b)
    C[2] *= 1.0 / (of_a + of_b)
    of_a *= np.sqrt(of_a) * np.sqrt(np.sqrt(of_a))
    of_b *= np.sqrt(of_b) * np.sqrt(np.sqrt(of_b))
    C[3] *= (of_b - of_a) / (b - a)
    return C[0] + C[1] + C[2] + C[3]


# The state is two arrays, as a call from Python takes long for each array that it hands over. The
# first holds whole numbers: the rows, the rows since the renewal, and the shares; the second the
# edges, their ties and both capitals.
COUNTS = 2


@jit_inline_in_order
def watch_score(score, threshold, quiet, seed, whole, numbers):
    """Learn a score; returns whether the alarm rings."""
    E = whole.shape[0] - COUNTS - 1
    edges, ties, shares = numbers[:E], numbers[E : 2 * E], whole[COUNTS:]
    at = whole[1]
    tie = _uniform(seed, whole[0])
    whole[0] += 1
    whole[1] += 1
    if at < 0:
        return False  # the quiet period
    if at < E:
        edges[at], ties[at] = score, tie
        if at == E - 1:
            _begin(edges, ties, shares, numbers[2 * E :])
        return False
    total = at + 1
    above, own = _place(score, tie, edges, ties, shares, total)
    worse, better = numbers[2 * E : 2 * E + BETTORS], numbers[2 * E + BETTORS :]
    if _bet(worse, above / total, (above + own) / total) >= threshold:
        whole[1] = -quiet
        return True
    if _bet(better, (total - above - own) / total, (total - above) / total) >= threshold:
        whole[1] = 0
    return False


def with_splitmix(loop: Any) -> Any:
    """A loop with `watch_score`: without the compiler NumPy warns of products that wrap around."""
    plain = numba.config.DISABLE_JIT  # type: ignore[attr-defined]
    return np.errstate(over="ignore")(loop) if plain else loop


@with_splitmix
@jit_in_order
def watch(scores, threshold, quiet, seed, whole, numbers, rings):
    """Learn scores; ``rings`` ← 1 where the alarm rings."""
    for t in range(scores.shape[0]):
        rings[t] = watch_score(scores[t], threshold, quiet, seed, whole, numbers)


@with_splitmix
@jit_in_order
def watch_row(score, threshold, quiet, seed, whole, numbers):
    """As `watch_score`, called from Python."""
    return watch_score(score, threshold, quiet, seed, whole, numbers)
