"""Series and frames of the library that the caller uses: pandas or Polars."""

from __future__ import annotations

from typing import Any


def series_like(values: Any, like: Any) -> Any:
    if type(like).__module__.startswith("polars"):
        import polars

        return polars.Series(values)
    import pandas

    return pandas.Series(values, index=like.index)


def frame_like(columns: dict[Any, Any], like: Any) -> Any:
    if type(like).__module__.startswith("polars"):
        import polars

        return polars.DataFrame({str(name): values for name, values in columns.items()})
    import pandas

    return pandas.DataFrame(columns, index=like.index)
