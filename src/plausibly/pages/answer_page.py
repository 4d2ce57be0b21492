"""Estimates on one HTML page: chart, table, instructions for reading them, and the data behind them."""

from __future__ import annotations

import hashlib
from base64 import b64encode
from collections.abc import Iterator
from dataclasses import replace

from ..core.wording import plural, visible
from .answers import Answer
from .charts import chart, svg_of, tree_chart
from .html import Html, document, picture, tag

MOST_ROWS = 1000


def answer_page(answer: Answer) -> str:
    """The HTML page of an answer, equal for equal estimates. Lists at most the 1,000 largest estimates."""
    table = replace(answer, largest=min(max(1, len(answer.estimates)), MOST_ROWS))
    title = visible(answer.title or ("Estimated counts" if answer.found is None else "Common strings"))
    answer = replace(answer, title=None)  # a heading is enough
    return document(
        title,
        _header(title, answer),
        tag(
            "main",
            *_chart(answer),
            _table(table, answer.picked and not table.picked),
            *_tree(answer),
            _reading(answer),
            _rests_on(answer),
        ),
        tag("footer", tag("p", "Written by plausibly.")),
        tag("script", Html(_SCRIPT)),
        style=_STYLE,
        policy=f"; script-src 'sha256-{b64encode(hashlib.sha256(_SCRIPT.encode()).digest()).decode()}'",
    )


def _header(title: str, answer: Answer) -> Html:
    made, scheme = answer.estimates, answer.source.scheme
    said = [tag("h1", title)]
    if answer.source.simulated:
        said.append(tag("p", tag("b", "Simulated"), " These reports are not from real users.", class_="simulated"))
    said.append(
        tag("p", f"{plural(len(made), 'item')} from {made.n:,} randomized reports, {scheme.name}.", class_="lede")
    )
    return tag("header", *said)


def _chart(answer: Answer) -> Iterator[Html]:
    if len(answer.estimates):
        heading = "The largest estimates" if answer.picked else "The estimates"
        alt = "Bar chart of the estimates; the numbers are in the table below"
        wide, narrow = svg_of(chart(answer)), svg_of(chart(answer, narrow=True))
        drawn = picture(wide, narrow=narrow, label="Estimates", alt=alt, class_="chart")
        yield tag("section", tag("h2", heading), tag("p", answer.good_for(), class_="about"), drawn, id="chart")


def _tree(answer: Answer) -> Iterator[Html]:
    if answer.found is not None and answer.found.trace:
        alt = "Tree of the steps of the search, from left to right, with the strings found at its tips"
        drawn = picture(svg_of(tree_chart(answer)), label="Search", alt=alt, class_="tree")
        said = "Every column is a step: the characters that its users reported, the number of these users, and the "
        said += "numbers of candidates examined and kept. Each node shows the characters that its step adds."
        yield tag("section", tag("h2", "How the strings were found"), tag("p", said, class_="about"), drawn, id="tree")


def _table(answer: Answer, more: bool) -> Html:
    # ``more``: the table has all items, and the chart shows a selection of them.
    notes = [*answer.notes(picked=False), *[_ALL] * (more and answer.estimates.variance is not None)]
    said = [tag("h2", "In numbers"), *(tag("p", note, class_="about") for note in notes)]
    if not len(answer.estimates):
        return tag("section", *said, tag("p", "Nothing to list.", class_="about"), id="numbers")
    first, *others = answer.header()
    head = tag("tr", tag("th", first), *(tag("th", name, class_="figure") for name in others))
    listed: list[Html] = []
    last: list[Html] = []
    for (item, *texts), own, apart in zip(answer.lines(), _keys(answer), answer.shown.apart, strict=True):
        cells = [tag("td", text, class_="figure", data_key=key) for text, key in zip(texts, own, strict=True)]
        (last if apart else listed).append(tag("tr", tag("td", _item(item), *[_OTHER] * bool(apart)), *cells))
    # A body of its own, which stays last when the table is sorted.
    bodies = [tag("tbody", *listed), *[tag("tbody", *last, class_="apart")] * bool(last)]
    table = tag("table", tag("thead", head), *bodies, class_="sorts stacks")
    return tag("section", *said, tag("div", table, class_="wide"), id="numbers")


def _keys(answer: Answer) -> Iterator[list[str]]:
    # The sort keys of the columns of numbers; an interval is sorted by its lower end.
    made, found = answer.shown, answer.found
    low = None if made.variance is None else made.interval(answer.level)[0]
    used = [made.values, made.values, low, None if found is None else found.p_values]
    for i in range(len(made)):
        yield [repr(float(column[i])) for column in used if column is not None]


def _item(item: object) -> Html:
    # Isolated, so that right-to-left text does not affect its neighbours.
    return tag("bdi", visible(item)) if str(item) else tag("i", "(empty)")


def _reading(answer: Answer) -> Html:
    share = f"{100 * answer.level:g}"
    said = [
        f"Estimates are counts of {visible(answer.unit)}. They are correct on average, and may be negative because of "
        "the noise."
    ]
    if answer.estimates.variance is None:
        said = [_CHANGED]
    else:
        said.append(
            f"{share} % of all intervals computed in this way contain the true count among the users who reported. "
            "They account for the noise that protects the users and for hash collisions, but not for users who did "
            "not report."
        )
    if answer.picked and answer.estimates.variance is not None:
        said.append(
            "Items that are picked because their estimates are large tend to be overestimated. The intervals allow for "
            "that: among the items picked, too, they contain the true count as often as they say. Estimates close to "
            "the last one picked owe most to chance, and their intervals reach further down. Hollow bars and “at most” "
            "mark items that cannot be told apart from noise: among many items that nobody has, some look as common by "
            "chance."
        )
    if answer.found is not None and answer.found.p_values is not None:
        said.append(
            "A p-value is the probability that this string, or any other string that nobody has, would look as common "
            "by chance. It is adjusted for the number of all possible strings. It answers whether anybody has the "
            "string; the interval answers how many, and may reach below zero although the p-value is small."
        )
    elif answer.estimates.variance is not None:
        said.append("If an interval contains zero, it is possible that nobody has the item.")
    return tag(
        "section",
        tag("h2", "How to read the estimates"),
        tag("ul", *(tag("li", sentence) for sentence in said)),
        id="reading",
    )


_OTHER = tag("small", " (values that are not on the list)")
_ALL = (
    "This table has all items, so nothing was picked: its intervals are valid for an item that you choose without "
    "looking at the estimates. The chart shows the largest estimates, and its intervals allow for that."
)
_CHANGED = (
    "These estimates were post-processed to be more plausible. They are no longer correct on average, and the error of "
    "a single estimate is unknown."
)


def _rests_on(answer: Answer) -> Html:
    rows = [tag("tr", tag("th", name, scope="row"), tag("td", told)) for name, told in answer.about().items()]
    said = [tag("h2", "Data and scheme"), tag("table", tag("tbody", *rows), class_="facts")]
    if answer.source.skipped:
        heads = tag("tr", *(tag("th", name) for name in ("File", "Row group", "Reports", "Why")))
        lines = []
        for each in answer.source.skipped:
            group = "all" if each.group is None else str(each.group)
            reports = "unknown" if each.reports is None else f"{each.reports:,}"
            lines.append(tag("tr", *(tag("td", visible(text)) for text in (each.file, group, reports, each.reason))))
        said.append(tag("h3", "Left out when collecting"))
        said.append(tag("div", tag("table", tag("thead", heads), tag("tbody", *lines)), class_="wide"))
    return tag("section", *said, id="facts")


_STYLE = """
.simulated { border: 3px double var(--turned); background: var(--turned-tint); padding: 0.6rem 1rem; max-width: none; }
.simulated b { display: block; font: 700 2.4rem/1.2 var(--sans); letter-spacing: 0.08em; text-transform: uppercase; }
.simulated b { color: var(--turned); }
.picture img.chart { width: 100%; max-width: 46rem; }
.picture img.tree { width: auto; min-width: min(46rem, 100%); max-width: 100%; }
td bdi { white-space: pre-wrap; overflow-wrap: anywhere; }
.sorts td:first-child { min-width: 8.5rem; }
td.figure { white-space: pre; }
.facts th { width: 9rem; }
.facts td { overflow-wrap: anywhere; }
.sorts { width: auto; min-width: min(46rem, 100%); }
.sorts button { font: inherit; color: inherit; background: none; border: 0; padding: 0; cursor: pointer; }
.sorts th[aria-sort="ascending"] button::after { content: " ↑"; }
.sorts th[aria-sort="descending"] button::after { content: " ↓"; }
@media (max-width: 46rem) {
  .picture img.chart { width: 100%; min-width: 0; max-width: 27rem; }
  .picture img.tree { width: auto; min-width: 46rem; max-width: none; }
  .sorts { min-width: 0; width: 100%; }
  .sorts td:first-child { min-width: 0; }
}
@media print { .picture img.tree { max-width: 100%; } }
"""

# A click on a column header sorts the table. Without scripts, the table is shown unsorted.
_SCRIPT = """
for (const table of document.querySelectorAll("table.sorts")) {
  const heads = [...table.tHead.rows[0].cells], body = table.tBodies[0];
  heads.forEach((head, column) => {
    const button = document.createElement("button");
    button.append(...head.childNodes);
    head.append(button);
    button.addEventListener("click", () => {
      const before = head.getAttribute("aria-sort");
      const down = before ? before === "ascending" : column > 0;
      heads.forEach((each) => each.removeAttribute("aria-sort"));
      head.setAttribute("aria-sort", down ? "descending" : "ascending");
      const rows = [...body.rows].map((row) => {
        const cell = row.cells[column];
        return [cell.dataset.key === undefined ? cell.textContent : Number(cell.dataset.key), row];
      });
      const compare = (a, b) => (typeof a === "number" ? a - b : a.localeCompare(b));
      rows.sort((a, b) => (down ? -1 : 1) * compare(a[0], b[0]));
      body.append(...rows.map((row) => row[1]));
    });
  });
}
"""
