"""Modules import where what only POSIX has is missing, as on Windows."""

from __future__ import annotations

import subprocess
import sys

import pytest

# The first round loads the libraries, which may use what this system has; the second, in which it
# is gone, loads onkel alone.
SCRIPT = """
import os, pkgutil, signal, sys
from importlib import import_module

class Missing:
    def find_spec(self, name, path=None, target=None):
        if name in ("fcntl", "grp", "pty", "pwd", "resource", "termios", "tty"):
            raise ModuleNotFoundError(f"no {name} here", name=name)

def load():
    import onkel
    found = [name for _, name, _ in pkgutil.walk_packages(onkel.__path__, "onkel.")]
    for name in found:
        if not name.endswith("__main__"):
            import_module(name)
    return len(found)

n = load()
for name in [name for name in sys.modules if name.partition(".")[0] == "onkel"]:
    del sys.modules[name]
for name in ("fcntl", "grp", "pty", "pwd", "resource", "termios", "tty"):
    sys.modules.pop(name, None)
sys.meta_path.insert(0, Missing())
for name in ("SIGALRM", "SIGHUP", "SIGKILL", "SIGPIPE", "SIGUSR1", "SIGUSR2", "setitimer"):
    if hasattr(signal, name):
        delattr(signal, name)
for name in ("fork", "getuid", "killpg", "mkfifo", "register_at_fork", "sched_getaffinity"):
    if hasattr(os, name):
        delattr(os, name)
assert load() == n
print(n, "modules")
"""


@pytest.mark.slow
def test_every_module_imports_without_what_only_posix_has():
    for package in ("confluent_kafka", "dask", "nats", "onnx", "redis", "river", "uvicorn"):
        pytest.importorskip(package)
    done = subprocess.run([sys.executable, "-c", SCRIPT], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout.endswith(" modules\n")
