"""The demo: made-up visits to try things on, and the story that ``plausibly demo`` tells with them.

``sites``, ``counts`` and ``visits`` are promised: the data of ``plausibly sample``, the same for everybody.
"""

from .data import counts, sites, visits

__all__ = ["counts", "sites", "visits"]
