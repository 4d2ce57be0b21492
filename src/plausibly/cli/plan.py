"""plausibly plan: which scheme to take, what to expect of it, and what a target would need."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape
from rich.table import Table

from ..core.atomic import folder_of, replacing
from ..core.domain import Domain, Keys, Labels, Strings
from ..core.errors import ParameterError
from ..files.overwriting import refuse_replacing
from ..planner import Above, Limits, Plan, Within
from ..planner import plan as planned
from ..planner.result import expression
from .common import echo_json, exit_on_error, messages, results


def plan(
    items: Annotated[int | None, typer.Option(min=2, help="How many different values there are.")] = None,
    label: Annotated[list[str] | None, typer.Option(help="A value by name; give all of them.")] = None,
    labels: Annotated[Path | None, typer.Option(help="A file of values, one in each line.")] = None,
    other: Annotated[
        bool,
        typer.Option(
            "--other",
            help="One more item for every text that is not on the list, or one more symbol for every character outside "
            "the alphabet. Devices refuse schemes without it.",
        ),
    ] = False,
    keys: Annotated[bool, typer.Option("--keys", help="Any text, asked about by name later.")] = False,
    alphabet: Annotated[
        str | None,
        typer.Option(help="Texts to be found: their characters; a-z0-9.- has ranges, and a hyphen at its end."),
    ] = None,
    length: Annotated[int | None, typer.Option(help="Texts to be found: how many characters at most.")] = None,
    users: Annotated[int | None, typer.Option(help="How many users report.")] = None,
    epsilon: Annotated[str | None, typer.Option(help="Privacy, such as 1 or 0.5.")] = None,
    within: Annotated[str | None, typer.Option(help="Target: half the width of an interval, such as 0.5%.")] = None,
    frequency: Annotated[str, typer.Option(help="With --within: of an item held by this share of users.")] = "0",
    every: Annotated[bool, typer.Option("--every", help="With --within: all intervals hold at once.")] = False,
    find: Annotated[str | None, typer.Option(help="Target: find what this share holds, such as 0.1%.")] = None,
    confidence: Annotated[str, typer.Option(help="Of a target.")] = "95%",
    report_bytes: Annotated[int | None, typer.Option(help="Limit: bytes of a report.")] = None,
    memory: Annotated[str, typer.Option(help="Limit: state of the server, such as 500MB.")] = "1GiB",
    candidates: Annotated[int, typer.Option(help="With --keys: how many will be asked about.")] = 1000,
    max_epsilon: Annotated[str, typer.Option(help="Limit: the largest ε to recommend.")] = "10",
    skew: Annotated[
        str, typer.Option(help="How uneven the data are: exponent of a power law, 0 for even, or worst.")
    ] = "1.1",
    hash_seed: Annotated[
        int | None, typer.Option(help="Of public hash functions. Default: a fresh one for every plan.")
    ] = None,
    save: Annotated[Path | None, typer.Option(help="Write the scheme to this file, for clients and server.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON for machines.")] = False,
) -> None:
    """Recommend a scheme, from two of --users, --epsilon and a target (--within or --find).

    Says how exact it will be, what it costs, and why the others are not recommended. No data are needed.

    With a target: plausibly plan --items 1000 --users 1000000 --within 0.5%

    Example: plausibly plan --alphabet a-z0-9./- --other --length 30 --users 200000 --epsilon 3 --save scheme.json
    """
    with exit_on_error(messages()):
        if within is not None and find is not None:
            raise ParameterError("expected one target, got --within and --find")
        if within is None and (every or frequency != "0"):
            raise ParameterError("--frequency and --every are for --within, which is not given")
        if within is None and find is None and confidence != "95%":
            raise ParameterError("--confidence is for --within and --find, which are not given")
        if other and not (label or labels or alphabet):
            raise ParameterError("--other is for --label, --labels and --alphabet, which are not given")
        if save is not None:
            folder_of(save)
            refuse_replacing(save, [labels])
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
        raise ParameterError("expected --alphabet and --length together")
    return None if alphabet is None or length is None else Strings(spelled_out(alphabet), length, other=other)


def _domain(items: int | None, labels: Labels | None, keys: Keys | None, texts: Strings | None) -> Domain | int:
    given = {"--items": items, "--label": labels, "--keys": keys, "--alphabet": texts}
    chosen = [name for name, domain in given.items() if domain is not None]
    if len(chosen) != 1:
        got = " and ".join(chosen) or "none"
        raise ParameterError(f"expected one of {', '.join(given)}, got {got}")
    return items or labels or keys or texts or 0


def spelled_out(alphabet: str) -> str:
    """The characters of an alphabet in which a-z, A-Z, 0-9 and parts of them are ranges; other hyphens are hyphens.

    >>> spelled_out("a-f0-3.-/")
    'abcdef0123.-/'
    """

    def whole(found: re.Match[str]) -> str:
        first, last = map(ord, found[0][::2])
        if last < first:
            raise ParameterError(f"alphabet: {found[0]} ends before it begins; a hyphen that is no range stands last")
        return "".join(map(chr, range(first, last + 1)))

    return re.sub("[a-z]-[a-z]|[A-Z]-[A-Z]|[0-9]-[0-9]", whole, alphabet)


def _lines(path: Path | None) -> list[str]:
    assert path is not None
    try:
        text = path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise ParameterError(f"{path}: expected UTF-8 text, byte {error.start} is not") from None
    # At line feeds only, as privatize and estimate read them: what else ends a line somewhere is part of a value.
    lines = [line for line in text.split("\n") if line.strip()]
    if len(set(lines)) != len(lines):
        raise ParameterError(f"{path}: expected distinct values, some lines occur more than once")
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
