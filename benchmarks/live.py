"""What stands in a stream, by the way that rows come: ``python -m benchmarks.live [WAY ...]``.

WAY is pipe, http, kafka, redis or nats; without one, all of them. Rows of ten numbers with a class
are answered, then learned, by `pa`, `krls` with 100 landmarks, and the default at `speed="fast"`.
`onkel live` is fed in a pipe at several rates, and stands at a broker that has rows; to `onkel
serve` 64 connections send a row, wait for its answer, and send the next.
"""

from __future__ import annotations

import argparse

from benchmarks import live_brokers, live_http, live_pipe

_WAYS = ("pipe", "http", "kafka", "redis", "nats")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("ways", nargs="*", metavar="WAY", help=f"some of {', '.join(_WAYS)}")
    parser.add_argument("--seconds", type=float, default=10.0, help="of each line of a table")
    parser.add_argument("--rates", type=int, nargs="+", default=[1, 100, 1_000, 20_000],
                        help="rows a second in the pipe")  # fmt: skip
    parser.add_argument("--rows", type=int, default=60_000, help="that lie at a broker")
    parser.add_argument("--rate", type=int, default=1_000, help="rows a second at a broker")
    options = parser.parse_args()
    if unknown := set(options.ways) - set(_WAYS):
        parser.error(f"unknown: {', '.join(sorted(unknown))}; choose from {', '.join(_WAYS)}")
    for way in options.ways or _WAYS:
        print(f"\n{way}\n")
        if way == "pipe":
            live_pipe.table(options.rates, options.seconds)
        elif way == "http":
            live_http.table(options.seconds)
        else:
            live_brokers.table(way, options.rows, options.rate, options.seconds)


if __name__ == "__main__":
    main()
