"""Types that stand in many signatures, by the names of the field. For checkers and readers only.

SciPy, pandas, Polars and Arrow declare no types. So a checker takes a name of theirs for anything;
it still tells a reader what is meant.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from numpy.typing import ArrayLike as ArrayLike
from numpy.typing import DTypeLike as DTypeLike

if TYPE_CHECKING:
    import scipy.sparse as sp

#: rows (n, d) that were checked: an array, or CSR
Matrix: TypeAlias = "np.ndarray | sp.csr_array | sp.csr_matrix"
#: rows between the last label and the first of some rows, or for each of them (n,), its group's
Ahead: TypeAlias = int | np.ndarray
#: what a user may give as rows: all that NumPy makes an array of, a frame, too; or a sparse matrix
MatrixLike: TypeAlias = "ArrayLike | sp.sparray | sp.spmatrix"
#: where a result may be written
Out: TypeAlias = np.ndarray | None
#: what random numbers are drawn from: a seed, NumPy's generator of old, or None for its own
Seed: TypeAlias = int | np.random.RandomState | None

#: a weight for each label, or "balanced"
ClassWeight: TypeAlias = str | Mapping[Hashable, float] | None

#: one row, or one event, by the names of its columns
Row: TypeAlias = Mapping[str, object]
#: what JSON can say
JSON: TypeAlias = "dict[str, JSON] | list[JSON] | str | float | bool | None"
