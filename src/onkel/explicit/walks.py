"""Which walk a map needs."""

from __future__ import annotations

from onkel.explicit.aligning import Aligning
from onkel.explicit.growing import Growing
from onkel.explicit.learned_spectrum import LearnedSpectrum
from onkel.explicit.moving import Moving
from onkel.explicit.reparameterized import LearnedByGradient
from onkel.explicit.walk import Walk
from onkel.maps.base import Change, FeatureMap
from onkel.rules.base import Rule

_WALKS: dict[Change, type[Walk]] = {
    Change.NEVER: Walk,
    Change.BY_SUPPORT: Growing,
    Change.BY_ROWS: Moving,
    Change.BY_LABELS: Aligning,
    Change.BY_LOSS: LearnedByGradient,
}


def walk_over(feature_map: FeatureMap, rule: Rule) -> type[Walk]:
    """The walk over ``feature_map``.

    Raises
    ------
    ValueError
        For a kind of change that no walk is written for.
    """
    change = feature_map.changes()
    if change not in _WALKS:
        raise ValueError(f"map {feature_map.name!r}: changes() gives {change!r}, no Change")
    if change == Change.BY_LOSS and rule.kind.exact:
        return LearnedSpectrum
    return _WALKS[change]
