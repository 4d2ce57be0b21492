"""The options of ``plausibly plan`` and its help page."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from .common import Json, Names, Overwrite


def _number_of_values(text: str) -> int:
    try:
        number = int(text)
    except ValueError:
        raise typer.BadParameter(
            f"expected the number of different values, got {text}; name a file of values with --labels FILE"
        ) from None
    if number < 2:
        raise typer.BadParameter(f"expected at least 2 different values, got {number}")
    return number


@dataclass(frozen=True, kw_only=True)
class PlanOptions:
    """Recommend a scheme, from two of --users, --epsilon and a target (--within, --find or --quantile-within).

    Shows how accurate the scheme is, what it costs, and why the other schemes are not recommended. Needs no data.

    With a target: plausibly plan --items 1000 --users 1000000 --within 0.5%

    With a shuffler: plausibly plan --items 1000 --users 1000000 --epsilon 1 --shuffler 100000

    For a central ε of 1: plausibly plan --items 1000 --users 1000000 --central-epsilon 1 --shuffler 100000

    Numbers in order: plausibly plan --bins 0..1000/256 --unit € --users 100000 --epsilon 1

    Several questions, for tables of two: plausibly plan --attribute theme=dark,light --attribute
    'age=bins:0,18,65,120 years' --users 100000 --epsilon 1

    Asked again every day: plausibly plan --items 20 --users 100000 --slots 30 --lifetime-epsilon 4

    Example: plausibly plan --alphabet a-z0-9./- --other --length 30 --users 200000 --epsilon 3 --save scheme.json
    """

    items: Annotated[
        int | None, typer.Option(parser=_number_of_values, metavar="<int>", help="Number of different values.")
    ] = None
    label: Annotated[list[str] | None, typer.Option(help="One possible value, by name; repeat for every value.")] = None
    labels: Annotated[Path | None, typer.Option(help="A file of all possible values, one per line.")] = None
    other: Annotated[
        bool,
        typer.Option(
            "--other",
            help="Add one item for all texts that are not listed, or for missing numbers and dates, or one symbol for "
            "all characters outside the alphabet. Devices refuse schemes without it. With --attribute: to all labels; "
            "with --choices: for users who have any item that is not listed.",
        ),
    ] = False
    normalize: Annotated[
        str | None,
        typer.Option(
            help="Make spellings equal first, on devices too, by some of nfc,lower,strip (accents, capitals, spaces at "
            "the ends)."
        ),
    ] = None
    keys: Annotated[bool, typer.Option("--keys", help="Values are any texts; you name the ones to count later.")] = (
        False
    )
    alphabet: Annotated[
        str | None,
        typer.Option(help="Search for strings of these characters. a-z0-9.- means two ranges, a dot and a hyphen."),
    ] = None
    length: Annotated[int | None, typer.Option(help="Search for strings of at most this many characters.")] = None
    range: Annotated[str | None, typer.Option(help="Whole numbers in order, both ends included, such as 0..120.")] = (
        None
    )
    bins: Annotated[
        str | None,
        typer.Option(
            help="Numbers in order, in bins between edges such as 0,10,20.5,50, or in equal bins: 0..1000/256 means "
            "256 bins from 0 to 1000."
        ),
    ] = None
    dates: Annotated[
        str | None, typer.Option(help="Days in UTC, both ends included, such as 2026-01-01..2026-12-31.")
    ] = None
    durations: Annotated[
        str | None, typer.Option(help="Durations in whole units (ms, s, min, h or d), such as 0..500ms.")
    ] = None
    attribute: Annotated[
        list[str] | None,
        typer.Option(
            help="One of several attributes of every user: its name and possible values, such as theme=dark,light, "
            "age=range:0..120, 'age=bins:0,18,65,120 years', day=dates:2026-01-01..2026-12-31 or "
            "wait=durations:0..500ms; repeat for every attribute. Labels with commas go in quotation marks."
        ),
    ] = None
    attributes: Annotated[
        Path | None, typer.Option(help="A file of attributes, one per line, written as for --attribute.")
    ] = None
    no_missing: Annotated[
        bool,
        typer.Option("--no-missing", help="With --attribute: no cells for missing values, which are then refused."),
    ] = False
    choices: Annotated[
        Path | None, typer.Option(help="A file of items, one per line, of which every user has any number.")
    ] = None
    infinite: Annotated[
        str | None, typer.Option(help="With --range, --bins or --durations: clamp, to clamp infinite numbers, too.")
    ] = None
    unit: Annotated[
        str | None, typer.Option(help="With --range or --bins: the unit of the numbers, such as years, for answers.")
    ] = None
    users: Annotated[int | None, typer.Option(help="Number of users who report.")] = None
    epsilon: Annotated[str | None, typer.Option(help="Privacy parameter ε, such as 1 or 0.5.")] = None
    central_epsilon: Annotated[
        str | None,
        typer.Option(
            help="With --shuffler, instead of --epsilon: the ε of shuffled batches. The plan has the largest ε of a "
            "single report that keeps it."
        ),
    ] = None
    smallest_batch: Annotated[
        int | None,
        typer.Option(
            "--shuffler",
            "--smallest-batch",
            metavar="USERS",
            help="Add the central ε if a trusted shuffler releases the reports in batches, the smallest of this number "
            "of honest users.",
        ),
    ] = None
    delta: Annotated[
        str, typer.Option(help="With --shuffler: the chance with which the central promise may fail, from 1e-12.")
    ] = "1e-6"
    slots: Annotated[
        int | None, typer.Option(help="The question is repeated this number of times, with --lifetime-epsilon.")
    ] = None
    lifetime_epsilon: Annotated[
        str | None, typer.Option(help="With --slots: the ε that a user may spend in all slots together.")
    ] = None
    way: Annotated[
        str | None,
        typer.Option(help="With --slots: save the scheme of another way than the first: rota, split or memo."),
    ] = None
    within: Annotated[
        str | None,
        typer.Option(
            help="Target: half-width of the confidence intervals, such as 0.5%: of every item or, for values in order, "
            "of every range."
        ),
    ] = None
    quantile_within: Annotated[
        str | None,
        typer.Option(
            help="Target for values in order: half-width of the median's interval in their own units, such as 2."
        ),
    ] = None
    quantile: Annotated[
        str, typer.Option(help="With --quantile-within: another quantile than the median, such as 0.95.")
    ] = "0.5"
    frequency: Annotated[str, typer.Option(help="With --within: for an item that this share of users has.")] = "0"
    every: Annotated[bool, typer.Option("--every", help="With --within: all intervals hold simultaneously.")] = False
    find: Annotated[
        str | None, typer.Option(help="Target: find every item that at least this share of users has, such as 0.1%.")
    ] = None
    confidence: Annotated[str, typer.Option(help="Confidence level of the target.")] = "95%"
    report_bytes: Annotated[int | None, typer.Option(help="Limit: bytes per report.")] = None
    memory: Annotated[str, typer.Option(help="Limit: memory of the server, such as 500MB.")] = "1GiB"
    candidates: Annotated[int, typer.Option(help="With --keys: number of texts that you will count.")] = 1000
    max_epsilon: Annotated[str, typer.Option(help="Limit: the largest ε to recommend.")] = "10"
    skew: Annotated[
        str,
        typer.Option(
            help="How uneven the data are: the exponent of a power law, 0 if all items are equally common, or worst."
        ),
    ] = "1.1"
    hash_seed: Annotated[
        int | None, typer.Option(help="Seed of the public hash functions. Default: a fresh one for every plan.")
    ] = None
    save: Annotated[
        Path | None, typer.Option(help="Save the scheme to this file, for clients and the server."), Names.OUTPUT
    ] = None
    overwrite: Overwrite = False
    as_json: Json = False
