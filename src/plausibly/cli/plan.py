"""plausibly plan: recommend a scheme, its expected accuracy, and the users or ε that a target needs."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape
from rich.table import Table

from ..core.atomic import expect_suffix, folder_of, replacing
from ..core.domain import Domain, Keys, Labels, Strings
from ..core.errors import ParameterError
from ..files.overwriting import refuse_replacing
from ..planner import Above, Limits, Plan, Within
from ..planner import plan as planned
from ..planner.recommendation import expression
from .common import echo_json, exit_on_error, messages, results


def plan(
    items: Annotated[int | None, typer.Option(min=2, help="Number of different values.")] = None,
    label: Annotated[
        list[str] | None, typer.Option(help="One possible value, by name; repeat for every value.")
    ] = None,
    labels: Annotated[Path | None, typer.Option(help="A file of all possible values, one per line.")] = None,
    other: Annotated[
        bool,
        typer.Option(
            "--other",
            help="Add one item for all texts that are not listed, or one symbol for all characters outside the "
            "alphabet. Devices refuse schemes without it.",
        ),
    ] = False,
    keys: Annotated[
        bool, typer.Option("--keys", help="Values are any texts; you name the ones to count later.")
    ] = False,
    alphabet: Annotated[
        str | None,
        typer.Option(help="Search for strings of these characters. a-z0-9.- means two ranges, a dot and a hyphen."),
    ] = None,
    length: Annotated[int | None, typer.Option(help="Search for strings of at most this many characters.")] = None,
    users: Annotated[int | None, typer.Option(help="Number of users who report.")] = None,
    epsilon: Annotated[str | None, typer.Option(help="Privacy parameter ε, such as 1 or 0.5.")] = None,
    within: Annotated[
        str | None, typer.Option(help="Target: half-width of the confidence intervals, such as 0.5%.")
    ] = None,
    frequency: Annotated[str, typer.Option(help="With --within: for an item that this share of users has.")] = "0",
    every: Annotated[bool, typer.Option("--every", help="With --within: all intervals hold simultaneously.")] = False,
    find: Annotated[
        str | None, typer.Option(help="Target: find every item that at least this share of users has, such as 0.1%.")
    ] = None,
    confidence: Annotated[str, typer.Option(help="Confidence level of the target.")] = "95%",
    report_bytes: Annotated[int | None, typer.Option(help="Limit: bytes per report.")] = None,
    memory: Annotated[str, typer.Option(help="Limit: memory of the server, such as 500MB.")] = "1GiB",
    candidates: Annotated[int, typer.Option(help="With --keys: number of texts that you will count.")] = 1000,
    max_epsilon: Annotated[str, typer.Option(help="Limit: the largest ε to recommend.")] = "10",
    skew: Annotated[
        str,
        typer.Option(
            help="How uneven the data are: the exponent of a power law, 0 if all items are equally common, or worst."
        ),
    ] = "1.1",
    hash_seed: Annotated[
        int | None, typer.Option(help="Seed of the public hash functions. Default: a fresh one for every plan.")
    ] = None,
    save: Annotated[Path | None, typer.Option(help="Save the scheme to this file, for clients and the server.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON for machines.")] = False,
) -> None:
    """Recommend a scheme, from two of --users, --epsilon and a target (--within or --find).

    Shows how accurate the scheme is, what it costs, and why the other schemes are not recommended. Needs no data.

    With a target: plausibly plan --items 1000 --users 1000000 --within 0.5%

    Example: plausibly plan --alphabet a-z0-9./- --other --length 30 --users 200000 --epsilon 3 --save scheme.json
    """
    with exit_on_error(messages()):
        if within is not None and find is not None:
            raise ParameterError("expected one target, got --within and --find")
        if within is None and (every or frequency != "0"):
            raise ParameterError("--frequency and --every need --within")
        if within is None and find is None and confidence != "95%":
            raise ParameterError("--confidence needs --within or --find")
        if other and not (label or labels or alphabet):
            raise ParameterError("--other needs --label, --labels or --alphabet")
        if save is not None:
            folder_of(save)
            refuse_replacing(save, [labels])
            expect_suffix(save, [".json"])
        target = None if find is None else Above(find, confidence)
        found = planned(
            _domain(items, _named(label, labels, other), Keys() if keys else None, _texts(alphabet, length, other)),
            users,
            epsilon=epsilon,
            target=target if within is None else Within(within, confidence, frequency, every),
            limits=Limits(report_bytes=report_bytes, memory=memory, candidates=candidates, epsilon=max_epsilon),
            skew=_skew(skew),  # type: ignore[arg-type]
            hash_seed=hash_seed,
        )
        if save is not None:
            _write(save, found.scheme.to_json())
    if as_json:
        echo_json(found.to_dict())
    else:
        _print(found)


def _named(label: list[str] | None, path: Path | None, other: bool) -> Labels | None:
    if label and path is not None:
        raise ParameterError("expected --label or --labels, got both")
    if not label and path is None:
        return None
    return Labels(tuple(label or _lines(path)), other)


def _texts(alphabet: str | None, length: int | None, other: bool) -> Strings | None:
    if (alphabet is None) != (length is None):
        raise ParameterError(
            f"expected --alphabet and --length together, got only --{'alphabet' if length is None else 'length'}"
        )
    return None if alphabet is None or length is None else Strings(spelled_out(alphabet), length, other=other)


def _domain(items: int | None, labels: Labels | None, keys: Keys | None, texts: Strings | None) -> Domain | int:
    given = {"--items": items, "--label": labels, "--keys": keys, "--alphabet": texts}
    chosen = [name for name, domain in given.items() if domain is not None]
    if len(chosen) != 1:
        got = " and ".join(chosen) or "none"
        raise ParameterError(f"expected one of {', '.join(given)}, got {got}")
    return items or labels or keys or texts or 0


def spelled_out(alphabet: str) -> str:
    """The characters of a planned alphabet. a-z, A-Z, 0-9 and parts of them are ranges; other hyphens are literal.

    >>> spelled_out("a-f0-3.-/")
    'abcdef0123.-/'
    """

    def whole(found: re.Match[str]) -> str:
        first, last = map(ord, found[0][::2])
        if last < first:
            raise ParameterError(
                f"--alphabet: the range {found[0]} ends before it begins; put a hyphen that is not a range last"
            )
        return "".join(map(chr, range(first, last + 1)))

    return re.sub("[a-z]-[a-z]|[A-Z]-[A-Z]|[0-9]-[0-9]", whole, alphabet)


def _lines(path: Path | None) -> list[str]:
    assert path is not None
    try:
        text = path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise ParameterError(f"{path}: expected UTF-8 text, got another encoding at byte {error.start}") from None
    # Split at line feeds only, as privatize and estimate do: any other line separator is part of a value.
    lines = [line for line in text.split("\n") if line.strip()]
    if len(set(lines)) != len(lines):
        raise ParameterError(f"{path}: expected distinct values, got some lines more than once")
    return lines


def _write(path: Path, text: str) -> None:
    with replacing(path) as unfinished:
        unfinished.write_text(text, encoding="utf-8")


def _skew(given: str) -> object:
    try:
        return float(given)
    except ValueError:
        return given


def _print(found: Plan) -> None:
    console = results()
    console.print(f"[bold]{escape(expression(found.scheme))}[/]", highlight=False)
    console.print(f"for {escape(found.situation)}", highlight=False)
    facts = Table.grid(padding=(0, 2))
    for name, value in found.facts():
        facts.add_row(f"  {name}", escape(value))
    console.print("", facts, "", "[bold]Why not[/]", sep="\n", highlight=False)
    others = Table.grid(padding=(0, 2))
    for column in ("left", "right", "right", "left"):
        others.add_column(justify=column, no_wrap=column == "right")
    for choice in found.runners_up:
        name, *rest = choice.row
        others.add_row(f"  {name}", *map(escape, rest))
    console.print(others, "", "[bold]In plain words[/]", sep="\n", highlight=False)
    words = Table.grid(padding=(0, 1))
    for note in found.notes:
        words.add_row("  •", escape(note))
    console.print(words, highlight=False)
