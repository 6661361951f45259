"""A stream of blocks."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

import numpy as np

from onkel.columns.encoding import Encoder
from onkel.columns.failures import count
from onkel.errors import DataError
from onkel.streams.blocks import Block, reblock, rows_of, shuffled, skip
from onkel.streams.fingerprint import Fingerprint
from onkel.streams.missing import GapMeans, clean
from onkel.streams.schema import Schema
from onkel.streams.source import Source
from onkel.streams.table_source import TableSource

if TYPE_CHECKING:
    import pyarrow as pa


class Stream:
    """Rows in blocks; made by :func:`onkel.streams.open_stream`.

    Iterate over it to get :class:`Block` after :class:`Block`. Files, arrays and tables can be
    iterated over again; pipes, readers and iterators only once.

    Attributes
    ----------
    encoder : Encoder
        How columns become features; save it with the model.
    n_rows : int or None
        Rows of the source if known beforehand, including skipped and dropped ones.
    source : str
        Name of the source, for messages and reports.
    n_read : int
        Rows read so far, those without a target and those of blocks to come included: the gaps of
        the ``encoder``'s columns are counted in them.
    n_unlabelled : int
        Rows without a target so far; they are left out of learning.
    block_rows : int
    target : str or None
        Name of the target column, if there is one.
    """

    def __init__(
        self,
        source: Source,
        schema: Schema,
        skip_rows: int,
        fingerprint: bool | str,
        every_row: bool = False,
    ) -> None:
        self._source, self._schema = source, schema
        self.encoder: Encoder = source.encoder
        self.target: str | None = source.target
        self.block_rows: int = schema.reading.block_rows
        self.skip_rows: int = skip_rows
        self.dtype: np.dtype = np.dtype(schema.reading.dtype)
        self.source: str = source.name
        #: the group column, if there is one
        self.group: str | None = source.group
        self.n_rows: int | None = source.n_rows
        self.n_read: int = 0
        self.n_unlabelled: int = 0
        self._every_row = every_row
        self._given = 0
        #: rows that came from the source after the skipped ones
        self._come = 0
        self._tracked, self._expected = bool(fingerprint), fingerprint
        #: reason for each column that was left out, by name
        self.useless: dict[str, str] = schema.useless
        self._before: Fingerprint | None = None
        self._last: Block | None = None
        self._means: GapMeans | None = None
        #: the encoder before the first row, if that is skipped; None: it had learned no row
        self.before: Encoder | None = None

    @property
    def n_features(self) -> int:
        """Number of features of each row."""
        return self.encoder.n_features

    @property
    def bad_values(self) -> dict[str, int]:
        """How many values were taken for gaps so far, by column (``bad_values="missing"``)."""
        return dict(self._source.bad_values)

    @property
    def columns(self) -> list[str]:
        """Columns of the first rows, in order; empty if they have no names."""
        return list(self._source.names)

    def __iter__(self) -> Iterator[Block]:
        self._given, self._come = self.skip_rows, 0
        pieces = self._resumed() if self._tracked else self._pieces()
        for block in reblock(
            self._coming(pieces), self.block_rows, self.skip_rows, lambda: self._source.waits
        ):
            self._given += block.n_rows
            if self._before is not None:
                if self._last is not None:
                    self._before.update(self._last.X, self._last.y, self._last.late)
                self._last = block
            yield block
            # learned, or handled in another way
            if block.means is not None:
                block.means.learn(block, block.n_rows)
        if self._means is not None:
            self._means.end()

    def _coming(self, pieces: Iterator[Block]) -> Iterator[Block]:
        for piece in pieces:
            self._come += piece.n_rows
            yield piece

    def kept(self, rows: int) -> dict[str, pa.Array]:
        """Arrow arrays of the columns to keep, for the next ``rows`` rows not yet asked for.

        They match the blocks only if no row is shuffled or dropped.
        """
        import pyarrow as pa

        source = self._source
        if not isinstance(source, TableSource) or not self._schema.reading.keep:
            return {}
        table = pa.Table.from_batches(source.kept)
        source.kept = table.slice(rows).to_batches()
        now = table.slice(0, rows).combine_chunks()
        return {
            name: pa.concat_arrays(column.chunks) if column.num_chunks else column
            for name, column in zip(now.column_names, now.columns, strict=True)
        }

    def _pieces(self) -> Iterator[Block]:
        reading, learns = self._schema.reading, self._schema.learns
        policy = reading.missing
        # Rows can be skipped unread only if nothing later depends on them.
        early = not (reading.shuffle or self._tracked or isinstance(self._source, TableSource))
        early = early and policy in ("error", "zero")
        raw = self.skip_rows if early else 0
        if self.skip_rows and not early:
            # Skipped rows are read again: their gaps and means must not count twice.
            self.encoder.go_back(self.before)
        source = self._source.pieces(raw, self.dtype)
        self.n_read = self.n_unlabelled = 0
        self._means = GapMeans(self.encoder, learns) if policy in ("mean", "auto") else None
        pieces = clean(
            source, policy, self.encoder, self._means, raw, learns, self._every_row, self._count
        )
        if reading.shuffle:
            pieces = shuffled(pieces, reading.shuffle, reading.random_state)
        return pieces if early or self._tracked else skip(pieces, self.skip_rows, self._pass_by)

    def _pass_by(self, rows: Block) -> None:
        """Note rows that were learned before."""
        if self._means is not None:
            self._means.pass_by(rows)

    def _count(self, piece: Block) -> None:
        self.n_read += piece.n_rows
        if piece.unlabelled is not None:
            self.n_unlabelled += int(piece.unlabelled.sum())

    def _resumed(self) -> Iterator[Block]:
        """The rows after the skipped ones, once the fingerprint of those is checked."""
        seen = Fingerprint(self._source.names)
        self._before, self._last = seen, None
        left = self.skip_rows
        for piece in self._pieces():
            skipped = min(left, piece.n_rows)
            if skipped:
                y = None if piece.y is None else piece.y[:skipped]
                seen.update(piece.X[:skipped], y, piece.late)
                self._pass_by(rows_of(piece, slice(skipped)))
                left -= skipped
                if not left:
                    self._check(seen)
            if skipped < piece.n_rows:
                yield rows_of(piece, slice(skipped, None)) if skipped else piece
        if left:
            raise DataError(
                f"has {count(seen.n_rows, 'row')}, and {self.skip_rows:,} were read before; give "
                "the source of that run, or begin anew",
                source=self.source,
            )

    def _check(self, seen: Fingerprint) -> None:
        if isinstance(self._expected, str) and seen.digest() != self._expected:
            raise DataError(
                f"the first {self.skip_rows} rows are not those read before (other values, another "
                "order, or other columns); give the source of that run, or begin anew",
                source=self.source,
            )

    def fingerprint(self, rows: int | None = None) -> str:
        """Fingerprint of the first ``rows`` rows of the stream, skipped ones included.

        Store it with a checkpoint. ``open_stream(..., skip_rows=rows, fingerprint=stored)`` then
        refuses a source whose first rows differ, before it hands out any. ``rows`` is a number from
        the first row of the last block to its end; by default all rows so far.
        """
        if self._before is None:
            raise ValueError("open the stream with fingerprint=True, and iterate over it")
        now, last = self._before.copy(), self._last
        end = now.n_rows + (0 if last is None else last.n_rows)
        rows = end if rows is None else rows
        if not now.n_rows <= rows <= end:
            raise ValueError(f"rows={rows} must be between {now.n_rows} and {end}")
        k = rows - now.n_rows
        if last is not None and k:
            now.update(last.X[:k], None if last.y is None else last.y[:k], last.late)
        return now.digest()

    def progress(self) -> float | None:
        """Fraction of the source handed out, from 0 to 1; None if its size is unknown."""
        if self.n_rows:
            return min(self._given / self.n_rows, 1.0)
        read = self._source.progress()
        if read is None or not self._come:
            return read
        # of the rows read last, some still wait for their block
        return read * (self._given - self.skip_rows) / self._come

    def __repr__(self) -> str:
        rows = "an unknown number of rows" if self.n_rows is None else count(self.n_rows, "row")
        return f"<Stream of {rows}, {count(self.n_features, 'feature')}, from {self.source}>"


def nothing_to_learn(blocks: Iterable[Block]) -> DataError:
    """The error where a stream had no row to learn, or no row with a target."""
    if not isinstance(blocks, Stream):
        return DataError("there are no rows to learn from")
    if not blocks.n_unlabelled:
        return DataError("there are no rows to learn from", source=blocks.source)
    text = f"the target is missing in all of its {count(blocks.n_unlabelled, 'row')}"
    return DataError(text, source=blocks.source, column=blocks.target)
