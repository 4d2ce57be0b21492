"""Diagnose an installation: versions, active kernels, and a self-test of every scheme."""

from __future__ import annotations

import importlib.metadata
import os
import platform
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial

import numpy as np
import numpy.typing as npt

from . import kernels
from .catalog import CATALOG, examples, from_json
from .certify import audit
from .core.codec import decode_reports, encode_reports
from .core.domain import Items
from .core.errors import PlausiblyError
from .core.parallel import thread_count
from .core.randomness import Layout, SecureRandom, SeededRandom
from .core.scheme import Scheme
from .core.tables_only import TablesOnly, counts_items

EXTRAS = {"plots": "matplotlib", "frames": "pandas", "files": "pyarrow", "rappor": "scikit-learn"}
"""The distribution that each optional extra needs."""

_USERS = 100_000
_ITEMS = 64


@dataclass(frozen=True)
class Fact:
    """One fact about the installation, with advice if it could be better."""

    name: str
    value: str
    advice: str = ""


@dataclass(frozen=True)
class Check:
    """The result of one check, and its duration."""

    name: str
    passed: bool
    detail: str
    seconds: float


def facts() -> list[Fact]:
    """Facts that diagnose an installation: versions, active kernels, threads, source of randomness, and extras."""
    found = [
        Fact("plausibly", importlib.metadata.version("plausibly")),
        Fact("Python", f"{platform.python_version()} on {platform.system()} {platform.machine()}"),
        *(Fact(name, importlib.metadata.version(name)) for name in ("numpy", "cryptography")),
        Fact("kernels", f"{kernels.active} ({kernels.reason})", "" if kernels.active == "c" else _NO_KERNELS),
        Fact("threads", f"{thread_count()} of {os.cpu_count()} cores (set PLAUSIBLY_THREADS to change it)"),
        Fact("randomness", "AES-256-CTR, with a fresh key from the operating system for every call"),
    ]
    for extra, distribution in EXTRAS.items():
        try:
            found.append(Fact(f"extra {extra}", f"{distribution} {importlib.metadata.version(distribution)}"))
        except importlib.metadata.PackageNotFoundError:
            found.append(Fact(f"extra {extra}", "not installed", f"pip install {distribution}"))
    return found


_NO_KERNELS = (
    "install gcc or clang, then plausibly from its source (a clone, or the archive plausibly-*.tar.gz): "
    "many times faster, with the same results"
)


def self_test() -> Iterator[Check]:
    """Diagnose every scheme on this machine through every layer, audit included, and yield one check at a time."""
    yield _timed("secure random words differ between calls", _fresh_words)
    for name in CATALOG:
        yield _timed(name, partial(_scheme_works, name))


def _timed(name: str, check: Callable[[], str]) -> Check:
    start = time.perf_counter()
    try:
        detail, passed = check(), True
    except (AssertionError, PlausiblyError, OSError, MemoryError) as error:
        detail, passed = f"{type(error).__name__}: {error}", False
    return Check(name, passed, detail, time.perf_counter() - start)


def _fresh_words() -> str:
    layout = Layout(dense=1)
    words = [int(SecureRandom().stream().words(layout, 0, 1)[0, 0]) for _ in range(64)]
    _expect(len(set(words)) == 64, "expected 64 different words from 64 calls, got repeats")
    return "64 of 64"


def _scheme_works(name: str) -> str:
    found = examples(CATALOG[name])
    if not found:
        return "has no example to try"
    scheme = next(iter(found.values()))
    _expect(from_json(scheme.to_json()) == scheme, "JSON does not round-trip")
    items = scheme.domain.examples(_ITEMS)
    asked = items if scheme.answers is scheme.domain else scheme.answers.examples(_ITEMS)
    numbers = np.arange(_USERS) % len(items)
    start = time.perf_counter()
    reports = scheme.privatize(items[numbers], SeededRandom(0))
    tally = scheme.accumulator()
    tally.add(reports)
    decoder = scheme.estimator()
    counts = counts_items(decoder)
    try:
        estimates = tally.estimate(asked) if counts else None
    except ImportError:
        estimates = None  # without its extra this scheme can only collect
    seconds = time.perf_counter() - start
    _expect(
        bool((decode_reports(scheme, encode_reports(scheme, reports)) == reports).all()),
        "reports do not survive encoding",
    )
    if estimates is not None and estimates.variance is not None:
        # Eight standard errors: on a working installation, an item exceeds them once in 10^15 runs.
        errors = np.abs(estimates.values - _held(scheme, items[numbers], asked)) / np.sqrt(estimates.variance)
        _expect(bool((errors < 8).all()), f"an estimate is off by {errors.max():.1f} standard errors")
    # The audit compares these with their laws.
    if isinstance(decoder, TablesOnly):
        tally.table(decoder.records.names[0])
    elif not counts:
        tally.mean()
    certificate = audit(scheme)
    _expect(certificate.holds, "; ".join(certificate.findings))
    return f"audit holds, {_rate_text(_USERS / seconds)} users/s"


def _rate_text(rate: float) -> str:
    return f"{rate / 1e6:.1f} million" if rate >= 1e6 else f"{rate / 1e3:,.{0 if rate >= 1e4 else 1}f} thousand"


def _held(scheme: Scheme, items: Items, asked: Items) -> npt.NDArray[np.int64]:
    # The number of these users who count towards each item of ``asked``.
    codes, counts = np.unique(scheme.domain.encode(items), axis=0, return_counts=True)
    values = [scheme.domain.number(code) for code in codes]
    answers = [scheme.answers.number(code) for code in scheme.answers.encode(asked)]
    towards = [[scheme.counts_towards(value, answer) for value in values] for answer in answers]
    return np.array(towards) @ counts


def _expect(holds: bool, otherwise: str) -> None:
    # Not an assert statement: python -O must not disable the self-test.
    if not holds:
        raise AssertionError(otherwise)
