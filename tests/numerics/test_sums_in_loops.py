"""Compiled loops give the same bits wherever their arrays lie in memory.

Before a vectorised loop that writes one array and reads another, the compiler asks whether they
overlap; where two short ones lie close together it takes the loop number by number instead. That
changes no result, unless the loop also adds up a sum, whose order then depends on chance.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import numpy as np

import onkel
from onkel.maps.reparameterized import fill_shares

_ROOT = Path(onkel.__file__).parent
# Loops that write and sum, of which it is certain: one array alone, whole numbers, or room between.
_CERTAIN = {
    "default/tree_loops.py:_best_cut",  # each bin takes the sums so far
    "default/tree_loops.py:choose",  # whole numbers
    "default/calibration.py:_learn_many",  # P alone
    "default/cells.py:find_bins",  # whole numbers
    "default/row_sample.py:put_row",  # whole numbers
    "explicit/reparameterized.py:_learn_widths",  # calls a loop
    "explicit/reparameterized.py:_share_slopes",  # shares alone
    "memory/value_loops.py:features",  # whole numbers
    "support/exchange/inverse.py:_times",  # room before what it writes
    "support/merging/merging_model.py:learn_merging",  # calls loops
    "support/removal/bogd.py:_chances",  # chances alone
    "support/twin/prototypes.py:_merge_rows",  # masses alone
}


def _loops() -> Iterator[tuple[str, ast.For]]:
    """The innermost loops of compiled functions whose sums may be reordered."""
    for path in sorted(_ROOT.rglob("*.py")):
        for function in ast.walk(ast.parse(path.read_text())):
            if not isinstance(function, ast.FunctionDef):
                continue
            made = {ast.unparse(decorator) for decorator in function.decorator_list}
            if made & {"jit", "jit_inline", "jit_called"}:
                where = f"{path.relative_to(_ROOT).as_posix()}:{function.name}"
                loops = [node for node in ast.walk(function) if isinstance(node, ast.For)]
                inner = [loop for loop in loops if not set(ast.walk(loop)) - {loop} & set(loops)]
                yield from ((where, loop) for loop in inner)


def _sums_and_writes(loop: ast.For) -> bool:
    added = [node for node in ast.walk(loop) if isinstance(node, ast.AugAssign)]
    sums = any(isinstance(node.target, ast.Name) for node in added)
    written = [
        target
        for node in ast.walk(loop)
        for target in getattr(node, "targets", [getattr(node, "target", None)])
        if isinstance(target, ast.Subscript) and isinstance(node, ast.Assign | ast.AugAssign)
    ]
    return sums and bool(written)


def test_no_loop_that_writes_an_array_adds_up_a_sum():
    found = {where for where, loop in _loops() if _sums_and_writes(loop)}
    assert found == _CERTAIN


def test_shares_of_a_mixture_do_not_depend_on_where_they_lie():
    """The loop in which this was found: it gave other last digits below a distance of 256 bytes."""
    room, rng = np.empty(200), np.random.default_rng(0)
    for _ in range(20):
        logit, first, found = rng.normal(size=4), np.arange(5) * 3, []
        for at in (4, 6, 10, 31, 100):
            near, shares = room[:4], room[at : at + 12].reshape(3, 4)
            near[:], shares[:], amplitude = logit, 0.0, np.empty(12)
            fill_shares(near, first, shares, amplitude)
            found.append((*shares[0].tolist(), *amplitude.tolist()))
        assert len(set(found)) == 1
