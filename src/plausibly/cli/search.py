"""plausibly search: find common strings without a list of candidates."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from rich.markup import escape

from ..core.errors import ParameterError, StateError
from ..files.items import read_items
from ..files.overwriting import refuse_replacing
from ..files.tallies import Collected
from ..pages.answers import Answer
from ..pages.estimates import check_name
from ..planner.description import Description
from ..search.base import SearchTally
from .answers import show_answer, write_answer
from .asking import expect_items, strings_to_explain
from .common import echo_json, exit_on_error, key_of, messages, progress, results
from .inputs import inputs_of
from .options.search import SearchOptions

_LEVEL = 0.05


def search(request: SearchOptions) -> None:
    """Run ``plausibly search``."""
    console = messages()
    with exit_on_error(console, request):
        for path in request.out or ():
            refuse_replacing(check_name(path), inputs_of(request))
        for path in request.tree or ():
            refuse_replacing(check_name(path, pictures=True), inputs_of(request))
        source = Collected.read(request.tally, key=key_of(console, request.key_file))
        expect_items(request.tally, source.scheme)
        options = _options(source, request.tally, request.top, request.level, request.no_level, request.dictionary)
        strings = strings_to_explain(source.scheme.domain, request.explain or ())
        if not len(source):
            raise StateError(f"{request.tally}: the tally has no reports; add some with plausibly collect")
        with progress(console, "searching", "strings"):
            assert isinstance(source.tally, SearchTally)
            found = source.tally.search(**options)
            answer = Answer(
                found,
                source,
                largest=request.top,
                significance=options.get("level"),
                title=request.title,
                unit=request.unit,
                detectable=None if len(found) else _detectable(source),
            )
            write_answer(console, answer, request.out or (), request.tree or ())
        told_why = [found.explain(string) for string in strings]
    if request.as_json:
        echo_json(answer.to_dict() | {"explained": dict(zip(request.explain or (), told_why, strict=True))})
        return
    printed = results()
    show_answer(printed, answer, [*(request.out or ()), *(request.tree or ())])
    if source.tally.scheme.next_step:
        printed.print(source.tally.scheme.next_step, highlight=False)
    for words in told_why:
        printed.print(f"\n{escape(words)}", highlight=False)


def _detectable(source: Collected) -> float | None:
    # The smallest share of users with which the search would have found a string, if there is a formula.
    return next((share for _, share in Description(source.scheme, (len(source),)).finds), None)


def _options(
    source: Collected, tally: str, top: int, level: float | None, no_level: bool, dictionary: Path | None
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
