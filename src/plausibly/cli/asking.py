"""The items that the user asks about: typed on the command line, or listed in a file."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.markup import escape

from ..core.domain import Domain
from ..core.errors import DomainError, ParameterError
from ..core.scheme import Scheme
from ..core.tables_only import TablesOnly
from ..core.wording import label_of, plural
from ..core.words import Words
from ..files.items import read_items


def typed_items(items: list[str] | None, single: list[str] | None) -> list[str]:
    """The items that the user asks about with ``--items a,b`` and ``--item c``."""
    texts = [part for words in items or () for part in words.split(",")]
    if "" in texts:
        raise ParameterError(
            '--items: expected items separated by single commas, got an empty one; --item "" is the empty text'
        )
    return [*texts, *(single or ())]


def expect_items(tally: str, scheme: Scheme) -> None:
    """Refuse to ask for counts of items where a tally has only tables of some attributes."""
    if isinstance(scheme.estimator(), TablesOnly):
        raise ParameterError(
            f"{tally}: {scheme.name} counts no whole records, it has tables of one or two attributes; ask for one with "
            f"plausibly table {tally} --rows NAME --columns NAME"
        )


def asked_items(console: Console, domain: Domain, tally: str, typed: list[str], file: Path | None) -> list[Any] | None:
    """The items that the user asks about, each once, as the estimates name them; None for the whole domain."""
    if not typed and file is None:
        if domain.size is None:
            way = f", or find the common ones with plausibly search {tally}" * domain.searchable
            raise ParameterError(f"{tally}: the items cannot be listed; name some with --items or --items-file{way}")
        return None
    listed = [] if file is None else read_items(file)
    texts = list(dict.fromkeys([*typed, *listed]))
    try:
        names = domain.ask(domain.parse(texts))[1].tolist()
    except DomainError as error:
        if error.position is None:
            raise
        wrong = texts[error.position]
        # A file may hold users' values by mistake, so its items are not shown.
        if wrong in typed:
            raise DomainError(Words(f"--items {label_of(wrong)}: ", error.told or error.reason)) from None
        raise DomainError(Words(f"{file}, item {listed.index(wrong) + 1:,}: ", error.reason)) from None
    changed = [(text, name) for text, name in zip(texts, names, strict=True) if str(name) != text]
    if changed and all(isinstance(name, str) for _, name in changed):
        said = _renamed(changed, typed, file)
        console.print(escape(said), style="yellow", soft_wrap=True, highlight=False)
    return list(dict.fromkeys(names))


def strings_to_explain(domain: Domain, texts: Sequence[str]) -> list[Any]:
    """The strings that the user asks about with ``--explain``."""
    strings = domain.parse(texts)
    try:
        domain.ask(strings)
    except DomainError as error:
        wrong = label_of(texts[error.position or 0])
        raise DomainError(Words(f"--explain {wrong}: ", error.told or error.reason)) from None
    return strings


def _renamed(changed: Sequence[tuple[str, str]], typed: list[str], file: Path | None) -> str:
    # Items of a file are counted, not shown.
    known = [(text, name) for text, name in changed if text in typed]
    if not known:
        return f"{plural(len(changed), 'item')} of {file}: listed in the spelling that users report."
    text, name = known[0]
    more = f", and {len(changed) - 1:,} more likewise" * (len(changed) > 1)
    return f"{label_of(text)} is listed as users report it: {label_of(name) or '(empty)'}{more}."
