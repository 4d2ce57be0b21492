"""A table of two attributes on one HTML page: heat map, counts, shares by row, and how to read them."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING

from ..core.wording import plural, visible
from .answer_page import facts_section
from .charts import figure_of
from .html import SIMULATED, Html, document, tag
from .plates import Plate, Show, embedded
from .stylesheet import ANSWERS
from .tables import ALL, Cell, TableAnswer, TextGrid

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_FEW, _MANY = 6, 12
"""A heat map of up to 6 columns fits on a page with its intervals, and one of more than 12 has none."""
_COLUMN = 1.15
"""Width in inches of a column of a heat map whose cells have intervals."""


def table_chart(answer: TableAnswer, *, narrow: bool = False, titled: bool = True) -> Figure:
    """The heat map of a table; ``narrow``: for the width of a telephone."""
    drawn = answer.table.chart(level=answer.level, title=answer.title if titled else None, unit=answer.unit)
    width = 2.0 + _COLUMN * answer.columns.size if _scrolls(answer) else 8.0
    return figure_of([drawn], answer.source, narrow=narrow, width=width)


def _scrolls(answer: TableAnswer) -> bool:
    return _FEW < answer.columns.size <= _MANY


def table_page(answer: TableAnswer) -> str:
    """The HTML page of a table, equal for equal counts."""
    head = [tag("h1", visible(answer.heading))]
    if answer.source.simulated:
        head.append(SIMULATED)
    privacy = answer.privacy.partition(":")[0]
    head.append(tag("p", f"From {plural(answer.table.n, 'randomized report')}, {privacy}.", class_="lede"))
    return document(
        visible(answer.heading),
        tag("header", *head),
        tag("main", *table_sections(answer, embedded), facts_section(answer)),
        tag("footer", tag("p", "Written by plausibly.")),
        style=ANSWERS,
    )


def table_plates(answer: TableAnswer, prefix: str = "") -> Iterator[Plate]:
    """The heat map of a table, with the words that belong to it, if a page has room for it."""
    if not answer.fits:
        return
    alt = (
        f"Heat map of {visible(answer.rows.name)} by {visible(answer.columns.name)}, with the count and the interval "
        "of every cell. The numbers are in the table below."
    )
    class_ = "grid" if _scrolls(answer) else "chart"
    draw = partial(_untitled, answer)
    yield Plate(f"{prefix}chart", "Table", alt, class_, draw)


def _untitled(answer: TableAnswer, narrow: bool) -> Figure:
    return table_chart(answer, narrow=narrow, titled=False)


def table_sections(answer: TableAnswer, show: Show, prefix: str = "") -> Iterator[Html]:
    """The sections of a page about a table: heat map, counts, shares, and how to read them."""
    level, unit = f"{100 * answer.level:g} %", visible(answer.unit)
    heading = tag("h2", tag("bdi", visible(f"{answer.rows.name} by {answer.columns.name}")))
    told = [answer.finding(), *answer.notes()]
    if not answer.fits:
        size = f"{plural(answer.rows.size, 'row')} and {plural(answer.columns.size, 'column')}"
        told.append(f"The table has {size}, too many for a page; its files have them all.")
        yield tag("section", heading, *_paragraphs(told), id=f"{prefix}chart")
        return
    drawn = map(show, table_plates(answer, prefix))
    yield tag("section", heading, *_paragraphs(told), *drawn, id=f"{prefix}chart")
    counts = (
        f"Estimated numbers of {unit}; ± is half the width of the {level} interval. The last row and the last column, "
        f"“{ALL}”, count all {unit} with a value. Grey: the interval contains 0, so perhaps nobody is in the cell."
    )
    yield tag(
        "section",
        tag("h2", "In numbers"),
        *_paragraphs([counts]),
        grid_table(answer.counts_grid(), "Counts"),
        id=f"{prefix}numbers",
    )
    ratios = (
        f"Shares of the columns among the {unit} of each row. They are ratios of two estimates, and their intervals "
        f"are approximate. “?”: there are too few {unit} in the row. The last row has the shares among all {unit}."
    )
    name = f"Shares by {visible(answer.rows.name)}, approximate"
    content = *_paragraphs([ratios]), grid_table(answer.shares_grid(), name)
    yield tag("section", tag("h2", name), *content, id=f"{prefix}shares")
    yield tag(
        "section",
        tag("h2", "How to read the table"),
        tag("ul", *(tag("li", sentence) for sentence in _reading(answer))),
        id=f"{prefix}reading",
    )


def grid_table(grid: TextGrid, label: str) -> Html:
    """A table in words as HTML: the interval is below each number. On a telephone, every row is a list of its cells."""
    columns = (tag("th", tag("bdi", visible(name)), class_="figure") for name in grid.columns)
    heads = [tag("th", visible(grid.corner)), *columns]
    rows = [
        tag("tr", tag("th", tag("bdi", visible(name)), scope="row"), *map(_cell, cells, grid.columns))
        for name, cells in zip(grid.rows, grid.cells, strict=True)
    ]
    body = [tag("tbody", *rows[:-1]), tag("tbody", rows[-1], class_="sums")]
    table = tag("table", tag("thead", tag("tr", *heads)), *body, class_="crossed")
    return tag("div", table, class_="wide", tabindex="0", role="group", aria_label=label)


def _cell(cell: Cell, column: str) -> Html:
    half = [tag("small", f"± {cell.half}")] if cell.half else []
    class_ = "figure faint" if cell.faint else "figure"
    return tag("td", cell.text, *half, class_=class_, data_name=visible(column))


def _paragraphs(told: list[str]) -> list[Html]:
    return [tag("p", each, class_="about") for each in told]


def _reading(answer: TableAnswer) -> Iterator[str]:
    level, unit, cells = f"{100 * answer.level:g} %", visible(answer.unit), len(answer.table)
    who = "who" if unit == "users" else "that"
    yield "Counts are correct on average, and may be negative because of the noise."
    yield (
        f"{level} of all intervals computed in this way contain the true count among the {unit} {who} reported. They "
        f"account for the noise that protects the {unit}, but not for {unit} {who} did not report."
    )
    missed = round((1 - answer.level) * cells)
    if missed:
        yield f"Of the {cells:,} intervals, about {missed:,} {'misses' if missed == 1 else 'miss'} the true count."
    yield ("All tables of the same tally agree with each other: a row has the same sum, whatever the columns are.")
    if answer.independence is not None:
        yield (
            "The test of independence is about the people from whom the users are drawn. That two answers are related "
            "does not say why."
        )
