"""How long the fuzzers run: ``ONKEL_FUZZ_SECONDS`` in all, a few seconds if it is not set."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

SECONDS = float(os.environ.get("ONKEL_FUZZ_SECONDS", "6"))
#: seconds that compiling may add on a fresh machine; scripts detect hanging seeds themselves
COMPILING = 3000


@pytest.fixture
def fuzz():
    """``fuzz(script, *arguments, seconds=…) -> lines``, in a process that may crash."""

    def run(script, *arguments, seconds):
        command = [sys.executable, str(Path(__file__).parent / script), *map(str, arguments)]
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=seconds + COMPILING, check=False
        )
        lines = done.stdout.splitlines()
        last = lines[-1] if lines else "nothing printed"
        assert done.returncode == 0, f"crashed (code {done.returncode}) at {last}: {done.stderr}"
        return lines

    return run
