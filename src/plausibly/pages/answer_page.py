"""Estimates on one HTML page: chart, table, instructions for reading them, and the data behind them."""

from __future__ import annotations

import hashlib
from base64 import b64encode
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Protocol

import numpy as np
import numpy.typing as npt

from ..core.estimates import MOST_BARS, Estimates
from ..core.ordered_answers import OrderedAnswer
from ..core.wording import plural, visible
from .answers import Answer, Source
from .charts import page_tree
from .html import SIMULATED, Html, document, tag
from .plates import Plate, Show, embedded, plates
from .script import SORTING
from .stylesheet import ANSWERS

MOST_ROWS = 1000
_FEW = 8


def answer_page(answer: Answer) -> str:
    """The HTML page of an answer, equal for equal estimates. Lists at most 1,000 items."""
    title = visible(answer.title or ("Estimated counts" if answer.found is None else "Common strings"))
    # A heading is enough, and the first table has the items of the chart.
    answer = replace(answer, title=None, largest=min(answer.largest, MOST_BARS))
    return document(
        title,
        _header(title, answer),
        tag(
            "main",
            *chart_sections(answer, embedded),
            _numbers(answer),
            *tree_section(answer, embedded),
            *reading_section(answer),
            facts_section(answer),
        ),
        tag("footer", tag("p", "Written by plausibly.")),
        tag("script", Html(SORTING)),
        style=ANSWERS,
        policy=f"; script-src 'sha256-{b64encode(hashlib.sha256(SORTING.encode()).digest()).decode()}'",
    )


def _header(title: str, answer: Answer) -> Html:
    made = answer.estimates
    said = [tag("h1", title)]
    if answer.source.simulated:
        said.append(SIMULATED)
    what = plural(len(made), "item" if answer.found is None else "string")
    if answer.asked and not len(made):
        what = " and ".join(each.heading for each in answer.asked)
    privacy = answer.privacy.partition(":")[0]
    said.append(tag("p", f"{what} from {plural(made.n, 'randomized report')}, {privacy}.", class_="lede"))
    return tag("header", *said)


def chart_sections(answer: Answer, show: Show, prefix: str = "", *, fold: bool = False) -> Iterator[Html]:
    """The charts of an answer: of its largest items, or one for each question about their order, with its table.

    ``fold`` hides long tables until somebody opens them.
    """
    drawn = {plate.name: plate for plate in plates(answer, prefix)}
    if answer.panels:
        yield from _panels(answer, drawn, show, prefix, fold)
    elif len(answer.estimates):
        heading = "The largest estimates" if answer.picked else "The estimates"
        picture = show(drawn[f"{prefix}chart"])
        about = tag("p", answer.good_for(), class_="about")
        yield tag("section", tag("h2", heading), about, picture, id=f"{prefix}chart")


def _panels(answer: Answer, drawn: Mapping[str, Plate], show: Show, prefix: str, fold: bool) -> Iterator[Html]:
    # One section for each question about the order: its chart, and its table.
    for place, asked in enumerate(answer.panels):
        said = [tag("h2", asked.heading), *(tag("p", remark, class_="about") for remark in asked.remarks())]
        if asked.drawn:
            said.append(show(drawn[f"{prefix}panel-{place}"]))
        shown = asked.short
        numbers = [_texts(shown, answer.level)]
        if len(shown) < len(asked):
            numbers.append(tag("p", f"{len(shown):,} of {len(asked):,} items, evenly spaced.", class_="aside"))
        if fold and len(shown) > _FEW:
            numbers = [tag("details", tag("summary", "In numbers"), *numbers, id=f"{prefix}numbers-{place}")]
        said += numbers
        yield tag("section", *said, id=f"{prefix}chart" if place == 0 else f"{prefix}panel-{place}")


def _texts(asked: OrderedAnswer, level: float) -> Html:
    first, *others = asked.texts(level).items()
    # A header without words is none.
    corner = tag("th" if first[0] else "td", first[0])
    head = tag("tr", corner, *(tag("th", name, class_="figure") for name, _ in others))
    rows = [
        tag("tr", tag("td", _item(item)), *(tag("td", text, class_="figure") for text in texts))
        for item, *texts in zip(first[1], *(texts for _, texts in others), strict=True)
    ]
    return tag("div", tag("table", tag("thead", head), tag("tbody", *rows), class_="stacks"), class_="wide")


def tree_section(answer: Answer, show: Show, prefix: str = "") -> Iterator[Html]:
    """The tree of a search, with its legend, if the answer comes from one."""
    if answer.found is not None and answer.found.trace:
        legend = page_tree(answer)[1]
        drawn = next(show(plate) for plate in plates(answer, prefix) if plate.name == f"{prefix}tree")
        said = (
            "Every column is a step: the characters that its users reported, the number of these users, and the "
            "numbers of candidates examined and kept (k: thousands, M: millions). Each node shows the characters that "
            "its step adds."
        )
        yield tag(
            "section",
            tag("h2", "How the strings were found" if len(answer.estimates) else "How the search went"),
            tag("p", said, class_="about"),
            *[tag("p", "SIMULATED: reports are not from real users", class_="about made-up")] * answer.source.simulated,
            tag("ul", *(tag("li", each) for each in legend), class_="legend"),
            tag("p", "Scroll →", class_="scroll"),
            drawn,
            id="tree",
        )


def _numbers(answer: Answer) -> Html:
    notes = answer.notes(picked=False)
    if not len(answer.estimates):
        notes = [*(["Nothing found: no string stands out from the noise."] if answer.found is not None else []), *notes]
        paragraphs = [tag("p", note, class_="about") for note in [*notes, *answer.needed()] or ["Nothing to list."]]
        return tag("section", tag("h2", "Result"), *paragraphs, id="numbers")
    heading = "Single items" if answer.panels else "In numbers"
    told = [] if answer.panels else notes
    said = [tag("h2", heading), *(tag("p", note, class_="about") for note in told)]
    said.append(table_of(answer, answer.charted))
    if answer.found is not None and answer.found.p_values is not None and answer.interval is not None:
        said.append(tag("p", _P_VALUES, class_="aside"))
    return tag("section", *said, *_every(answer), id="numbers")


def _every(answer: Answer) -> Iterator[Html]:
    # All items, folded. The order is that of the domain: from a list sorted by size, every reader picks the top.
    made = answer.estimates
    if len(answer.charted) == len(made):
        return
    count = len(made) - int(made.apart.sum())
    heading, said = f"All {count:,} {'items' if answer.found is None else 'strings'}", ""
    if answer.found is None and count > MOST_ROWS:
        made = made.arranged(MOST_ROWS)
        heading = f"The {MOST_ROWS:,} largest of {count:,} items"
        said = "The intervals allow for this choice." * (made.variance is not None)
    elif made.variance is not None and made.selection is None:
        heading += ": intervals for one item chosen in advance"
        said = _CHOSEN
    notes = [tag("p", said, class_="about")] if said else []
    yield tag("details", tag("summary", heading), *notes, table_of(answer, made), id="all")


def table_of(
    answer: Answer,
    shown: Estimates,
    *,
    caption: str = "",
    heads: Mapping[str, Html] | None = None,
    marks: npt.NDArray[np.bool_] | None = None,
) -> Html:
    """The table of some estimates of an answer; its headers sort it by script, unless ``heads`` replaces some of them.

    ``marks`` says of each item whether it stands out from noise.
    """
    first, *others = [*answer.header(), *["stands out"] * (marks is not None)]
    given = {name: tag("th", name, class_="figure") for name in others} | {first: tag("th", first)} | dict(heads or {})
    head = tag("tr", *(given[name] for name in (first, *others)))
    listed: list[Html] = []
    doubtful: list[Html] = []
    last: list[Html] = []
    told = np.full(len(shown), True) if shown.significant is None else shown.significant
    standing = [None] * len(shown) if marks is None else marks.tolist()
    for (item, *texts), own, apart, sure, mark in zip(
        answer.lines(shown), _keys(answer, shown), shown.apart, told, standing, strict=True
    ):
        # Where there is an upper bound only, the estimate itself says little.
        faint = [not sure, not sure, *[False] * (len(texts) - 2)]
        cells = [
            tag("td", text, class_="figure faint" if grey else "figure", data_key=key)
            for text, key, grey in zip(texts, own, faint, strict=True)
        ]
        if mark is not None:
            cells.append(tag("td", "yes" if mark else "no", class_="figure" if mark else "figure faint"))
        rows = last if apart else listed if sure or answer.found is None else doubtful
        rows.append(tag("tr", tag("td", _item(item), *[_OTHER] * bool(apart)), *cells))
    # Bodies of their own, which keep their places when the table is sorted.
    bodies = [tag("tbody", *listed)] if listed or not doubtful else []
    if doubtful:
        span = tag("th", "may be chance: perhaps nobody has these strings", colspan=str(1 + len(others)))
        bodies += [tag("tbody", tag("tr", span), class_="subheading"), tag("tbody", *doubtful)]
    bodies += [tag("tbody", *last, class_="apart")] * bool(last)
    captions = [tag("caption", caption)] * bool(caption)
    table = tag("table", *captions, tag("thead", head), *bodies, class_="stacks" if heads else "sorts stacks")
    return tag("div", table, class_="wide")


def _keys(answer: Answer, shown: Estimates) -> Iterator[list[str]]:
    # The sort keys of the columns of numbers; an interval is sorted by its lower end.
    low = None if shown.variance is None else shown.interval(answer.level)[0]
    used = [shown.values, shown.values, low, None if answer.found is None else answer.found.p_values]
    for i in range(len(shown)):
        yield [repr(float(column[i])) for column in used if column is not None]


def _item(item: object) -> Html:
    # Isolated, so that right-to-left text does not affect its neighbours.
    return tag("bdi", visible(item)) if str(item) else tag("i", "(empty)")


def reading_section(answer: Answer) -> Iterator[Html]:
    """How to read the estimates of an answer."""
    if not len(answer.estimates):
        return
    share, unit = f"{100 * answer.level:g}", visible(answer.unit)
    who = "who" if unit == "users" else "that"
    said = [f"Estimates are counts of {unit}. They are correct on average, and may be negative because of the noise."]
    low, high = (None, None) if answer.interval is None else answer.charted.interval(answer.level)
    if low is None or high is None:
        said = [_CHANGED]
    else:
        collisions = " and for hash collisions" * bool(answer.source.scheme.hash_seeds)
        said.append(
            f"{share} % of all intervals computed in this way contain the true count among the {unit} {who} reported. "
            f"They account for the noise that protects the {unit}{collisions}, but not for {unit} {who} did not report."
        )
    if low is not None and answer.picked:
        said.append(
            "Items that are picked because their estimates are large tend to be overestimated. The intervals allow for "
            "that: among the items picked, too, they contain the true count as often as they say. Estimates close to "
            "the last one picked owe most to chance, and their intervals reach further down."
        )
    if low is not None and high is not None and ((low <= 0) & (high >= 0)).any():
        said.append("Bars are hollow where the interval contains zero.")
    if low is not None and not np.all(answer.charted.significant if answer.picked else True):
        said.append(
            "“At most” marks items that cannot be told apart from noise: among many items that nobody has, some look "
            "as common by chance."
        )
    if answer.found is not None and answer.found.p_values is not None:
        said.append(
            "A p-value is the probability that this string, or any other string that nobody has, would look as common "
            "by chance. It is adjusted for the number of all possible strings. It answers whether anybody has the "
            "string; the interval answers how many, and may reach below zero although the p-value is small."
        )
    elif low is not None:
        said.append("If an interval contains zero, it is possible that nobody has the item.")
    yield tag(
        "section",
        tag("h2", "How to read the estimates"),
        tag("ul", *(tag("li", sentence) for sentence in said)),
        id="reading",
    )


_P_VALUES = (
    "The p-value says whether anyone has the string; the interval says how many. Strings that just passed have wide "
    "intervals."
)
_OTHER = tag("small", " (values that are not on the list)")
_CHOSEN = (
    "Each of these intervals is good for one item that you choose before you look at the estimates. They do not allow "
    "for picking large ones; the intervals above do. The items are in the order of the scheme."
)
_CHANGED = (
    "These estimates were post-processed to be more plausible. They are no longer correct on average, and the error of "
    "a single estimate is unknown."
)


class Grounded(Protocol):
    """An answer with the data behind it."""

    @property
    def source(self) -> Source:
        """The reports behind the answer."""

    def about(self) -> dict[str, str]:
        """Facts about the data behind the answer, as names and phrases."""


def facts_section(answer: Grounded) -> Html:
    """The data and the scheme behind an answer."""
    rows = {name: tag("tr", tag("th", name, scope="row"), tag("td", told)) for name, told in answer.about().items()}
    plain = [row for name, row in rows.items() if name not in _SPECIAL]
    special = [row for name, row in rows.items() if name in _SPECIAL]
    said = [tag("h2", "Data and scheme"), tag("table", tag("tbody", *plain), class_="facts")]
    if answer.source.skipped:
        heads = tag("tr", *(tag("th", name) for name in ("File", "Row group", "Reports", "Why")))
        lines = []
        for each in answer.source.skipped:
            group = "all" if each.group is None else str(each.group)
            reports = "unknown" if each.reports is None else f"{each.reports:,}"
            lines.append(tag("tr", *(tag("td", visible(text)) for text in (each.file, group, reports, each.reason))))
        said.append(tag("h3", "Left out when collecting"))
        said.append(tag("div", tag("table", tag("thead", heads), tag("tbody", *lines)), class_="wide"))
    said.append(
        tag(
            "details",
            tag("summary", "For specialists"),
            tag("table", tag("tbody", *special), class_="facts"),
            tag("p", _FINGERPRINT, class_="aside"),
        )
    )
    return tag("section", *said, id="facts")


_SPECIAL = ("Steps", "Definition", "Fingerprint")
_FINGERPRINT = (
    "Steps are what was done to the estimates after they were computed. The fingerprint identifies the scheme with all "
    "its parameters: reports can be added up only if their fingerprints are equal."
)
