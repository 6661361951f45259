"""The papers' tables and figures, declared: data, learners, settings, protocol."""
