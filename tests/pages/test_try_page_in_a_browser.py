"""The try page in a real browser: from a file and from the collector, one report and a crowd."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import browsing
from plausibly import Labels, make
from plausibly.pages.try_page import FILE
from serving import serving

pytestmark = pytest.mark.full
SECRETS = ["A phone", "Nothing", "A book", "Television", "Music", "Wine", "Pills", "Something else"]
SHARES = [31, 22, 16, 12, 8, 5, 2, 4]
STANDALONE = FILE.as_uri()


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of the page on a collector."""
    with serving(tmp_path_factory.mktemp("trying") / "collector") as server:
        yield f"http://127.0.0.1:{server.port}/dashboard/try"


def scheme(kind: str, epsilon: str) -> Any:
    return make(kind, epsilon=epsilon, domain=Labels(SECRETS[:-1], other=True))


def texts(page: browsing.Page, selector: str) -> list[str]:
    found: list[str] = page.evaluate("(s) => [...document.querySelectorAll(s)].map((e) => e.textContent)", selector)
    return [text.replace("\u00a0", " ").replace("−", "-") for text in found]


def text(page: browsing.Page, selector: str) -> str:
    (found,) = texts(page, selector)
    return found


def choose(page: browsing.Page, *, kind: str = "DE", secret: str = "Pills", epsilon: int | None = None) -> None:
    """Set the controls; ``epsilon`` is a position of its slider."""
    page.evaluate("() => { document.querySelector('details').open = true; }")
    page.check(f"input[value={kind}]")
    page.check(f"input[name=secret][value='{SECRETS.index(secret)}']")
    if epsilon is not None:
        page.fill("#epsilon", str(epsilon))


def ask(page: browsing.Page, button: str) -> None:
    """Let a crowd report, and wait until it has."""
    page.click(button)
    page.waitForSelector("#chart[aria-busy=false]")


def expect_clean(page: browsing.Page) -> None:
    assert not page.overflows()
    assert page.violations() == []
    assert page.messages() == []


@pytest.mark.parametrize(
    ("width", "dark"),
    [
        (360, True),
        (1280, False),
        *(
            pytest.param(*look, marks=pytest.mark.slow)
            for look in ((360, False), (768, False), (768, True), (1280, True))
        ),
    ],
)
def test_the_file_has_no_message_barrier_or_overflow_at_any_step(width: int, dark: bool) -> None:
    with browsing.page(width=width, dark=dark) as page:
        page.goto(STANDALONE)
        expect_clean(page)
        choose(page, kind="SS", secret="Wine")
        page.click("#flip")
        ask(page, "[data-people='1000']")
        expect_clean(page)
        assert [each["url"] for each in page.requests()] == [STANDALONE], "nothing is loaded, and nothing is sent"


def test_the_collector_serves_the_same_page_under_its_strict_policy(served: str) -> None:
    with browsing.page(width=360) as page:
        assert page.goto(served) == 200
        page.click("#flip")
        ask(page, "[data-people='1000']")
        expect_clean(page)
        assert text(page, "#count") == "1,000 reports"
        kinds = [each["type"] for each in page.requests()]
        assert sorted(kinds) == ["document", "script", "stylesheet"], "and nothing is sent"
        told = page.evaluate("async () => { try { await fetch('/'); } catch (error) { return error.message; } }")
        assert told == "Failed to fetch", "the policy forbids it"


def test_every_byte_has_the_likelihoods_and_the_bound_of_the_library() -> None:
    with browsing.page() as page:
        page.goto(STANDALONE)
        for kind, position, epsilon in (("DE", 3, "1"), ("OUE", 6, "2"), ("SS", 1, "1/2")):
            chosen = scheme(kind, epsilon)
            choose(page, kind=kind, epsilon=position)
            page.click("#flip")
            byte = bytes.fromhex(text(page, "#hex"))
            assert text(page, "#bits").replace(" ", "") == f"{byte[0]:08b}"
            record = np.frombuffer(byte, dtype=chosen.report_dtype)[0]
            chances = [float(chosen.likelihood(record, item)) for item in range(8)]
            for shown, chance in zip(texts(page, "#bars .figure"), chances, strict=True):
                digits = len(shown.partition(".")[2]) - 2
                assert float(shown.removesuffix(" %")) == pytest.approx(100 * chance, abs=0.51 * 10**-digits)
            named = [SECRETS[byte[0]]] if kind == "DE" else [s for i, s in enumerate(SECRETS) if byte[0] >> i & 1]
            assert text(page, "#meaning") == (", ".join(named) or "no answer at all")
            spoken = text(page, "#said")
            assert byte.hex() in spoken, "screen readers hear the byte"
            factor = float(chosen.randomizer.worst_ratio())
            bound = 100 * 0.1 * factor / (0.1 * factor + 0.9)
            shown = float(text(page, "#bound").removesuffix(" %"))
            assert bound <= shown <= bound + 0.1, "rounded up"
            assert text(page, "#reveals") == text(page, "#bound")


def test_a_hundred_thousand_people_are_estimated_as_the_law_says() -> None:
    # Eight estimates, each six standard errors from the truth with probability 2e-9: a false alarm in 60 million runs.
    # The coins are those of the browser, without a seed.
    chosen = scheme("DE", "1")
    with browsing.page() as page:
        page.goto(STANDALONE)
        page.click("[data-people='100000']")
        frames = page.evaluate(
            """async () => {
              let frames = 0;
              for (; chart.ariaBusy === "true"; frames++) await new Promise(requestAnimationFrame);
              return frames;
            }"""
        )
        assert frames >= 20, "the page was drawn many times while the crowd reported"
        counts = [int(each) for each in page.evaluate("() => [...chart.children].map((row) => row.dataset.count)")]
        assert sum(counts) == 100_000
        tally = chosen.accumulator()
        tally.add(np.repeat(np.arange(8, dtype=np.uint8), counts).view(chosen.report_dtype))
        answer = tally.estimate()
        truth = 1000 * np.array(SHARES)
        errors = np.array([chosen.variance(100_000, int(held)) ** 0.5 for held in truth])
        assert np.all(np.abs(answer.values - truth) < 6 * errors)
        low, high = answer.interval()
        for i, row in enumerate(texts(page, "#chart .unseen")):
            shown = re.fullmatch(r"(.*): estimate (\S+) %, interval (\S+) to (\S+), truth (\d+) %", row)
            assert shown is not None, row
            assert shown[1] == SECRETS[i]
            for number, expected in zip(shown.groups()[1:4], (answer.values[i], low[i], high[i]), strict=True):
                digits = len(number.partition(".")[2])
                assert float(number) == pytest.approx(expected / 1000, abs=0.51 * 10**-digits)
            assert int(shown[5]) == SHARES[i]
        within = int(np.sum((low <= truth) & (truth <= high)))
        said = "All 8 intervals contain" if within == 8 else f"{within} of 8 intervals contain"
        assert said in text(page, "#told")


def test_the_sliders_show_the_errors_that_the_library_predicts() -> None:
    with browsing.page() as page:
        page.goto(STANDALONE)
        for position, epsilon, people, n in ((0, "1/4", 0, 100), (3, "1", 9, 100_000), (11, "6", 12, 1_000_000)):
            page.fill("#epsilon", str(position))
            page.fill("#people", str(people))
            error = 100 * scheme("DE", epsilon).variance(n, 0) ** 0.5 / n
            shown = text(page, "#error")
            assert float(shown) == pytest.approx(error, abs=0.51 * 10 ** -len(shown.partition(".")[2]))
            width = text(page, "#width").removeprefix("± ")
            assert float(width) == pytest.approx(1.96 * error, rel=1e-4, abs=0.51 * 10 ** -len(width.partition(".")[2]))
            assert f"{4 * n:,}" in text(page, "#halve")
            assert text(page, "#run") == f"Let {n:,} people report"
        assert page.messages() == []


def test_the_keyboard_reaches_every_step() -> None:
    wanted = ["", "secret", "flip", "", "1000", "100000", "epsilon", "people", "run"]
    with browsing.page() as page:
        page.goto(STANDALONE)
        reached = []
        for _ in wanted:
            page.press(":focus" if reached else "body", "Tab")
            reached.append(
                page.evaluate(
                    "() => { const a = document.activeElement; return a.dataset.people ?? (a.id || a.name || ''); }"
                )
            )
        assert reached == wanted, "the link to the content and the summary have no name of their own"
        page.press("#epsilon", "ArrowRight")
        assert text(page, "#epsilon-shown") == "1.25"
        page.press("#flip", "Enter")
        assert text(page, "#said")


def test_a_changed_mind_stops_the_crowd_and_reduced_motion_draws_it_once() -> None:
    with browsing.page(reducedMotion="reduce") as page:
        page.goto(STANDALONE)
        page.evaluate(
            """() => {
              window.drawn = 0;
              new MutationObserver(() => drawn++).observe(chart.querySelector("b"), { childList: true });
            }"""
        )
        ask(page, "[data-people='100000']")
        assert page.evaluate("() => drawn") == 1
        page.click("[data-people='100000']")
        page.fill("#epsilon", "5")
        assert text(page, "#count") == "No reports yet"
        page.waitForTimeout(300)
        assert text(page, "#count") == "No reports yet", "the reports of the old ε are gone"
        assert page.messages() == []
