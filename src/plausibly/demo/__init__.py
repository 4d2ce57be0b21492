"""The demo: made-up visits for trying things out, and the story that ``plausibly demo`` tells with them.

``sites``, ``counts`` and ``visits`` are public: the data of ``plausibly sample``, the same on every machine.
"""

from .data import counts, sites, visits

__all__ = ["counts", "sites", "visits"]
