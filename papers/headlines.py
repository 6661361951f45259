"""What each paper claims, and what the runs here say to it: computed from the runs, never typed.

A claim is a sentence of the paper in our words; what was found is a function of the results.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np

from papers.cases import Case
from papers.notes import off
from papers.results import Result
from papers.tables import mean_std

#: experiment -> what was run of it
Found = dict[str, list[Result]]

_FEATURES = ("fogd", "nogd")
_BUDGETS = ("rbp", "forgetron", "projectron", "projectron++", "bpa-s", "bogd")


@dataclass(frozen=True)
class Claim:
    """A claim, and the function that says what was found; empty if nothing was run for it."""

    text: str
    found: Callable[[Found], str]


def headlines(paper: str, found: Found) -> str:
    """The claims of a paper, each with what was found here, as a list."""
    lines = []
    for claim in CLAIMS.get(paper, ()):
        said = claim.found(found)
        if said:
            lines.append(f"- **Claimed:** {claim.text} **Found:** {said}")
    star = "\\* other rows than the paper's: fewer of them, or another part."
    if any("\\*" in line for line in lines):
        lines.append(f"\n{star}")
    return "\n".join(lines)


def not_met(paper: str, found: Found) -> str:
    """Each cell that is not met, and the reasons that were tried for it, as a list."""
    tried = found.get(f"{paper}.reasons", ())
    lines = []
    for name, results in found.items():
        table = name.rpartition(".")[2]
        if table.startswith("table"):
            lines += [_why(table, result, tried) for result in results
                      if result.verdict == "not met"]  # fmt: skip
    return "\n".join(lines)


def _why(table: str, result: Result, tried: Iterable[Result]) -> str:
    """What is here, what was printed, what each change of the cell gave."""
    case, cell = result.case, result.case.published
    assert cell is not None  # a cell without one has no such verdict
    changed = [r for r in tried if r.values and r.case.published is cell]
    said = [f"{r.case.label.partition(': ')[2]} gives {_value(r)} ({r.verdict})" for r in changed]
    own = off(result)
    meets = any(r.verdict in ("met", "better") for r in changed)
    end = "" if meets or own else " None of it explains the number."
    printed = mean_std(cell.value, cell.std, case.quantity)
    text = f"{mean_std(result.mean, result.std, case.quantity)} here, printed {printed}."
    runs = f" Changed: {'; '.join(said)}." if said else ""
    return f"- **{table}, {case.name}:** {text}{runs}{' ' + own if own else ''}{end}"


# ---- comparing -----------------------------------------------------------------------------------


def _value(result: Result) -> str:
    return mean_std(result.mean, None, result.case.quantity)


def _cost(result: Result) -> float:
    """The mean, so that less is better; infinite if a run diverged."""
    if not np.isfinite(result.mean):
        return np.inf
    return -result.mean if result.case.more_is_better else result.mean


def _best(results: Iterable[Result]) -> Result | None:
    return min((r for r in results if r.values), key=_cost, default=None)


def _duels(
    results: Iterable[Result], ours: Callable[[Case], bool], theirs: Callable[[Case], bool]
) -> str:
    """On which data sets the best of some learners is ahead of the best of others.

    A star marks other rows than the paper's.
    """
    sets: dict[str, list[Result]] = {}
    for result in results:
        sets.setdefault(result.case.dataset, []).append(result)
    ahead, behind = [], []
    for dataset, of_it in sets.items():
        one = _best(r for r in of_it if ours(r.case))
        other = _best(r for r in of_it if theirs(r.case))
        if one is None or other is None:
            continue
        dataset += "" if one.comparable else "\\*"
        if _cost(one) < _cost(other):
            ahead.append(dataset)
        else:
            behind.append(f"{dataset} ({other.case.algorithm} {_value(other)}, "
                          f"{one.case.algorithm} {_value(one)})")  # fmt: skip
    if not ahead and not behind:
        return ""
    text = f"ahead on {len(ahead)} of {len(ahead) + len(behind)} sets"
    text += f": {', '.join(ahead)}" if ahead else ""
    return text + (f"; not on {', '.join(behind)}." if behind else ".")


def _named(*names: str) -> Callable[[Case], bool]:
    return lambda case: case.algorithm in names and (case.label or case.algorithm) == case.algorithm


# ---- Lu et al. -----------------------------------------------------------------------------------


def _budget_duels(found: Found) -> str:
    parts = []
    for number in (5, 7, 9):
        said = _duels(found.get(f"lsokl.table{number}", ()), _named(*_FEATURES), _named(*_BUDGETS))
        if said:
            parts.append(f"Table {number}: {said}")
    return " ".join(parts)


def _nogd_before_fogd(found: Found) -> str:
    return _duels(found.get("lsokl.table3", ()), _named("nogd"), _named("fogd"))


def _more_frequencies(found: Found) -> str:
    panels: dict[str, list[Result]] = {}
    for result in found.get("lsokl.figure3", ()):
        panels.setdefault(result.case.panel, []).append(result)
    parts = []
    for panel, of_it in panels.items():
        first, *_, last = sorted(of_it, key=lambda r: r.case.x or 0.0)
        worse = ", worse" if _cost(last) > _cost(first) else ""
        parts.append(f"{panel} = {first.case.x:g} → {last.case.x:g}: {_value(first)} → "
                     f"{_value(last)} %{worse}")  # fmt: skip
    return "; ".join(parts) + "." if parts else ""


# ---- Nguyen et al. -------------------------------------------------------------------------------


def _is_rrf(case: Case) -> bool:
    """Whether it is RRF as the paper has it."""
    return case.algorithm.startswith("rrf") and not re.search("as found|D = |softmax", case.label)


def _rrf_duels(number: int) -> Callable[[Found], str]:
    return lambda found: _duels(
        found.get(f"rrf.table{number}", ()),
        _is_rrf,
        lambda case: not case.algorithm.startswith("rrf"),
    )


def _few_frequencies(found: Found) -> str:
    lines: dict[str, list[Result]] = {}
    for result in found.get("rrf.figure1", ()):
        lines.setdefault(result.case.label or result.case.algorithm, []).append(result)
    fogd = _best(lines.pop("fogd", ()))
    if fogd is None or not lines:
        return ""
    parts = []
    for name, points in lines.items():
        points.sort(key=lambda r: r.case.x or 0.0)
        few = next((r for r in points if _cost(r) <= _cost(fogd)), None)
        at = {r.case.x: _value(r) for r in points}
        text = f"{name}: D = 20 gives {at.get(20.0, '-')} %"
        reached = "no D reaches it" if few is None else f"D = {few.case.x:g} is the first below it"
        parts.append(f"{text}, {reached}")
    return f"FOGD's best is {_value(fogd)} % with D = {fogd.case.x:g}. {'; '.join(parts)}."


def _squared_is_best(found: Found) -> str:
    sets: dict[str, list[Result]] = {}
    for result in found.get("rrf.table2", ()):
        if _is_rrf(result.case):
            sets.setdefault(result.case.dataset, []).append(result)
    parts = [
        f"{dataset}: {best.case.algorithm} {_value(best)}"
        for dataset, of_it in sets.items()
        if (best := _best(of_it)) and len(of_it) == 3
    ]
    return "best of the three, " + ", ".join(parts) + "." if parts else ""


# ---- Si et al., Sinha & Duchi, He & Kwok ---------------------------------------------------------


def _nolana_duels(found: Found) -> str:
    table = found.get("nolana.table2", ())
    others = _duels(table, _named("nolana"), _named("nogd", "fogd", "dualsgd", "rrf"))
    fogd = _duels(table, _named("nolana"), _named("fogd"))
    return f"against all, {others} Against FOGD alone, {fogd}" if others else ""


def _moving_helps(found: Found) -> str:
    rows = [r for r in found.get("nolana.table1", ()) if r.case.metric == "accuracy"]
    parts = [f"{r.case.label} {_value(r)} % ({r.verdict})" for r in rows
             if r.case.published and r.case.published.loss == r.case.loss]  # fmt: skip
    return "; ".join(parts) + "." if parts else ""


def _aligned(found: Found) -> str:
    at = {(r.case.label, r.case.x): r for r in found.get("aligned.figure1", ())}
    parts = []
    for d in (5.0, 10.0, 15.0):
        pair = [at.get((name, d)) for name in ("plain, 100", "aligned, 100")]
        if None not in pair:
            plain, chosen = (f"{r.mean:.1f} %" for r in pair if r is not None)
            parts.append(f"d = {d:g}: {plain} with 100 plain features, {chosen} with 100 chosen")
    return "; ".join(parts) + "." if parts else ""


def _where_features_lie(found: Found) -> str:
    at = {r.case.take: r for r in found.get("aligned.figure1a", ())}
    if not {"length", "offset", "turn"} <= set(at):
        return ""
    length, offset, turn = (at[name] for name in ("length", "offset", "turn"))
    return (
        f"in {len(length.values)} draws ‖ω‖ = {length.mean:.2f} ± {length.std:.2f} (√2 = 1.41), "
        f"offsets {offset.mean:.2f} from 0 or π, frequencies {turn.mean:.0f}° from an axis that "
        "differs between draws."
    )


def _beside_bounds(name: str) -> Callable[[Found], str]:
    """The regret at the longest horizon, its exponent over all of them, and the bound."""

    def claim(found: Found) -> str:
        parts = []
        for regret, bound in itertools.pairwise(found.get(name, ())):
            if bound.case.take == "bound" and regret.curve is not None:
                rows, regrets = np.log(regret.curve[0]), np.log(regret.curve[1])
                rate = np.polyfit(rows, regrets, 1)[0]
                parts.append(
                    f"{regret.case.panel}: regret {regret.mean:.0f}, growing as T^{rate:.2f}; "
                    f"bound {bound.mean:,.0f}, {bound.mean / regret.mean:.0f} times as much"
                )
        return ". ".join(parts) + "." if parts else ""

    return claim


def _rates(found: Found) -> str:
    cells = [f"{r.case.label} {r.mean:.2f} ({r.case.panel})"
            for r in found.get("olk.rates", ()) if r.case.take == "rate"]  # fmt: skip
    return ", ".join(cells) + "." if cells else ""


CLAIMS: dict[str, tuple[Claim, ...]] = {
    "lsokl": (
        Claim(
            "FOGD and NOGD have the fewest mistakes of the budget learners in most cases.",
            _budget_duels,
        ),
        Claim("NOGD is ahead of FOGD in batch learning (Table 3).", _nogd_before_fogd),
        Claim("More frequencies (p_f) and ranks (p_n) mean fewer mistakes.", _more_frequencies),
        Claim(
            "The regret is bounded, and O(√T) (Theorems 1 to 4).", _beside_bounds("lsokl.regret")
        ),
    ),
    "rrf": (
        Claim(
            "RRF beats all baselines by a large margin in classification (Table 1).", _rrf_duels(1)
        ),
        Claim("It beats all baselines in regression, too (Table 2).", _rrf_duels(2)),
        Claim("Few frequencies suffice (Figures 1 and 2).", _few_frequencies),
        Claim("The squared loss is the best of RRF's three (Table 2).", _squared_is_best),
    ),
    "nolana": (
        Claim("NOLANA is the best on 4 of 5 sets at equal memory (Table 2).", _nolana_duels),
        Claim("Landmarks that move raise the accuracy on usps (Table 1).", _moving_helps),
        Claim("The regret is bounded, and O(√T) (Theorem 4.1).", _beside_bounds("nolana.regret")),
    ),
    "aligned": (
        Claim("Chosen features beat as many plain ones (Figure 1).", _aligned),
        Claim(
            "For d = 2 they lie near ±(1, 1), with offsets near 0 and π (Figure 1(a)).",
            _where_features_lie,
        ),
    ),
    "olk": (Claim("The regret grows as √T, with a growing budget as T^¾.", _rates),),
}
