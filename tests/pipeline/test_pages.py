"""Pages are a dict in the order of its entries; what is frozen stays as it was."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from onkel.pipeline import pages
from onkel.pipeline.pages import Pages

STEPS = st.lists(st.tuples(st.sampled_from(["set", "pop", "first", "freeze"]), st.integers(0, 30)))


@settings(deadline=None)
@given(STEPS, st.sampled_from([1, 3, 8]))
def test_pages_do_what_a_dict_does(steps, size):
    before = pages._SIZE, pages._PACKED
    pages._SIZE, pages._PACKED = size, (size // 2,)
    try:
        own, alike, frozen = Pages(), {}, []
        for k, (step, id) in enumerate(steps):
            if step == "set":
                alike.pop(id, None)
                own[id] = alike[id] = k
            elif step == "pop" and id in alike:
                assert own.pop(id) == alike.pop(id)
            elif step == "first" and alike:
                assert own.first() == next(iter(alike))
                own.pop(own.first())
                alike.pop(next(iter(alike)))
            elif step == "freeze":
                frozen.append((own.frozen(), dict(alike)))
            assert len(own) == len(alike)
            assert own.get(id) == alike.get(id)
            assert (id in own) == (id in alike)
        assert list(own) == list(alike)
        assert own.first() == next(iter(alike), None)
        for then, held in frozen:
            assert dict(zip(then.ids(), then.values(), strict=True)) == held
            assert then.ids() == list(held)
    finally:
        pages._SIZE, pages._PACKED = before
