"""plausibly estimate: counts with confidence intervals, from a tally."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from ..core.domain import Domain
from ..core.errors import ParameterError, StateError
from ..core.estimates import Estimates
from ..core.wording import shown
from ..files.items import read_items
from ..files.overwriting import refuse_replacing
from ..files.tallies import Collected
from ..pages.answers import Answer
from ..pages.estimates import check_name
from ..postprocess import POSTPROCESS
from ..sketches.rows import RowSketch
from .answers import show_answer, write_answer
from .common import KeyFile, Title, Unit, echo_json, exit_on_error, key_of, messages, progress, results


def estimate(
    tally: Annotated[Path, typer.Argument(help="A tally file, written by plausibly collect.")],
    items: Annotated[list[str] | None, typer.Option(help="Items to count, separated by commas.")] = None,
    item: Annotated[list[str] | None, typer.Option(help="One item, which may contain commas; may be repeated.")] = None,
    items_file: Annotated[Path | None, typer.Option(help="A file of items to count, one per line.")] = None,
    top: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="Print and write only this many items, those with the largest counts; intervals allow for the choice.",
        ),
    ] = None,
    show_all: Annotated[bool, typer.Option("--all", help="Print all items, not only the 20 largest.")] = False,
    level: Annotated[float, typer.Option(help="Confidence level of the intervals.")] = 0.95,
    postprocess: Annotated[
        list[str] | None,
        typer.Option(
            help="A post-processing step, with options as name:option=value; may be repeated. "
            f"One of {', '.join(POSTPROCESS)}."
        ),
    ] = None,
    combine: Annotated[
        str | None, typer.Option(help="How to combine the rows of a sketch: mean, median, min or peel.")
    ] = None,
    out: Annotated[
        list[Path] | None,
        typer.Option("--out", "-o", help="A file to write: .csv .parquet .json .png .svg or .html; may be repeated."),
    ] = None,
    title: Title = None,
    unit: Unit = "users",
    key_file: KeyFile = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON for machines, with all items.")] = False,
) -> None:
    """Estimate how many users have each item, with confidence intervals.

    Without a choice of items, every item of the scheme is estimated. The table shows the 20 largest, with intervals
    that allow for the selection; up to 31 numbers are shown in their order. Files for programs have all items, in the
    order of the scheme, with plain intervals. Choose items with --items a,b, with --item "a, b" if they contain commas,
    or with --items-file.

    Example: plausibly estimate visits.tally --items amber-atlas.example,iris-jobs.example --out chart.png
    """
    console = messages()
    with exit_on_error(console):
        for path in out or ():
            refuse_replacing(check_name(path), [tally, items_file])
        if show_all and top is not None:
            raise ParameterError("expected --top or --all, got both")
        source = Collected.read(tally, key=key_of(console, key_file))
        asked = _asked(source.scheme.answers, items, item, items_file, tally)
        if combine is not None and not isinstance(source.scheme, RowSketch):
            raise ParameterError(f"--combine is for sketches, and {source.scheme.name} is not a sketch; leave it out")
        if not len(source):
            raise StateError(f"{tally}: the tally has no reports; add some with plausibly collect")
        with progress(console, "estimating", "items"):
            made = source.tally.estimate(asked, **({} if combine is None else {"combine": combine}))
            for step in postprocess or ():
                made = _processed(made, step)
            made = made if top is None else made.top(top)
            largest = max(1, len(made)) if show_all or top is not None else made.usual_number
            answer = Answer(made, source, level, largest, title=title, unit=unit)
            write_answer(console, answer, out or ())
    if as_json:
        echo_json(answer.to_dict())
    else:
        show_answer(results(), answer, out or ())


def _asked(
    domain: Domain, items: list[str] | None, single: list[str] | None, file: Path | None, tally: Path
) -> list[Any] | None:
    texts = [part for words in items or () for part in words.split(",")]
    if "" in texts:
        raise ParameterError(
            '--items: expected items separated by single commas, got an empty one; --item "" is the empty text'
        )
    texts += [*(single or ()), *(read_items(file) if file is not None else ())]
    if texts:
        return domain.parse(list(dict.fromkeys(texts)))
    if domain.size is None:
        way = f", or find the common ones with plausibly search {tally}" * domain.searchable
        raise ParameterError(f"{tally}: the items cannot be listed; name some with --items or --items-file{way}")
    return None


def _processed(made: Estimates, words: str) -> Estimates:
    name, colon, rest = words.partition(":")
    options: dict[str, float] = {}
    for part in rest.split(",") if colon else ():
        option, equals, value = part.partition("=")
        try:
            options[option] = float(value)
        except ValueError:
            equals = ""
        if not (option and equals):
            raise ParameterError(f"--postprocess {shown(words)}: expected name:option=number, got {shown(part)}")
    return made.postprocess(name, **options)
