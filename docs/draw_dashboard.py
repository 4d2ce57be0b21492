"""Draw the pictures of docs/dashboard.md: a collector with made-up visitors, seen in a real browser.

Run it in a clone after `make test-fast`, which installs the browser: .venv/bin/python docs/draw_dashboard.py
"""

from __future__ import annotations

import sys
import tempfile
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "tests"))

import browsing  # noqa: E402
from plausibly import Labels, Ordered, SeededRandom, encode_reports, make  # noqa: E402
from plausibly.demo import sites  # noqa: E402
from plausibly.service.collections import Collection  # noqa: E402
from serving import Serving, new_key, place, serving  # noqa: E402

SITES = sites()[:16]
USERS = 200_000
SHOTS = (("dashboard", 1280, 1180, False), ("dashboard_phone", 360, 760, False), ("dashboard_dark", 768, 900, True))


def main() -> None:
    """Fill a collector and photograph two of its pages."""
    now = datetime.now(UTC).replace(microsecond=0)
    asked = Collection(
        name="Sites that visitors read",
        scheme=make("OLH", epsilon=2, domain=Labels(SITES, other=True)),
        minimum=1000,
        cap=500_000,
        opens=now - timedelta(days=12),
        closes=now + timedelta(days=18, hours=2),
    )
    ages = Collection(
        name="Ages of visitors",
        scheme=make("SLIDE", epsilon=2, domain=Ordered(0, 120, unit="years", other=True)),
        minimum=1000,
    )
    read = crowd(SITES, 1 / np.arange(1, len(SITES) + 1))
    years = np.arange(121)
    young, old = (np.exp(-0.5 * ((years - mean) / width) ** 2) / width for mean, width in ((24, 5), (52, 11)))
    aged = crowd(years.tolist(), young + old)
    with tempfile.TemporaryDirectory() as folder, serving(Path(folder) / "collector") as server:
        send(server, asked, read)
        send(server, ages, aged)
        for name, width, height, dark in SHOTS:
            shown = ages if dark else asked
            with browsing.page(width=width, height=height, dark=dark) as page:
                address = f"http://127.0.0.1:{server.port}/dashboard/collections/{shown.id}"
                page.goto(address)
                page.fill("#token", server.tokens["read"])
                page.press("#token", "Enter")
                page.waitForURL(address)
                assert page.goto(address) == 200
                page.screenshot(HERE / f"{name}.png")


def crowd(items: list[Any], weights: Any) -> list[Any]:
    """The values of all users, whose shares are those of the weights."""
    return [
        item for item, share in zip(items, weights / weights.sum(), strict=True) for _ in range(round(USERS * share))
    ]


def send(server: Serving, collection: Collection, values: list[Any]) -> None:
    """Make a collection, and send a report for each value."""
    assert server.request("POST", "/v1/collections", collection.document.encode(), "admin").status == 201
    size = 50_000
    for first in range(0, len(values), size):
        reports = collection.scheme.privatize(values[first : first + size], SeededRandom(first))
        body = encode_reports(collection.scheme, reports)
        assert server.request("POST", f"{place(collection)}/reports/{new_key()}", body).status == 201


if __name__ == "__main__":
    main()
