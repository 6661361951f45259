"""The live model: rows in, predictions out, labels learned when they come; knows no pipe."""

from onkel.serve.durable import DurableModel as DurableModel
from onkel.serve.journal import Journal as Journal
from onkel.serve.keyed import KeyedModels as KeyedModels
from onkel.serve.live import LiveModel as LiveModel
from onkel.serve.replica import Replica as Replica
