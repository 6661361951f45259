"""The papers' data sets, if available."""

from __future__ import annotations

import json

import numpy as np
import pyarrow.parquet as pq

from onkel.streams import open_stream


def test_every_data_set_opens(data_folder, collect):
    for name in ("german", "letter", "housing"):
        path = data_folder / f"{name}.parquet"
        table = pq.read_table(path)
        stream = open_stream(path, target="y", exclude=["split"], block_rows=333)
        X, y, error, _ = collect(stream)
        assert error is None
        assert stream.n_rows == len(X) == table.num_rows
        np.testing.assert_array_equal(y, table["y"].to_numpy())
        for j, column in enumerate(stream.encoder.feature_names):
            np.testing.assert_array_equal(X[:, j], table[column].to_numpy())
        json.dumps(stream.encoder.get_state())
