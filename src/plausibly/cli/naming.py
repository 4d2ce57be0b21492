"""Find the scheme that the user names: by its file, a short text, a file of reports or a tally."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from rich.console import Console
from rich.markup import escape

from ..catalog import from_json
from ..core.errors import ParameterError, PlausiblyError, StateError
from ..core.scheme import Scheme
from ..core.wording import shown
from ..core.words import Words
from ..files.contents import SUFFIXES, Contents, contents_of
from ..making import make
from .common import key_of
from .domains import ORDERED, WITH_INFINITE, WITH_UNIT


def scheme_or_file(console: Console, named: str, key_file: Path | None) -> tuple[Scheme, Contents | None]:
    """Find the scheme that the user names; for a file of reports or a tally, return its contents as well.

    A key authenticates files of reports and tallies, not schemes: print a warning if one is given for a scheme.
    """
    key = key_of(console, key_file)
    if Path(named).suffix.lower() in SUFFIXES:
        held = contents_of(named, key=key)
        return held.scheme, held
    made = scheme_of(named)
    if key is not None:
        said = f"{named} is a scheme, and a key does not authenticate schemes; compare its fingerprint"
        console.print(escape(said), style="yellow", soft_wrap=True, highlight=False)
    return made, None


def scheme_of(named: str) -> Scheme:
    """The scheme that the user names, in a file of ``plan --save`` or as ``OLH:epsilon=1,domain_size=1000``."""
    path = Path(named)
    if path.suffix == ".json" or path.is_file():
        return _read_scheme(path)
    name, colon, rest = named.partition(":")
    if not colon:
        raise ParameterError(
            f"{shown(named)}: expected a scheme: a file (plausibly plan … --save scheme.json), "
            "or a text such as OLH:epsilon=1,domain_size=1000"
        )
    parameters: dict[str, Any] = {}
    for part in rest.split(","):
        key, equals, value = part.partition("=")
        if not (key and equals and value) or key in parameters:
            raise ParameterError(f"{shown(named)}: expected name=value once for each name, got {shown(part)}")
        parameters[key] = int(value) if value.isdecimal() else value
    return make(name, **_with_domain(parameters))


def _with_domain(parameters: dict[str, Any]) -> dict[str, Any]:
    # range=0..120 and the like stand for an ordered domain; commas separate parameters, so that edges need a file.
    kinds = [kind for kind in parameters if kind in ORDERED]
    if len(kinds) != 1:
        return parameters
    allowed = {"infinite": WITH_INFINITE, "unit": WITH_UNIT}
    options = {key: str(parameters[key]) for key in allowed if key in parameters and kinds[0] in allowed[key]}
    other = {"true": True, "false": False}.get(given := str(parameters.get("other", "false")), given)
    rest = {key: value for key, value in parameters.items() if key not in (*kinds, *options, "other")}
    return rest | {"domain": ORDERED[kinds[0]](str(parameters[kinds[0]]), other=other, **options)}


def _read_scheme(path: Path) -> Scheme:
    try:
        return from_json(path.read_text(encoding="utf-8"))
    except UnicodeDecodeError:
        raise StateError(f"{path}: expected the JSON text of a scheme, got bytes that are not text") from None
    except PlausiblyError as error:
        raise StateError(Words(f"{path}: ", error.words)) from None
