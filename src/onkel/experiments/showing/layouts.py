"""The layouts of tables by name."""

from __future__ import annotations

from onkel.experiments.showing.cells import CELLS, SETTINGS
from onkel.experiments.showing.goals import GOALS_LAYOUT
from onkel.experiments.showing.layout import Layout
from onkel.experiments.showing.streams import STREAMS_LAYOUT

LAYOUTS: dict[str, Layout] = {
    "cells": CELLS,
    "settings": SETTINGS,
    "goals": GOALS_LAYOUT,
    "streams": STREAMS_LAYOUT,
}
