"""How many rows are learned or scored at once: as many as have features that fit a fast cache."""

from __future__ import annotations

from onkel.explicit.features_ahead import Part
from onkel.explicit.weights import Weights
from onkel.maps.base import FeatureMap

# The features of a sub-block are to stay in a core's second-level cache while its rows are walked.
_CACHE_BYTES = 1 << 20
_MOST_ROWS, _FEWEST_ROWS = 512, 16


def sub_blocks(n: int, weights: Weights, feature_map: FeatureMap) -> list[Part]:
    """Where the sub-blocks of n rows begin and end."""
    if n == 1:
        return [(0, 1)]
    width = max(weights.shape[1], feature_map.n_features_in_) * feature_map.dtype_.itemsize
    fewest = max(_FEWEST_ROWS, feature_map.fewest_rows())
    rows = first = min(max(_CACHE_BYTES // width, fewest), _MOST_ROWS)
    if weights.matrix is not None:
        # a block that an anchor cuts in two is solved in two parts
        rows, first = weights.matrix.block_rows(rows)
    starts = [0, *range(first, n, rows)] if n else []
    return list(zip(starts, [*starts[1:], n], strict=False))
