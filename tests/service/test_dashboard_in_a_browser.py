"""The dashboard in a real browser: no message, no overflow, no barrier, and pages that stay up to date."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

import browsing
from dashboards import Filled, filled

pytestmark = pytest.mark.full


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Filled]:
    with filled(tmp_path_factory.mktemp("browser") / "collector") as running:
        yield running


@contextmanager
def signed_in(made: Filled, path: str = "", **options: Any) -> Iterator[browsing.Page]:
    """A page that an analyst has reached through the form."""
    with browsing.page(**options) as page:
        assert page.goto(address(made, path)) == 200
        page.fill("#token", made.server.tokens["read"])
        page.press("#token", "Enter")
        page.waitForURL(address(made, path))
        yield page


def address(made: Filled, path: str = "") -> str:
    return f"http://127.0.0.1:{made.server.port}/dashboard{path}"


def soon(page: browsing.Page, condition: str) -> None:
    """Wait until a condition holds in the page."""
    found = page.evaluate(
        f"""async () => {{
          for (let tries = 0; tries < 200; tries += 1) {{
            if ({condition}) return true;
            await new Promise((done) => setTimeout(done, 50));
          }}
          return document.body.innerText;
        }}"""
    )
    assert found is True, found


def pages(made: Filled) -> dict[str, str]:
    """Every page of the dashboard."""
    both = f"before={made.kinds['oracle'].id}&after={made.kinds['later'].id}"
    named = {"list": "", "comparison": f"/changes?{both}", "choice": "/changes", "sign-in": "/sign-in"}
    asked = {"items": f"{made.path('sketch')}?items=/cart%0A/login", "found": f"{made.path('many')}?find=39&sort=item"}
    asked |= {
        "crossed": f"{made.path('table')}?rows=age&columns=score",
        "not crossed": f"{made.path('table')}?rows=age&columns=age",
    }
    return named | asked | {kind: made.path(kind) for kind in made.kinds}


SHAPES = (
    *("list", "comparison", "sign-in", "items", "found", "oracle", "search", "ordered", "mean", "below the minimum"),
    *("table", "crossed", "choices"),
)
"""Pages that differ in more than their numbers."""
COLOURS = ("list", "comparison", "sign-in", "found", "oracle", "ordered", "table")
"""Pages that have all colours between them."""


@pytest.mark.parametrize(("width", "dark", "names"), [(360, False, SHAPES), (1280, True, COLOURS)])
def test_no_page_has_a_message_a_barrier_or_an_overflow(
    made: Filled, width: int, dark: bool, names: tuple[str, ...]
) -> None:
    expect_good_pages(made, width=width, dark=dark, names=names)


@pytest.mark.slow
@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize("width", [360, 768, 1280])
def test_no_page_of_any_kind_has_one_at_any_size(made: Filled, width: int, dark: bool) -> None:
    expect_good_pages(made, width=width, dark=dark, names=tuple(pages(made)))


def expect_good_pages(made: Filled, *, width: int, dark: bool, names: tuple[str, ...]) -> None:
    with signed_in(made, width=width, dark=dark) as page:
        for name in names:
            assert page.goto(address(made, pages(made)[name])) == 200, name
            assert page.evaluate("() => [...document.images].every((each) => each.naturalWidth > 0)"), name
            assert not page.overflows(), name
            assert page.violations() == [], name
            assert page.messages() == [], name


def test_a_refused_token_is_told_and_an_error_is_a_page_without_barriers(made: Filled) -> None:
    with browsing.page(width=360) as page:
        page.goto(address(made))
        page.fill("#token", "wrong")
        page.press("#token", "Enter")
        soon(page, 'document.querySelector("[role=alert]")')
        assert page.violations() == []
        assert page.goto(address(made, "/nothing")) == 404
        assert page.violations() == []
        told = [message for message in page.messages() if "status of 403" not in message and "of 404" not in message]
        assert told == [], "the browser itself names the two statuses, and nothing else is wrong"


def test_a_new_report_appears_by_itself_and_is_announced(made: Filled) -> None:
    with signed_in(made, made.path("below the minimum")) as page:
        page.evaluate("() => { window.kept = true; document.dispatchEvent(new Event('visibilitychange')); }")
        soon(page, "true")
        made.send("below the minimum", ["fern"] * 10)
        page.evaluate("() => document.dispatchEvent(new Event('visibilitychange'))")
        soon(page, 'document.querySelector("main").innerText.includes("360 of the 1,000")')
        assert page.evaluate("() => document.getElementById('live').textContent").startswith("360 of the 1,000")
        made.send("below the minimum", ["fern"] * 700)
        page.evaluate("() => document.dispatchEvent(new Event('visibilitychange'))")
        soon(page, 'document.querySelector(".heroes") && document.images[0].naturalWidth > 0')
        assert page.evaluate("() => window.kept"), "the page was not loaded again"
        assert page.messages() == []
        asked = [each for each in page.requests() if each["type"] == "xhr"]
        assert 304 in [each["status"] for each in asked]
        assert all("if-none-match" in each["headers"] for each in asked)


def test_sorting_and_finding_change_a_part_of_the_page_and_keep_the_focus(made: Filled) -> None:
    with signed_in(made, made.path("many")) as page:
        page.evaluate("() => { window.kept = true; }")
        page.focus("#by-item")
        page.press("#by-item", "Enter")
        soon(
            page, 'location.search === "?sort=item" && document.querySelector("#which").innerText.includes("order of")'
        )
        assert page.evaluate("() => document.activeElement.id") == "by-item"
        page.fill("#find", "399")
        page.press("#find", "Enter")
        soon(page, 'document.querySelector("#which").innerText.includes("1 to 14 of 14")')
        assert "1 to 14 of 14" in page.innerText("[role=status]"), "and a screen reader says so"
        assert "find=399" in page.evaluate("() => location.search")
        assert page.evaluate("() => window.kept && document.activeElement.id") == "find"
        assert page.messages() == []


def test_everything_works_without_a_script_and_with_the_keyboard(made: Filled) -> None:
    with signed_in(made, made.path("many"), javaScriptEnabled=False) as page:
        page.click("#by-item")
        page.waitForURL(address(made, f"{made.path('many')}?sort=item"))
        page.fill("#find", "399")
        page.click("#finding")
        page.waitForURL(address(made, f"{made.path('many')}?sort=item&find=399"))
        assert "1 to 14 of 14" in page.innerText("#which")
    with signed_in(made, made.path("table"), javaScriptEnabled=False) as page:
        page.selectOption("#rows", "age")
        page.selectOption("#columns", "score")
        page.click("#crossing")
        page.waitForURL(address(made, f"{made.path('table')}?rows=age&columns=score"))
        assert page.innerText("#table-chart h2") == "age by score"
    with signed_in(made) as page:
        page.evaluate("() => document.activeElement.blur()")
        page.press("body", "Tab")
        assert page.evaluate("() => document.activeElement.className") == "skip"
        page.press(".skip", "Enter")
        soon(page, 'document.activeElement.id === "main"')
        page.click(".bar button")
        page.waitForURL("**/sign-in")
        page.goto(address(made))
        assert page.evaluate("() => location.pathname") == "/dashboard/sign-in", "signed out"


def test_an_ended_session_leads_to_the_sign_in(made: Filled) -> None:
    with browsing.context() as context:
        page = context.page()
        page.goto(address(made))
        page.fill("#token", made.server.tokens["read"])
        page.press("#token", "Enter")
        page.waitForURL(address(made))
        other = context.page()
        other.goto(address(made))
        other.click(".bar button")
        other.waitForURL("**/sign-in")
        page.evaluate("() => document.dispatchEvent(new Event('visibilitychange'))")
        page.waitForURL("**/sign-in?to=%2Fdashboard")


@pytest.mark.slow
def test_a_hidden_tab_and_a_paused_page_ask_for_nothing(made: Filled) -> None:
    with signed_in(made) as page:

        def asked_for(seconds: float, action: str = "") -> int:
            before = len(page.requests())
            page.evaluate(f"() => {{ {action}; return new Promise((done) => setTimeout(done, {1000 * seconds})); }}")
            return len(page.requests()) - before

        hidden = "Object.defineProperty(document, 'hidden', {configurable: true, get: () => %s});"
        hidden += "document.dispatchEvent(new Event('visibilitychange'))"
        press = "document.querySelector('.live button').click()"
        assert asked_for(6) == 1
        assert asked_for(11, hidden % "true") == 0
        assert asked_for(3, hidden % "false") == 1
        assert asked_for(11, press) == 0
        assert page.innerText(".live button") == "Resume updates"
        assert asked_for(3, press) == 1
