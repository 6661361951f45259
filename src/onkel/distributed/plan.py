"""How the partitions of a source are read and learned: the same on every worker."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from onkel.columns.encoding import Encoder
from onkel.distributed.sources import FilePart
from onkel.errors import DataError
from onkel.pipeline import StreamModel
from onkel.pipeline.rows import left_out
from onkel.streams import Block, Stream, open_stream
from onkel.streams.blocks import rows_of


@dataclass(frozen=True)
class Plan:
    """What is learned, and how: all that a worker needs besides the rows.

    Attributes
    ----------
    estimator : estimator
        Not fitted.
    scaling : str
        As for `onkel.StreamModel`.
    reading : dict
        Arguments of `onkel.open_stream`, the target column included.
    settings : dict
        Kept with the model.
    sample_rows : int
        Most rows that the map is fixed on.
    seed : int
        Of the order in which the sample is learned.
    skip_bad : bool
        Whether partitions that cannot be read or learned are left out.
    """

    estimator: Any
    scaling: str = "auto"
    reading: dict[str, Any] = field(default_factory=dict)
    settings: dict[str, Any] = field(default_factory=dict)
    sample_rows: int = 131_072
    seed: int = 0
    skip_bad: bool = False

    def new_model(self) -> StreamModel:
        """A model that has learned nothing."""
        from sklearn.base import clone

        return StreamModel(clone(self.estimator), scaling=self.scaling, settings=self.settings)

    def first(self, data: Any) -> Stream:
        """The first partition of the sample, whose columns become features."""
        return open_stream(_rows(data), **{"missing": "auto", "statistics": True, **self.reading})

    def next(self, data: Any, encoder: Encoder, left: list[str]) -> Stream:
        """Another partition, read with the columns known so far but without those in ``left``."""
        how = {"missing": "auto", **self.reading, "encoder": copy.deepcopy(encoder)}
        if encoder.n_vector is None:
            exclude = [*self.reading.get("exclude", ()), *left]
            how |= {"extend": True, "exclude": exclude}
        return open_stream(_rows(data), **how)

    def to_learn(self, data: Any, model: StreamModel, skip: int) -> Iterator[Block]:
        """Blocks of a partition after the first ``skip`` rows, which the sample has learned."""
        assert model.encoder is not None
        for block in self.next(data, model.encoder, model.settings.get("left_out", [])):
            if block.y is None:
                raise DataError("has no target column to learn from")
            if skip < block.n_rows:
                yield rows_of(block, slice(skip, None)) if skip else block
            skip = max(skip - block.n_rows, 0)

    def sample(self, heads: list[tuple[str, Any]]) -> tuple[StreamModel, list[Block], list[int]]:
        """A new model that knows its columns, the sample's blocks, and each partition's rows."""
        model, blocks, taken = self.new_model(), list[Block](), list[int]()
        share = -(-self.sample_rows // min(len(heads), SAMPLED))
        for name, data in heads:
            wanted = min(share, self.sample_rows - sum(taken))
            known = model.encoder
            try:
                stream = self.first(data) if known is None else self._next(data, model)
                own = list(_first_rows(stream, wanted)) if wanted else []
            except CANNOT_BE_READ as error:
                if not self.skip_bad:
                    raise unreadable(name, error) from None
                taken.append(0)
                continue
            if known is None:
                model.settings |= {"left_out": left_out(stream), "useless": stream.useless}
            model.encoder = stream.encoder
            blocks += own
            taken.append(sum(block.n_rows for block in own))
        return model, blocks, taken

    def _next(self, data: Any, model: StreamModel) -> Stream:
        assert model.encoder is not None
        return self.next(data, model.encoder, model.settings["left_out"])


#: partitions that the sample is taken from, if they have enough rows
SAMPLED = 16


def _cannot_be_read() -> tuple[type[Exception], ...]:
    import pyarrow as pa

    return OSError, ValueError, pa.ArrowException


#: what a damaged file or a bad row raises
CANNOT_BE_READ = _cannot_be_read()


def unreadable(name: str, error: Exception) -> DataError:
    """The error of a partition, with its name."""
    text = str(error)
    where = "" if text.startswith(name) else f"{name}: "
    return DataError(f"{where}{text}. To leave such partitions out: skip_bad_partitions=True "
                     "(--skip-bad-partitions)")  # fmt: skip


def _rows(data: Any) -> Any:
    return data.opened() if isinstance(data, FilePart) else data


def _first_rows(stream: Stream, rows: int) -> Iterator[Block]:
    for block in stream:
        if block.y is None:
            raise DataError("there is no column to learn: name it with target= (--target)")
        yield rows_of(block, slice(rows))
        rows -= block.n_rows
        if rows <= 0:
            return
