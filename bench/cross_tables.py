"""Who wins where among schemes for several attributes: errors by the exact laws, and measured.

    python -m bench.cross_tables     # measures, writes bench/results/cross_tables.json and docs/tables_errors.png

An error is the root mean squared error of a share, in thousandths of 200,000 users; every table counts equally. The
laws hold for any crowd, because the mean over all cells of a table does not depend on it; the least possible error is
for users who are spread evenly. Measured: collections of real reports from users in four latent classes.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from math import sqrt
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure

from plausibly import SeededRandom, make
from plausibly.core.bound import Workload

from .figures import FAINT, GRID, INK, STYLE
from .latent import FOURS, MIXED, YES_OR_NO, counted, latent, table
from .table_peers import InpHT, PairsOverOLH, Places, Tables

CROWDS = {"8 of 2": YES_OR_NO, "2, 2, 5, 7, 9, 16": MIXED, "10 of 4": FOURS}
TITLES = {
    "8 of 2": "8 attributes of 2 values",
    "2, 2, 5, 7, 9, 16": "6 attributes of 2, 2, 5, 7, 9, 16 values",
    "10 of 4": "10 attributes of 4 values",
}
EPSILONS = (0.5, 1, 2, 3)
USERS, RUNS = 200_000, 10
RESULTS = Path(__file__).parent / "results" / "cross_tables.json"
PICTURE = Path(__file__).parent.parent / "docs" / "tables_errors.png"
LEAST = "least possible"
PAIRS, INPHT = "pairs over OLH", "InpHT"
COLUMNS = {
    1: (LEAST, "SMP", "CLIQUE, 2", "CLIQUE, 3", INPHT, "SPL"),
    2: (LEAST, "CLIQUE, 2", "CLIQUE, 3", INPHT, PAIRS),
}
"""Methods by the number of attributes of the tables; CLIQUE with sets of one attribute is SMP."""
METHODS = ("SMP", "CLIQUE, 2", "CLIQUE, 3", INPHT, PAIRS, "SPL")


class Method(Protocol):
    """A way from records to estimated tables."""

    def variance(self, attributes: int) -> float | None:
        """Mean variance per user of a cell of the tables of this number of attributes; None without such tables."""
        ...

    def tables(self, records: Any, seed: int) -> Tables:
        """All known tables of one and two attributes from one collection."""
        ...


class Ours:
    """A scheme of the library."""

    def __init__(self, sizes: tuple[int, ...], epsilon: float, name: str, **parameters: Any) -> None:
        self.scheme = make(name, epsilon=epsilon, domain=table(*sizes), **parameters)

    def _places(self, attributes: int) -> Iterator[Places]:
        return self.scheme.estimator().known_tables(attributes)

    def variance(self, attributes: int) -> float | None:
        """The scheme's exact law."""
        return self.scheme.estimator().even_variance(attributes) if any(self._places(attributes)) else None

    def tables(self, records: Any, seed: int) -> Tables:
        """Tables of a tally of real reports."""
        tally = self.scheme.accumulator()
        tally.add(self.scheme.privatize(records, SeededRandom(seed)))
        for places in (*self._places(1), *self._places(2)):
            yield places, self.scheme.estimator().tabulated(tally.evidence, len(records), places).counts


def method(name: str, sizes: tuple[int, ...], epsilon: float) -> Method | None:
    """The method of this name; None if it does not know attributes of these sizes."""
    if name == INPHT:
        return InpHT(sizes, epsilon) if set(sizes) == {2} else None
    if name == PAIRS:
        return PairsOverOLH(sizes, epsilon)
    scheme, _, together = name.partition(", ")
    return Ours(sizes, epsilon, scheme, **({"cliques": int(together)} if together else {}))


class Errors(NamedTuple):
    """Errors of a share in tables of one and of two attributes, in thousandths; None where there are no such tables."""

    one: float | None
    two: float | None

    def of(self, attributes: int) -> float | None:
        """The error in tables of this number of attributes."""
        return self.one if attributes == 1 else self.two


class Compared(NamedTuple):
    """A method's errors by its law, and measured."""

    law: Errors
    measured: Errors | None


class Row(NamedTuple):
    """All methods for one crowd and one epsilon."""

    crowd: str
    epsilon: float
    chosen: str
    """The method that the library takes by default, for tables of two attributes."""
    cells: dict[str, Compared]


def thousandths(variance: float | None) -> float | None:
    """The error of a share in thousandths, from the variance per user."""
    return None if variance is None else 1000 * sqrt(variance / USERS)


def least(sizes: tuple[int, ...], epsilon: float) -> Errors:
    """The least possible errors of any protocol."""
    return Errors(*(thousandths(Workload.of_tables(sizes, count).bound(epsilon)) for count in (1, 2)))


def by_law(own: Method) -> Errors:
    """Errors by the exact law of a method."""
    return Errors(*(thousandths(own.variance(count)) for count in (1, 2)))


def measured(own: Method, sizes: tuple[int, ...], users: int = USERS, runs: int = RUNS) -> Errors:
    """Errors of a method in collections of real reports, as of 200,000 users."""
    squares: dict[int, list[float]] = {1: [], 2: []}
    for run in range(runs):
        records = latent(sizes, users, seed=run)
        for places, counts in own.tables(records, seed=run):
            squares[len(places)].append(float(((counts - counted(records, sizes, *places)) ** 2).mean()) / users)
    return Errors(*(thousandths(float(np.mean(each))) if each else None for each in squares.values()))


def row(crowd: str, epsilon: float, runs: int = RUNS) -> Row:
    """All methods for one crowd and one epsilon."""
    sizes = CROWDS[crowd]
    cells = {LEAST: Compared(least(sizes, epsilon), None)}
    for name in METHODS:
        if (own := method(name, sizes, epsilon)) is not None:
            cells[name] = Compared(by_law(own), measured(own, sizes, runs=runs) if runs else None)
    usual = make("CLIQUE", epsilon=epsilon, domain=table(*sizes))
    return Row(crowd, epsilon, f"CLIQUE, {usual.together}", cells)


def kept() -> list[Row]:
    """The rows in bench/results."""
    rows = []
    for each in json.loads(RESULTS.read_text(encoding="utf-8")):
        cells = {
            name: Compared(Errors(*law), seen and Errors(*seen)) for name, (law, seen) in each.pop("cells").items()
        }
        rows.append(Row(**each, cells=cells))
    return rows


def written(rows: list[Row], attributes: int) -> str:
    """The table of errors in Markdown: by the law, and measured in brackets."""
    columns = COLUMNS[attributes]
    lines = [f"| attributes | ε | {' | '.join(columns)} |", "|---" * (len(columns) + 2) + "|"]
    for each in rows:
        cells = [_written(each, name, attributes) for name in columns]
        lines.append(f"| {each.crowd} | {each.epsilon:g} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def _written(each: Row, name: str, attributes: int) -> str:
    cell = each.cells.get(name)
    if cell is None or (law := cell.law.of(attributes)) is None:
        return "–"
    text = f"**{law:.2f}**" if attributes == 2 and name == each.chosen else f"{law:.2f}"
    return text if cell.measured is None else f"{text} ({cell.measured.of(attributes):.2f})"


LOOKS = {
    "CLIQUE, 2": ("#00798c", "o", "-", "CLIQUE, sets of two"),
    "CLIQUE, 3": ("#7b2d8b", "^", "-", "CLIQUE, sets of three"),
    INPHT: ("#b36b00", "D", (0, (3, 1.5)), "InpHT (2018)"),
    PAIRS: ("#d1495b", "s", (0, (1, 1)), "pairs over OLH"),
}
"""Colour, mark, dashes and name in the picture."""


def drawn(rows: list[Row]) -> Figure:
    """Errors in tables of two attributes as multiples of the least possible one, narrow enough for a phone."""
    with mpl.rc_context(STYLE | {"font.size": 10}):
        figure = Figure(figsize=(4.4, 8.2), layout="constrained")
        for ax, crowd in zip(figure.subplots(len(CROWDS), 1, sharex=True), CROWDS, strict=True):
            own = [each for each in rows if each.crowd == crowd]
            for name, (colour, mark, dashes, label) in LOOKS.items():
                if name in own[0].cells:
                    ratios = [_ratios(each, name) for each in own]
                    ax.plot(EPSILONS, [law for law, _ in ratios], ls=dashes, color=colour, lw=1.6, label=label)
                    ax.plot(EPSILONS, [seen for _, seen in ratios], mark, color=colour, ms=5)
            ax.axhline(1, color=INK, lw=1)
            ax.set_ylim(bottom=1 - 0.12 * (ax.get_ylim()[1] - 1))
            ax.annotate("least possible", (1.75, 1), (0, -3), textcoords="offset points", va="top", ha="center")
            ax.set_title(TITLES[crowd], loc="left")
            ax.grid(color=GRID)
            ax.set_xticks(EPSILONS, [f"{epsilon:g}" for epsilon in EPSILONS])
            ax.set_ylabel("times least error")
            ax.tick_params(color=FAINT)
        ax.set_xlabel("ε (lines: by law; marks: measured)")
        figure.axes[0].legend(fontsize=9, frameon=False, loc="upper left", bbox_to_anchor=(0, 0.98))
    return figure


def _ratios(each: Row, name: str) -> tuple[float, float]:
    bound, law, seen = each.cells[LEAST].law.two, each.cells[name].law.two, each.cells[name].measured
    assert bound is not None
    assert law is not None
    assert seen is not None
    assert seen.two is not None
    return law / bound, seen.two / bound


def main() -> None:
    """Measure all rows, print and save them, and draw the picture."""
    rows = [row(crowd, epsilon) for crowd in CROWDS for epsilon in EPSILONS]
    RESULTS.write_text(json.dumps([each._asdict() for each in rows], indent=1) + "\n", encoding="utf-8")
    for attributes in COLUMNS:
        print(written(rows, attributes))
    drawn(rows).savefig(PICTURE, dpi=200)


if __name__ == "__main__":
    main()
