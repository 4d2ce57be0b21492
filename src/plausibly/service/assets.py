"""The files that the pages of the dashboard load: style sheet, script and icon, with digests in their addresses."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import cached_property

from ..pages.stylesheet import ANSWERS, CSS, DASHBOARD_ONLY
from ..pages.try_page import try_page
from .live_script import LIVE
from .routes import DASHBOARD


@dataclass(frozen=True)
class Asset:
    """A file that never changes under its address."""

    stem: str
    ending: str
    media: str
    content: str

    @cached_property
    def name(self) -> str:
        """The name of the file, with the beginning of its digest."""
        return f"{self.stem}.{hashlib.sha256(self.content.encode()).hexdigest()[:16]}.{self.ending}"

    @property
    def address(self) -> str:
        """The path of the file on the server."""
        return f"{DASHBOARD}/static/{self.name}"


STYLE = Asset("style", "css", "text/css; charset=utf-8", CSS + ANSWERS + DASHBOARD_ONLY)
SCRIPT = Asset("script", "js", "text/javascript; charset=utf-8", LIVE)
ICON = Asset(
    *("icon", "svg", "image/svg+xml"),
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16"><path fill="#4477aa" d="M1 3h11v4H1zM1 9h7v4H1z"/>'
    '<path fill="none" stroke="#222" d="M9.5 5h5M9.5 4v2M14.5 4v2M5.5 11h5M5.5 10v2M10.5 10v2"/></svg>',
)
TRYING = try_page()
TRY_STYLE = Asset("try", "css", STYLE.media, TRYING.style)
TRY_SCRIPT = Asset("try", "js", SCRIPT.media, TRYING.script)
ASSETS = {each.name: each for each in (STYLE, SCRIPT, ICON, TRY_STYLE, TRY_SCRIPT)}
