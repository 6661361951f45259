"""Fixtures for the stream tests."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest

from onkel.errors import DataError


@pytest.fixture
def data_folder():
    """Folder with the real data sets, or a skip that says why."""
    here = Path(__file__).resolve().parents[3] / "shared" / "data"
    folder = Path(os.environ.get("ONKEL_DATA", here))
    if not folder.is_dir():
        pytest.skip("no data sets: neither ONKEL_DATA nor ../shared/data is a folder")
    return folder


@pytest.fixture
def collect():
    """Read a stream to its end or its error: (X, y, error, sizes of the blocks)."""

    def read(stream):
        Xs, ys, sizes, error = [], [], [], None
        at = stream.skip_rows
        try:
            for block in stream:
                assert block.start == at
                at += block.n_rows
                X = block.X
                if isinstance(X, np.ndarray):
                    assert X.flags.c_contiguous
                else:
                    X = X.toarray()
                assert X.dtype == stream.dtype
                Xs.append(X)
                sizes.append(block.n_rows)
                if block.y is not None:
                    assert len(block.y) == block.n_rows
                    ys.append(block.y)
        except DataError as e:
            error = e
        assert all(n == stream.block_rows for n in sizes[:-1])
        X = np.concatenate(Xs) if Xs else np.empty((0, stream.n_features))
        return X, np.concatenate(ys) if ys else None, error, sizes

    return read
