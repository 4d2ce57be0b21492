"""plausibly privatize: turn a file of users' values into a file of reports."""

from __future__ import annotations

import shlex
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.markup import escape

from ..core.atomic import expect_suffix
from ..core.domain import Domain, steps_of
from ..core.errors import ParameterError
from ..core.scheme import Scheme
from ..core.wording import decimal, size_text
from ..files.privatizing import Privatized, privatize_values
from ..files.values import Values, values
from .common import echo_json, exit_on_error, key_of, messages, progress, results
from .naming import scheme_of
from .options.privatize import PrivatizeOptions

_DELIMITERS = {"tab": "\t", "\\t": "\t"}
"""Names for delimiters that are hard to type in a shell."""


def privatize(request: PrivatizeOptions) -> None:
    """Run ``plausibly privatize``."""
    console = messages()
    with exit_on_error(console, request):
        expect_suffix(request.out, [".parquet"])
        chosen, key = scheme_of(request.scheme), key_of(console, request.key_file)
        domain = _normalizing(chosen.domain, request.normalize)
        given = values(
            _opened(request.source, console),
            domain=domain,
            column=request.column,
            format=request.format,
            missing=request.missing,  # type: ignore[arg-type]
            delimiter=_DELIMITERS.get(request.delimiter or "", request.delimiter),
            header=request.header,
        )
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
        echo_json(_facts(chosen, domain, given, request.out, written))
    else:
        _print(chosen, domain, given, request.out, written, request.key_file)


def _normalizing(domain: Domain, given: str | None) -> Domain:
    if given is None:
        return domain
    steps, own = steps_of(given), tuple(domain.normalize)
    if own and steps != own:
        raise ParameterError(f"--normalize: the scheme normalizes by {','.join(own)}; leave the option out")
    return domain.normalizing(steps)


def _opened(source: str, console: Console) -> Any:
    if source != "-":
        return source
    if sys.stdin is not None and sys.stdin.isatty():
        console.print("Enter one value per line; end with Ctrl-D.", highlight=False)
    return None if sys.stdin is None else sys.stdin.buffer


def _facts(scheme: Scheme, domain: Domain, given: Values, out: Path, written: Privatized) -> dict[str, object]:
    return {
        "input": given.name,
        "out": str(out),
        **asdict(written),
        **({"normalize": list(domain.normalize)} if domain.normalize else {}),
        "report_bytes": scheme.report_dtype.itemsize,
        "scheme": scheme.name,
        "fingerprint": scheme.fingerprint(),
        "epsilon": float(scheme.epsilon),
    }


def _print(
    scheme: Scheme, domain: Domain, given: Values, out: Path, written: Privatized, key_file: Path | None
) -> None:
    lines = [("reports", f"{written.reports:,} of {given.name}{', simulated' * written.simulated}")]
    if written.skipped:
        lines.append(("skipped", f"{written.skipped:,} without a value"))
    if domain.normalize:
        where = (
            "as on devices" if scheme.domain.normalize else "by this command; the scheme does not, so devices do not"
        )
        lines.append(("normalized", f"{', '.join(domain.normalize)}, {where}"))
    tally = out.stem if given.path is None else given.path.name.partition(".")[0]
    keyed = [] if key_file is None else ["--key-file", str(key_file)]
    collect = shlex.join(["plausibly", "collect", str(out), "--out", f"{tally or out.stem}.tally", *keyed])
    lines += [
        ("written", f"{out}, {size_text(written.bytes)}"),
        ("privacy", f"ε = {decimal(scheme.epsilon)} for each user ({scheme.name})"),
        ("next", collect + " --simulated" * written.simulated),
    ]
    console, width = results(), max(len(name) for name, _ in lines)
    for name, value in lines:
        # Not in a table: a command to copy must not be wrapped.
        console.print(f"{name:<{width}}  {escape(value)}", soft_wrap=True, highlight=False)
