"""The command line: ``onkel learn``, ``predict``, ``compare`` and other verbs.

One file or folder per verb; each imports what it needs when it runs, so ``onkel --help`` is quick.
"""

from __future__ import annotations

from onkel.cli.app import app, main

__all__ = ["app", "main"]
