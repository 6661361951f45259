"""Intervals and alarms that feedback keeps honest, over any stream of forecasts; knows no model."""

from onkel.intervals.alarm import Alarm as Alarm
from onkel.intervals.intervals import Intervals as Intervals
from onkel.intervals.sets import ClassSets as ClassSets
