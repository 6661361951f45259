"""A model for each key, over a cluster: Spark keeps the bytes of each, and learns it in its place.

    spark-submit examples/spark/keyed_models.py ROWS OUT

ROWS is a folder to which Parquet files with the columns key, id, a, b and y are added. OUT gets
the prediction made for each row before it was learned, and the checkpoint.
`transformWithStateInPandas` gives the rows of a key to one task, with the state of the key: here
the bytes of a model's file. The state is in RocksDB, and saved with the offsets of each batch. So
after a crash a batch is learned again from the models before it, and says the same.

It needs pyspark 4, Java 17 and pandas < 3 on all machines.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from typing import Any

import pandas as pd
from pyspark.sql import SparkSession
from pyspark.sql.streaming import StatefulProcessor, StatefulProcessorHandle

import onkel

COLUMNS = ["a", "b"]
ANSWER = "key string, id long, prediction double"


class Learn(StatefulProcessor):
    """Predicts the rows of a key, then learns them."""

    def init(self, handle: StatefulProcessorHandle) -> None:
        """Where the key's model is kept."""
        self._state = handle.getValueState("model", "file binary")

    def handleInputRows(
        self, key: Any, rows: Iterator[pd.DataFrame], timerValues: Any
    ) -> Iterator[pd.DataFrame]:
        """The predictions of the batch's rows of a key."""
        if self._state.exists():
            model = onkel.from_bytes(bytes(self._state.get()[0]))
        else:
            model = onkel.OnlineKernelRegressor(n_components=50, speed="fast", random_state=0)
        # Spark may hand over a key's rows in any order, and in any pieces
        found = pd.concat(list(rows)).sort_values("id")
        said = model.predict_then_learn(found[COLUMNS].to_numpy(), found["y"].to_numpy())
        self._state.update((model.to_bytes(),))
        yield pd.DataFrame({"key": key[0], "id": found["id"].to_numpy(), "prediction": said})

    def close(self) -> None:
        """Nothing is open."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("rows")
    parser.add_argument("out")
    parser.add_argument("--halt-at", type=int, help="halt the JVM in this batch, as a crash would")
    options = parser.parse_args()
    rocks = "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
    spark = (
        SparkSession.builder.master("local[1]")
        .config("spark.sql.streaming.stateStore.providerClass", rocks)
        .config("spark.sql.shuffle.partitions", 2)
        .config("spark.ui.enabled", False)
        .getOrCreate()
    )
    spark.sparkContext.setLogLevel("ERROR")

    def write(frame: Any, batch: int) -> None:
        if batch == options.halt_at:
            spark.sparkContext._jvm.java.lang.Runtime.getRuntime().halt(1)
        # a batch that is written again replaces itself
        frame.write.mode("overwrite").parquet(f"{options.out}/answers/batch={batch}")

    rows = (
        spark.readStream.schema("key string, id long, a double, b double, y double")
        .option("maxFilesPerTrigger", 1)
        .parquet(options.rows)
    )
    answers = rows.groupBy("key").transformWithStateInPandas(
        Learn(), outputStructType=ANSWER, outputMode="Append", timeMode="None"
    )
    answers.writeStream.foreachBatch(write).option(
        "checkpointLocation", f"{options.out}/checkpoint"
    ).trigger(availableNow=True).start().awaitTermination()


if __name__ == "__main__":
    main()
