"""Draw the picture of the try page, docs/try.png, in a real browser. Its coins are fresh each time.

Run it in a clone after `make test-fast`, which installs the browser: .venv/bin/python docs/draw_try.py
"""

from __future__ import annotations

import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "tests"))

import browsing  # noqa: E402
from plausibly.pages.try_page import FILE  # noqa: E402

FLIPS = 100


def main() -> None:
    """Photograph a report that lies, and a crowd."""
    with browsing.page(width=1000, height=1180) as page:
        page.goto(FILE.as_uri())
        for _ in range(FLIPS):
            page.click("#flip")
            if "lied" in page.innerText("#truth"):
                break
        page.click("[data-people='100000']")
        page.waitForSelector("#chart[aria-busy=false]")
        page.waitForTimeout(500)
        page.evaluate("() => document.getElementById('flipping').scrollIntoView()")
        page.screenshot(HERE / "try.png")


if __name__ == "__main__":
    main()
