"""Memory of the target: what the labels so far say about the rows that come next."""

from onkel.memory.class_memory import ClassMemory, LastClass
from onkel.memory.experts import Experts, Gain
from onkel.memory.value_memory import ValueMemory

__all__ = ["ClassMemory", "Experts", "Gain", "LastClass", "ValueMemory"]
