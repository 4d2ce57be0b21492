"""The example of `make web-demo` in a real browser: a value is typed, sent, and counted once."""

from __future__ import annotations

import importlib.util
import json
import re
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from urllib.request import Request, urlopen

import pytest

import browsing

pytestmark = pytest.mark.full
RUN = Path(__file__).resolve().parent.parent / "examples" / "web" / "run.py"


def fetched(request: str | Request) -> bytes:
    with urlopen(request) as response:
        content: bytes = response.read()
    return content


def run() -> ModuleType:
    """The example as a module."""
    spec = importlib.util.spec_from_file_location("web_example", RUN)
    assert spec is not None
    assert spec.loader is not None
    made = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(made)
    return made


@dataclass
class Demo:
    """The running example."""

    process: subprocess.Popen[str]
    page: str
    dashboard: str
    token: str

    def reports(self) -> int:
        """The number of reports that the collector has counted."""
        request = Request(
            self.dashboard.replace("/dashboard", "/v1/collections"), headers={"Authorization": f"Bearer {self.token}"}
        )
        (collection,) = json.loads(fetched(request))["collections"]
        return int(collection["reports"])


@contextmanager
def running(*options: str, cwd: Path) -> Iterator[Demo]:
    command = [sys.executable, str(RUN), *options]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=cwd) as process:
        try:
            assert process.stdout is not None
            lines = [process.stdout.readline() for _ in range(4)]
            yield Demo(process, *(line.split()[-1] for line in lines[:3]))
        finally:
            process.kill()


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Demo]:
    folder = tmp_path_factory.mktemp("web")
    with running("--crowd", "1000", cwd=folder) as started:
        yield started
        started.process.send_signal(signal.SIGINT)
        assert started.process.wait(30) == 0, "Ctrl-C ends all"
        with pytest.raises(OSError, match="refused"):
            urlopen(started.dashboard)
        assert not list(folder.iterdir())


def said(page: browsing.Page, words: str) -> str:
    """What the page tells its visitor, once it contains these words."""
    page.waitForSelector(f"#told:has-text('{words}')")
    told: str = page.innerText("#told")
    return told


def test_a_typed_value_is_counted_once_and_a_second_visit_sends_nothing(demo: Demo) -> None:
    before = demo.reports()
    with browsing.context() as profile:
        page = profile.page()
        page.goto(demo.page)
        page.fill("#answer", " Bike ")
        page.press("#answer", "Enter")
        assert "One randomized report was sent" in said(page, "Thank you")
        assert demo.reports() == before + 1
        (sent,) = [each for each in page.requests() if each["method"] == "POST"]
        assert "cookie" not in sent["headers"]
        assert "referer" not in sent["headers"]
        assert len(bytes.fromhex(sent["body"])) == 33, "one record of a byte, its scheme and a checksum"
        assert page.messages() == []
        again = profile.page()
        again.goto(demo.page)
        assert said(again, "already") == "This browser has already reported."
        assert again.isDisabled("button")
        assert demo.reports() == before + 1


def test_a_browser_that_asks_not_to_be_tracked_sends_nothing(demo: Demo) -> None:
    before = demo.reports()
    with browsing.page() as page:
        page.addInitScript("Object.defineProperty(navigator, 'globalPrivacyControl', {get: () => true})")
        page.goto(demo.page)
        page.fill("#answer", "car")
        page.click("button")
        assert "nothing was sent" in said(page, "tracked")
        assert not [each for each in page.requests() if "/v1/" in each["url"]]
    assert demo.reports() == before


@pytest.mark.parametrize("dark", [False, True])
def test_the_page_has_no_message_barrier_or_overflow(demo: Demo, dark: bool) -> None:
    with browsing.page(width=360, dark=dark) as page:
        page.goto(demo.page)
        assert not page.overflows()
        assert page.violations() == []
        assert page.messages() == []


@contextmanager
def changed(demo: Demo, path: str, change: Callable[[bytes], bytes]) -> Iterator[browsing.Page]:
    """The page of a site that serves one file changed; nobody may be counted through it."""
    before, example = demo.reports(), run()
    (collection,) = re.findall(r'data-collection="([^"]+)"', fetched(demo.page).decode())
    served = example.files(collection)
    media, content = served[path]
    served[path] = media, change(content)
    policy = example.policy(demo.dashboard.removesuffix("/dashboard"))
    with example.site(served, policy, 0) as address, browsing.page() as page:
        page.goto(f"{address}/")
        yield page
        assert not [each for each in page.requests() if each["method"] == "POST" or "car" in each["url"]]
    assert demo.reports() == before


def submit(page: browsing.Page) -> None:
    page.fill("#answer", "car")
    page.evaluate("() => document.forms[0].requestSubmit()")


def test_a_changed_client_does_not_run_and_the_value_stays(demo: Demo) -> None:
    with changed(demo, f"/{browsing.BUNDLE.name}", lambda content: content + b"\n") as page:
        submit(page)
        page.waitForTimeout(300)
        assert any("integrity" in message for message in page.messages())
        assert page.innerText("#told") == ""


def test_another_scheme_than_the_pinned_one_is_refused_before_anything_is_sent(demo: Demo) -> None:
    with changed(demo, "/", lambda page: re.sub(rb'(?<=fingerprint=")[0-9a-f]+', b"0" * 64, page)) as page:
        told = said(page, "fingerprint")
        assert told.startswith("Nothing was sent: expected the scheme")
        submit(page)
        page.waitForTimeout(300)
        assert page.innerText("#told") == told


def test_an_analyst_signs_in_with_the_printed_token_and_sees_the_answers(demo: Demo) -> None:
    with browsing.page() as page:
        page.goto(demo.dashboard)
        page.fill("#token", demo.token)
        page.press("#token", "Enter")
        page.click("text=way here")
        page.waitForSelector("main h1:has-text('way here')")
        assert "bike" in page.innerText("main")
        assert page.messages() == []
