"""The command line: ``onkel learn``, ``predict``, ``compare``, ``algorithms``, ``datasets``.

One file a verb; each imports what it needs when it runs, so that ``onkel --help`` is quick.
"""

from __future__ import annotations

from onkel.cli.app import app, main

__all__ = ["app", "main"]
