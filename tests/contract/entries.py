"""Every entry of the catalogue as small schemes, found by what its class accepts and never by its name."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields
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
SMALL = {"hashes": 6, "hash_seed": 2**63 + 5}

NAMES = sorted(plausibly.CATALOG)


def build(name: str, domain: Any, epsilon: Any = 1) -> Scheme:
    """The entry of that name on a domain, with small states."""
    own = {field.name for field in fields(plausibly.CATALOG[name])}
    return plausibly.CATALOG[name](
        epsilon=epsilon, domain=domain, **{key: value for key, value in SMALL.items() if key in own}
    )


SCHEMES: dict[str, Scheme] = {
    f"{name}-{kind}": build(name, domain)
    for name in NAMES
    for kind, domain in DOMAINS.items()
    if isinstance(domain, plausibly.CATALOG[name].accepts)
}
SCHEMES |= {
    f"{name}-windowed": kind(epsilon=1, domain=DOMAINS["integers"], **WINDOWED)
    for name, kind in sorted(plausibly.CATALOG.items())
    if WINDOWED.keys() <= {field.name for field in fields(kind)}
}
LISTED = {label: scheme for label, scheme in SCHEMES.items() if scheme.domain.size is not None}

every_name = pytest.mark.parametrize("name", NAMES)
every_scheme = pytest.mark.parametrize("scheme", SCHEMES.values(), ids=SCHEMES.keys())
every_listed_scheme = pytest.mark.parametrize("scheme", LISTED.values(), ids=LISTED.keys())

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


def other_than(scheme: Scheme) -> Scheme:
    """A scheme of the same kind whose records look alike: another epsilon in a distant digit."""
    return type(scheme)(
        **{field.name: getattr(scheme, field.name) for field in fields(scheme) if field.name != "epsilon"},
        epsilon=scheme.epsilon + plausibly.core.probability.exact_epsilon("1e-9"),
    )


def flips(blob: bytes) -> Sequence[bytes]:
    """The bytes with each single bit flipped in turn."""
    whole = int.from_bytes(blob, "little")
    return [(whole ^ 1 << bit).to_bytes(len(blob), "little") for bit in range(8 * len(blob))]
