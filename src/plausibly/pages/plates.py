"""The charts of a page, each with the words that belong to it: a page embeds them, or asks for them by their names."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from ..core.wording import plural, visible
from .answers import Answer
from .charts import chart, page_tree, panel_chart, svg_of
from .html import Html, picture

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True)
class Plate:
    """A chart of a page. ``name`` is unique on the page; ``alt`` is the text for readers who do not see the chart."""

    name: str
    label: str
    alt: str
    class_: str
    draw: Callable[[bool], Figure]
    """Draw the chart; with True, for the width of a telephone."""
    narrows: bool = True
    """Whether telephones get a chart of their own."""


Show = Callable[[Plate], Html]
"""How a page shows its charts."""


def embedded(plate: Plate) -> Html:
    """The chart as a part of the page itself, which then needs no other file."""
    narrow = svg_of(plate.draw(True)) if plate.narrows else None
    return picture(svg_of(plate.draw(False)), narrow=narrow, label=plate.label, alt=plate.alt, class_=plate.class_)


def plates(answer: Answer, prefix: str = "") -> Iterator[Plate]:
    """The charts of an answer, in the order of its page; ``prefix`` begins their names."""
    if answer.panels:
        for place, asked in enumerate(answer.panels):
            if asked.drawn:
                alt = f"{asked.heading}{' with intervals' * asked.has_interval}. The numbers are in the table below."
                draw = partial(_panel, answer, place)
                yield Plate(f"{prefix}panel-{place}", asked.heading, alt, "chart", draw)
    elif len(answer.estimates):
        largest = visible(answer.charted.items[int(np.argmax(answer.charted.values))])
        alt = (
            f"Bar chart of {plural(len(answer.charted), 'estimate')} with intervals; the largest is {largest}. "
            "The numbers are in the table below."
        )
        yield Plate(f"{prefix}chart", "Estimates", alt, "chart", lambda narrow: chart(answer, narrow=narrow))
    if answer.found is not None and answer.found.trace:
        alt = "Tree of the steps of the search, from left to right, with the strings found at its tips"
        yield Plate(f"{prefix}tree", "Search", alt, "tree", lambda narrow: page_tree(answer)[0], narrows=False)


def _panel(answer: Answer, place: int, narrow: bool) -> Figure:
    return panel_chart(answer, answer.panels[place], narrow=narrow)
