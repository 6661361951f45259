"""Signals while a loop is compiled or loaded: they wait, and the loop can be called afterwards."""

from __future__ import annotations

import os
import signal
import subprocess
import sys

import pytest

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        not hasattr(signal, "setitimer"), reason="the system has no timers that send signals"
    ),
    pytest.mark.skipif(os.environ.get("NUMBA_DISABLE_JIT") == "1", reason="nothing is compiled"),
]

SCRIPT = """
import signal, sys
import numpy as np
from onkel.numerics.jit import jit

signal.signal(signal.SIGALRM, signal.default_int_handler)

@jit
def double(x):
    return 2.0 * x

for k in range(40):
    # new types each time: a loop is compiled, or loaded
    x = np.zeros((1,) * (1 + k % 8), np.float64 if k % 2 else np.float32)
    try:
        # inside: on a busy machine the signal comes before the next line
        signal.setitimer(signal.ITIMER_REAL, 1e-4 * (1 + 3 * k))
        while True:
            double(x)
    except KeyboardInterrupt:
        pass
    signal.setitimer(signal.ITIMER_REAL, 0.0)
    assert double(x).shape == x.shape
print("whole")
"""


def test_a_signal_does_not_break_a_loop(tmp_path):
    script = tmp_path / "interrupted.py"
    script.write_text(SCRIPT)
    for _ in range(2):  # compiled, then loaded
        done = subprocess.run([sys.executable, script], capture_output=True, text=True, timeout=300)
        assert (done.returncode, done.stdout) == (0, "whole\n"), done.stderr
