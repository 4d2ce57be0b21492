"""plausibly privatize: turn a file of users' values into a file of reports."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Mapping
from dataclasses import asdict
from glob import glob, has_magic
from pathlib import Path
from typing import Any

import typer
from rich.console import Console
from rich.markup import escape

from ..core.domain import Domain, Ordered, steps_of
from ..core.errors import ParameterError
from ..core.memoised import Memoised
from ..core.scheme import Scheme
from ..core.wording import decimal, plural, shown, size_text, visible
from ..files.batches import Glue
from ..files.checking import Checked, check_values
from ..files.faults import Faults
from ..files.places import expect_ending
from ..files.privatizing import Privatized, privatize_values
from ..files.values import Values, values
from .common import echo_json, exit_on_error, key_of, messages, progress, results
from .naming import scheme_of
from .options.privatize import PrivatizeOptions
from .spelling import spelled

_DELIMITERS = {"tab": "\t", "\\t": "\t"}
"""Names for delimiters that are hard to type in a shell."""
_NEW_MEMO = "new for every report; the ε of users who report again adds up, unless devices keep their memos"


def privatize(request: PrivatizeOptions) -> None:
    """Run ``plausibly privatize``."""
    console = messages()
    with exit_on_error(console, request):
        if request.out is None and not request.dry_run:
            raise ParameterError("expected --out FILE for the reports, or --dry-run to check the values")
        if request.out is not None:
            expect_ending(request.out, [".parquet"])
        chosen, key = scheme_of(request.scheme), key_of(console, request.key_file)
        domain = _normalizing(chosen.domain, request.normalize)
        given = values(
            _opened(request.sources, console),
            domain=domain,
            column=request.column,
            columns=_columns(request.columns),
            glue=_glue(request),
            separator=request.separator if request.glue is None else None,
            format=request.format,
            missing=request.missing,  # type: ignore[arg-type]
            delimiter=_DELIMITERS.get(request.delimiter or "", request.delimiter),
            header=request.header,
            faults=Faults() if request.dry_run else None,
        )
        if request.out is None or request.dry_run:
            _check(given, domain, console, request)
            return
        if request.seed is not None:
            console.print(
                "Simulated: anyone who knows the seed can recover the values from these reports. "
                "Never use a seed for real users.",
                style="yellow",
                soft_wrap=True,
                highlight=False,
            )
        with progress(console, "privatizing") as advance:
            written = privatize_values(
                given, chosen, request.out, domain=domain, seed=request.seed, key=key, advance=advance
            )
    if request.as_json:
        changed = _changed_for_machines(written.changed, request)
        echo_json(_facts(chosen, domain, given, request.out, written) | {"changed": changed})
    else:
        _print(chosen, domain, given, written, request)


def _normalizing(domain: Domain, given: str | None) -> Domain:
    if given is None:
        return domain
    steps, own = steps_of(given), tuple(domain.normalize)
    if own and steps != own:
        raise ParameterError(f"--normalize: the scheme normalizes by {','.join(own)}; leave the option out")
    return domain.normalizing(steps)


def _columns(given: str | None) -> dict[str, str] | None:
    # The column of each attribute of a table: browser,theme or browser=Browser,theme=Theme.
    if given is None:
        return None
    chosen: dict[str, str] = {}
    for part in given.split(","):
        name, equals, column = part.partition("=")
        if not name or (equals and not column) or name in chosen:
            raise ParameterError(
                "--columns: expected different attributes separated by single commas, such as browser,theme, or with "
                f"their columns: browser=q1,theme=q2; got {shown(given)}"
            )
        chosen[name] = column or name
    return chosen


def _glue(request: PrivatizeOptions) -> Glue | None:
    if request.glue is None:
        return None
    columns = request.glue.split(",")
    if len(columns) < 2 or "" in columns or len(set(columns)) < len(columns):
        raise ParameterError("--glue: expected different columns separated by single commas, such as --glue a,b")
    if request.separator == "":
        raise ParameterError("--separator: expected at least one character, got none")
    return Glue(tuple(columns), request.separator or " ")


def _check(given: Values, domain: Domain, console: Console, request: PrivatizeOptions) -> None:
    with progress(console, "checking", "values") as advance:
        found = check_values(given, domain, advance=advance)
    if request.as_json:
        bad = [{"reason": spelled(each.reason, request), "rows": each.rows, "first": each.first} for each in found.bad]
        facts = {"input": given.name, "good": found.good, "bad": found.bad_rows, "skipped": found.skipped}
        facts |= {"changed": _changed_for_machines(found.changed, request)}
        echo_json(facts | {"reasons": bad, "stopped": spelled(found.stopped, request) or None})
    else:
        _print_checked(given, domain, found, request)
    if found.bad or found.stopped:
        raise typer.Exit(1)


def _print_checked(given: Values, domain: Domain, found: Checked, request: PrivatizeOptions) -> None:
    lines = [("good", f"{found.good:,} of {given.name}"), ("bad", f"{found.bad_rows:,}")]
    lines += [("", f"{each.rows:,}: {spelled(each.reason, request)} (first: {each.first})") for each in found.bad]
    lines += [("skipped", f"{found.skipped:,} without a value")] * bool(found.skipped)
    lines += _changed(found.changed, request) + _doubt(found.changed, found.good, domain)
    lines += [("stopped", spelled(found.stopped, request))] * bool(found.stopped)
    lines.append(("written", "nothing (--dry-run)"))
    for name, value in lines:
        results().print(f"{name:<7}  {escape(visible(value))}", soft_wrap=True, highlight=False)


def _changed(changed: Mapping[str, int], request: PrivatizeOptions) -> list[tuple[str, str]]:
    told = [f"{plural(count, 'value')} {spelled(words, request)}" for words, count in changed.items()]
    return [("" if place else "changed", each) for place, each in enumerate(told)]


def _doubt(changed: Mapping[str, int], values: int, domain: Domain) -> list[tuple[str, str]]:
    # A column in another unit is clamped nearly everywhere.
    if not isinstance(domain, Ordered) or 2 * sum(changed.values()) <= values:
        return []
    return [
        ("", f"More than half of the values: the scheme expects {domain.scale.describe()}. Check the column's unit.")
    ]


def _changed_for_machines(changed: Mapping[str, int], request: PrivatizeOptions) -> list[dict[str, object]]:
    return [{"change": spelled(words, request), "rows": count} for words, count in changed.items()]


def _opened(sources: list[str], console: Console) -> Any:
    if "-" not in sources:
        return _files(sources)
    if len(sources) > 1:
        raise ParameterError("-: expected standard input or files, got both")
    if sys.stdin is not None and sys.stdin.isatty():
        console.print("Enter one value per line; end with Ctrl-D.", highlight=False)
    return None if sys.stdin is None else sys.stdin.buffer


def _files(patterns: list[str]) -> str | list[str]:
    found: list[str] = []
    for pattern in patterns:
        # Shells expand patterns, but not those in quotes, and not on Windows.
        if Path(pattern).exists() or not has_magic(pattern):
            found.append(pattern)
            continue
        matches = sorted(glob(pattern, recursive=True))
        if not matches:
            raise ParameterError(f"{pattern}: no file has such a name")
        found += matches
    seen: dict[Path, str] = {}
    for name in found:
        if Path(name).resolve() in seen:
            raise ParameterError(f"{name}: the file is given twice; two reports of a user reveal twice as much")
        seen[Path(name).resolve()] = name
    return found if len(found) > 1 else found[0]


def _facts(scheme: Scheme, domain: Domain, given: Values, out: str, written: Privatized) -> dict[str, object]:
    return {
        "input": given.name,
        "out": out,
        **asdict(written),
        **({"normalize": list(domain.normalize)} if domain.normalize else {}),
        "report_bytes": scheme.report_dtype.itemsize,
        "scheme": scheme.name,
        "fingerprint": scheme.fingerprint(),
        "epsilon": float(scheme.epsilon),
    }


def _print(scheme: Scheme, domain: Domain, given: Values, written: Privatized, request: PrivatizeOptions) -> None:
    out, key_file = str(request.out), request.key_file
    lines = [("reports", f"{written.reports:,} of {given.name}{', simulated' * written.simulated}")]
    if written.skipped:
        lines.append(("skipped", f"{written.skipped:,} without a value"))
    lines += _changed(written.changed, request) + _doubt(written.changed, written.reports, domain)
    if domain.normalize:
        where = (
            "as on devices" if scheme.domain.normalize else "by this command; the scheme does not, so devices do not"
        )
        lines.append(("normalized", f"{', '.join(domain.normalize)}, {where}"))
    stem = Path(out).stem
    tally = stem if given.path is None else given.path.name.partition(".")[0]
    keyed = [] if key_file is None else ["--key-file", str(key_file)]
    collect = shlex.join(["plausibly", "collect", out, "--out", f"{tally or stem}.tally", *keyed])
    lines += [
        ("written", f"{out}, {size_text(written.bytes)}"),
        ("privacy", f"ε = {decimal(scheme.epsilon)} for each user ({scheme.name})"),
        *[("memo", _NEW_MEMO)] * isinstance(scheme, Memoised),
        ("next", collect + " --simulated" * written.simulated),
    ]
    console, width = results(), max(len(name) for name, _ in lines)
    for name, value in lines:
        # Not in a table: a command to copy must not be wrapped.
        console.print(f"{name:<{width}}  {escape(value)}", soft_wrap=True, highlight=False)
