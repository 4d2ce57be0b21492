"""The report: one self-contained HTML page with the figures, the findings about each, and the method."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

from ..pages.html import Html, document, picture, tag
from .agreement import TOLERANCE, Place, agreement
from .comparison_sheets import RANGES
from .evidence import chance_above
from .experiment import Citation
from .figure import Figure, Map, Sweep, wanted
from .findings import Finding, Outcome, Verdict
from .results import Results
from .sheets import Sheet

Judged = Sequence[tuple[Finding, Verdict]]

_BADGES = {
    Outcome.REPRODUCED: ("reproduced", "✓ reproduced"),
    Outcome.NOT_REPRODUCED: ("not-reproduced", "✗ not reproduced"),
    Outcome.REVERSED: ("reversed", "↺ reversed: holds only in the program"),
    Outcome.DECODER: ("partly", "◒ holds for the paper's decoder"),
    Outcome.UNCLEAR: ("unclear", "≈ cannot be told"),
    Outcome.OTHER_DATA: ("unclear", "≈ cannot be told: other data"),
    Outcome.TOO_FEW: ("unclear", "… too few users to tell"),
    Outcome.NUMPY: ("partly", "◐ holds with NumPy kernels"),
    Outcome.COMPILED: ("partly", "◑ holds with compiled kernels"),
    Outcome.OPEN: ("not-measured", "○ not measured"),
    Outcome.FAILED: ("not-measured", "⚠ not judged: its check failed"),
}
"""CSS class and text of each badge; sign and border distinguish them without colours."""
_KINDS = {"fig": "Figure", "table": "Table", "extra": "Extra"}
_FEW = 10
"""Maximum number of values of a sweep that are listed in full."""
_COLUMNS = 6
"""Maximum number of columns of a table that fits a telephone."""


@dataclass(frozen=True)
class Part:
    """A figure in the report: the command that measures it, and its plot (SVG), its table, or both."""

    figure: Figure
    command: str
    svg: str | None = None
    table: Sheet | None = None
    narrow: str | None = None
    """The plot for the width of a telephone (SVG)."""


@dataclass(frozen=True)
class Heading:
    """Heading of the report: a title, a paragraph, and the publication it is about."""

    title: str
    about: str = ""
    citation: Citation | None = None


def report_page(
    parts: Sequence[Part], verdicts: Judged, results: Results, *, heading: Heading, quick: bool = False
) -> str:
    """The report as an HTML page; the same figures and results give the same text."""
    return document(
        heading.title,
        _header(heading, verdicts, quick=quick),
        tag(
            "main",
            *([_summary(verdicts, parts)] if verdicts else []),
            *([_contents(parts)] if len(parts) > 1 else []),
            *_sections(parts, verdicts, heading.title),
            *_laws(parts, results),
            _method(parts, results),
        ),
        _footer(heading.citation),
    )


def report_markdown(verdicts: Judged, *, quick: bool = False) -> str:
    """The report on findings as Markdown: claim, verdict, numbers and explanation."""
    own = [(finding, verdict) for finding, verdict in verdicts if finding.ours]
    others: dict[str, list[tuple[Finding, Verdict]]] = {}
    for finding, verdict in verdicts:
        if finding.source:
            others.setdefault(finding.source, []).append((finding, verdict))
    verdicts = [(finding, verdict) for finding, verdict in verdicts if finding.of_paper]
    of = _chapters({finding.section.partition(".")[0] for finding, _ in verdicts})
    lines = ["# Verdicts on the paper's findings", ""]
    if verdicts:
        lines += [f"{_claims(verdicts)}{of}: {_counted(verdicts)}.", ""]
    if quick:
        lines += [_QUICK, ""]
    lines += [_RULES, "", *_kinds(verdicts)]
    errors = [(finding, verdict) for finding, verdict in verdicts if not finding.is_timing]
    times = [(finding, verdict) for finding, verdict in verdicts if finding.is_timing]
    for section in dict.fromkeys(finding.section for finding, _ in errors):
        lines += [f"## Section {section}", ""]
        lines += _told([(finding, verdict) for finding, verdict in errors if finding.section == section])
    if times:
        lines += ["## Times", "", _TIMES, "", *_told(times)]
    for source, told in others.items():
        lines += [f"## {source}", "", f"{_claims(told)} of {source}: {_counted(told)}.", "", *_told(told)]
    if own:
        lines += ["## Not in the paper", "", f"{_claims(own)} of our own: {_counted(own)}.", "", *_told(own)]
    return "\n".join(lines)


def _claims(verdicts: Judged) -> str:
    return f"{len(verdicts)} claim{'s' * (len(verdicts) > 1)}"


def _counted(verdicts: Judged) -> str:
    counted = Counter(verdict.outcome for _, verdict in verdicts)
    return ", ".join(f"{counted[outcome]} × {outcome}" for outcome in Outcome if counted[outcome])


def _told(verdicts: Judged) -> Iterator[str]:
    for finding, verdict in verdicts:
        seen = ", ".join(_heading(name) for name in finding.figures)
        where = f"section {finding.section}, {seen}" if finding.is_timing else seen
        yield f"**{finding.claim}** {_BADGES[verdict.outcome][1]} ({where})\n"
        if verdict.numbers:
            yield f"{_sentence(verdict.numbers)}\n"
        if verdict.why:
            yield f"{_sentence(verdict.why)}\n"
        if verdict.rule:
            yield f"*Rule: {_sentence(verdict.rule)}*\n"


_RULES = (
    "A number after ± is one standard error. Ratios are geometric means over the repeats; their errors are Student's, "
    "repeat by repeat where two lines read the same reports, and independent otherwise, because every setting has its "
    "own seeds. A claim is called reproduced if each comparison in its rule holds, and not reproduced if one of them "
    "fails, in both cases with a probability of error of at most 1 % for the claim as a whole: each comparison must "
    "hold at 1 %, or one must fail at 1 % divided by their number. Otherwise it cannot be told. The crowd is the same "
    "in all repeats, so the errors are those of the noise and of the hash functions."
)
_READINGS = (
    "Where the paper's text and its published program differ, both are judged. The verdict is that of the text's "
    "definitions, unless the rule begins with the program."
)
_MEANINGS = {
    Outcome.REVERSED: "the published program shows it, and the text's definitions refute it at the same level. It does "
    "not mean that the opposite is true.",
    Outcome.DECODER: "the text's errors and the program's both show it, and a decoder that uses everything in the same "
    "reports refutes it at the same level.",
    Outcome.OTHER_DATA: "our numbers differ from the printed ones, which are of data that we do not have.",
}
"""Kinds of verdicts that their names do not explain."""
_TIMES = (
    "Times say as much about a program as about a protocol. Each claim is judged twice: with the compiled kernels, and "
    "with the NumPy kernels, which are vectorised too, and far faster than the loops of the paper's program."
)


def _kinds(verdicts: Judged) -> list[str]:
    # How text and program are combined, and what the verdicts that occur mean: paragraphs of Markdown.
    occurring = {verdict.outcome for _, verdict in verdicts}
    told = [f"* *{_capital(outcome)}*: {meaning}" for outcome, meaning in _MEANINGS.items() if outcome in occurring]
    return [_READINGS, "", *told, *([""] if told else [])]


def _capital(words: str) -> str:
    return words[0].upper() + words[1:]


_QUICK = (
    "A quick run with fewer repeats, points and users than the figures ask for: the numbers are rough, and the "
    "verdicts hold for the smaller sizes only."
)


def _chapters(numbers: set[str]) -> str:
    if not numbers or not all(number.isdecimal() for number in numbers):
        return ""
    first, last = min(map(int, numbers)), max(map(int, numbers))
    return f" of section {first}" if first == last else f" of sections {first} to {last}"


def _sentence(words: str) -> str:
    # Capitalise the first word, and add a full stop.
    begun = _capital(words) if re.match(r"[a-z]{2}", words) else words
    return begun if begun.endswith(".") else f"{begun}."


def _header(heading: Heading, verdicts: Judged, *, quick: bool) -> Html:
    said = [tag("h1", heading.title)]
    if heading.about:
        said.append(tag("p", heading.about, class_="lede"))
    if quick:
        said.append(tag("p", _QUICK, class_="note"))
    if verdicts:
        papers = [(finding, verdict) for finding, verdict in verdicts if finding.of_paper]
        counted = Counter(verdict.outcome for _, verdict in papers or verdicts)
        tiles = [
            tag("li", tag("b", str(counted[outcome])), words, class_=kind)
            for outcome, (kind, words) in _BADGES.items()
            if counted[outcome] or outcome in (Outcome.REPRODUCED, Outcome.NOT_REPRODUCED)
        ]
        said.append(tag("ul", *tiles, class_="counts"))
    return tag("header", *said)


def _summary(verdicts: Judged, parts: Sequence[Part]) -> Html:
    names = {part.figure.name for part in parts}
    rows = []
    for number, (finding, verdict) in enumerate(verdicts, 1):
        figures = [
            tag("a", _heading(name), href=f"#{name}") if name in names else Html(escape(_heading(name)))
            for name in finding.figures
        ]
        rows.append(
            tag(
                "tr",
                tag("td", tag("a", finding.claim, href=f"#{_anchor(number)}")),
                tag("td", "ours" if finding.ours else finding.source or finding.section, data_name="Section"),
                tag("td", *_between(figures, ", "), data_name="See"),
                tag("td", _badge(verdict.outcome)),
            )
        )
    heads = tag("tr", *(tag("th", name) for name in ("Claim", "Section", "See", "Verdict")))
    return tag(
        "section",
        tag("h2", "Verdicts on the paper's findings"),
        tag("table", tag("thead", heads), tag("tbody", *rows), class_="stacked"),
        tag("p", _RULES, class_="aside"),
        tag("p", _READINGS, class_="aside"),
        *(
            tag("p", tag("i", _capital(outcome)), f": {meaning}", class_="aside")
            for outcome, meaning in _MEANINGS.items()
            if any(verdict.outcome is outcome for _, verdict in verdicts)
        ),
        id="findings",
    )


def _contents(parts: Sequence[Part]) -> Html:
    entries = [
        tag(
            "li",
            tag("span", _heading(part.figure.name), class_="number"),
            tag("a", part.figure.title, href=f"#{part.figure.name}"),
        )
        for part in parts
    ]
    measured = tag("li", tag("span", "", class_="number"), tag("a", "How it was measured", href="#measured"))
    return tag("section", tag("nav", tag("h2", "Contents"), tag("ul", *entries, measured, class_="contents")))


def _sections(parts: Sequence[Part], verdicts: Judged, title: str) -> Iterator[Html]:
    # A claim about several figures appears below each of them; links lead to the first.
    left = {*range(1, len(verdicts) + 1)}
    for part in parts:
        here = {number for number in left if part.figure.name in verdicts[number - 1][0].figures}
        yield _section(part, verdicts, here, title)
        left -= here


def _section(part: Part, verdicts: Judged, anchored: Container[int], title: str) -> Html:
    figure = part.figure
    said = [tag("h2", tag("span", _heading(figure.name), class_="number"), " ", figure.title)]
    if figure.title == title:
        said = [tag("h2", "Results")]
    if figure.about:
        said.append(tag("p", figure.about, class_="about"))
    if part.svg is not None:
        said.append(_picture(figure, part.svg, part.narrow))
    if part.table is not None:
        said.append(_table(part.table))
    sources = dict.fromkeys(finding.source for finding, _ in verdicts if finding.source)
    claims = {(False, ""): "What the paper claims", **{(False, name): f"What {name} claim" for name in sources}}
    for (ours, source), heading in {**claims, (True, ""): "What we claim"}.items():
        findings = [
            _finding(finding, verdict, anchor=_anchor(number) if number in anchored else "")
            for number, (finding, verdict) in enumerate(verdicts, 1)
            if figure.name in finding.figures and (finding.ours, finding.source) == (ours, source)
        ]
        if findings:
            said += [tag("h3", heading), *findings]
    said += [tag("h3", "What was measured"), _sweeps(figure.sweeps)]
    said += [tag("h3", "Measure it again"), tag("pre", tag("code", part.command))]
    return tag("section", *said, id=figure.name)


def _picture(figure: Figure, svg: str, narrow: str | None) -> Html:
    panels = "; ".join(
        f"{getattr(panel, 'ylabel', 'lines')} over {panel.xlabel}: {panel.title}" for panel in figure.panels
    )
    if narrow is not None:
        return picture(svg, narrow=narrow, label=figure.title, alt=panels, class_="across-1 narrowed")
    # Pictures with maps are as narrow as a telephone.
    narrowest = any(isinstance(panel, Map) for panel in figure.panels)
    across = f"across-{1 if narrowest else min(4, len(figure.panels))}"
    return picture(svg, label=figure.title, alt=panels, class_=across)


def _finding(finding: Finding, verdict: Verdict, anchor: str) -> Html:
    said = [tag("p", finding.claim)]
    where = "not in the paper" if finding.ours else finding.source or f"section {finding.section}"
    said.append(tag("p", _badge(verdict.outcome), tag("span", where, class_="where")))
    if verdict.numbers:
        said.append(tag("p", _sentence(verdict.numbers), class_="measured"))
    if verdict.why:
        said.append(tag("p", verdict.why))
    if verdict.rule:
        said.append(tag("p", f"Rule: {_sentence(verdict.rule)}", class_="aside"))
    return tag("div", *said, class_="finding", **{"id": anchor} if anchor else {})


def _anchor(number: int) -> str:
    return f"claim-{number}"


def _badge(outcome: Outcome) -> Html:
    kind, words = _BADGES[outcome]
    return tag("span", words, class_=f"badge {kind}", title=str(outcome))


def _table(sheet: Sheet) -> Html:
    head = tag("tr", *(tag("th", name, **_side(place)) for place, name in enumerate(sheet.header)))
    named = len(sheet.header) > _COLUMNS
    rows = [
        tag("tr", *(tag("td", cell, **_side(place), **_name(name, named and place)) for place, (cell, name) in cells))
        for cells in (list(enumerate(zip(line, sheet.header, strict=True))) for line in sheet.lines)
    ]
    caption = [tag("p", sheet.caption, class_="aside")] if sheet.caption else []
    kind = {"class_": "stacked"} if named else {}
    return tag("div", tag("table", tag("thead", head), tag("tbody", *rows), **kind), *caption, class_="wide")


def _name(name: str, shown: object) -> dict[str, str]:
    # On a telephone, a row with many columns becomes a list of names and numbers.
    return {"data_name": name} if shown else {}


def _side(place: int) -> dict[str, str]:
    return {"class_": "figure"} if place else {}


def _sweeps(sweeps: Sequence[Sweep]) -> Html:
    rows = []
    for sweep in sweeps:
        place = {name: sweep.vary.get(name, [getattr(sweep, name)]) for name in ("data", "n", "d", "epsilon")}
        besides = "; ".join(f"{name}: {_values(values)}" for name, values in sweep.vary.items() if name not in place)
        labels = ", ".join(dict.fromkeys(line.label for line in sweep.lines))
        cells = (sweep.name, labels, *map(_values, place.values()), besides, str(sweep.repeats))
        names = ("Sweep", "Lines", "Data", "n", "d", "ε", "Other settings", "Repeats")
        rows.append(dict(zip(names, cells, strict=True)))
    columns = [name for name in rows[0] if any(row[name] for row in rows)]
    head = tag("tr", *(tag("th", name) for name in columns))
    body = [tag("tr", *(tag("td", row[name], data_name=name) for name in columns)) for row in rows]
    return tag("div", tag("table", tag("thead", head), tag("tbody", *body), class_="stacked"), class_="wide")


def _values(values: Sequence[Any]) -> str:
    told = [f"{value:,}" if isinstance(value, int) else f"{value:g}" if isinstance(value, float) else str(value)
            for value in values]  # fmt: skip
    if len(told) <= _FEW:
        return ", ".join(told)
    return f"{', '.join(told[:2])}, …, {told[-1]} ({len(told)} values)"


def _laws(parts: Sequence[Part], results: Results) -> Iterator[Html]:
    places = agreement(row for part in parts for row in part.figure.rows(results))
    if not places:
        return
    schemes: dict[str, list[Place]] = {}
    for place in places:
        schemes.setdefault(place.scheme, []).append(place)
    lines = [_law(name, own) for name, own in sorted(schemes.items())]
    header = ("scheme", "settings", "mean MSE / law", "lowest", "highest", "outliers")
    yield tag(
        "section",
        tag("h2", "Measured errors compared with theory"),
        tag("p", f"{_LAWS} {_by_chance({place.repeats for place in places})}", class_="about"),
        _table(Sheet("", header, tuple(lines))),
        id="laws",
    )


_LAWS = (
    "The measured MSE divided by the variance that the law predicts from the true counts, for every setting of an "
    "oracle above that has a variance law. Outliers are settings that are off by more than 5 % and by more than three "
    "standard errors."
)


def _by_chance(repeats: set[int]) -> str:
    # The standard error is itself estimated, so that three of them are exceeded as often as Student's law says.
    few, many = min(repeats), max(repeats)
    shares = [f"{200 * chance_above(3, count - 1):.2g}" for count in dict.fromkeys([many, few])]
    counts = " to ".join(map(str, dict.fromkeys([few, many])))
    return (
        f"The standard error is itself estimated from {counts} repeats, so that by chance alone "
        f"{' to '.join(shares)} % of the settings with standard errors above {100 * TOLERANCE / 3:.1f} % are outliers."
    )


def _law(name: str, places: Sequence[Place]) -> tuple[str, ...]:
    ratios = [place.ratio for place in places]
    numbers = [f"{number:.3f}" for number in (sum(ratios) / len(ratios), min(ratios), max(ratios))]
    return name, str(len(places)), *numbers, str(sum(not place.agrees for place in places))


def _method(parts: Sequence[Part], results: Results) -> Html:
    cells = wanted(part.figure for part in parts)
    known = {cell: views for cell, views in cells.items() if cell.key in results.origins}
    seconds = 0.0
    for cell, views in known.items():
        read = [results.metrics(cell, view) for view in views if not results.missing({cell: [view]})]
        seconds += sum(metrics["estimate_seconds"] for metrics in read if "estimate_seconds" in metrics)
        seconds += sum(read[0].get(side, 0.0) for side in ("client_seconds", "server_seconds")) if read else 0.0
    facts = {
        "Measurements": f"{len(known):,}",
        "Simulated users": f"{sum(cell.n for cell in known):,}",
        "Processor time": _duration(seconds),
        **_machines(results, {results.origins[cell.key] for cell in known}),
    }
    rows = [tag("tr", tag("th", name, scope="row"), tag("td", told)) for name, told in facts.items()]
    return tag(
        "section",
        tag("h2", "How it was measured"),
        tag("ul", *(tag("li", sentence) for sentence in _how(parts))),
        tag("table", tag("tbody", *rows)),
        id="measured",
    )


def _how(parts: Sequence[Part]) -> Iterator[str]:
    # Only sentences about what the page has.
    panels = [panel for part in parts for panel in part.figure.panels]
    lines = [one for part in parts for sweep in part.figure.sweeps for one in sweep.lines]
    yield _HOW[0]
    metrics = {getattr(panel, "metric", getattr(panel, "y", "")) for panel in panels}
    if not metrics or metrics - set(RANGES.metrics):
        yield _HOW[1] + _CLIPPED * any("clip" in f"{getattr(panel, 'y', '')} {panel.title}".lower() for panel in panels)
    if metrics & set(RANGES.metrics):
        yield _RANGES
    least = {getattr(panel, "y", "") for panel in panels if getattr(panel, "optimum", False)}
    yield _HOW[2] + _OPTIMUM * bool(least - {RANGES.squared}) + _BOUND * (RANGES.squared in least)
    if any(one.ours for one in lines):
        yield "Dashed lines show schemes and settings that are not in the paper."
    yield from _HOW[3:]


_HOW = (
    "Every simulated user makes a report with the released code, and every report is added up and decoded. No error is "
    "computed from a formula.",
    "MSE is the mean squared error of the estimated counts over all items; k-MSE is the same over the 50 most common "
    "items.",
    "A point is the mean over the repeats, its bar one standard error.",
    "Times are processor seconds of one thread: of all clients, of the server, and of the estimates.",
    "The seeds of a measurement are derived from its settings: measured again, it gives the same numbers, except for "
    "times.",
)


_CLIPPED = " Clipped means that estimates are rounded and negative ones are set to zero, as in the paper's program."
_RANGES = "Errors of ranges are root mean squares over all ranges of neighbouring items, as shares of the users."
_BOUND = (
    " The least possible error is that of unbiased answers to all ranges, if users are spread evenly; biased answers "
    "can go below it."
)
_OPTIMUM = (
    " The dotted line is n·4e^ε/(e^ε − 1)², the least error of unbiased estimates in a large domain; small domains and "
    "clipping can go below it."
)


def _machines(results: Results, origins: Iterable[Any]) -> Mapping[str, str]:
    told: dict[str, str] = {}
    for number, origin in enumerate(sorted(origins), 1):
        facts = results.machines.get(origin.machine, {})
        machine = f"{facts.get('cpu')}, {facts.get('cores')} cores, {facts.get('memory_gb')} GB, {facts.get('system')}"
        software = f"plausibly {origin.plausibly} ({origin.kernels} kernels), Python {facts.get('python')}, "
        software += f"NumPy {facts.get('numpy')}"
        which = f" {number}" if number > 1 else ""
        told |= {f"Machine{which}": machine, f"Software{which}": software}
    return told


def _footer(cited: Citation | None) -> Html:
    said = []
    if cited is not None:
        link = tag("a", cited.link.removeprefix("https://"), href=cited.link)
        said.append(tag("p", f"The paper: {cited.text} ", link))
    said.append(tag("p", "Generated by plausibly from its file of measurements."))
    return tag("footer", *said)


def _heading(name: str) -> str:
    known = re.fullmatch(r"(fig|table|extra)(\d+[a-z]?)", name)
    return f"{_KINDS[known[1]]} {known[2]}" if known else name


def _duration(seconds: float) -> str:
    hours, minutes = divmod(round(seconds / 60), 60)
    if seconds < 60:
        return f"{seconds:.0f} s" if seconds >= 10 else f"{seconds:.2g} s"
    return f"{hours} h {minutes} min" if hours else f"{minutes} min"


def _between(parts: Sequence[Html], separator: str) -> list[str]:
    return [piece for part in parts for piece in (separator, part)][1:]
