"""plausibly plan: recommend a scheme, its expected accuracy, and the users or ε that a target needs."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rich.markup import escape
from rich.table import Table

from ..core.atomic import expect_suffix, folder_of, replacing
from ..core.domain import Choices, Domain, Keys, Labels, Ordered, Strings, steps_of
from ..core.errors import ParameterError
from ..files.overwriting import refuse_changing, refuse_replacing
from ..planner import Above, Limits, Plan, QuantileWithin, Shuffler, Within
from ..planner import plan as planned
from ..planner.recommendation import short_text
from ..planner.repeated import RepeatedPlan, repeated
from ..planner.targets import Target
from .attributes import table_of
from .common import echo_json, exit_on_error, messages, print_table, results
from .domains import ORDERED, WITH_INFINITE, WITH_UNIT
from .inputs import inputs_of
from .options.plan import PlanOptions
from .spelling import spelled


def plan(request: PlanOptions) -> None:
    """Run ``plausibly plan``."""
    with exit_on_error(messages(), request):
        _expect_sense(request)
        if request.save is not None:
            folder_of(request.save)
            refuse_replacing(request.save, inputs_of(request), schemes=False)
            expect_suffix(request.save, [".json"])
        domain = _domain(request)
        limits = Limits(
            report_bytes=request.report_bytes,
            memory=request.memory,
            candidates=request.candidates,
            epsilon=request.max_epsilon,
        )
        given: dict[str, Any] = {"limits": limits, "skew": _skew(request.skew), "hash_seed": request.hash_seed}
        found: Plan | RepeatedPlan
        if request.slots is not None and request.lifetime_epsilon is not None and request.users is not None:
            given |= {"slots": request.slots, "lifetime_epsilon": request.lifetime_epsilon}
            found = repeated(domain, request.users, **given)
            scheme = (found.best if request.way is None else found.way(request.way)).scheme
        else:
            given |= {"epsilon": request.epsilon, "target": _target(request), "shuffler": _shuffler(request)}
            found = planned(domain, request.users, **given)
            scheme = found.scheme
        if request.save is not None:
            text = scheme.to_json()
            refuse_changing(request.save, text, overwrite=request.overwrite)
            _write(request.save, text)
    if isinstance(found, RepeatedPlan):
        _print_repeated(found, request)
    elif request.as_json:
        echo_json(found.to_dict() | {"notes": [spelled(note, request) for note in found.notes]})
    else:
        _print(found, request)


def _expect_sense(request: PlanOptions) -> None:
    # Refuse options without those that they belong to.
    named, lists = (
        request.label or request.labels or _attributes(request),
        "--label, --labels, --attribute, --attributes",
    )
    targets = {"--within": request.within, "--find": request.find, "--quantile-within": request.quantile_within}
    given = [name for name, value in targets.items() if value is not None]
    if len(given) > 1:
        raise ParameterError(f"expected one target, got {' and '.join(given)}")
    if request.within is None and (request.every or request.frequency != "0"):
        raise ParameterError("--frequency and --every need --within")
    if not given and request.confidence != "95%":
        raise ParameterError("--confidence needs --within, --find or --quantile-within")
    if request.quantile_within is None and request.quantile != "0.5":
        raise ParameterError("--quantile needs --quantile-within")
    if request.central_epsilon is not None and request.smallest_batch is None:
        raise ParameterError("--central-epsilon needs --shuffler, the smallest batch")
    if request.smallest_batch is None and request.delta != "1e-6":
        raise ParameterError("--delta needs --shuffler")
    repeating = (request.slots, request.lifetime_epsilon)
    if any(each is not None for each in repeating):
        if None in repeating or request.users is None:
            raise ParameterError("expected --slots, --lifetime-epsilon and --users together, got only some of them")
        if given or request.epsilon is not None:
            raise ParameterError("expected --lifetime-epsilon for a repeated question, not --epsilon or a target")
        if request.smallest_batch is not None:
            raise ParameterError("expected a question that is asked once with --shuffler, got --slots")
    if request.way is not None and (request.slots is None or request.save is None):
        raise ParameterError("--way needs --slots and --save")
    ordered = [name for name in ORDERED if getattr(request, name) is not None]
    if request.other and not (named or request.choices or request.alphabet or ordered):
        raise ParameterError(f"--other needs {lists}, --choices, --alphabet, --range, --bins, --dates or --durations")
    if request.infinite is not None and (not ordered or ordered == ["dates"]):
        raise ParameterError("--infinite needs --range, --bins or --durations")
    if request.unit is not None and not set(ordered) & set(WITH_UNIT):
        raise ParameterError("--unit needs --range or --bins; write that of durations after the number: 0..500ms")
    if request.normalize is not None and not (named or request.keys or request.alphabet):
        raise ParameterError(f"--normalize needs {lists}, --keys or --alphabet")
    if request.no_missing and not _attributes(request):
        raise ParameterError("--no-missing needs --attribute or --attributes")


def _attributes(request: PlanOptions) -> bool:
    return bool(request.attribute) or request.attributes is not None


def _shuffler(request: PlanOptions) -> Shuffler | None:
    if request.smallest_batch is None:
        return None
    return Shuffler(smallest_batch=request.smallest_batch, epsilon=request.central_epsilon, delta=request.delta)


def _target(request: PlanOptions) -> Target | None:
    if request.quantile_within is not None:
        return QuantileWithin(request.quantile, request.quantile_within, request.confidence)
    if request.within is not None:
        return Within(request.within, request.confidence, request.frequency, request.every)
    return None if request.find is None else Above(request.find, request.confidence)


def _domain(request: PlanOptions) -> Domain | int:
    steps = () if request.normalize is None else steps_of(request.normalize)
    given = {
        "--items": request.items,
        "--label" if request.label else "--labels": _named(request.label, request.labels, request.other, steps),
        "--keys": Keys(normalize=steps) if request.keys else None,
        "--alphabet": _texts(request.alphabet, request.length, request.other, steps),
        **{f"--{name}": _ordered(name, request) for name in ORDERED},
        "--attribute" if request.attribute else "--attributes": table_of(
            request.attribute or (),
            request.attributes,
            other=request.other,
            steps=steps,
            missing=not request.no_missing,
        ),
        "--choices": None if request.choices is None else Choices(_lines(request.choices), other=request.other),
    }
    chosen = {name: domain for name, domain in given.items() if domain is not None}
    if len(chosen) != 1:
        got = " and ".join(chosen) or "none"
        names = "items", "label", "labels", "keys", "alphabet", *ORDERED, "attribute", "attributes", "choices"
        kinds = ", ".join(f"--{name}" for name in names)
        raise ParameterError(f"expected one of {kinds}, got {got}")
    [domain] = chosen.values()
    return domain


def _ordered(name: str, request: PlanOptions) -> Ordered | None:
    text = getattr(request, name)
    if text is None:
        return None
    given = {"infinite": request.infinite if name in WITH_INFINITE else None}
    given |= {"unit": request.unit if name in WITH_UNIT else None}
    options = {key: value for key, value in given.items() if value is not None}
    return ORDERED[name](text, other=request.other, **options)


def _named(label: list[str] | None, path: Path | None, other: bool, steps: Sequence[str]) -> Labels | None:
    if label and path is not None:
        raise ParameterError("expected --label or --labels, got both")
    if not label and path is None:
        return None
    return Labels(tuple(label or _lines(path)), other, steps)


def _texts(alphabet: str | None, length: int | None, other: bool, steps: Sequence[str]) -> Strings | None:
    if (alphabet is None) != (length is None):
        raise ParameterError(
            f"expected --alphabet and --length together, got only --{'alphabet' if length is None else 'length'}"
        )
    if alphabet is None or length is None:
        return None
    return Strings(spelled_out(alphabet), length, other=other, normalize=steps)


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


def _print_repeated(found: RepeatedPlan, request: PlanOptions) -> None:
    if request.as_json:
        echo_json(found.to_dict())
        return
    console = results()
    console.print(f"[bold]{escape(found.verdict)}[/]\n", highlight=False)
    table = Table(box=None, pad_edge=False, header_style="bold")
    for place, name in enumerate(found.header):
        table.add_column(name, justify="right" if place else "left")
    for row in found.rows():
        table.add_row(*map(escape, row))
    print_table(console, table)
    words = Table.grid(padding=(0, 1))
    for way in found.ways:
        words.add_row("  •", escape(f"{way.name}: {way.promise}"))
    console.print("", "[bold]What each way promises[/]", words, sep="\n", highlight=False)
    remarks = Table.grid(padding=(0, 1))
    for remark in found.remarks:
        remarks.add_row("  •", escape(remark))
    console.print("", "[bold]In plain words[/]", remarks, sep="\n", highlight=False)


def _print(found: Plan, request: PlanOptions) -> None:
    console = results()
    console.print(f"[bold]{escape(found.verdict)}[/]\n", highlight=False)
    console.print(escape(found.scheme.name), highlight=False, soft_wrap=True)
    console.print(f"for {escape(found.situation)}", highlight=False)
    facts = Table.grid(padding=(0, 2))
    text = short_text(found.scheme)
    for name, value in [*found.facts(), *([] if text is None else [("as a text", text)])]:
        facts.add_row(f"  {name}", escape(value))
    console.print("", facts, "", sep="\n", highlight=False)
    others = Table.grid(padding=(0, 2))
    for column in ("left", "right", "right", "left"):
        others.add_column(justify=column, no_wrap=column == "right")
    for choice in found.runners_up:
        name, *rest = choice.row
        others.add_row(f"  {name}", *map(escape, rest))
    if found.runners_up:
        console.print("[bold]Why not[/]", others, "", sep="\n", highlight=False)
    console.print("[bold]In plain words[/]", highlight=False)
    words = Table.grid(padding=(0, 1))
    for note in found.notes:
        words.add_row("  •", escape(spelled(note, request)))
    console.print(words, highlight=False)
