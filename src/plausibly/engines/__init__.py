"""Collecting files of reports into tallies, on all cores of this machine or on an engine of your own.

``collect``, ``ask`` and ``merge_files`` work on files. An `Engine` decides where the reports are read; ``fold`` and
``merge`` are all that it runs. Described in docs/files.md and docs/engines.md.
"""

from .asking import ask
from .collecting import Collection, collect
from .folding import Segment, fold, merge
from .merging import merge_files
from .processes import Processes
from .running import Engine, Executors, Threads

__all__ = [
    "Collection",
    "Engine",
    "Executors",
    "Processes",
    "Segment",
    "Threads",
    "ask",
    "collect",
    "fold",
    "merge",
    "merge_files",
]
