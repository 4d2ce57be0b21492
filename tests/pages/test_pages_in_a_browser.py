"""The HTML files of answers in a real browser: no message, no overflow, no barrier, and nothing is loaded."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import pytest

import browsing
import plausibly
from plausibly import Ordered, SeededRandom, Strings, Table, changes, make, series
from plausibly.core.ordered_estimates import OrderedEstimates
from plausibly.files.tallies import Collected
from plausibly.pages.answer_page import answer_page
from plausibly.pages.answers import Answer
from plausibly.pages.changes import ChangeReport, changes_page
from plausibly.pages.table_page import table_page
from plausibly.pages.tables import TableAnswer
from plausibly.pages.trends import Trend, trend_page

pytestmark = pytest.mark.full
PLANTS = ["fern", "moss", "<b>oak</b>", "שלום", "a name that is much longer than a telephone is wide", "x" * 120]


def tallied(scheme: Any, values: list[Any], seed: int = 1) -> Collected:
    tally = scheme.accumulator()
    tally.add(scheme.privatize(values, SeededRandom(seed)))
    return Collected(tally)


def listed() -> str:
    source = tallied(make("OUE", epsilon=2, domain=PLANTS), PLANTS[:2] * 2000 + PLANTS * 200)
    return answer_page(Answer(source.tally.estimate(), source))


def many() -> str:
    source = tallied(make("HR", epsilon=2, domain_size=2000), [7] * 9000)
    return answer_page(Answer(source.tally.estimate().top(20), source, largest=20))


def ordered() -> str:
    source = tallied(make("SLIDE", epsilon=2, domain=Ordered(0, 120, unit="years")), [30] * 5000 + [60] * 5000)
    made = source.tally.estimate()
    assert isinstance(made, OrderedEstimates)
    asked = made.cdf(simultaneous=True), made.quantiles((0.25, 0.5, 0.75)), made.mean_answer(), made.binned()
    return answer_page(Answer(made, source, asked=asked))


def found() -> str:
    source = tallied(plausibly.TRELLIS(4, domain=Strings("abcdefgh", 12), users=4000), ["abc"] * 3000 + ["feed"] * 1000)
    return answer_page(Answer(source.tally.search(k=10, level=0.05), source, largest=10, significance=0.05))


def changed() -> str:
    scheme = make("OUE", epsilon=2, domain=PLANTS)
    before, after = tallied(scheme, PLANTS * 500, 1), tallied(scheme, PLANTS[:3] * 1000, 2)
    return changes_page(ChangeReport(changes(before.tally.estimate(), after.tally.estimate()), before, after))


def trend() -> str:
    scheme = make("OUE", epsilon=2, domain=PLANTS)
    days = [tallied(scheme, PLANTS * 100 + PLANTS[:1] * 20 * day, day) for day in range(9)]
    slots = series({i: day.tally.estimate() for i, day in enumerate(days)}, rota=3).shares()
    labels = [f"2026-03-0{1 + day}" for day in range(9)]
    return trend_page(Trend(slots, labels, days[0], means=slots.mean(3)))


def crossed() -> str:
    survey = Table({"browser": ["Firefox", "<i>Chrome</i>"], "theme": ["dark", "light"], "age": Ordered(0, 9)})
    source = tallied(make("CLIQUE", epsilon=2, domain=survey), [("Firefox", "dark", 3), ("Firefox", None, 4)] * 1000)
    return table_page(TableAnswer(source.tally.table("browser", "age"), source))


PAGES = {each.__name__: cache(each) for each in (listed, many, ordered, found, changed, trend, crossed)}


@pytest.mark.parametrize(
    ("width", "dark"),
    [
        (360, False),
        *(
            pytest.param(*look, marks=pytest.mark.slow)
            for look in ((360, True), (768, False), (1280, False), (1280, True))
        ),
    ],
)
@pytest.mark.parametrize("name", PAGES)
def test_a_page_has_no_message_barrier_or_overflow(name: str, width: int, dark: bool, tmp_path: Path) -> None:
    file = tmp_path / "page.html"
    file.write_text(PAGES[name](), encoding="utf-8")
    with browsing.page(width=width, dark=dark) as page:
        page.goto(file.as_uri())
        page.evaluate("() => { for (const each of document.querySelectorAll('details')) each.open = true; }")
        assert page.evaluate("() => [...document.images].every((each) => each.naturalWidth > 0)")
        assert not page.overflows()
        assert page.violations() == []
        assert page.messages() == []
        loaded = [each["url"] for each in page.requests() if not each["url"].startswith("data:")]
        assert loaded == [file.as_uri()]
