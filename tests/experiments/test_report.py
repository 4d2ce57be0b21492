"""The report: everything is in it, nothing is asked from elsewhere, and no text becomes markup."""

from __future__ import annotations

import base64
import re
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from urllib.parse import unquote
from xml.etree import ElementTree

import pytest

from plausibly.experiments.experiment import Citation
from plausibly.experiments.figure import Figure, Panel, Sweep, Table, line, wanted
from plausibly.experiments.findings import Finding, Outcome, Verdict
from plausibly.experiments.plots import draw_plots
from plausibly.experiments.report import Heading, Part, report_markdown, report_page, tag
from plausibly.experiments.results import Results
from plausibly.experiments.sheets import Sheet
from plausibly.experiments.tables import table_of
from reproduction.figures import FIGURES

HOSTILE = "<script>alert(1)</script>\"' onload=x &amp; </style>]]>"
PAPER = Heading("A paper", "About it.", Citation("Its authors.", "https://doi.org/10.14778/3476249.3476261"))
SVG = '<?xml version="1.0"?><!-- c --><svg xmlns="http://www.w3.org/2000/svg"><text x="1.23456">0.00025</text></svg>'


class Reader(HTMLParser):
    """Elements with their attributes, and the text; a tag that is not closed in order is an error."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str]]] = []
        self.text = ""
        self._open: list[str] = []
        self.feed(text)
        self.close()
        assert self._open == []

    def handle_starttag(self, name: str, attributes: Any) -> None:
        self.elements.append((name, dict(attributes)))
        if name not in ("img", "meta"):
            self._open.append(name)

    def handle_endtag(self, name: str) -> None:
        assert self._open.pop() == name

    def handle_data(self, text: str) -> None:
        if self._open[-1:] != ["style"]:
            self.text += text

    def all(self, attribute: str) -> list[str]:
        return [given[attribute] for _, given in self.elements if attribute in given]


def small(name: str = "fig1", **given: Any) -> Figure:
    sweep = Sweep(name="by-epsilon", lines=[line("DE"), line("OUE")], vary={"epsilon": [1, 2]}, n=100, d=4, repeats=2)
    panels = [Panel(title=letter, sweeps=["by-epsilon"], x="epsilon", xlabel="ε") for letter in "ab"]
    return Figure(**{"name": name, "title": "Small", "sweeps": [sweep], "panels": panels} | given)


def measured(*figures: Figure) -> Results:
    results = Results()
    metrics = {"mse": 2.0, "mse_clipped": 2.0, "k_mse": 2.0, "k_mse_clipped": 2.0, "mse_theory": 2.0, "f1": 0.5}
    metrics |= {"seconds": 3.0, "estimate_seconds": 1.0, "mse_optimum": 0.5}
    metrics |= dict.fromkeys(("gain", "formula", "covered", "alarm"), 1.0)
    for cell, views in wanted(figures).items():
        results.add(
            cell, {"client_seconds": 2.0, "server_seconds": 0.5, "report_bytes": 1}, {str(v): metrics for v in views}
        )
    return results


def finding(name: str, *figures: str, claim: str = "It is so.") -> Finding:
    return Finding(name, "7.1", claim, figures, lambda rows: Verdict(Outcome.OPEN, ""))


JUDGED = [
    (finding("one", "fig1", claim="One is best."), Verdict(Outcome.REPRODUCED, "1 against 2.")),
    (finding("two", "fig2", "fig1", claim="Two is worse."), Verdict(Outcome.NOT_REPRODUCED, "3 against 2.", "Luck.")),
    (finding("three", "fig2", "fig10", claim="Three turns."), Verdict(Outcome.REVERSED, "4.", "A defect.")),
    (finding("four", "fig10", "fig2", claim="Four waits."), Verdict(Outcome.OPEN, "")),
]


def test_every_figure_has_its_picture_claims_parameters_and_command() -> None:
    figures = [small("fig1", about="What is seen."), small("fig2")]
    parts = [Part(figure, f"plausibly reproduce {figure.name}", SVG) for figure in figures]
    read = Reader(report_page(parts, JUDGED, measured(*figures), heading=PAPER))
    for words in ("What is seen.", "plausibly reproduce fig2", "DE, OUE", "One is best.", "3 against 2.", "A defect."):
        assert words in read.text
    for words in ("✓ reproduced", "✗ not reproduced", "↺ reversed: holds only in the program", "○ not measured"):
        assert words in read.text  # legible without colours
    assert read.text.count("Two is worse.") == 3  # in the summary, and below both of its figures
    assert "8" in read.text
    assert "28 s" in read.text  # eight cells of 3.5 s
    (facts,) = measured(figures[0]).machines.values()
    assert facts["cpu"] in read.text


def test_links_lead_to_something_and_names_are_there_once() -> None:
    figures = [small("fig1"), small("fig2")]
    read = Reader(
        report_page([Part(figure, "x", SVG) for figure in figures], JUDGED, measured(*figures), heading=PAPER)
    )
    names = read.all("id")
    assert len(set(names)) == len(names)
    inside = [link[1:] for link in read.all("href") if link.startswith("#")]
    assert set(inside) <= set(names)
    assert {"fig1", "fig2", "claim-1", "claim-2", "claim-3", "claim-4", "measured"} <= set(inside)


def test_nothing_is_asked_from_elsewhere() -> None:
    text = report_page([Part(small(), "x", SVG)], JUDGED, measured(small()), heading=PAPER)
    read = Reader(text)
    assert all(source.startswith("data:image/svg+xml,") for source in read.all("src"))
    assert {link for link in read.all("href") if not link.startswith("#")} == {
        "https://doi.org/10.14778/3476249.3476261"
    }
    assert {name for name, _ in read.elements} & {"script", "link", "iframe", "object", "base", "form"} == set()
    assert any("default-src 'none'" in policy for policy in read.all("content"))
    assert not re.search(r"@import|url\(", text)


def test_no_text_becomes_markup() -> None:
    lines = [line(HOSTILE, "DE")]
    sweep = Sweep(name=HOSTILE, lines=lines, vary={HOSTILE: [HOSTILE, 1]}, data=HOSTILE, n=1, d=1, repeats=1)
    panel = Panel(title=HOSTILE, sweeps=[HOSTILE], x="epsilon", xlabel=HOSTILE, ylabel=HOSTILE)
    figure = small(title=HOSTILE, about=HOSTILE, sweeps=[sweep], panels=[panel])
    table = Sheet(HOSTILE, (HOSTILE,), ((HOSTILE,),), HOSTILE)
    told = Verdict(Outcome.REVERSED, HOSTILE, HOSTILE)
    judged = [(Finding(HOSTILE, HOSTILE, HOSTILE, ("fig1", HOSTILE), lambda rows: told), told)]
    results = measured(figure)
    next(iter(results.machines.values())).update(cpu=HOSTILE)
    read = Reader(
        report_page(
            [Part(figure, HOSTILE, SVG.replace("0.00025", "&lt;b&gt;"), table)],
            judged,
            results,
            heading=Heading(HOSTILE, HOSTILE, Citation(HOSTILE, "https://example.org")),
        )
    )
    assert {name for name, _ in read.elements} & {"script", "b"} <= {"b"}  # the counts are bold
    assert not [name for _, given in read.elements for name in given if name.startswith("on")]
    assert read.text.count(HOSTILE) >= 15


def test_pictures_are_the_same_to_the_eye() -> None:
    (source,) = Reader(report_page([Part(small(), "x", SVG)], [], measured(small()), heading=PAPER)).all("src")
    picture = ElementTree.fromstring(unquote(source.partition(",")[2]))
    (text,) = picture
    assert (text.text, text.attrib) == ("0.00025", {"x": "1.23"})


@pytest.mark.full
def test_a_drawn_picture_stays_whole(tmp_path: Path) -> None:
    figure = small()
    rows = list(figure.rows(results := measured(figure)))
    drawing = draw_plots(figure, rows, tmp_path)[1].read_text(encoding="utf-8")
    (source,) = Reader(report_page([Part(figure, "x", drawing)], [], results, heading=PAPER)).all("src")
    inside = unquote(source.partition(",")[2])
    texts = [[each.text for each in ElementTree.fromstring(svg).iter() if each.text] for svg in (drawing, inside)]
    assert [t.strip() for t in texts[1] if t.strip()] == [
        t.strip() for t in texts[0] if t.strip() and not t.strip().startswith(("Matplotlib", "image/", "\n"))
    ]
    assert len(source) < len(base64.b64encode(drawing.encode()))


def test_tables_and_quick_runs_and_experiments_of_ones_own_are_told() -> None:
    columns = {"word": None, "error": lambda mean: f"{mean['mse']:.1f}"}
    table = Table(sweeps=["by-epsilon"], said={"DE": ["direct"]}, columns=columns)
    figure = small("mine", panels=[], table=table)
    results = measured(figure)
    part = Part(figure, "plausibly reproduce mine.py", None, table_of(figure, table, list(figure.rows(results))))
    read = Reader(report_page([part], [], results, heading=Heading("Mine"), quick=True))
    assert "direct" in read.text
    assert "A quick run" in read.text
    assert "The paper:" not in read.text
    assert "img" not in {name for name, _ in read.elements}


@pytest.mark.parametrize(("repeats", "words"), [(2, "2 repeats, so that by chance alone 20 %"),
                                                (3, "3 repeats, so that by chance alone 9.5 %"),
                                                (5, "5 repeats, so that by chance alone 4 %")])  # fmt: skip
def test_the_page_states_the_repeats_and_the_outliers_of_the_run(repeats: int, words: str) -> None:
    figure = small(sweeps=[replace(small().sweeps[0], repeats=repeats)])
    text = Reader(report_page([Part(figure, "x", SVG)], [], measured(figure), heading=PAPER)).text
    assert f"estimated from {words} of the settings with standard errors above 1.7 %" in text


def test_the_page_explains_only_what_it_shows() -> None:
    text = Reader(report_page([Part(small(), "x", SVG)], [], measured(small()), heading=Heading("Small"))).text
    assert "Dashed lines" not in text
    assert "Results" in text, "the heading is not repeated"
    ours = replace(small().sweeps[0], lines=[replace(one, ours=True) for one in small().sweeps[0].lines])
    assert "Dashed lines" in Reader(
        report_page([Part(small(sweeps=[ours]), "x", SVG)], [], measured(small(sweeps=[ours])), heading=PAPER)
    ).text  # fmt: skip


def test_a_panel_alone_says_that_its_description_is_of_the_whole_figure() -> None:
    assert small(about="At the left, a.").panel("b").about.startswith("Only panel b, “b”")
    assert not small().panel("b").about


def test_the_same_rows_give_the_same_page() -> None:
    first, again = (report_page([Part(small(), "x", SVG)], JUDGED, measured(small()), heading=PAPER) for _ in range(2))
    assert first == again


def test_without_a_measurement_there_is_a_page() -> None:
    assert "How it was measured" in Reader(report_page([Part(small(), "x")], [], Results(), heading=PAPER)).text


def test_what_is_markup_stays_so() -> None:
    assert tag("td", tag("i", "<"), "<", data_name='"') == '<td data-name="&quot;"><i>&lt;</i>&lt;</td>'


@pytest.mark.full
def test_the_heaviest_figure_is_light(tmp_path: Path) -> None:
    # The page of all figures is to stay below 4 MB; the others are half as heavy, as many panels as this one has.
    figure = max(FIGURES.values(), key=lambda one: len(one.panels))
    results = measured(figure)
    drawing = draw_plots(figure, list(figure.rows(results)), tmp_path)[1].read_text(encoding="utf-8")
    assert len(report_page([Part(figure, "x", drawing)], [], results, heading=PAPER).encode()) < 300_000


def test_claims_name_their_sections() -> None:
    one, two = finding("one", "fig1"), Finding("two", "9", "It is so.", ("fig1",), lambda rows: verdict)
    verdict = Verdict(Outcome.REPRODUCED, "")
    assert "1 claim of section 7: 1 × reproduced." in report_markdown([(one, verdict)])
    assert "2 claims of sections 7 to 9: 2 × reproduced." in report_markdown([(one, verdict), (two, verdict)])


def test_rules_are_told_and_times_have_their_own_section() -> None:
    timed = Finding("fast", "7.2", "It is fast.", ("fig2",), lambda rows: Verdict(Outcome.OPEN, ""), is_timing=True)
    told = [
        (timed, Verdict(Outcome.NUMPY, "2 s and 1 s")),
        (finding("one", "fig1"), Verdict(Outcome.UNCLEAR, "1 ± 1", "Noise.", "the ratio is above 1 (p = 0.3)")),
    ]
    text = report_markdown(told)
    assert "2 claims of section 7: 1 × cannot be told, 1 × holds with NumPy kernels." in text
    assert "*Rule: The ratio is above 1 (p = 0.3).*" in text
    assert text.index("## Section 7.1") < text.index("## Times") < text.index("It is fast.")
    assert "at most 1 %" in text
    page = Reader(report_page([Part(small(), "x", SVG)], told, measured(small()), heading=PAPER))
    assert "Rule: The ratio is above 1 (p = 0.3)." in page.text
    assert "≈ cannot be told" in page.text


def test_verdicts_that_their_names_do_not_explain_are_explained_where_they_occur() -> None:
    told = [
        (finding("one", "fig1"), Verdict(Outcome.DECODER, "1 and 2.")),
        (finding("two", "fig1"), Verdict(Outcome.OTHER_DATA, "3.")),
    ]
    page = Reader(report_page([Part(small(), "x", SVG)], told, measured(small()), heading=PAPER)).text
    for text in (report_markdown(told), page):
        assert "The verdict is that of the text's definitions, unless the rule begins with the program." in text
        assert "a decoder that uses everything in the same reports refutes it" in text
        assert "data that we do not have" in text
        assert "It does not mean that the opposite is true" not in text  # nothing is reversed
    assert "does not mean that the opposite is true" in report_markdown(JUDGED)


def test_claims_that_are_not_the_papers_have_headings_of_their_own() -> None:
    others = replace(finding("two", "fig1", claim="Two is worse."), section="", source="Ada and Bob (2021)")
    own = replace(finding("three", "fig1", claim="Three is ours."), section="", ours=True)
    told = [(one, Verdict(Outcome.REPRODUCED, "1.")) for one in (finding("one", "fig1"), others, own)]
    text = report_markdown(told)
    assert "1 claim of section 7: 1 × reproduced." in text
    assert "## Ada and Bob (2021)\n\n1 claim of Ada and Bob (2021): 1 × reproduced." in text
    assert "## Not in the paper\n\n1 claim of our own: 1 × reproduced." in text
    page = Reader(report_page([Part(small(), "x", SVG)], told, measured(small()), heading=PAPER)).text
    heads = ["What the paper claims", "What Ada and Bob (2021) claim", "What we claim"]
    assert [page.index(head) for head in heads] == sorted(page.index(head) for head in heads)
    assert all(page.count(head) == 1 for head in heads)


def test_a_report_may_be_about_claims_of_our_own_alone() -> None:
    own = replace(finding("three", "fig1"), section="", ours=True)
    text = report_markdown([(own, Verdict(Outcome.REPRODUCED, "1."))])
    assert "1 claim of our own: 1 × reproduced." in text
    assert "of section" not in text
