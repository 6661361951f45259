"""When a model that has taken over makes its expensive search: as soon as that can be paid.

Until it has taken over, a challenger postpones the search: most of them never need one.
"""

from __future__ import annotations

from onkel.default.comparing import PATIENCE
from onkel.default.loss_history import BIN_ROWS
from onkel.default.spending import Spending, under_way, work_begun
from onkel.explicit.model import ExplicitModel
from onkel.maps.base import FeatureMap

#: the share of what may be spent that searches may take
_FOR_SEARCHES = 0.75


def postpones(unfitted: FeatureMap) -> bool:
    """Whether searches are postponed: only if first rows are kept longer than a challenger is."""
    return unfitted.warmup_rows() > PATIENCE


def refit_if_paid(model: ExplicitModel, spending: Spending) -> None:
    """As a model takes over, fit its map once more; for maps that postpone no search."""
    if model.warmup is not None and spending.pay(model.map.work_of_fit(model.warmup.count)):
        model.refit()


def search_if_paid(model: ExplicitModel, spending: Spending) -> None:
    """Let the model that has taken over search while the next bin comes, if that can be paid.

    The search it owes is due a little later, and is made while the rows up to then come.
    """
    feature_map, warmup = model.map, model.warmup
    assert warmup is not None
    if under_way(feature_map, warmup.count, warmup.n_rows):
        return
    feature_map.postpone(False, warmup.count)
    work = work_begun(feature_map, warmup.count, BIN_ROWS, warmup.n_rows)
    if not spending.pay(work, _FOR_SEARCHES):
        feature_map.postpone(True)
