"""The live model: rows in, predictions out, labels learned when they come; knows no pipe."""

from onkel.serve.live import LiveModel as LiveModel
