"""Find the scheme that the user names: by its file, a short text, a file of reports or a tally."""

from __future__ import annotations

from pathlib import Path

from rich.console import Console
from rich.markup import escape

from ..core.scheme import Scheme
from ..files.contents import SUFFIXES, Holding, holding
from .common import key_of, scheme_of


def scheme_or_file(console: Console, named: str, key_file: Path | None) -> tuple[Scheme, Holding | None]:
    """The named scheme, with the contents of the file if it is a file of reports or a tally.

    A key authenticates files of reports and tallies, not schemes: print a warning if one is given for a scheme.
    """
    key = key_of(console, key_file)
    if Path(named).suffix in SUFFIXES:
        held = holding(named, key=key)
        return held.scheme, held
    made = scheme_of(named)
    if key is not None:
        said = f"{named} is a scheme, and a key does not authenticate schemes; compare its fingerprint"
        console.print(escape(said), style="yellow", soft_wrap=True, highlight=False)
    return made, None
