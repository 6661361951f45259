"""Published results: the cells of the papers' tables that our experiments are compared with."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Cell", "cell"]


@dataclass(frozen=True)
class Cell:
    """Mean and standard deviation over the paper's runs, in the metric of its table."""

    value: float
    std: float


# (paper, table) -> data set -> algorithm -> (mean, std).
# Tables 5 and 7: mistakes in percent. Table 9: mean squared error, target in [0, 1].
_CELLS: dict[tuple[str, int], dict[str, dict[str, tuple[float, float]]]] = {
    ("lsokl", 5): {
        "german": {"fogd": (29.9, 0.7), "nogd": (30.4, 0.8)},
        "spambase": {"fogd": (26.9, 1.0), "nogd": (29.1, 0.4)},
        "w7a": {"fogd": (2.75, 0.03), "nogd": (2.98, 0.01)},
        "w8a": {"fogd": (2.43, 0.03), "nogd": (2.92, 0.03)},
        "a9a": {"fogd": (17.4, 0.1), "nogd": (17.4, 0.2)},
        "ijcnn1": {"fogd": (9.06, 0.05), "nogd": (9.55, 0.01)},
    },
    ("lsokl", 7): {
        "dna": {"fogd": (20.8, 0.7), "nogd": (20.7, 0.9)},
        "satimage": {"fogd": (29.5, 0.4), "nogd": (23.7, 0.3)},
        "usps": {"fogd": (10.1, 0.2), "nogd": (9.0, 0.2)},
        "mnist": {"fogd": (11.8, 0.2), "nogd": (15.6, 0.6)},
        "letter": {"fogd": (71.5, 0.6), "nogd": (71.5, 0.2)},
        "shuttle": {"fogd": (15.6, 0.5), "nogd": (12.3, 0.1)},
        "covtype": {"fogd": (40.4, 0.1), "nogd": (41.0, 0.6)},
    },
    ("lsokl", 9): {
        "housing": {"fogd": (0.04009, 0.00071), "nogd": (0.04063, 0.00043)},
        "mg": {"fogd": (0.0559, 0.00073), "nogd": (0.05356, 0.00076)},
        "abalone": {"fogd": (0.01169, 0.00005), "nogd": (0.01138, 0.00007)},
        "parkinsons": {"fogd": (0.04909, 0.0002), "nogd": (0.04896, 0.00068)},
        "cpusmall": {"fogd": (0.02577, 0.0005), "nogd": (0.02559, 0.00024)},
        "cadata": {"fogd": (0.04097, 0.00015), "nogd": (0.03983, 0.00018)},
        "casp": {"fogd": (0.08021, 0.00031), "nogd": (0.07844, 0.00008)},
    },
    ("rrf", 1): {
        "cod-rna": {"rrf": (4.33, 0.05)},
        "ijcnn1": {"rrf": (3.68, 0.17)},
    },
}


def cell(paper: str, table: int, dataset: str, algorithm: str) -> Cell | None:
    """The published result; None where the table has none.

    Parameters
    ----------
    paper : {"lsokl", "rrf"}
        Lu et al. 2016, or Nguyen et al. 2017.
    table : int
    dataset, algorithm : str

    Examples
    --------
    >>> from onkel.experiments.published import cell
    >>> cell("lsokl", 5, "german", "nogd")
    Cell(value=30.4, std=0.8)
    """
    found = _CELLS.get((paper, table), {}).get(dataset, {}).get(algorithm)
    return None if found is None else Cell(*found)
