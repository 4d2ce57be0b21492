"""Every entry of the catalogue as small schemes, found by what its class accepts and never by its name."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import MISSING, fields, replace
from functools import wraps
from typing import Any

import pytest
from hypothesis import HealthCheck

import plausibly
from cases import Given, Test, run_in_turn, with_signature
from drawn import drawn, thinned
from plausibly import Integers, Scheme, SeededRandom, Strings, Table
from plausibly.core.domain import InOrder
from plausibly.core.grouped import Grouped
from plausibly.core.mean_only import MeanOnly
from plausibly.core.memoised import Memoised
from plausibly.core.scheme import EXAMPLE_DOMAINS, OracleMaker
from plausibly.core.tables_only import counts_items
from plausibly.search.base import Search

DOMAINS = EXAMPLE_DOMAINS

NAMES = sorted(plausibly.CATALOG)


def settable(name: str) -> set[str]:
    """The parameters of an entry, its domain aside."""
    return {field.name for field in fields(plausibly.CATALOG[name]) if field.init} - {"domain"}


def required(name: str) -> set[str]:
    """Those that have no default."""
    return {
        field.name
        for field in fields(plausibly.CATALOG[name])
        if field.name in settable(name) and field.default is MISSING and field.default_factory is MISSING
    }


SEARCHES = [name for name in NAMES if issubclass(plausibly.CATALOG[name], Search)]
ORDERED = [name for name in NAMES if all(issubclass(kind, InOrder) for kind in plausibly.CATALOG[name].accepts)]
"""Schemes for values in order only: neighbours count, so hashes cannot be reported through them."""
TABLED = [name for name in NAMES if all(issubclass(kind, Table) for kind in plausibly.CATALOG[name].accepts)]
"""Schemes for records of several attributes."""
MEMOISED = [name for name in NAMES if issubclass(plausibly.CATALOG[name], Memoised)]
"""Schemes whose users keep a memo of their own, through which nothing else can be reported."""
ORACLES = [
    name for name in NAMES if "oracle" not in settable(name) and name not in (*SEARCHES, *ORDERED, *TABLED, *MEMOISED)
]
KEYED_SEARCHES = [name for name in SEARCHES if required(name) <= {"oracle", "word_oracle"}]
"""Those that are given oracles for whatever they ask, over keys if need be."""
SKETCHES = [name for name in NAMES if "oracle" in settable(name) and name not in SEARCHES]
TABLES = {"letters", "pairs", "first", "folded", "deep"}
"""The oracles of a search that has one for each of its tables."""


def through(oracle: str) -> OracleMaker:
    """Makes small oracles of this name."""
    return lambda epsilon, domain: build(oracle, domain, epsilon)


def usual_oracle(name: str) -> str:
    """The oracle of a sketch or a search, if nothing is said; empty for others."""
    if required(name) <= {"epsilon"}:
        return ""
    if settable(name) >= TABLES:
        return "TLH"
    return "FLH" if name in KEYED_SEARCHES else "DE"


def with_epsilon(scheme: Scheme, epsilon: Any) -> Scheme:
    """The same scheme with another privacy: its own, or that of the schemes it has its privacy from."""
    parts = {field.name: getattr(scheme, field.name) for field in fields(scheme)}
    parts = {name: part for name, part in parts.items() if isinstance(part, Scheme)}
    more = plausibly.core.probability.exact_epsilon(epsilon) / scheme.epsilon
    if isinstance(scheme, Memoised):
        return replace(scheme, epsilon=epsilon, memo_epsilon=more * scheme.memo_epsilon)
    if not parts:
        return replace(scheme, epsilon=epsilon)
    return replace(scheme, **{name: with_epsilon(part, part.epsilon * more) for name, part in parts.items()})


def build(entry: str, domain: Any, epsilon: Any = 1) -> Scheme:
    """The entry of that name on a domain, with small states; "CM over HM" is a sketch over a given oracle."""
    name, _, oracle = entry.partition(" over ")
    oracle = oracle or usual_oracle(name)
    return plausibly.CATALOG[name].example(epsilon, domain, through(oracle) if oracle else None)


def parameters(name: str, epsilon: Any = 1) -> dict[str, Any]:
    """What makes the entry of that name small, its domain aside."""
    small = build(name, sized(name, 11), epsilon)
    return {field: getattr(small, field) for field in settable(name) if getattr(small, field) is not None}


def maker(name: str) -> OracleMaker | None:
    """Makes the usual oracles of an entry that reports through some."""
    return through(usual_oracle(name)) if usual_oracle(name) else None


SCHEMES: dict[str, Scheme] = {
    f"{name}-{label}": scheme
    for name in NAMES
    if name not in SKETCHES or not required(name)
    for label, scheme in plausibly.CATALOG[name].examples(maker(name)).items()
}
# Every sketch over every oracle, the domains in turn; the quick tests take each sketch on two of them.
_FLAT = ["integers", "labels", "keys"]
_COMBINED = {
    f"{sketch} over {oracle}-{_FLAT[(i + j) % len(_FLAT)]}": j % 6 == 2 * i
    for i, sketch in enumerate(SKETCHES)
    for j, oracle in enumerate(ORACLES)
}
# Searches over schemes that keep their reports, that have channels, and that draw one-byte words.
_COMBINED |= {
    f"{search} over {scheme}-strings": False
    for search in SEARCHES
    if search in KEYED_SEARCHES
    for scheme in ("TLH", "CM", "BLOOM")
}
SCHEMES |= {label: build(label.partition("-")[0], DOMAINS[label.partition("-")[2]]) for label in _COMBINED}


# Signs that multiply the coefficients of an oracle, instead of doubling its domain.
SCHEMES["CS over HM-signs on coefficients"] = plausibly.make(
    "CS",
    oracle=plausibly.make("HM", epsilon=1, domain_size=8, coefficients=2),
    rows=5,
    signs="coefficients",
    domain=DOMAINS["integers"],
)


def _siblings(name: str) -> list[str]:
    """The entries that share most of their code with this one: their classes have the same parent."""
    parent = plausibly.CATALOG[name].__mro__[1]
    return [name] if parent is Scheme else [each for each in NAMES if plausibly.CATALOG[each].__mro__[1] is parent]


# The sketches are taken on the oracles that they are combined with, the searches by what they send.
_ALONE = [name for name in NAMES if name not in (*SKETCHES, *SEARCHES)]
_LIKE_OTHERS = {name for name in _ALONE if name != max(_siblings(name), key=lambda each: len(settable(each)))}
_RARE = {label for label in SCHEMES if label.partition("-")[0] in _LIKE_OTHERS}
_RARE |= {label for label in SCHEMES if "-labels" in label and not label.startswith("OLH")}
for _two_sent in (False, True):
    _searches = [name for name in SEARCHES if (len(SCHEMES[f"{name}-strings"].groups[0]) > 1) == _two_sent]
    _RARE |= {f"{name}-strings" for name in _searches[1:]}
_RARE |= {label for label in SCHEMES if label.partition("-")[0] in SEARCHES and label not in _COMBINED} - {
    f"{name}-strings" for name in SEARCHES
}
_RARE |= {label for label in SCHEMES if label.partition("-")[0] in ORDERED and SCHEMES[label].size > 64}


def is_linear(scheme: Scheme) -> bool:
    """Whether its usual estimates are exact scores with a scale, hence with a variance; a regression has neither."""
    return scheme.estimator().law is not None


# Importing what a regression needs takes seconds: such schemes belong to the full tests. So do labels, but for one.
# Of entries that share their code the quick tests take the one with most parameters; of the searches one that sends one
# thing, and one that sends two.
QUICK = {
    label: scheme for label, scheme in SCHEMES.items() if _COMBINED.get(label, label not in _RARE) and is_linear(scheme)
}


def each_of(labels: Sequence[str], quick: Collection[str] = QUICK) -> Callable[[Test], Test]:
    """The schemes of these labels, those of one entry in turn: first those of the quick tests, then the others."""
    groups: dict[str, list[str]] = {}
    for label in labels:
        name = label.partition("-")[0].partition(" over ")[0]
        groups.setdefault(name if label in quick else f"{name}, full", []).append(label)
    marks = [() if those[0] in quick else pytest.mark.full for those in groups.values()]

    def decorate(test: Test) -> Test:
        @wraps(test)
        def every_one(group: str, **fixtures: Any) -> None:
            run_in_turn(test, [Given({"scheme": SCHEMES[label]}, label) for label in groups[group]], fixtures)

        grouped = with_signature(every_one, test, without=["scheme"], instead=["group"])
        params = [pytest.param(group, marks=mark) for group, mark in zip(groups, marks, strict=True)]
        return pytest.mark.parametrize("group", params)(grouped)

    return decorate


def sized(name: str, size: int) -> Any:
    """Integers, so many of them; records of two attributes; for a search strings of some letters, which are more."""
    if name in TABLED:
        return Table({"second": 2, "first": max(2, size // 2)}, missing=False)
    if name.partition(" over ")[0] not in SEARCHES:
        return Integers(size)
    return Strings("ab" if size < 100 else "abcdefghijklmnopqrstuvwxyz .-_/0123456789", 2 if size < 100 else 4)


def numbers_of(scheme: Scheme, count: int) -> list[int]:
    """What a client makes of so many items of the domain."""
    return [scheme.domain.number(code) for code in scheme.domain.spread(count)]


def tickets(scheme: Scheme) -> list[tuple[int, ...]]:
    """The first draw that leads to each group of a grouped scheme; nothing for other schemes."""
    if not isinstance(scheme, Grouped):
        return [()]
    return [(sum(scheme.group_weights[:number]),) for number in range(len(scheme.group_weights))]


def _named(names: Sequence[str]) -> list[Any]:
    rare = [
        name in _LIKE_OTHERS or f"{name}-strings" in _RARE or not is_linear(build(name, sized(name, 11)))
        for name in names
    ]
    marks = [pytest.mark.full if one else () for one in rare]
    return [pytest.param(name, marks=mark) for name, mark in zip(names, marks, strict=True)]


_NAMED = _named(NAMES)
every_name = pytest.mark.parametrize("name", _NAMED)
every_listed_name = pytest.mark.parametrize(
    "name", _named([name for name in NAMES if name not in (*SEARCHES, *TABLED)])
)
"""The entries whose items can be integers."""
every_labelled_name = pytest.mark.parametrize(
    "name", _named([name for name in NAMES if isinstance(DOMAINS["labels"], plausibly.CATALOG[name].accepts)])
)
"""The entries whose items can be labels."""
every_pair = pytest.mark.parametrize(
    "name",
    [*_NAMED, *(pytest.param(label.partition("-")[0], marks=pytest.mark.full) for label in _COMBINED)],
)
"""As every_name, and in the full tests each sketch over each oracle, and searches over some."""
every_scheme = each_of(list(SCHEMES))
every_scheme_as_reports = each_of(list(SCHEMES), thinned(list(QUICK)))
"""As every_scheme, for files and engines, which see nothing but records and states."""
LISTED = [label for label, scheme in SCHEMES.items() if scheme.domain.size is not None]
every_listed_scheme = each_of(LISTED)
LINEAR = [label for label, scheme in SCHEMES.items() if is_linear(scheme)]
every_linear_scheme = each_of(LINEAR)
COUNTING = [label for label, scheme in SCHEMES.items() if counts_items(scheme.estimator())]
every_counting_scheme = each_of(COUNTING)
"""The schemes that count items: others know the mean of the values only, or tables of some attributes."""
every_mean_only_scheme = each_of(
    [label for label, scheme in SCHEMES.items() if isinstance(scheme.estimator(), MeanOnly)]
)
every_listed_linear_scheme = each_of([label for label in LINEAR if label in LISTED])

deterministic = drawn(8, suppress_health_check=list(HealthCheck))


def items_of(scheme: Scheme) -> list[Any]:
    """Some different items of the scheme's domain; all of them where they can be listed."""
    if isinstance(scheme.domain, Strings):
        return scheme.domain.decode(scheme.domain.spread(5)).tolist()
    if scheme.domain.size is None:
        return ["example.org", b"example.org", 5, "5", ""]
    return scheme.domain.decode(_all_codes(scheme)).tolist()


def _all_codes(scheme: Scheme) -> Any:
    return Integers(scheme.size).encode(range(scheme.size))


def crowd(scheme: Scheme, count: int) -> list[Any]:
    """Items of ``count`` users, of which the first item is the most common."""
    items = items_of(scheme)
    return [items[i * i % len(items)] for i in range(count)]


def reports_of(scheme: Scheme, count: int, seed: int = 1) -> Any:
    """Seeded reports of a crowd."""
    return scheme.privatize(crowd(scheme, count), rng=SeededRandom(seed))


def tally_of(scheme: Scheme, *batches: Any) -> plausibly.Accumulator:
    """An accumulator of these batches."""
    tally = scheme.accumulator()
    for batch in batches:
        tally.add(batch)
    return tally


def other_than(scheme: Scheme) -> Scheme:
    """A scheme of the same kind whose records look alike: another epsilon in a distant digit."""
    return with_epsilon(scheme, scheme.epsilon + plausibly.core.probability.exact_epsilon("1e-9"))


def flips(blob: bytes) -> Sequence[bytes]:
    """The bytes with each single bit flipped in turn."""
    whole = int.from_bytes(blob, "little")
    return [(whole ^ 1 << bit).to_bytes(len(blob), "little") for bit in range(8 * len(blob))]
