"""Parts shared by the figures of sketches: the paper's users, domains, lines and panels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from plausibly.experiments import MODEL_CLICKS_D, URL_CLICKS_N, Line, Panel, View, line, view

USERS = 1_000_000
DOMAINS = tuple(range(10_000, 100_001, 10_000))
CLICKS = URL_CLICKS_N
"""Number of clicks in the paper's log."""
CLICKED = MODEL_CLICKS_D
"""Distinct addresses among as many clicks of the model; the paper's log has 383,467."""
FLH: Mapping[str, Any] = {"scheme": "FLH", "hashes": 500}


def sketch(label: str, scheme: str, combine: str, *, decoder: str | None = None, ours: bool = False, **of: Any) -> Line:
    """The line of a sketch whose rows are combined by ``combine``; ``decoder`` selects how HM inside it is decoded."""
    oracle = {} if decoder is None else {"oracle": {"decoder": decoder}}
    return line(label, scheme, view=view(combine=combine, **oracle), ours=ours, **of)


def six(**of: Any) -> list[Line]:
    """The six estimators of the paper, and CM with peeling."""
    ways = [(name, combine) for name in ("CM", "CS") for combine in ("mean", "median", "min")]
    lines = [sketch(f"{name} ({combine.capitalize()})", name, combine, **of) for name, combine in ways]
    return [*lines, sketch("CM (Peel)", "CM", "peel", ours=True, **of)]


def errors(
    sweep: str, x: str, xlabel: str, *, title: str, logx: int | None = None, optimum: bool = False
) -> list[Panel]:
    """Panels of the error over all items and over the 50 most common, then both with estimates clipped at zero.

    The text defines the first two. The paper's program clips before it compares, which reverses the order where
    estimates are far too low, as those of the minimum are.
    """
    plain = Panel(title=title, sweeps=[sweep], x=x, xlabel=xlabel, logx=logx, optimum=optimum)
    top = replace(plain, title=f"{title}: top 50", y="k_mse", ylabel="k-MSE", optimum=False)
    clipped = [
        replace(panel, y=f"{panel.y}_clipped", ylabel=f"{panel.ylabel}, clipped", optimum=False)
        for panel in (plain, top)
    ]
    return [plain, top, *clipped]


def over(oracle: str, **parameters: Any) -> dict[str, Any]:
    """Parameters of a sketch with 32 rows of 1024 cells over an oracle."""
    return {"oracle": {"scheme": oracle, **parameters}, "width": 1024, "rows": 32}


def steps(base: str, named: Mapping[str, Sequence[str]], *, ours: bool = False, **parameters: Any) -> list[Line]:
    """Lines of one scheme, post-processed in several ways; ``named`` maps names in the legend to steps."""
    return [line(label, base, view=View(tuple(way)), ours=ours, **parameters) for label, way in named.items()]
