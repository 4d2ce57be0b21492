"""Self-contained HTML pages: text is always escaped, pictures are embedded, and the browser loads nothing."""

from __future__ import annotations

import re
from collections.abc import Sequence
from html import escape
from urllib.parse import quote

from .stylesheet import CSS

_POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"
"""The browser loads nothing from other computers."""
_VOID = ("img", "input", "link", "meta", "source")
_SAFE = " !$()*+,-./:;=?@[]^_`{|}~"
_ROUND = re.compile(r'\b(d|x|y|transform)="([^"]*)"')


class Html(str):
    """Text that is already markup. All other text is escaped."""

    __slots__ = ()


def tag(name: str, /, *children: str, **attributes: str) -> Html:
    """An HTML element. In attribute names, a final underscore is dropped and other underscores become hyphens.

    >>> tag("p", "1 < 2, ", tag("b", "yes"), class_="note")
    '<p class="note">1 &lt; 2, <b>yes</b></p>'
    """
    given = "".join(f' {key.rstrip("_").replace("_", "-")}="{escape(value)}"' for key, value in attributes.items())
    inner = "".join(child if isinstance(child, Html) else escape(child) for child in children)
    return Html(f"<{name}{given}>" + ("" if name in _VOID else f"{inner}</{name}>"))


SIMULATED = tag("p", tag("b", "Simulated"), " These reports are not from real users.", class_="simulated")
"""The notice on pages whose reports are simulated."""


def document(title: str, *body: Html, style: str = "", policy: str = "") -> str:
    """A complete HTML document in the common style; ``style`` and ``policy`` are appended to the defaults."""
    own = tag("meta", http_equiv="Content-Security-Policy", content=_POLICY + policy)
    return page(title, *body, head=(own, tag("style", Html(CSS + style))))


def page(title: str, *body: Html, head: Sequence[Html]) -> str:
    """A complete HTML document; ``head`` says where its style comes from."""
    heads = tag(
        "head",
        tag("meta", charset="utf-8"),
        tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
        tag("title", title),
        *head,
    )
    return f"<!doctype html>\n{tag('html', heads, tag('body', *body), lang='en')}\n"


def picture(svg: str, *, label: str, alt: str, class_: str, narrow: str | None = None) -> Html:
    """An SVG picture embedded in HTML, with another one for the width of a telephone."""
    image = tag("img", src=_data(svg), alt=alt, class_=class_)
    if narrow is not None:
        # A space would end the address.
        address = _data(narrow).replace(" ", "%20")
        image = tag("picture", tag("source", media="(max-width: 46rem)", srcset=address), image)
    # A picture wider than the screen scrolls sideways, with the keyboard as well.
    return tag("div", image, class_="picture", tabindex="0", role="group", aria_label=label)


def _data(svg: str) -> str:
    return f"data:image/svg+xml,{quote(lighter(svg), safe=_SAFE)}"


def lighter(svg: str) -> str:
    """The picture at half its size, without a visible difference: coordinates to a hundredth of a point."""
    svg = re.sub(r"<!--.*?-->|<metadata>.*?</metadata>|<\?xml.*?\?>|<!DOCTYPE.*?>", "", svg, flags=re.DOTALL)
    svg = re.sub(r"<[^>]+>", lambda found: _ROUND.sub(lambda pair: f'{pair[1]}="{_rounded(pair[2])}"', found[0]), svg)
    return re.sub(r"\s*\n\s*", "\n", svg).strip()


def _rounded(numbers: str) -> str:
    return re.sub(r"\d+\.\d{3,}", lambda found: f"{float(found[0]):.2f}", numbers)
