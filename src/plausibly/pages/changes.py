"""What changed between two tallies, for people and programs: a table, a chart, a page, and files of them."""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ..core.atomic import folder_of, replacing
from ..core.bar_chart import chart_size, label_above
from ..core.changes import Changes
from ..core.errors import ParameterError, StateError
from ..core.estimates import MOST_BARS
from ..core.wording import label_of, nearest, percent, plural, safe_cell, shown, visible
from .answers import Source, scheme_facts
from .charts import NARROW, save_chart
from .estimates import write_json
from .html import SIMULATED, Html, document, tag
from .plates import Plate, Show, embedded
from .stylesheet import ANSWERS

if TYPE_CHECKING:
    from matplotlib.figure import Figure

VERSION = 1
_INK, _CHANGED, _GRID = "#222222", "#4477aa", "#dddddd"
_SIMULATED = "SIMULATED: reports are not from real users"


@dataclass(frozen=True, eq=False)
class ChangeReport:
    """Changes, the tallies that they come from with their names, and how many rows people see of them."""

    changes: Changes
    before: Source
    after: Source
    names: tuple[str, str] = ("before", "after")
    same_users: bool = False
    largest: int = 20
    title: str | None = None
    kind: str = "File"
    """What the names are names of."""
    stayed: float = 0.0
    """Least share of the users of a scheme with a memo who are assumed to have kept their value."""

    @property
    def simulated(self) -> bool:
        """Whether any of the compared reports is simulated."""
        return self.before.simulated or self.after.simulated

    @property
    def heading(self) -> str:
        """The title of the page and the chart of changes."""
        if self.title is not None:
            return self.title
        return f"Changes from {self.names[0]} (before) to {self.names[1]} (after)"

    def header(self) -> tuple[str, ...]:
        """The column names of the table of changes."""
        joint = f"{100 * self.changes.level:g} % interval, all items together"
        return ("item", "before", "after", "change, points", joint, "changed")

    def lines(self) -> Iterator[tuple[Any, ...]]:
        """The rows of the table of changes for people: the item itself, then texts. Changed items come first."""
        found, (low, high) = self.changes, self.changes.interval
        items = found.items.tolist()
        for place in self.places(self.largest).tolist():
            ends = f"[{_points(low[place])}, {_points(high[place])}]"
            shares = [f"{100 * side.values[place]:z.2f} %" for side in (found.before, found.after)]
            told = "yes" if found.changed[place] else "cannot tell"
            yield items[place], *shares, _points(found.difference.values[place]), ends, told

    def places(self, most: int) -> npt.NDArray[np.intp]:
        """Places of the items that people see, in the order of the changes; the item for all other values last."""
        other = self.before.scheme.answers.arrangement.other
        apart = np.array([other is not None and item == other for item in self.changes.items.tolist()], dtype=np.bool_)
        order = self.changes.order
        return np.concatenate([order[~apart[order]][:most], np.flatnonzero(apart)])

    def summary(self) -> str:
        """The result in one sentence."""
        number, total = int(self.changes.changed.sum()), len(self.changes)
        missed = f"{100 * (1 - self.changes.level):.3g} %"
        rest = f"; for the other {total - number:,} the data cannot tell" if number else "; the data cannot tell"
        chance = f"The probability of any false alarm among all items is at most {missed}."
        return f"{number:,} of {plural(total, 'item')} changed{rest * (number < total)}. {chance}"

    def notes(self) -> list[str]:
        """Remarks for the reader of the changes."""
        before = plural(self.changes.before.n, "report")
        told = [
            f"{before} before, {self.changes.after.n:,} after. Changes are in percentage points of the reports.",
            _SAME if self.same_users else _SAMPLES,
        ]
        if self.stayed:
            told.append(f"It is assumed that at least {percent(self.stayed)} of them have the same value both times.")
        rows = len(self.places(self.largest))
        if rows < len(self.changes):
            told.append(f"The table has {rows:,} of {len(self.changes):,} items.")
        return told

    def to_dict(self) -> dict[str, Any]:
        """Facts and numbers of the changes, JSON-ready; the items in the order of the domain."""
        found = self.changes
        columns = found.columns()
        rows = zip(_plain(found), *(column.tolist() for column in columns.values()), strict=True)
        return {
            "version": VERSION,
            "kind": "changes",
            "level": found.level,
            "same_users": self.same_users,
            **({"stayed": self.stayed} if self.stayed else {}),
            "simulated": self.simulated,
            "before": _facts(self.before, self.names[0], found.before.n),
            "after": _facts(self.after, self.names[1], found.after.n),
            "changed": int(found.changed.sum()),
            "changes": [dict(zip(["item", *columns], row, strict=True)) for row in rows],
        }


_SAME = "The same users reported both times: a change is one among these users."
_SAMPLES = "A change is a change in the population that the reports are drawn from, as a random sample each time."


def _points(share: float) -> str:
    return f"{100 * share:+z.2f}"


def _plain(found: Changes) -> list[Any]:
    return [item.hex() if isinstance(item, bytes) else item for item in found.items.tolist()]


def _facts(source: Source, name: str, reports: int) -> dict[str, Any]:
    scheme = source.scheme
    own = {"name": name, "scheme": scheme.name, "fingerprint": scheme.fingerprint(), "epsilon": str(scheme.epsilon)}
    return own | {"reports": reports, "simulated": source.simulated, "skipped": [vars(each) for each in source.skipped]}


# --- files -----------------------------------------------------------------------------------------------------------


def write_changes(path: str | Path, report: ChangeReport) -> None:
    """Write or replace a file of changes atomically: .csv, .json, .png, .svg or .html."""
    path = check_changes_name(path)
    with replacing(path) as unfinished:
        _WRITERS[path.suffix.lower()](report, unfinished)


def check_changes_name(path: str | Path) -> Path:
    """The path for a file of changes. Fail early if the file cannot be written."""
    path = Path(path)
    ending = path.suffix.lower()
    if ending not in _WRITERS:
        raise ParameterError(f"{path}: unknown suffix {shown(ending)}; {nearest(ending, _WRITERS)}")
    folder_of(path)
    if ending in (".html", ".png", ".svg") and find_spec("matplotlib") is None:
        raise StateError(f"{path}: needs matplotlib: pip install matplotlib")
    return path


def _write_csv(report: ChangeReport, path: Path) -> None:
    columns = report.changes.columns()
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, quoting=csv.QUOTE_NONNUMERIC)
        writer.writerow(["item", *columns, "level", "simulated"])
        constant = report.changes.level, str(report.simulated).lower()
        for item, *row in zip(_plain(report.changes), *(each.tolist() for each in columns.values()), strict=True):
            cells = [str(each).lower() if isinstance(each, bool) else each for each in row]
            writer.writerow([safe_cell(item), *cells, *constant])


def _write_html(report: ChangeReport, path: Path) -> None:
    path.write_text(changes_page(report), encoding="utf-8")


def _write_png(report: ChangeReport, path: Path) -> None:
    with path.open("wb") as file:
        save_chart(changes_chart(report), file, "png")


def _write_svg(report: ChangeReport, path: Path) -> None:
    with path.open("wb") as file:
        save_chart(changes_chart(report), file, "svg")


_WRITERS: dict[str, Callable[[ChangeReport, Path], None]] = {
    ".csv": _write_csv,
    ".json": write_json,
    ".html": _write_html,
    ".png": _write_png,
    ".svg": _write_svg,
}


# --- chart and page --------------------------------------------------------------------------------------------------


def changes_chart(report: ChangeReport, *, narrow: bool = False, titled: bool = True) -> Figure:
    """The chart of changes: a dot with its interval for each item, filled if the item changed.

    ``narrow``: for the width of a telephone, with every label above its interval and without a title.
    """
    from matplotlib.figure import Figure

    found = report.changes
    places = report.places(min(report.largest, MOST_BARS))
    rows = np.arange(len(places), dtype=np.float64)
    width, height = chart_size(max(len(places), 1))
    if narrow:
        width, height = NARROW, 1.5 * height
    figure = Figure(figsize=(width, height + 0.4), layout="constrained")
    axes = figure.subplots()
    values = 100 * found.difference.values[places]
    low, high = (100 * side[places] for side in found.interval)
    told = found.changed[places]
    axes.set_axisbelow(True)
    axes.grid(axis="x", color=_GRID, linewidth=0.6)
    axes.axvline(0, color=_INK, linewidth=0.8)
    ends = np.stack([values - low, high - values])
    drawn = rows + 0.2 * narrow
    axes.errorbar(values, drawn, xerr=ends, fmt="none", ecolor=_INK, elinewidth=1, capsize=2)
    fills = np.where(told, _CHANGED, "white").tolist()
    axes.scatter(values, drawn, s=36, c=fills, edgecolors=_CHANGED, zorder=3)
    # A label with dollar signs is not a formula.
    labels = [label_of(item) or "(empty)" for item in found.items[places].tolist()]
    if narrow:
        label_above(axes, rows, labels)
    else:
        axes.set_yticks(rows, labels, parse_math=False)
    axes.set_ylim(len(rows) - 0.4, -0.6)
    axes.tick_params(axis="y", length=0)
    axes.spines[["top", "right", "left"]].set_visible(False)
    gap = "\n" if narrow else " "
    caption = f"change in percentage points;{gap}{100 * found.level:g} % interval for all items together"
    axes.set_xlabel(caption + "\nfilled: changed; hollow: the data cannot tell" * (not told.all()))
    if titled and not narrow:
        axes.set_title(visible(report.heading), loc="left", fontweight="bold", parse_math=False, wrap=True)
    if report.simulated:
        figure.suptitle(_SIMULATED, color="#a33000", fontweight="bold", fontsize=12)
    return figure


def changes_page(report: ChangeReport) -> str:
    """The HTML page of changes: summary, chart, table and how to read them."""
    head = [tag("h1", visible(report.heading))]
    if report.simulated:
        head.append(SIMULATED)
    head.append(tag("p", report.summary(), class_="lede"))
    return document(
        visible(report.heading),
        tag("header", *head),
        tag("main", *changes_sections(report, embedded)),
        tag("footer", tag("p", "Written by plausibly.")),
        style=ANSWERS,
    )


def changes_plate(report: ChangeReport) -> Plate:
    """The chart of changes, with the words that belong to it."""
    drawn_items = plural(len(report.places(min(report.largest, MOST_BARS))), "item")
    alt = f"Chart of the changes of {drawn_items} with their intervals; the numbers are in the table below"
    return Plate("chart", "Changes", alt, "chart", lambda narrow: changes_chart(report, narrow=narrow, titled=False))


def changes_sections(report: ChangeReport, show: Show) -> list[Html]:
    """The sections of a page of changes: chart, table, and the data behind them."""
    first, *others = report.header()
    rows = [tag("tr", tag("th", first), *(tag("th", name, class_="figure") for name in others))]
    for item, *texts in report.lines():
        name = tag("bdi", visible(item)) if str(item) else tag("i", "(empty)")
        rows.append(tag("tr", tag("td", name), *(tag("td", text, class_="figure") for text in texts)))
    table = tag("div", tag("table", tag("thead", rows[0]), tag("tbody", *rows[1:]), class_="stacks"), class_="wide")
    return [
        _section("The differences", show(changes_plate(report))),
        _section("In numbers", *_paragraphs(report), table),
        _section("Data and scheme", _rests_on(report)),
    ]


def _rests_on(report: ChangeReport) -> Html:
    head = tag("tr", tag("td", ""), tag("th", "before"), tag("th", "after"))
    sides = [
        {"Reports": f"{shares.n:,}", **scheme_facts(source.scheme), "Fingerprint": source.scheme.fingerprint()}
        for shares, source in ((report.changes.before, report.before), (report.changes.after, report.after))
    ]
    rows = [(report.kind, *report.names), *((name, *(side[name] for side in sides)) for name in sides[0])]
    body = [
        tag("tr", tag("th", name, scope="row"), *(tag("td", visible(text)) for text in texts)) for name, *texts in rows
    ]
    return tag("div", tag("table", tag("thead", head), tag("tbody", *body)), class_="wide facts")


def _paragraphs(report: ChangeReport) -> list[Html]:
    joint = f"{100 * report.changes.level:g} %"
    said = [
        *report.notes(),
        f"All intervals contain the true differences at once with probability {joint}, so you may pick the largest "
        "changes. An item is called changed if its interval does not contain 0.",
    ]
    return [tag("p", each, class_="about") for each in said]


def _section(title: str, *content: Html) -> Html:
    return tag("section", tag("h2", title), *content)
