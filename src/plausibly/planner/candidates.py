"""The candidates of a plan: all schemes of the catalogue, with the parameters that each one proposes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction
from typing import Any

from ..core.domain import Domain
from ..core.errors import ParameterError
from ..core.scheme import Scheme

Kinds = tuple[type[Scheme], ...]

_WIDTHS = tuple(2**k for k in (6, 8, 10, 12, 14, 16, 18, 20, 22, 24))
"""Numbers of cells per row that a plan tries for a sketch."""


def oracles(kinds: Kinds, domain: Domain, epsilon: Fraction, memory: int) -> list[Scheme]:
    """Candidates of a plan without shared hash functions; their error needs no assumption about the data."""
    found: dict[str, Scheme] = {}
    for kind in _apart(kinds):
        for scheme in _made(kind, kind.variants(epsilon, domain, memory), epsilon=epsilon, domain=domain):
            found.setdefault(repr(scheme), scheme)
    return list(found.values())


def in_order(kinds: Kinds, domain: Domain, epsilon: Fraction, memory: int) -> list[Scheme]:
    """Candidates of a plan for ranges of ordered items, without shared hash functions; some have no law of ranges."""
    found: dict[str, Scheme] = {}
    for kind in _apart(kinds):
        for scheme in _possible(kind, kind.variants_in_order(epsilon, domain, memory), epsilon=epsilon, domain=domain):
            found.setdefault(repr(scheme), scheme)
    return list(found.values())


def of_tables(kinds: Kinds, domain: Domain, epsilon: Fraction, memory: int) -> list[Scheme]:
    """Candidates of a plan for records of several attributes; some know tables of single attributes only."""
    found: dict[str, Scheme] = {}
    for kind in _apart(kinds):
        for scheme in _possible(kind, kind.variants(epsilon, domain, memory), epsilon=epsilon, domain=domain):
            found.setdefault(scheme.fingerprint(), scheme)
    return list(found.values())


def hashed(kinds: Kinds, domain: Domain, epsilon: Fraction, memory: int) -> list[Scheme]:
    """Candidates of a plan with shared hash functions, whose items collide; their state fits the memory if possible."""
    found: list[Scheme] = []
    shared = [kind for kind in kinds if kind.shares_hashes()]
    for kind in shared:
        found += _made(kind, kind.variants(epsilon, domain, memory), epsilon=epsilon, domain=domain)
    for width in _WIDTHS:
        for oracle in _cell_oracles(kinds, width, epsilon):
            for kind in shared:
                found += _made(kind, kind.variants_over(oracle, domain, memory), oracle=oracle, domain=domain)
    return found


def _apart(kinds: Kinds) -> list[type[Scheme]]:
    return [kind for kind in kinds if not kind.shares_hashes()]


def _cell_oracles(kinds: Kinds, width: int, epsilon: Fraction) -> Iterator[Scheme]:
    for kind in _apart(kinds):
        yield from _made(kind, kind.variants_for_cells(epsilon, width), epsilon=epsilon)


def _made(kind: type[Scheme], variants: Iterator[Mapping[str, Any]], **given: Any) -> Iterator[Scheme]:
    # An error without a variance law cannot be compared.
    return (scheme for scheme in _possible(kind, variants, **given) if scheme.linear)


def _possible(kind: type[Scheme], variants: Iterator[Mapping[str, Any]], **given: Any) -> Iterator[Scheme]:
    # Only the possible ones: a scheme may not support a domain, an epsilon or a parameter.
    while True:
        try:
            variant = next(variants, None)
            if variant is None:
                return
            scheme = kind(**given, **variant)
        except ParameterError:
            continue
        yield scheme
