"""The story of the demo: its commands, and their answers beside the truth that no server knows."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from ..core.atomic import replacing
from ..core.errors import StateError
from ..core.estimates import Estimates
from ..files.reports import ReportFile
from ..files.tallies import Collected
from ..pages.html import Html, document, picture, tag
from ..search.base import SearchTally
from . import data
from .emerging import Known, draw_emerging, emerging_estimates

LISTED, UNLISTED = "1", "3"
"""The epsilons of the two collections."""
_SHOWN = 10
_NARROW = "demo-narrow.svg"
_FILES = (
    "visits.csv",
    "sites.txt",
    *(f"{kind}{suffix}" for kind in ("listed", "found") for suffix in (".json", ".parquet", ".tally", ".html")),
    "demo.png",
    "demo.svg",
    _NARROW,
    "demo.html",
)


@dataclass(frozen=True)
class Step:
    """A part of the story: its heading, and the commands as lists of words."""

    heading: str
    commands: tuple[list[str], ...]


@dataclass(frozen=True)
class Ending:
    """The end of the story: a table of estimates beside the truth, remarks, and the paths of picture and page."""

    header: tuple[str, ...]
    lines: tuple[tuple[str, ...], ...]
    remarks: tuple[str, ...]
    picture: Path
    page: Path

    def to_dict(self) -> dict[str, Any]:
        """The whole ending of the story, ready for JSON."""
        rows = [dict(zip(self.header, line, strict=True)) for line in self.lines]
        return {"rows": rows, "remarks": list(self.remarks), "picture": str(self.picture), "page": str(self.page)}


@dataclass(frozen=True)
class Story:
    """The story of a demo with made-up users in a folder; without a seed, the noise is fresh."""

    folder: Path
    users: int
    seed: int | None = None

    @cached_property
    def known(self) -> Known:
        """The truth behind the demo's story."""
        return Known(data.sites(), data.counts(self.users))

    def begin(self) -> None:
        """Begin the story: make its folder without the files of an earlier demo. Refuse a folder with other files."""
        assert self.known
        self.folder.mkdir(parents=True, exist_ok=True)
        others = {path.name for path in self.folder.iterdir()} - set(_FILES)
        if others:
            raise StateError(
                f"{self.folder}: expected only files of an earlier demo, got others; choose another folder"
            )
        for name in _FILES:
            (self.folder / name).unlink(missing_ok=True)

    def steps(self) -> tuple[Step, ...]:
        """The commands of the story in order."""
        visited = self._path("visits.csv")
        sample = ["sample", visited, "--users", str(self.users), "--sites", self._path("sites.txt")]
        listed = ["--labels", self._path("sites.txt"), "--epsilon", LISTED]
        unlisted = ["--alphabet", data.ALPHABET, "--length", str(data.LENGTH), "--epsilon", UNLISTED]
        exact = "2. The list of sites is known: which scheme is best, and how accurate is it?"
        hidden = "3. Every user's device hides its site in noise; the server adds up the reports"
        among = f"6. The common strings, found among all strings of up to {data.LENGTH} characters"
        answer = ["estimate", self._path("listed.tally"), "--top", "10", "--out", self._path("listed.html")]
        return (
            Step("1. Made-up users, each of whom has visited one site", (sample,)),
            Step(exact, (self._plan("listed", listed),)),
            Step(hidden, self._counted("listed")),
            Step("4. The server's answer", (answer,)),
            Step("5. What if there is no list?", (self._plan("found", unlisted), *self._counted("found"))),
            Step(among, (["search", self._path("found.tally"), "--out", self._path("found.html")],)),
        )

    def end(self) -> Ending:
        """End the story: look up the truth, draw the picture and write the page."""
        with ReportFile(self.folder / "listed.parquet") as file:
            sizes = [10**k for k in range(3, 9) if 10**k < self.users]
            emerging = emerging_estimates(file, [*sizes[-3:], self.users])
        tally = Collected.read(self.folder / "found.tally").tally
        assert isinstance(tally, SearchTally)
        found = tally.search(k=_SHOWN, level=0.05)
        titles = f"sites on a list, ε = {LISTED}", f"found without a list, ε = {UNLISTED}"
        for name in ("demo.png", "demo.svg", _NARROW):
            drawn = self.known, emerging, found, titles
            draw_emerging(self.folder / name, *drawn, narrow=name == _NARROW)
        lines = tuple(self._lines(emerging[-1], found))
        ending = Ending(
            ("site", "true", "listed, 95 % interval", "found, 95 % interval"),
            lines,
            tuple(self._remarks(emerging[-1], found)),
            self.folder / "demo.png",
            self.folder / "demo.html",
        )
        with replacing(ending.page) as unfinished:
            unfinished.write_text(self._page(ending), encoding="utf-8")
        for name in ("demo.svg", _NARROW):
            (self.folder / name).unlink()
        return ending

    def _path(self, name: str) -> str:
        return str(self.folder / name)

    def _plan(self, kind: str, words: list[str]) -> list[str]:
        seed = [] if self.seed is None else ["--hash-seed", str(self.seed)]
        return ["plan", *words, "--users", str(self.users), *seed, "--save", self._path(f"{kind}.json")]

    def _counted(self, kind: str) -> tuple[list[str], list[str]]:
        seed = [] if self.seed is None else ["--seed", str(self.seed)]
        scheme, reports = self._path(f"{kind}.json"), self._path(f"{kind}.parquet")
        given = ["privatize", self._path("visits.csv"), "--column", "site", "--scheme", scheme, "--out", reports]
        allowed = [] if self.seed is None else ["--simulated"]
        return [*given, *seed], ["collect", reports, "--out", self._path(f"{kind}.tally"), *allowed]

    def _lines(self, listed: Estimates, found: Estimates) -> Iterator[tuple[str, ...]]:
        for site, count in zip(self.known.items[:_SHOWN], self.known.counts[:_SHOWN].tolist(), strict=True):
            yield site, f"{count:,}", _interval(listed, site), _interval(found, site)

    def _remarks(self, listed: Estimates, found: Estimates) -> Iterator[str]:
        hits = len({*found.items.tolist()} & {*self.known.items[:_SHOWN]})
        held, chosen = self.known.covered(listed), self.known.covered(found)
        yield f"With the list, {held:,} of the {len(listed):,} intervals contain the truth; 95 % should."
        yield (
            f"Without the list, the search found {hits} of the {_SHOWN} most visited sites, "
            f"and {sum(not self.known.count(item) for item in found.items)} that nobody has visited; "
            f"{chosen} of its {len(found)} intervals contain the truth; they allow for the selection."
        )
        both = int(LISTED) + int(UNLISTED)
        yield f"In this demo every user sends two reports, which add up to ε = {both}. A real collection asks for one."

    def _page(self, ending: Ending) -> str:
        shown = picture(
            (self.folder / "demo.svg").read_text(encoding="utf-8"),
            narrow=(self.folder / _NARROW).read_text(encoding="utf-8"),
            label="Estimates beside the truth",
            alt="Histograms from more and more reports, and intervals beside the truth; the numbers are in the table",
            class_="chart",
        )
        head = tag("tr", *_cells("th", ending.header))
        rows = [tag("tr", *_cells("td", line, ending.header)) for line in ending.lines]
        return document(
            "A histogram emerges from noise",
            tag(
                "header",
                tag("h1", "A histogram emerges from noise"),
                tag("p", tag("b", "Simulated"), " The users and their sites are made up.", class_="simulated"),
                tag("p", f"{self.users:,} made-up users, each of whom hides the site they visited.", class_="lede"),
            ),
            tag(
                "main",
                tag("section", tag("h2", "Estimates beside the truth"), shown, id="picture"),
                tag(
                    "section",
                    tag("h2", "In numbers"),
                    tag("div", tag("table", tag("thead", head), tag("tbody", *rows), class_="stacked"), class_="wide"),
                    tag("p", _PLAIN, class_="aside"),
                    tag("ul", *(tag("li", remark) for remark in ending.remarks)),
                    id="truth",
                ),
                tag("section", tag("h2", "The commands"), *self._typed(), id="commands"),
            ),
            tag("footer", tag("p", "Written by plausibly.")),
            style=_STYLE,
        )

    def _typed(self) -> Iterator[Html]:
        for step in self.steps():
            yield tag("h3", step.heading)
            yield tag("pre", tag("code", "\n".join(f"plausibly {shlex.join(words)}" for words in step.commands)))
            for words in step.commands:
                if words[0] in ("estimate", "search"):
                    yield tag("p", tag("a", "The answer as a page", href=Path(words[-1]).name))


_PLAIN = (
    "The rows are the sites that are truly the most visited, which no server knows. Intervals of listed sites are "
    "therefore plain ones, for sites chosen without looking at the estimates; those of found sites allow for that."
)
_STYLE = """
.picture img.chart { width: 100%; max-width: 46rem; min-width: 0; }
td.figure { white-space: pre; }
@media (max-width: 46rem) { .picture img.chart { max-width: 27rem; } }
"""


def _cells(kind: str, texts: Sequence[str], names: Sequence[str] = ()) -> Iterator[Html]:
    first, *figures = texts
    yield tag(kind, first)
    for place, figure in enumerate(figures, 1):
        # On a telephone, where a row is a list, the name of the column is in front.
        yield tag(kind, figure, class_="figure", **({"data_name": names[place]} if names else {}))


def _interval(estimates: Estimates, item: str) -> str:
    places = estimates.items.tolist()
    if item not in places:
        return "not found"
    low, high = (end[places.index(item)] for end in estimates.interval())
    return f"{estimates.values[places.index(item)]:,.0f} [{low:,.0f}, {high:,.0f}]"
