"""Published results: the cells of the papers' tables that our experiments are compared with."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Cell:
    """Mean and standard deviation over the paper's runs, in the metric of its table."""

    value: float
    std: float


# Mistakes in percent; LSOKL's Table 9: 100 000 times the mean squared error, target in [0, 1].
_TABLES: dict[tuple[str, int], str] = {
    ("lsokl", 5): """
                      german    spambase  w7a        w8a        a9a       ijcnn1
        perceptron    35.2±0.9  24.5±0.1  4.01±0.1   3.47±0.01  20.9±0.1  12.27±0.01
        ogd           29.5±0.5  22.0±0.1  2.96±0.1   2.81±0.01  16.3±0.1  9.52±0.01
        rbp           37.5±1.1  33.3±0.4  5.07±0.13  5.1±0.08   27.1±0.2  16.4±0.1
        forgetron     38.1±0.9  34.6±0.5  5.28±0.06  5.28±0.07  27.8±0.4  16.99±0.32
        projectron    35.6±1.5  30.8±1.2  5.38±1.15  5.42±1.1   21.6±1.9  12.38±0.09
        projectron++  35.1±1.1  30.4±1.0  4.79±1.87  5.41±3.3   18.6±0.5  9.52±0.03
        bpa-s         33.9±0.9  30.8±0.8  2.99±0.06  2.84±0.03  21.1±0.2  11.33±0.04
        bogd          31.6±1.5  32.2±0.6  3.49±0.16  3.43±0.08  27.9±0.2  11.67±0.13
        fogd          29.9±0.7  26.9±1.0  2.75±0.03  2.43±0.03  17.4±0.1  9.06±0.05
        nogd          30.4±0.8  29.1±0.4  2.98±0.01  2.92±0.03  17.4±0.2  9.55±0.01
    """,
    ("lsokl", 7): """
                      dna       satimage  usps      mnist     letter    shuttle   covtype
        perceptron    20.4±0.7  29.6±0.5  10.0±0.2  15.4±0.1  71.5±0.5  15.2±0.3  -
        ogd           16.1±0.4  23.6±0.3  6.7±0.2   10.7±0.2  71.2±0.3  12.3±0.1  -
        rbp           31.1±1.4  49.3±0.8  24.0±0.4  43.4±0.5  91.7±0.2  29.3±0.5  60.1±0.1
        forgetron     30.9±2.1  48.2±1.4  22.7±0.5  43.9±0.6  96.1±0.1  34.1±0.4  60.4±0.4
        projectron    22.7±4.4  29.6±0.5  10.6±0.1  17.7±0.1  71.5±0.5  15.3±0.3  41.1±0.2
        projectron++  23.1±6.1  25.9±0.4  9.9±0.2   17.7±0.3  71.4±0.3  16.8±0.5  38.3±0.2
        bpa-s         25.3±1.2  27.9±0.3  15.4±0.6  32.4±1.2  84.6±0.5  14.1±0.2  45.2±0.2
        bogd          36.3±0.9  48.2±0.6  23.2±0.4  42.5±0.4  92.7±0.2  27.9±0.2  57.4±0.0
        fogd          20.8±0.7  29.5±0.4  10.1±0.2  11.8±0.2  71.5±0.6  15.6±0.5  40.4±0.1
        nogd          20.7±0.9  23.7±0.3  9.0±0.2   15.6±0.6  71.5±0.2  12.3±0.1  41.0±0.6
    """,
    ("lsokl", 9): """
                    housing   mg        abalone  parkinsons  cpusmall  cadata   casp
        perceptron  4018±80   5682±84   1280±10  5306±45     2660±15   4155±19  -
        ogd         4017±43   5341±71   1137±7   4835±18     2508±9    3976±18  -
        norma       4329±65   6446±73   1224±6   5084±18     3403±14   5739±8   -
        rbp         5837±140  9652±253  2498±34  7540±102    4895±58   8115±29  12425±48
        forgetron   5848±216  9742±334  2483±42  7488±114    4905±62   8128±61  12455±46
        projectron  4023±80   5683±84   1280±10  5306±46     2660±15   4155±20  8709±21
        bogd        5270±134  8936±198  1558±17  6159±37     4972±48   7259±31  9683±12
        fogd        4009±71   5590±73   1169±5   4909±20     2577±50   4097±15  8021±31
        nogd        4063±43   5356±76   1138±7   4896±68     2559±24   3983±18  7844±8
    """,
    ("rrf", 1): """
                      cod-rna    ijcnn1
        perceptron    -          12.85±0.09
        ogd           -          10.39±0.06
        rbp           -          15.54±0.21
        forgetron     -          16.17±0.26
        projectron    -          12.98±0.23
        projectron++  -          9.97±0.09
        bpa-s         -          10.68±0.05
        bogd          -          10.87±0.18
        bsgd-m        -          9.14±0.18
        dualsgd       -          8.35±0.2
        fogd          -          9.41±0.03
        nogd          -          10.43±0.08
        rrf           4.33±0.05  3.68±0.17
    """,
}


def _read(table: str, unit: float) -> dict[str, dict[str, Cell]]:
    """A printed table, one line an algorithm, as data set -> algorithm -> cell."""
    names, *lines = (line.split() for line in table.strip().splitlines())
    cells: dict[str, dict[str, Cell]] = {name: {} for name in names}
    for algorithm, *printed in lines:
        for name, text in zip(names, printed, strict=True):
            if text != "-":
                value, std = text.split("±")
                cells[name][algorithm] = Cell(float(value) / unit, float(std) / unit)
    return cells


_CELLS = {key: _read(table, 1e5 if key == ("lsokl", 9) else 1.0) for key, table in _TABLES.items()}


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
    return _CELLS.get((paper, table), {}).get(dataset, {}).get(algorithm)
