"""The table of data sets: the papers' names, size, task, subset, scaling, OpenML."""

from __future__ import annotations

import difflib
import os
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from platformdirs import user_cache_path


@dataclass(frozen=True)
class OpenML:
    """A set's place on OpenML: a data id, or a name and version.

    ``target`` names the target column if it isn't the default; ``drop`` names columns that aren't
    features; the first ``n_train`` rows are the papers' training rows.
    """

    data_id: int | None = None
    name: str | None = None
    version: int = 1
    target: str | None = None
    drop: tuple[str, ...] = ()
    n_train: int | None = None

    def arguments(self) -> dict[str, Any]:
        """Arguments for ``fetch_openml`` that select the set."""
        if self.data_id is not None:
            return {"data_id": self.data_id}
        return {"name": self.name, "version": self.version}


@dataclass(frozen=True)
class Entry:
    """One data set, which ``onkel.datasets.load(name)`` reads."""

    name: str
    #: "binary", "multiclass" or "regression"
    task: str
    #: size of the whole set
    n_rows: int
    n_features: int
    #: 0 for regression
    n_classes: int
    #: the split the papers stream: "all", "train" or "test"
    subset: str
    #: what the papers did before streaming: "none"; "minmax": every column to [0, 1], including the
    #: target of a regression; "unit": only the features to [0, 1]; "symmetric": the features to
    #: [-1, 1]. The ranges are those of the whole subset, so this is not online scaling.
    scaling: str
    openml: OpenML | None
    #: origin of the set, for a user who has to get it by hand
    source: str
    #: other file names of the set; some of these files hold only a part of the rows
    files: tuple[str, ...] = ()
    divide: float = 1.0
    aliases: tuple[str, ...] = ()
    #: makes two classes of a numeric target: whether it is above this
    above: float | None = None
    #: columns with the time of a row; ``order="time"`` sorts the rows by them
    time: tuple[str, ...] = ()

    @property
    def candidates(self) -> tuple[str, ...]:
        """File names, the whole set first."""
        return (f"{self.name}.parquet", *self.files)

    @property
    def file(self) -> Path | None:
        """The set's file; None if it isn't on this machine."""
        files = (folder / name for folder in folders() for name in self.candidates)
        return next((file for file in files if file.is_file()), None)

    @property
    def local(self) -> bool:
        """Whether it is on this machine."""
        return self.file is not None

    def to_dict(self) -> dict[str, Any]:
        """The entry for JSON, with the path of the set's file if it is on this machine."""
        facts = ("name", "task", "n_rows", "n_features", "n_classes", "subset", "scaling", "source")
        file = self.file
        return {name: value for name, value in asdict(self).items() if name in facts} | {
            "fetchable": self.openml is not None,
            "local": file is not None,
            "path": None if file is None else str(file),
        }


_LIBSVM = "the LIBSVM data page"
_UCI = "the UCI repository"
_ASA = "the ASA Data Expo 2009: flights of 2008, eight features of Hensman et al. 2013"
_WHEN = ("month", "day_of_month", "dep_time")

_B, _M, _R = "binary", "multiclass", "regression"

_ENTRIES = (
    Entry("german", _B, 1000, 24, 2, "all", "none", None,
          f"{_UCI}: Statlog German credit, german.data-numeric"),
    Entry("spambase", _B, 4601, 57, 2, "all", "none", OpenML(44), f"{_UCI}: Spambase"),
    Entry("w7a", _B, 49749, 300, 2, "train", "none", None, f"{_LIBSVM}: w7a (train), w7a.t (test)"),
    Entry("w8a", _B, 64700, 300, 2, "all", "none", OpenML(name="w8a"),
          f"{_LIBSVM}: w8a (49 749 rows), w8a.t"),
    Entry("a9a", _B, 48842, 123, 2, "all", "none", OpenML(name="a9a"), f"{_LIBSVM}: a9a, a9a.t"),
    Entry("ijcnn1", _B, 141691, 22, 2, "all", "none", OpenML(name="ijcnn"),
          f"{_LIBSVM}: ijcnn1, ijcnn1.t", aliases=("ijcnn",)),
    Entry("cod-rna", _B, 331152, 8, 2, "all", "none", None,
          f"{_LIBSVM}: cod-rna (59 535 rows), cod-rna.t; standardise the columns",
          aliases=("codrna",)),
    Entry("kddcup99", _B, 494021, 41, 2, "all", "none", None,
          f"{_UCI}: KDD Cup 1999, the 10 percent file", files=("kddcup99_10pct.parquet",)),
    Entry("kddcup08", _B, 102294, 117, 2, "all", "none", None,
          "the KDD Cup 2008 page: the training set, features of the candidates"),
    Entry("webspam", _B, 350000, 254, 2, "all", "none", None, f"{_LIBSVM}: webspam (unigram)"),
    Entry("dna", _M, 3186, 180, 3, "train", "none", OpenML(40670, n_train=2000),
          f"{_LIBSVM}: dna.scale (train), dna.scale.t"),
    Entry("satimage", _M, 6435, 36, 6, "train", "symmetric", OpenML(182, n_train=4435),
          f"{_UCI}: Statlog Landsat"),
    Entry("usps", _M, 9298, 256, 10, "train", "none", OpenML(41082, n_train=7291),
          f"{_LIBSVM}: usps, usps.t"),
    Entry("mnist", _M, 70000, 784, 10, "train", "none", OpenML(554, n_train=60000),
          "the MNIST page, or LIBSVM's", divide=255.0),
    Entry("letter", _M, 20000, 16, 26, "train", "symmetric", OpenML(6, n_train=15000),
          f"{_LIBSVM}: letter.scale (train), letter.scale.t"),
    Entry("shuttle", _M, 58000, 9, 7, "train", "symmetric", OpenML(40685, n_train=43500),
          f"{_UCI}: Statlog Shuttle"),
    Entry("acoustic", _M, 98528, 50, 3, "train", "none", None,
          f"{_LIBSVM}: SensIT Vehicle (acoustic), acoustic_scale (train), acoustic_scale.t"),
    Entry("covtype", _M, 581012, 54, 7, "all", "minmax", OpenML(1596), f"{_UCI}: Covertype",
          files=("covtype_sub93k.parquet",)),
    Entry("poker", _M, 1025010, 10, 10, "all", "none", None, f"{_UCI}: Poker Hand",
          files=("poker_sub125k.parquet",)),
    Entry("housing", _R, 506, 13, 0, "all", "minmax", OpenML(531), f"{_LIBSVM}: housing"),
    Entry("mg", _R, 1385, 6, 0, "all", "minmax", None, f"{_LIBSVM}: mg"),
    Entry("abalone", _R, 4177, 8, 0, "all", "minmax", OpenML(183), f"{_LIBSVM}: abalone"),
    Entry("parkinsons", _R, 5875, 20, 0, "all", "minmax",
          OpenML(4531, target="total_UPDRS", drop=("motor_UPDRS",)),
          f"{_UCI}: Parkinsons Telemonitoring"),
    Entry("cpusmall", _R, 8192, 12, 0, "all", "minmax", OpenML(562), f"{_LIBSVM}: cpusmall"),
    Entry("cadata", _R, 20640, 8, 0, "all", "minmax", OpenML(537), f"{_LIBSVM}: cadata"),
    Entry("casp", _R, 45730, 9, 0, "all", "minmax", OpenML(42903),
          f"{_UCI}: Physicochemical Properties of Protein Tertiary Structure"),
    Entry("slice", _R, 53500, 384, 0, "all", "minmax", None,
          f"{_UCI}: Relative location of CT slices on axial axis; leave out the patient's id"),
    Entry("year", _R, 515345, 90, 0, "train", "minmax", None,
          f"{_LIBSVM}: YearPredictionMSD", files=("year_small.parquet",)),
    Entry("airlines_delay", _R, 5929413, 8, 0, "all", "unit", None, _ASA, time=_WHEN),
    Entry("airlines_late", _B, 5929413, 8, 2, "all", "unit", None, _ASA,
          files=("airlines_delay.parquet",), above=15.0, time=_WHEN),
    # rows for the goals of the default learner, see papers/goals.py
    Entry("mnist_test", _M, 70000, 784, 10, "test", "none", None, "the set mnist: its test images",
          files=("mnist.parquet",), divide=255.0),
    Entry("covtype_sub93k", _M, 92962, 54, 7, "all", "minmax", None,
          "the set covtype: 92 962 of its rows, drawn at random"),
    Entry("poker_sub125k", _M, 125008, 10, 10, "all", "none", None,
          "the set poker: 125 008 of its rows"),
)  # fmt: skip

#: all data sets by name
DATASETS: dict[str, Entry] = {entry.name: entry for entry in _ENTRIES}
_ALIASES = {alias: entry.name for entry in _ENTRIES for alias in entry.aliases}


def info(name: str) -> Entry:
    """The entry of a data set.

    Parameters
    ----------
    name : str
        A name of :data:`DATASETS`, or an alias that the papers use ("codrna").

    Raises
    ------
    ValueError
        Unknown name; the message lists the known ones.

    Examples
    --------
    >>> from onkel import datasets
    >>> entry = datasets.info("letter")
    >>> entry.n_rows, entry.n_features, entry.n_classes
    (20000, 16, 26)
    """
    name = _ALIASES.get(name, name)
    if name not in DATASETS:
        close = difflib.get_close_matches(str(name), DATASETS, n=1)
        hint = f" (did you mean {close[0]!r}?)" if close else ""
        raise ValueError(f"data set {name!r} is not one of {', '.join(DATASETS)}{hint}")
    return DATASETS[name]


def folders() -> tuple[Path, ...]:
    """Folders searched for data sets; :func:`fetch` writes to the first one.

    In a clone of the repository the last is ``papers/data``, which holds six small sets.
    """
    cache = user_cache_path("onkel", appauthor=False) / "data"
    own = os.environ.get("ONKEL_DATA")
    return *((Path(own).expanduser(), cache) if own else (cache,)), *_MORE


def _of_a_clone(package: Path) -> list[Path]:
    """The folder of small sets, if the package lies in ``src/`` of a clone of the repository."""
    source = package.parent
    folder = source.parent / "papers" / "data"
    return [folder] if source.name == "src" and folder.is_dir() else []


#: folders of the clone, and of programs that bring data sets along
_MORE: list[Path] = _of_a_clone(Path(__file__).parents[1])


def add_folder(folder: Path) -> None:
    """Let data sets be found in one more folder, searched last.

    For programs that bring data sets along.
    """
    if folder not in _MORE:
        _MORE.append(folder)
