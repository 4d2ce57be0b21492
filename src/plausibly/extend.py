"""The second public door, for packages that add schemes, domains and post-processing steps of their own.

The promise: names listed here keep their meaning within a major version, and so do the abstract members of ``Scheme``,
``Grouped``, ``Part``, ``Domain`` and ``Decoder``. A new member always has a default. Everything else below
``plausibly`` may change with any release. How to use them: docs/extending.md.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from . import device
    from .catalog import register
    from .core.accumulator import Accumulator
    from .core.arguments import json_integer, whole_number
    from .core.costs import Cost
    from .core.domain import Domain, Encoded, InOrder, Integers, Items, Listable, listed, refuse, register_domain
    from .core.grouped import Grouped, schemes_of, weights_of
    from .core.grouped_accumulator import GroupedAccumulator
    from .core.history import decoding
    from .core.laws import Cells, Codes, Decoder, Estimator, Scores, VarianceLaw, pure, support_of_both, thinned
    from .core.parts import Digit, Part, PartDecoder, PartEvidence, scaled_up
    from .core.probability import WORD, floor_exp, keep_threshold
    from .core.randomness import Draws, Layout
    from .core.records import (
        Reports,
        fields_of,
        refuse_beyond,
        refuse_cells,
        refuse_reports,
        refuse_unless_histogram,
        unsigned,
    )
    from .core.scheme import Component, Scheme
    from .core.steps import register as register_step

_HOME = {
    "catalog": ("register",),
    "core.accumulator": ("Accumulator",),
    "core.arguments": ("json_integer", "whole_number"),
    "core.costs": ("Cost",),
    "core.domain": (
        "Domain",
        "Encoded",
        "InOrder",
        "Integers",
        "Items",
        "Listable",
        "listed",
        "refuse",
        "register_domain",
    ),
    "core.grouped": ("Grouped", "schemes_of", "weights_of"),
    "core.grouped_accumulator": ("GroupedAccumulator",),
    "core.history": ("decoding",),
    "core.laws": (
        "Cells",
        "Codes",
        "Decoder",
        "Estimator",
        "Scores",
        "VarianceLaw",
        "pure",
        "support_of_both",
        "thinned",
    ),
    "core.parts": ("Digit", "Part", "PartDecoder", "PartEvidence", "scaled_up"),
    "core.probability": ("WORD", "floor_exp", "keep_threshold"),
    "core.randomness": ("Draws", "Layout"),
    "core.records": (
        "Reports",
        "fields_of",
        "refuse_beyond",
        "refuse_cells",
        "refuse_reports",
        "refuse_unless_histogram",
        "unsigned",
    ),
    "core.scheme": ("Component", "Scheme"),
    "core.steps": ("register_step",),
}
_MODULE_OF = {name: module for module, names in _HOME.items() for name in names}
_ELSEWHERE = {"register_step": "register"}
"""Names that differ in their home modules."""

__all__ = [
    "WORD",
    "Accumulator",
    "Cells",
    "Codes",
    "Component",
    "Cost",
    "Decoder",
    "Digit",
    "Domain",
    "Draws",
    "Encoded",
    "Estimator",
    "Grouped",
    "GroupedAccumulator",
    "InOrder",
    "Integers",
    "Items",
    "Layout",
    "Listable",
    "Part",
    "PartDecoder",
    "PartEvidence",
    "Reports",
    "Scheme",
    "Scores",
    "VarianceLaw",
    "decoding",
    "device",
    "fields_of",
    "floor_exp",
    "json_integer",
    "keep_threshold",
    "listed",
    "pure",
    "refuse",
    "refuse_beyond",
    "refuse_cells",
    "refuse_reports",
    "refuse_unless_histogram",
    "register",
    "register_domain",
    "register_step",
    "scaled_up",
    "schemes_of",
    "support_of_both",
    "thinned",
    "unsigned",
    "weights_of",
    "whole_number",
]


def __getattr__(name: str) -> Any:
    # Resolved on first use (PEP 562), as the names of ``plausibly`` are.
    if name == "device":
        return import_module(".device", __package__)
    if name not in _MODULE_OF:
        raise AttributeError(f"module 'plausibly.extend' has no attribute {name!r}")
    value = getattr(import_module(f".{_MODULE_OF[name]}", __package__), _ELSEWHERE.get(name, name))
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
