"""The sections of a page about a table of two attributes: heat map, counts, shares by row, and independence."""

from __future__ import annotations

from collections.abc import Iterator

from ..core.cross_table import Celled
from ..core.wording import plural, visible
from .charts import table_chart
from .html import Html, tag
from .plates import Plate, Show
from .table_answer import TableAnswer

MOST_ROWS, MOST_COLUMNS = 50, 24
"""Numbers of rows and columns up to which a page shows a table."""


def fits(answer: TableAnswer) -> bool:
    """Whether a page has room for the table."""
    rows, columns = answer.table.shape
    return rows <= MOST_ROWS and columns <= MOST_COLUMNS


def table_plates(answer: TableAnswer) -> Iterator[Plate]:
    """The heat map of a table, if a page has room for it."""
    if fits(answer):
        named = _named(answer)
        alt = f"Heat map of {named}: a darker cell has more {answer.unit}. The numbers are in the table below."
        yield Plate("table", named, alt, "chart", lambda narrow: table_chart(answer, narrow=narrow))


def table_sections(answer: TableAnswer, show: Show) -> Iterator[Html]:
    """A table of two attributes with its heat map, shares by row, and the test of independence."""
    rows, columns = map(visible, answer.table.names)
    said = [tag("h2", tag("bdi", _named(answer)))]
    if not fits(answer):
        large = f"{plural(answer.table.shape[0], 'row')} and {plural(answer.table.shape[1], 'column')}"
        yield tag("section", *said, tag("p", f"The table has {large}: download it.", class_="about"), id="table")
        return
    share = f"{100 * answer.level:g}\N{NO-BREAK SPACE}%"
    good = (
        f"Each interval is good for a cell that you had in mind before you saw the table: {share} of such intervals "
        f"contain the true number of {answer.unit}. Grey: the interval contains 0."
    )
    said += [tag("p", good, class_="about"), *map(show, table_plates(answer))]
    yield tag("section", *said, _grid(answer.table, answer.level, f"Estimated {answer.unit}"), id="table")
    if answer.independence is not None:
        told = f"{answer.independence.text[:1].upper()}{answer.independence.text[1:]}."
        head = tag("h2", f"Are {rows} and {columns} related?")
        yield tag("section", head, tag("p", told), tag("p", _ONE, class_="aside"), id="independence")
    if answer.shares is not None:
        about = f"Which part of the {answer.unit} with each value of {rows} have which value of {columns}. {_RATIOS}"
        numbers = _grid(answer.shares, answer.level, "Shares, with approximate intervals")
        head = tag("h2", f"Shares by {rows}, approximate")
        yield tag("section", head, tag("p", about, class_="about"), numbers, id="shares")


_ONE = "This is one test. Of many pairs of attributes that are not related, one in twenty would pass it by chance."
_RATIOS = (
    "Shares are ratios of two estimates, and their intervals are approximate. A row that hardly anybody is in has none."
)


def _named(answer: TableAnswer) -> str:
    return " by ".join(map(visible, answer.table.names))


def _grid(numbers: Celled, level: float, caption: str) -> Html:
    # Rows and columns; on a telephone, every row is a list of its cells.
    rows, columns = numbers.attributes
    low, high = (numbers.grid(end) for end in numbers.interval(level))
    grid, across = numbers.grid(numbers.values), [visible(cell) for cell in columns.cells.tolist()]
    corner = tag("td", tag("bdi", f"{visible(rows.name)} \\ {visible(columns.name)}"))
    head = tag("tr", corner, *(tag("th", tag("bdi", name), scope="col", class_="figure") for name in across))
    body = []
    for place, cell in enumerate(rows.cells.tolist()):
        cells = zip(across, grid[place].tolist(), low[place].tolist(), high[place].tolist(), strict=True)
        own = [_cell(numbers, *each) for each in cells]
        body.append(tag("tr", tag("th", tag("bdi", visible(cell) or "(empty)"), scope="row"), *own))
    table = tag("table", tag("caption", caption), tag("thead", head), tag("tbody", *body), class_="stacked cross")
    return tag("div", table, class_="wide", tabindex="0", role="group", aria_label=caption)


def _cell(numbers: Celled, name: str, value: float, low: float, high: float) -> Html:
    known = low < high
    ends = f"{numbers.written(low)} to {numbers.written(high)}" if known else "unknown"
    faint = " faint" * (not known or low <= 0 <= high)
    texts = [tag("b", numbers.written(value)), " ", tag("small", ends)] if known else [tag("small", ends)]
    return tag("td", *texts, class_=f"figure{faint}", data_name=name)
