"""Figures of runs: curves of several learners, pictures of one."""
