"""A service over HTTP: bodies become events for the engine, answers become bodies."""
