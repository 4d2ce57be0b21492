"""The trend of a repeated question, for people and programs: a table, a chart, a page, and files of them."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ..core.atomic import folder_of, replacing
from ..core.errors import ParameterError, StateError
from ..core.series import Series
from ..core.wording import decimal, label_of, nearest, plural, safe_cell, shown, visible
from .answers import Source, scheme_facts
from .charts import NARROW, save_chart
from .html import SIMULATED, Html, document, tag
from .plates import Plate, embedded
from .stylesheet import ANSWERS

if TYPE_CHECKING:
    from matplotlib.figure import Figure

VERSION = 1
_INK, _LINE, _MEAN, _GRID = "#222222", "#4477aa", "#a33000", "#dddddd"
_SIMULATED = "SIMULATED: reports are not from real users"
_PANEL = 2.3
"""Height in inches of the panel of one item."""
_MOST_DOTS, _MOST_BARS = 45, 1000
"""Numbers of slots up to which each has a large dot, and a small one with a bar; more are a line and a band."""


@dataclass(frozen=True, eq=False)
class Trend:
    """A series with the names of its slots, and what people see of it.

    ``slots`` has shares or counts, ``means`` their moving means if any. ``largest`` is the number of items that tables
    and charts show.
    """

    slots: Series
    labels: Sequence[str]
    source: Source
    simulated: bool = False
    means: Series | None = None
    largest: int = 4
    level: float = 0.95
    title: str | None = None

    @property
    def heading(self) -> str:
        """The title of the page and the chart of the trend."""
        return self.title or f"From slot {self.labels[0]} to {self.labels[-1]}"

    @cached_property
    def places(self) -> npt.NDArray[np.intp]:
        """Places of the items that people see: the largest over all slots, in the order of the domain."""
        order = np.argsort(-self.slots.values.mean(axis=0), kind="stable")[: self.largest]
        return np.sort(order)

    def header(self) -> tuple[str, ...]:
        """The column names of the table of the trend."""
        items = [label_of(item) or "(empty)" for item in self.slots.items[self.places].tolist()]
        if self.means is not None:
            items = [name for item in items for name in (item, f"{item}, mean over {self.means.over}")]
        return "slot", "reports", *items

    def lines(self) -> Iterator[tuple[str, ...]]:
        """The rows of the table of the trend for people: slot, reports, and each item with its interval."""
        means = {} if self.means is None else {slot: row for row, slot in enumerate(self.means.slots.tolist())}
        shown = self._cells(self.slots)
        averaged = [] if self.means is None else self._cells(self.means)
        for row, (slot, label) in enumerate(zip(self.slots.slots.tolist(), self.labels, strict=True)):
            cells = [label, f"{int(self.slots.reports[row]):,}"]
            for place, text in enumerate(shown[row]):
                cells.append(text)
                if self.means is not None:
                    cells.append(averaged[means[slot]][place] if slot in means else "")
            yield tuple(cells)

    def _cells(self, numbers: Series) -> list[list[str]]:
        of = numbers.taken(self.places)
        low, high = of.interval(self.level)
        halves = (high - low) / 2
        return [
            [
                f"{100 * value:z.2f} ± {100 * half:.2f} %" if numbers.percent else f"{value:z,.0f} ± {half:,.0f}"
                for value, half in zip(*row, strict=True)
            ]
            for row in zip(of.values.tolist(), halves.tolist(), strict=True)
        ]

    def summary(self) -> str:
        """The promise behind the trend in one sentence."""
        epsilon, rota = decimal(self.source.scheme.epsilon), self.slots.rota
        if self.slots.memo:
            return f"Every user reports in every slot, from a memo. {self.source.scheme.caution}"
        if rota == 1:
            return f"Every user reports in every slot, with ε = {epsilon} each time: the ε of a user adds up."
        return (
            f"Each user reports in one of any {rota} consecutive slots: everything that a user reveals in {rota} slots "
            f"is bounded by ε = {epsilon}, whatever changes in them."
        )

    def notes(self) -> list[str]:
        """Remarks for the reader of the trend."""
        slots, means = self.slots, self.means
        told = [f"{plural(int(slots.reports.sum()), 'report')} in {plural(len(slots), 'slot')}."]
        missing = int(slots.slots[-1] - slots.slots[0]) + 1 - len(slots)
        if missing:
            told.append(f"Missing between the first and the last: {plural(missing, 'slot')}.")
        if slots.users is not None and slots.rota > 1:
            told.append(f"The last {slots.rota} slots have one report of each user: {slots.users:,} users.")
        what = "Shares are those of the users" if slots.percent else "Counts are numbers of users"
        told.append(
            f"{what} whose devices can report in a slot. Each interval holds by itself, at {100 * self.level:g} %."
        )
        if means is not None:
            told.append(f"A mean is that of a slot and the {means.over - 1} before it. Its interval is an upper bound.")
            told += ["All slots share the errors of the users' memos, which means do not reduce."] * slots.memo
        if len(self.places) < len(slots.items):
            told.append(f"Shown: the {len(self.places)} largest of {len(slots.items):,} items.")
        return told

    def columns(self) -> dict[str, list[Any]]:
        """The columns of the files of the trend, by name: a row for each slot and item."""
        columns = {name: column.tolist() for name, column in self.slots.columns(self.level).items()}
        columns["item"] = [item.hex() if isinstance(item, bytes) else item for item in columns["item"]]
        width = len(self.slots.items)
        labels = [label for label in self.labels for _ in range(width)]
        found = {"slot": columns.pop("slot"), "label": labels, **columns}
        if self.means is not None:
            of = dict(zip(self.means.slots.tolist(), range(len(self.means)), strict=True))
            low, high = self.means.interval(self.level)
            numbers = {"mean": self.means.values, "mean_low": low, "mean_high": high}
            for name, rows in numbers.items():
                found[name] = [
                    float(rows[of[slot], place]) if slot in of else None
                    for slot in self.slots.slots.tolist()
                    for place in range(width)
                ]
        return found

    def to_dict(self) -> dict[str, Any]:
        """Facts and numbers of the trend, JSON-ready."""
        columns, scheme = self.columns(), self.source.scheme
        rows = zip(*columns.values(), strict=True)
        return {
            "version": VERSION,
            "kind": "series",
            "level": self.level,
            "rota": self.slots.rota,
            "users": self.slots.users,
            "over": None if self.means is None else self.means.over,
            "simulated": self.simulated,
            "scheme": scheme.name,
            "fingerprint": scheme.fingerprint(),
            "epsilon": str(scheme.epsilon),
            "series": [dict(zip(columns, row, strict=True)) for row in rows],
        }


# --- files -----------------------------------------------------------------------------------------------------------


def write_trend(path: str | Path, trend: Trend) -> None:
    """Write or replace a file of a trend atomically: .csv, .parquet, .json, .png, .svg or .html."""
    path = check_trend_name(path)
    with replacing(path) as unfinished:
        _WRITERS[path.suffix.lower()](trend, unfinished)


def check_trend_name(path: str | Path) -> Path:
    """The path for a file of a trend. Fail early if the file cannot be written."""
    path = Path(path)
    ending = path.suffix.lower()
    if ending not in _WRITERS:
        raise ParameterError(f"{path}: unknown suffix {shown(ending)}; {nearest(ending, _WRITERS)}")
    folder_of(path)
    needed = "pyarrow" if ending == ".parquet" else "matplotlib"
    if ending not in (".csv", ".json") and find_spec(needed) is None:
        raise StateError(f"{path}: needs {needed}: pip install {needed}")
    return path


def _write_csv(trend: Trend, path: Path) -> None:
    columns = trend.columns()
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, quoting=csv.QUOTE_NONNUMERIC)
        writer.writerow([*columns, "level", "simulated"])
        for row in zip(*columns.values(), strict=True):
            writer.writerow([*map(safe_cell, row), trend.level, str(trend.simulated).lower()])


def _write_parquet(trend: Trend, path: Path) -> None:
    import pyarrow
    from pyarrow import parquet

    told = trend.to_dict()
    del told["series"]
    table = pyarrow.table({name: pyarrow.array(column) for name, column in trend.columns().items()})
    table = table.replace_schema_metadata({"plausibly.series": json.dumps(told, ensure_ascii=False)})
    parquet.write_table(table, path)


def _write_json(trend: Trend, path: Path) -> None:
    with path.open("w", encoding="utf-8") as file:
        json.dump(trend.to_dict(), file, indent=1, ensure_ascii=False, allow_nan=False)
        file.write("\n")


def _write_html(trend: Trend, path: Path) -> None:
    path.write_text(trend_page(trend), encoding="utf-8")


def _write_png(trend: Trend, path: Path) -> None:
    with path.open("wb") as file:
        save_chart(trend_chart(trend), file, "png")


def _write_svg(trend: Trend, path: Path) -> None:
    with path.open("wb") as file:
        save_chart(trend_chart(trend), file, "svg")


_WRITERS: dict[str, Callable[[Trend, Path], None]] = {
    ".csv": _write_csv,
    ".parquet": _write_parquet,
    ".json": _write_json,
    ".html": _write_html,
    ".png": _write_png,
    ".svg": _write_svg,
}


# --- chart and page --------------------------------------------------------------------------------------------------


def trend_chart(trend: Trend, *, narrow: bool = False, titled: bool = True) -> Figure:
    """The chart of a trend: a panel for each item, with the interval of each slot and the moving mean.

    ``narrow``: for the width of a telephone, without a title.
    """
    from matplotlib.figure import Figure

    width = NARROW if narrow else 8.0
    figure = Figure(figsize=(width, _PANEL * len(trend.places) + 0.6), layout="constrained")
    panels = figure.subplots(len(trend.places), 1, sharex=True, squeeze=False)[:, 0]
    for axes, place in zip(panels, trend.places.tolist(), strict=True):
        _draw(axes, trend, place)
        name = label_of(trend.slots.items.tolist()[place]) or "(empty)"
        axes.set_title(name, loc="left", fontsize=10, parse_math=False)
    slots = trend.slots.slots
    # As many names of slots as there is room for, side by side.
    room = max(1, int((width - 1) / (0.09 * max(map(len, trend.labels)) + 0.1)))
    step = max(1, -(-len(slots) // min(room, 5 if narrow else 10)))
    panels[-1].set_xticks(slots[::step], list(trend.labels)[::step])
    of = "percent of the users" if trend.slots.percent else "number of users"
    caption = f"{of}, with {100 * trend.level:g} % intervals"
    if trend.means is not None:
        caption += f"{chr(10) if narrow else '; '}line: mean over {trend.means.over} slots"
    panels[-1].set_xlabel(caption)
    if titled and not narrow:
        figure.suptitle(visible(trend.heading), x=0.01, ha="left", fontweight="bold", parse_math=False)
    if trend.simulated:
        told = _SIMULATED.partition(":")[0] if narrow else _SIMULATED  # the name of the item is on the same line
        panels[0].annotate(
            told, (1, 1), (0, 4), "axes fraction", "offset points", ha="right", color="#a33000", weight="bold"
        )
    return figure


def _draw(axes: Any, trend: Trend, place: int) -> None:
    scale = 100 if trend.slots.percent else 1
    low, high = (scale * side[:, place] for side in trend.slots.interval(trend.level))
    values, slots = scale * trend.slots.values[:, place], trend.slots.slots
    axes.set_axisbelow(True)
    axes.grid(axis="y", color=_GRID, linewidth=0.6)
    axes.axhline(0, color=_INK, linewidth=0.8)
    if len(slots) <= _MOST_BARS:
        ends = np.stack([values - low, high - values])
        axes.errorbar(slots, values, yerr=ends, fmt="none", ecolor=_LINE, elinewidth=0.8)
        axes.scatter(slots, values, s=20 if len(slots) <= _MOST_DOTS else 6, color=_LINE, zorder=3)
    else:
        for run in _runs(slots):
            axes.fill_between(slots[run], low[run], high[run], color=_LINE, alpha=0.3, linewidth=0)
            axes.plot(slots[run], values[run], color=_LINE, linewidth=0.5, zorder=3)
    if trend.means is not None:
        means = trend.means
        below, above = (scale * side[:, place] for side in means.interval(trend.level))
        for run in _runs(means.slots):
            axes.fill_between(means.slots[run], below[run], above[run], color=_MEAN, alpha=0.2, linewidth=0)
            axes.plot(means.slots[run], scale * means.values[run, place], color=_MEAN, linewidth=2, zorder=4)
    axes.yaxis.set_major_formatter("{x:,g}")
    axes.spines[["top", "right"]].set_visible(False)


def _runs(slots: npt.NDArray[np.int64]) -> list[npt.NDArray[np.intp]]:
    # A gap in the slots is a gap in the line.
    return np.split(np.arange(len(slots)), np.flatnonzero(np.diff(slots) > 1) + 1)


def trend_page(trend: Trend) -> str:
    """The HTML page of a trend: summary, chart, table and how to read them."""
    head = [tag("h1", visible(trend.heading))]
    if trend.simulated:
        head.append(SIMULATED)
    head.append(tag("p", trend.summary(), class_="lede"))
    first, *others = trend.header()
    rows = [tag("tr", tag("th", first), *(tag("th", visible(name), class_="figure") for name in others))]
    rows += [
        tag(
            "tr",
            tag("td", label, data_name=first),
            *(_cell(text, name) for text, name in zip(texts, others, strict=True)),
        )
        for label, *texts in trend.lines()
    ]
    inner = tag("table", tag("thead", rows[0]), tag("tbody", *rows[1:]), class_="stacked")
    table = tag("div", inner, class_="wide", tabindex="0", role="group", aria_label="Trend in numbers")
    facts = {**scheme_facts(trend.source.scheme), "Fingerprint": trend.source.scheme.fingerprint()}
    body = [tag("tr", tag("th", name, scope="row"), tag("td", visible(text))) for name, text in facts.items()]
    alt = f"Chart of {plural(len(trend.places), 'item')} over time with intervals; the numbers are in the table below"
    plate = Plate("chart", "Trend", alt, "chart", lambda narrow: trend_chart(trend, narrow=narrow, titled=False))
    return document(
        visible(trend.heading),
        tag("header", *head),
        tag(
            "main",
            _section("The trend", embedded(plate)),
            _section("In numbers", *(tag("p", each, class_="about") for each in trend.notes()), table),
            _section("Data and scheme", tag("div", tag("table", tag("tbody", *body)), class_="wide facts")),
        ),
        tag("footer", tag("p", "Written by plausibly.")),
        style=ANSWERS,
    )


def _cell(text: str, name: str) -> Html:
    # On a telephone, every slot is a list of its cells.
    return tag("td", text, class_="figure", data_name=visible(name))


def _section(title: str, *content: Html) -> Html:
    return tag("section", tag("h2", title), *content)
