"""plausibly search: find common strings without a list of candidates."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer
from rich.markup import escape

from ..core.errors import ParameterError, StateError
from ..files.items import read_items
from ..files.overwriting import refuse_replacing
from ..files.tallies import Collected
from ..pages.answers import Answer
from ..pages.estimates import check_name
from ..search.base import SearchTally
from .answers import show_answer, write_answer
from .common import KeyFile, Title, Unit, echo_json, exit_on_error, key_of, messages, progress, results

_LEVEL = 0.05


def search(
    tally: Annotated[Path, typer.Argument(help="A tally file, written by plausibly collect.")],
    top: Annotated[int, typer.Option(min=1, help="Return at most this many strings.")] = 10,
    level: Annotated[
        float | None, typer.Option(help="Probability that the answer contains a string that nobody has. Default: 0.05.")
    ] = None,
    no_level: Annotated[
        bool, typer.Option("--no-level", help="Also return strings that may be due to chance.")
    ] = False,
    dictionary: Annotated[
        Path | None, typer.Option(help="A file of strings that are publicly known to be likely, one per line.")
    ] = None,
    explain: Annotated[
        list[str] | None, typer.Option(help="Explain why this string was found or not; may be repeated.")
    ] = None,
    tree: Annotated[
        list[Path] | None, typer.Option(help="Draw the search as a tree, .png or .svg; may be repeated.")
    ] = None,
    out: Annotated[
        list[Path] | None,
        typer.Option("--out", "-o", help="A file to write: .csv .parquet .json .png .svg or .html; may be repeated."),
    ] = None,
    title: Title = None,
    unit: Unit = "users",
    key_file: KeyFile = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON for machines.")] = False,
) -> None:
    """Find the most common strings, with their counts and the certainty that users have them.

    The tally must be of a scheme for searches, such as plausibly plan recommends for --alphabet and --length. A
    dictionary is a hint, not a limit: its strings are found with less evidence. It must not be made from reports of the
    same users.

    Example: plausibly search visits.tally --out found.html
    """
    console = messages()
    with exit_on_error(console):
        for path in out or ():
            refuse_replacing(check_name(path), [tally, dictionary])
        for path in tree or ():
            check_name(path, pictures=True)
        source = Collected.read(tally, key=key_of(console, key_file))
        options = _options(source, tally, top, level, no_level, dictionary)
        strings = source.scheme.domain.parse(explain or ())
        if not len(source):
            raise StateError(f"{tally}: the tally has no reports; add some with plausibly collect")
        with progress(console, "searching", "strings"):
            assert isinstance(source.tally, SearchTally)
            found = source.tally.search(**options)
            level = options.get("level")
            answer = Answer(found, source, significance=level, largest=top, title=title, unit=unit)
            write_answer(console, answer, out or (), tree or ())
        told_why = [found.explain(string) for string in strings]
    if as_json:
        echo_json(answer.to_dict() | {"explained": dict(zip(explain or (), told_why, strict=True))})
        return
    printed = results()
    show_answer(printed, answer, [*(out or ()), *(tree or ())])
    if source.tally.scheme.next_step:
        printed.print(source.tally.scheme.next_step, highlight=False)
    for words in told_why:
        printed.print(f"\n{escape(words)}", highlight=False)


def _options(
    source: Collected, tally: Path, top: int, level: float | None, no_level: bool, dictionary: Path | None
) -> dict[str, Any]:
    if not isinstance(source.tally, SearchTally):
        raise ParameterError(
            f"{tally}: expected a scheme for searches, got {source.scheme.name}, which counts items by name; "
            f"use plausibly estimate {tally}"
        )
    if no_level and level is not None:
        raise ParameterError("expected --level or --no-level, got both")
    takes = source.tally.scheme.choices
    for option, given in (("level", level), ("dictionary", dictionary)):
        if given is not None and option not in takes:
            raise ParameterError(f"--{option}: searches by {source.scheme.name} do not use it; leave it out")
    options: dict[str, Any] = {"k": top}
    if "level" in takes and not no_level:
        options["level"] = _LEVEL if level is None else level
    if dictionary is not None:
        options["dictionary"] = source.scheme.domain.parse(read_items(dictionary))
    return options
