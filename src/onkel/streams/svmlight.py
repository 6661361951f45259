"""Streams of svmlight (LIBSVM) text, about a megabyte at a time."""

from __future__ import annotations

import io
import math
from collections.abc import Generator, Iterator
from typing import TYPE_CHECKING

import numpy as np

from onkel.annotations import DTypeLike
from onkel.columns.encoding import Encoder
from onkel.columns.failures import first_failure, moved, shorten, succeeds
from onkel.errors import DataError
from onkel.streams.blocks import Block
from onkel.streams.files import FileRef, joint_size
from onkel.streams.lines import Chunk, line_chunks, line_of
from onkel.streams.schema import Schema
from onkel.streams.source import Source

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

#: most features of a file if their number is not given
LARGEST = 1 << 21


class SvmlightSource(Source):
    """CSR rows of svmlight files, parsed by scikit-learn's reader in byte ranges.

    A learner needs the number of features before the first row. A saved model's encoder or
    ``features`` of the reading gives it. Otherwise files are scanned once for their largest index;
    for a pipe the first chunk is scanned, and a larger index later is an error that names the row.
    Indices start at 1 unless the scan finds a 0.
    """

    begun: int
    done: int

    def __init__(self, files: list[FileRef], schema: Schema) -> None:
        super().__init__(files)
        features, encoder = schema.reading.features, schema.encoder
        if isinstance(features, tuple):
            raise DataError("svmlight has no named columns; features is the number of features")
        if encoder is not None and encoder.n_vector is None:
            raise DataError("the model was learned from named columns; svmlight has none")
        self.n_features: int | None = features
        self.total: int | None = joint_size(files)
        self.whole: bool = True
        self._chunks = self._all_chunks()
        self._head = next(self._chunks, None)
        if self._head is None:
            raise DataError("has no rows", source=self.name)
        self.encoder: Encoder = self._scanned() if encoder is None else encoder
        self.width: int = self.encoder.n_features
        self.zero_based: bool = bool(self.encoder.zero_based)

    def _all_chunks(self) -> Generator[tuple[FileRef, Chunk]]:
        for file in self.files:
            for chunk in line_chunks(file, quotes=False, first_lines=math.inf):
                if not chunk.data.isspace():
                    yield file, chunk

    def _scanned(self) -> Encoder:
        """A new encoder, for the features found."""
        if self.once:
            assert self._head is not None
            low, high = self._range(*self._head)
        else:
            # Begin again, with one file open at a time: some file systems hand out the same open
            # file twice, and the scan would move the reader.
            self._chunks.close()
            self._head = None
            ranges = [self._range(*found) for found in self._all_chunks()]
            low, high = min(r[0] for r in ranges), max(r[1] for r in ranges)
        zero_based = low == 0
        found = high + zero_based
        if self.n_features is not None and self.n_features < found:
            raise DataError(
                f"has index {high} where {self.n_features} features were announced",
                source=self.name,
            )
        return Encoder(n_vector=self.n_features or max(found, 1), zero_based=zero_based)

    def _range(self, file: FileRef, chunk: Chunk) -> tuple[int, int]:
        low, high = _scan(chunk.data)
        if self.n_features is None and high > LARGEST:
            lines = enumerate(chunk.data.split(b"\n"), chunk.line)
            number = next(number for number, line in lines if _scan(line)[1] == high)
            raise DataError(
                f"line {number}: index {high} would make {high} features, and the limit is "
                f"{LARGEST}; if it is right, open_stream(..., features={high + 1}) allows it",
                source=file.name,
                value=high,
            )
        return low, high

    def _again(self) -> Iterator[tuple[FileRef, Chunk]]:
        head, self._head = self._head, None
        if head is not None:
            yield head
            yield from self._chunks
        else:
            self.may_read_again()
            yield from self._all_chunks()

    def pieces(self, skip: int, dtype: DTypeLike) -> Iterator[Block]:
        rows, before, current, self.done = 0, 0, None, 0
        for file, chunk in self._again():
            if current is not None and file is not current:
                before += current.size or 0
            current = file
            self.begun, self.done = self.done, before + chunk.done
            X, y, failure = self._parsed(chunk, dtype)
            at = min(max(skip - rows, 0), len(y))
            if at < len(y):
                yield Block(X[at:], y[at:], 0, where=file.name)
            if failure is not None:
                raise moved(failure, source=file.name, rows=rows)
            rows += len(y)
        if not rows:
            raise DataError("has no rows", source=self.name)

    def _parsed(
        self, chunk: Chunk, dtype: DTypeLike
    ) -> tuple[csr_matrix, np.ndarray, DataError | None]:
        """Rows before the first bad one, and its error."""
        failure = None
        try:
            X, y = self._parse(chunk.data, dtype)
        except (ValueError, OverflowError):
            lines = [s for s in chunk.data.split(b"\n") if s.split(b"#", 1)[0].strip()]

            def works(k: int) -> bool:
                text = b"\n".join(lines[:k])
                return succeeds(lambda: self._parse(text, np.float64), ValueError, OverflowError)

            good = first_failure(len(lines), works)
            failure = self._reason(lines[good], line_of(chunk, good), good)
            X, y = self._parse(b"\n".join(lines[:good]), dtype)
        # Labels are integers until the first one that is not whole.
        self.whole = self.whole and bool((y == np.floor(y)).all() and (np.abs(y) < 2**53).all())
        return X, y.astype(np.int64) if self.whole else y, failure

    def _parse(self, data: bytes, dtype: DTypeLike) -> tuple[csr_matrix, np.ndarray]:
        from scipy.sparse import csr_matrix
        from sklearn.datasets import load_svmlight_file

        base = 0 if self.zero_based else 1
        X, y = load_svmlight_file(
            io.BytesIO(data), n_features=self.width + base, dtype=dtype, zero_based=True
        )
        indices = X.indices.astype(np.int32)
        indices -= base
        if len(indices) and indices.min() < 0:
            raise ValueError("index 0 in a file whose first index is 1")
        if not np.isfinite(y).all():
            raise ValueError("target is not finite")
        shape = (X.shape[0], self.width)
        return csr_matrix((X.data, indices, X.indptr.astype(np.int32)), shape), y

    def _reason(self, line: bytes, at: str, row: int) -> DataError:
        text = line.decode("utf-8", "replace").strip()
        high = _scan(line)[1]
        if high >= self.width + (not self.zero_based):
            what = f"index {high} where the largest is {self.width - self.zero_based}"
        else:
            what = f"{shorten(text)} is not 'target index:value index:value ...'"
        return DataError(f"{at}{what}", row=row, value=text)


def _scan(data: bytes) -> tuple[int, int]:
    """Smallest and largest index in svmlight text whose indices ascend within each line."""
    low, high = 1, 0
    for line in data.split(b"\n"):
        if b"#" in line:
            line = line[: line.index(b"#")]
        end = line.rfind(b":")
        if end < 0:
            continue
        try:
            high = max(high, int(line[line.rfind(b" ", 0, end) + 1 : end]))
            if low:
                start = line.index(b":")
                if line[:start].endswith(b"qid"):
                    start = line.index(b":", start + 1)
                low = min(low, int(line[line.rfind(b" ", 0, start) + 1 : start]))
        except ValueError:
            continue  # the parser reports the bad line with its row
    return low, high
