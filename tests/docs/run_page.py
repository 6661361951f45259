"""Run the blocks of a page in order: ``run_page.py PAGE``, in the folder where it may write.

Blocks of Python share their names. Blocks of shell run with the files that `make_files` makes;
lines without a pipe run in this process, which is faster. A block of text shows what they print.
"""

from __future__ import annotations

import gzip
import json
import re
import shlex
import subprocess
import sys
from pathlib import Path

import numpy as np
from tests.docs.pages import blocks

# what a page calls orders and shop is a program of the reader
_SHELL = f"""
set -e -o pipefail
onkel() {{ {shlex.quote(sys.executable)} -m onkel "$@"; }}
orders() {{ cat orders.jsonl; }}
shop() {{ cat > answers.jsonl; }}
"""


def make_files() -> None:
    """Small files of the names that the pages use."""
    rng = np.random.default_rng(0)
    for name, n in (("flights", 600), ("tomorrow", 100)):
        carriers, hours = rng.choice(["AA", "UA"], n), rng.integers(5, 24, n)
        late = np.where((hours > 16) == (carriers == "UA"), "yes", "no")
        columns = zip(carriers, hours, rng.gamma(3, 300, n).round(), late, strict=True)
        rows = [f"{c},{h},{d},{y}\n" for c, h, d, y in columns]
        Path(f"{name}.csv").write_text("carrier,hour,distance,delayed\n" + "".join(rows), "utf8")
    for name, n in (("sites", 600), ("sites-tomorrow", 12)):
        warmth = rng.normal(15, 5, n).round(1).tolist()
        rows = [f"{'nsw'[i % 3]},{w},{100 - 2 * w:.1f}\n" for i, w in enumerate(warmth)]
        Path(f"{name}.csv").write_text("site,warmth,load\n" + "".join(rows), "utf8")
    for name, n in (("prices", 600), ("new-prices", 50)):
        size = rng.uniform(20, 140, n).round(1).tolist()
        rows = [f"{s},{3 * s + rng.normal():.2f}\n" for s in size]
        Path(f"{name}.csv").write_text("size,price\n" + "".join(rows), "utf8")
    with gzip.open("metro.csv.gz", "wt", encoding="utf8") as file:
        file.write("hour,weather,traffic_volume\n")
        file.writelines(
            f"2024-05-{1 + t // 24:02} {t % 24:02}:00,{['dry', 'wet'][t % 7 == 0]},"
            f"{1000 + 500 * (t % 24):d}\n" for t in range(600)
        )  # fmt: skip
    events = [{"id": i, "size": 20.0 + i} for i in range(80)]
    events += [{"id": i, "price": 60.0 + 3 * i} for i in range(60)]
    Path("orders.jsonl").write_text("".join(json.dumps(event) + "\n" for event in events), "utf8")
    _partitions()


def _partitions() -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    rng = np.random.default_rng(1)
    Path("flights").mkdir()
    for part in range(4):
        X = rng.normal(size=(300, 2))
        table = pa.table({"distance": X[:, 0], "hour": X[:, 1], "delay": X.sum(axis=1)})
        pq.write_table(table, f"flights/{part}.parquet")


def run_shell(code: str) -> str:
    """Each line of a block; one that fails ends the page. What lines without a pipe printed."""
    from typer.testing import CliRunner

    from onkel.cli import app

    printed = ""
    for line in code.replace("\\\n", " ").splitlines():
        words = shlex.split(line, comments=True)
        if not words:
            continue
        alone = words[0] == "onkel" and not set(words) & {"|", ">", "&&", "--workers"}
        if alone:
            result = CliRunner().invoke(app, words[1:])
            assert result.exit_code == 0, f"{line}\n{result.output}"
            print(f"$ {line}\n{result.output}")
            printed += result.output
        else:
            subprocess.run(["bash", "-c", _SHELL + line], check=True)
    return printed


def is_printed(line: str, printed: str) -> bool:
    """Whether a line of a page is among those printed, with numbers within 5 % of its own.

    The last digits of a learner depend on the processor.
    """
    number = re.compile(r"\d+(?:\.\d+)?")
    own = [float(n) for n in number.findall(line)]
    words = number.sub("#", line).split()
    for other in printed.splitlines():
        if number.sub("#", other).split() == words:
            found = [float(n) for n in number.findall(other)]
            if np.allclose(found, own, rtol=0.05):
                return True
    return False


def main() -> None:
    make_files()
    if "flights.onkel" in Path(sys.argv[1]).read_text("utf8"):
        # pages go on with what the reader has learned on another
        run_shell("onkel learn flights.csv --target delayed --set speed=fast --save flights.onkel")
    names: dict[str, object] = {"__name__": "__main__"}
    printed = ""
    for block in blocks(Path(sys.argv[1])):
        if block.reason:
            continue
        if block.language == "python":
            # errors name the line of the page
            code = "\n" * block.line + block.code
            exec(compile(code, sys.argv[1], "exec"), names)
        elif block.language == "sh":
            printed += run_shell(block.code)
        elif block.language == "console":
            printed += run_shell(block.code.removeprefix("$ "))
        elif block.language == "text":
            for line in block.code.splitlines():
                assert is_printed(line, printed), f"{block.line}: nothing prints {line!r}"


if __name__ == "__main__":
    main()
