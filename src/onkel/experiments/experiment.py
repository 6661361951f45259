"""What an experiment is: a paper's table or figure, its protocol, its cells, its pictures."""

from __future__ import annotations

from dataclasses import dataclass, replace

from onkel.experiments.entry import Case

#: full references
PAPERS = {
    "lsokl": "Lu, Hoi, Wang, Zhao & Liu: Large Scale Online Kernel Learning, JMLR 17 (2016)",
    "rrf": "Nguyen, Le, Bui & Phung: Large-scale Online Kernel Learning with Random Feature "
    "Reparameterization, IJCAI 2017",
    "nolana": "Si, Kumar & Li: Nonlinear Online Learning with Adaptive Nyström Approximation, 2018",
    "aligned": "Sinha & Duchi: Learning Kernels with Random Features, NIPS 2016",
    "olk": "He & Kwok: Simple Randomized Algorithms for Online Learning with Kernels, 2014",
    "onkel": "onkel's own measurements",
}


@dataclass(frozen=True)
class Picture:
    """A row of panels.

    ``over``: the horizontal axis, "rows" as they come or "x" of the points. ``y``: "value" or
    "seconds", the second and third array of a curve.
    """

    over: str
    y: str
    x_label: str
    y_label: str
    log_x: bool = False
    log_y: bool = False


@dataclass(frozen=True)
class Experiment:
    """A table or figure of a paper: its protocol in words, its cells, its pictures.

    ``layout``: a key of :data:`onkel.experiments.showing.layouts.LAYOUTS`. Only ``streams`` has no
    cases of its own: it gets them from files that the user names.
    """

    name: str
    paper: str
    title: str
    protocol: str
    cases: tuple[Case, ...] = ()
    pictures: tuple[Picture, ...] = ()
    layout: str = "cells"

    @property
    def kind(self) -> str:
        """ "table" or "figure"."""
        return "figure" if self.pictures else "table"

    @property
    def datasets(self) -> list[str]:
        """Names of the data sets, each once; generated data are left out."""
        return [name for name in dict.fromkeys(case.dataset for case in self.cases) if name]

    @property
    def algorithms(self) -> list[str]:
        """Names of the learners, each once, as the paper has them."""
        return list(dict.fromkeys(case.algorithm for case in self.cases))

    def on(self, datasets: list[str] | None, algorithms: list[str] | None = None) -> Experiment:
        """The experiment restricted to some data sets or learners."""
        kept = tuple(
            case
            for case in self.cases
            if (not datasets or case.dataset in (*datasets, ""))
            and (not algorithms or case.algorithm in algorithms)
        )
        return replace(self, cases=kept)
