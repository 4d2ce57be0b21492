"""Declare experiments, measure each cell once, and check claims against the measurements.

The names below are stable; the modules that define them are not. Declare a figure with ``Figure``, ``Sweep``, ``line``
and ``Panel``, an experiment of several figures with ``Experiment``, and a claim with ``Findings``. Enter your own
schemes, crowds and measures by name in ``SCHEMES``, ``CROWDS``, ``STRINGS`` and ``MEASURES``. Then run
``plausibly reproduce FILE.py``, or use ``load``, ``run``, ``held`` and ``Results`` in Python.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .cells import PLAIN, SCHEMES, Cell, View, view
    from .csv_files import read_counts, read_values
    from .evidence import Contrast, Evidence, all_of, any_of, average, number
    from .experiment import Citation, Experiment
    from .figure import Dots, Figure, Line, Map, Panel, Row, Sweep, Table, line, wanted
    from .findings import (
        Curve,
        Curves,
        Finding,
        Findings,
        Mean,
        MissingError,
        Outcome,
        Verdict,
        decided,
        judged,
        verdict,
    )
    from .item_crowds import CROWDS, STRINGS, crowd, domain_of, strings
    from .loading import load
    from .measures import MEASURES, Measured, Metrics, errors, measure, scores
    from .ordered_crowds import OrderedCrowd
    from .results import Results, held
    from .runner import run
    from .search_scores import Score, false_items, lenient_score, score
    from .sheets import Sheet
    from .string_crowds import ALPHABET, DATASETS, MAX_LENGTH, MODEL_CLICKS_D, SHAPES, URL_CLICKS_N, Crowd, url_clicks

_HOME = {
    "cells": ("PLAIN", "SCHEMES", "Cell", "View", "view"),
    "item_crowds": ("CROWDS", "STRINGS", "crowd", "domain_of", "strings"),
    "ordered_crowds": ("OrderedCrowd",),
    "csv_files": ("read_counts", "read_values"),
    "string_crowds": (
        "ALPHABET",
        "DATASETS",
        "MAX_LENGTH",
        "MODEL_CLICKS_D",
        "SHAPES",
        "URL_CLICKS_N",
        "Crowd",
        "url_clicks",
    ),
    "evidence": ("Contrast", "Evidence", "all_of", "any_of", "average", "number"),
    "experiment": ("Citation", "Experiment"),
    "figure": ("Dots", "Figure", "Line", "Map", "Panel", "Row", "Sweep", "Table", "line", "wanted"),
    "findings": (
        "Curve",
        "Curves",
        "Finding",
        "Findings",
        "Mean",
        "MissingError",
        "Outcome",
        "Verdict",
        "judged",
        "decided",
        "verdict",
    ),
    "loading": ("load",),
    "measures": ("MEASURES", "Measured", "Metrics", "errors", "measure", "scores"),
    "search_scores": ("Score", "false_items", "lenient_score", "score"),
    "results": ("Results", "held"),
    "runner": ("run",),
    "sheets": ("Sheet",),
}
_MODULE_OF = {name: module for module, names in _HOME.items() for name in names}

__all__ = [
    "ALPHABET",
    "CROWDS",
    "DATASETS",
    "MAX_LENGTH",
    "MEASURES",
    "MODEL_CLICKS_D",
    "PLAIN",
    "SCHEMES",
    "SHAPES",
    "STRINGS",
    "URL_CLICKS_N",
    "Cell",
    "Citation",
    "Contrast",
    "Crowd",
    "Curve",
    "Curves",
    "Dots",
    "Evidence",
    "Experiment",
    "Figure",
    "Finding",
    "Findings",
    "Line",
    "Map",
    "Mean",
    "Measured",
    "Metrics",
    "MissingError",
    "OrderedCrowd",
    "Outcome",
    "Panel",
    "Results",
    "Row",
    "Score",
    "Sheet",
    "Sweep",
    "Table",
    "Verdict",
    "View",
    "all_of",
    "any_of",
    "average",
    "crowd",
    "decided",
    "domain_of",
    "errors",
    "false_items",
    "held",
    "judged",
    "lenient_score",
    "line",
    "load",
    "measure",
    "number",
    "read_counts",
    "read_values",
    "run",
    "score",
    "scores",
    "strings",
    "url_clicks",
    "verdict",
    "view",
    "wanted",
]


def __getattr__(name: str) -> Any:
    # Resolved on first use (PEP 562): a rehearsal needs the crowds but not the plotting code.
    if name not in _MODULE_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f".{_MODULE_OF[name]}", __name__), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
