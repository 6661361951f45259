"""What others published on real streams in their order: the best number known of each."""

from __future__ import annotations

from typing import NamedTuple


class Published(NamedTuple):
    """Mistakes in percent, or root mean squared error, of the whole stream; and whose it is."""

    value: float
    source: str


_DETECTORS = "DFKI-NI/unsupervised-concept-drift-detection, best of seven tuned detectors, "
_SGBR = "nuwangunasekara/SGBR, five seeds, "

PUBLISHED = {
    "insects_gradual": Published(28.85, _DETECTORS + "naive Bayes"),
    "outdoor": Published(18.03, _DETECTORS + "Hoeffding tree"),
    "powersupply": Published(82.07, _DETECTORS + "Hoeffding tree"),
    "electricity8": Published(9.36, "River's benchmarks, ALMA"),
    "bike": Published(47.3, _SGBR + "SGB(Oza)"),
    "metro_traffic": Published(1385.0, _SGBR + "SGB(ARF)"),
}
