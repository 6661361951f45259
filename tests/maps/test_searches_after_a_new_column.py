"""The first search after a column has come is made, whatever a small one says."""

from __future__ import annotations

import numpy as np
import pytest

from onkel import OnlineKernelRegressor
from onkel.maps.landmarks import learned


@pytest.mark.compiled
@pytest.mark.parametrize("quietly", [False, True])
@pytest.mark.parametrize("restart", [False, True])
def test_the_next_search_is_not_asked_what_it_will_gain(monkeypatch, quietly, restart):
    asked, improve = [], learned.improve

    def noted(*of, **more):
        asked.append(of[7] is not None)
        return improve(*of, **more)

    monkeypatch.setattr(learned, "improve", noted)
    rng = np.random.default_rng(0)
    X = rng.normal(size=(9000, 3))
    X[:2500, 2] = 0.0
    y = X[:, 0] * X[:, 1] + X[:, 2] + 0.1 * rng.normal(size=9000)
    model = OnlineKernelRegressor(n_components=20, random_state=0, restart=restart)
    model.partial_fit(X[:2500, :2], y[:2500])
    assert asked == [True, True]
    model.add_columns(1, quietly=quietly)
    # a saved model knows it, too
    model = OnlineKernelRegressor.from_state(model.get_state())
    asked.clear()
    # the map of the model that predicts: a challenger's searches begin anew
    model.partial_fit(X[2500:4200], y[2500:4200])
    current = model.model_.current if restart else model.model_
    assert asked[0] == quietly
    assert not current.map._news
    asked.clear()
    model.partial_fit(X[4200:], y[4200:])
    assert all(asked)
