"""The try page: one file by itself, or a page with a style sheet and a script for a server with a strict policy."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from .html import Html

FILE = Path(__file__).with_name("try.html")
"""The page as one file, which clients/try/build.py writes."""
_PARTS = re.compile(
    r"(?P<top>.*)<meta http-equiv.*?<style>(?P<style>.*?)</style>(?P<body>.*)"
    r"<script>(?P<script>.*?)</script>(?P<end>.*)",
    re.DOTALL,
)


@dataclass(frozen=True)
class TryPage:
    """The parts of the page."""

    top: str
    style: str
    body: str
    script: str
    end: str

    def framed(self, *head: Html) -> str:
        """The page with a head that says where its style and script are."""
        return f"{self.top}{''.join(head)}{self.body}{self.end}"


def try_page() -> TryPage:
    """The page that the package has, in parts."""
    found = _PARTS.fullmatch(FILE.read_text(encoding="utf-8"))
    assert found is not None, "expected one style and one script in the page"
    return TryPage(**found.groupdict())
