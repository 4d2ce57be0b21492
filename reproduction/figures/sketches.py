"""Common parts of the figures about sketches: the paper's users, domains, lines and panels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from plausibly.experiments import MODEL_CLICKS_D, URL_CLICKS_N, Line, Panel, View, line, view

USERS = 1_000_000
DOMAINS = tuple(range(10_000, 100_001, 10_000))
CLICKS = URL_CLICKS_N
"""Clicks of the paper's log."""
CLICKED = MODEL_CLICKS_D
"""Addresses that these clicks of the model fall on; the paper's log has 383,467."""
FLH: Mapping[str, Any] = {"scheme": "FLH", "hashes": 500}


def sketch(label: str, scheme: str, combine: str, *, decoder: str | None = None, ours: bool = False, **of: Any) -> Line:
    """The line of a sketch with this combination of rows; ``decoder`` is that of an HM oracle."""
    oracle = {} if decoder is None else {"oracle": {"decoder": decoder}}
    return line(label, scheme, view=view(combine=combine, **oracle), ours=ours, **of)


def six(**of: Any) -> list[Line]:
    """The six estimators of the paper, and CM peeled."""
    ways = [(name, combine) for name in ("CM", "CS") for combine in ("mean", "median", "min")]
    lines = [sketch(f"{name} ({combine.capitalize()})", name, combine, **of) for name, combine in ways]
    return [*lines, sketch("CM (Peel)", "CM", "peel", ours=True, **of)]


def errors(
    sweep: str, x: str, xlabel: str, *, title: str, logx: int | None = None, optimum: bool = False
) -> list[Panel]:
    """Panels of the error of all items and of the 50 most common over x, as they are and clipped at zero.

    The text defines the first two. The paper's program clips before it compares, which turns the order around where
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
    """The parameters of 32 rows of 1024 cells over an oracle."""
    return {"oracle": {"scheme": oracle, **parameters}, "width": 1024, "rows": 32}


def steps(base: str, named: Mapping[str, Sequence[str]], *, ours: bool = False, **parameters: Any) -> list[Line]:
    """One scheme, post-processed in several ways, by their names in the legend."""
    return [line(label, base, view=View(tuple(way)), ours=ours, **parameters) for label, way in named.items()]
