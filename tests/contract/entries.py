"""Every entry of the catalogue as small schemes, found by what its class accepts and never by its name."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import MISSING, fields, replace
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

import plausibly
from plausibly import Integers, Keys, Labels, Scheme, SeededRandom

DOMAINS = {
    "integers": Integers(11),
    "labels": Labels(("ant", "bee", "cat", "dog", "eel", "fox"), other=True),
    "keys": Keys(hash_seed=3),
}

# Parameters that no default of a small domain has; a class that has all of these fields is taken with them, too.
WINDOWED = {"hash_bits": 3, "window": 3}

# Parameters that only make states and public choices small; a class takes those that it has.
SMALL = {"hashes": 6, "hash_seed": 2**63 + 5, "rows": 5}
SMALL_FILTERS = {"bits": 5, "hashes": 2, "cohorts": 5, "hash_seed": 2**63 + 5}

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


ORACLES = [name for name in NAMES if "oracle" not in settable(name)]
SKETCHES = [name for name in NAMES if "oracle" in settable(name)]
WIDTH = 6
"""Items of the oracle of a sketch."""


def parameters(name: str, epsilon: Any = 1, oracle: str = "") -> dict[str, Any]:
    """What makes the entry of that name small; a sketch has its privacy from an oracle, DE unless said otherwise."""
    small = SMALL_FILTERS if SMALL_FILTERS.keys() <= settable(name) else SMALL
    given = {key: value for key, value in small.items() if key in settable(name)}
    if oracle or "oracle" in required(name):
        given.pop("bits", None)  # those of the oracle
        return {**given, "oracle": build(oracle or "DE", Integers(WIDTH), epsilon)}
    return {**given, "epsilon": epsilon}


def build(entry: str, domain: Any, epsilon: Any = 1) -> Scheme:
    """The entry of that name on a domain, with small states; "CM over HM" is a sketch over a given oracle."""
    name, _, oracle = entry.partition(" over ")
    return plausibly.CATALOG[name](domain=domain, **parameters(name, epsilon, oracle))


SCHEMES: dict[str, Scheme] = {
    f"{name}-{kind}": build(name, domain)
    for name in NAMES
    if "oracle" not in required(name)
    for kind, domain in DOMAINS.items()
    if isinstance(domain, plausibly.CATALOG[name].accepts)
}
SCHEMES |= {
    f"{name}-windowed": kind(epsilon=1, domain=DOMAINS["integers"], **WINDOWED)
    for name, kind in sorted(plausibly.CATALOG.items())
    if WINDOWED.keys() <= {field.name for field in fields(kind)}
}
# Every sketch over every oracle, the domains in turn; the quick tests take each sketch on two of them.
_COMBINED = {
    f"{sketch} over {oracle}-{list(DOMAINS)[(i + j) % len(DOMAINS)]}": j % 6 == 2 * i
    for i, sketch in enumerate(SKETCHES)
    for j, oracle in enumerate(ORACLES)
}
SCHEMES |= {label: build(label.partition("-")[0], DOMAINS[label.partition("-")[2]]) for label in _COMBINED}


def is_linear(scheme: Scheme) -> bool:
    """Whether its usual estimates are exact scores with a scale, hence with a variance; a regression has neither."""
    return not scheme.estimator().history


# Importing what a regression needs takes seconds: such schemes belong to the full tests. So do labels, but for one.
QUICK = {
    label: scheme
    for label, scheme in SCHEMES.items()
    if _COMBINED.get(label, "-labels" not in label or label.startswith("OLH")) and is_linear(scheme)
}


def _each(labels: Sequence[str]) -> list[Any]:
    marks = [() if label in QUICK else pytest.mark.full for label in labels]
    return [pytest.param(SCHEMES[label], id=label, marks=mark) for label, mark in zip(labels, marks, strict=True)]


_NAMED = [
    pytest.param(name, marks=() if is_linear(build(name, DOMAINS["integers"])) else pytest.mark.full) for name in NAMES
]
every_name = pytest.mark.parametrize("name", _NAMED)
every_pair = pytest.mark.parametrize(
    "name",
    [*_NAMED, *(pytest.param(label.partition("-")[0], marks=pytest.mark.full) for label in _COMBINED)],
)
"""As every_name, and in the full tests each sketch over each oracle."""
every_scheme = pytest.mark.parametrize("scheme", _each(list(SCHEMES)))
LISTED = [label for label, scheme in SCHEMES.items() if scheme.domain.size is not None]
every_listed_scheme = pytest.mark.parametrize("scheme", _each(LISTED))
LINEAR = [label for label, scheme in SCHEMES.items() if is_linear(scheme)]
every_linear_scheme = pytest.mark.parametrize("scheme", _each(LINEAR))
every_listed_linear_scheme = pytest.mark.parametrize("scheme", _each([label for label in LINEAR if label in LISTED]))

# Derandomised: the same examples every time, on every machine.
deterministic = settings(
    derandomize=True, deadline=None, database=None, max_examples=8, suppress_health_check=list(HealthCheck)
)


def items_of(scheme: Scheme) -> list[Any]:
    """Some different items of the scheme's domain; all of them where they can be listed."""
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


def with_epsilon(scheme: Scheme, epsilon: Any) -> Scheme:
    """The same scheme with another privacy: its own, or that of the oracle it has its privacy from."""
    oracle = getattr(scheme, "oracle", None)
    if oracle is not None:
        return replace(scheme, oracle=with_epsilon(oracle, epsilon))  # type: ignore[call-arg]
    return replace(scheme, epsilon=epsilon)


def other_than(scheme: Scheme) -> Scheme:
    """A scheme of the same kind whose records look alike: another epsilon in a distant digit."""
    return with_epsilon(scheme, scheme.epsilon + plausibly.core.probability.exact_epsilon("1e-9"))


def flips(blob: bytes) -> Sequence[bytes]:
    """The bytes with each single bit flipped in turn."""
    whole = int.from_bytes(blob, "little")
    return [(whole ^ 1 << bit).to_bytes(len(blob), "little") for bit in range(8 * len(blob))]
