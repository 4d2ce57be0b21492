"""Engines: the same two functions, fold and merge, wherever the reports are."""
