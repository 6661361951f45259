"""The aligned kernel's figure (Sinha & Duchi 2016), and growth and regret of He & Kwok 2014."""

from __future__ import annotations

from collections.abc import Iterator

from onkel.experiments.entry import Case, Rows
from onkel.experiments.experiment import Experiment, Picture
from onkel.experiments.running.regret import CURVES, NOISE

_MADE = Rows("")


def _aligned() -> Iterator[Case]:
    for take in ("plain", "aligned", "plain, few", "aligned, few"):
        for d in range(2, 16):
            yield Case(
                rows=_MADE, algorithm="aligned", label=take.replace("few", "100"), take=take,
                parameters={"d": d}, measure="alignment", n_runs=3, step="authors", x=float(d),
                panel="sign(‖x‖ - √d)",
            )  # fmt: skip


def _olk(take: str = "value") -> Iterator[Case]:
    for noise, panel in ((NOISE, "noisy targets"), (0.0, "targets without noise")):
        for name, curve in CURVES.items():
            yield Case(
                rows=_MADE, algorithm=curve.algorithm, task="regression",
                label=f"{name}, r" if take == "rate" else name,
                metric="regret", measure="regret", parameters={"curve": name, "noise": noise},
                n_runs=5, step="prior", panel=panel, take=take,
            )  # fmt: skip


EXPERIMENTS = (
    Experiment(
        "aligned.figure1", "aligned", "Test errors by dimension",
        "10 000 rows, 20 000 candidates, ρ = 0.005 N, ridge regression over the features with a "
        "weight, over the 100 with the largest, and over as many plain ones; 3 draws.",
        tuple(_aligned()), (Picture("x", "value", "dimension d", "test error, %"),),
    ),
    Experiment(
        "olk.regret", "olk", "Regret against the best f of the ball",
        "Streams of T = 64, ..., 8 192 rows, five of each; the bounds are T^½, T^¾ (growing).",
        tuple(_olk()), (Picture("rows", "value", "rows T", "regret", log_x=True, log_y=True),),
    ),
    Experiment(
        "olk.rates", "olk", "Exponents of the regret",
        "The same runs: regret after T = 8 192 rows, and r of regret ~ T^r, fitted over T; the "
        "paper's r is ½, with a growing budget ¾.", (*_olk("rate"), *_olk()),
    ),
    Experiment(
        "olk.budget", "olk", "Growth of the stored rows",
        "The same runs: rows stored after T rows.", tuple(_olk()),
        (Picture("rows", "seconds", "rows T", "rows stored", log_x=True, log_y=True),),
    ),
)  # fmt: skip
