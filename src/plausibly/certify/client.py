"""Run the client on all outcomes of its private coins, for selected items and public outcomes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import chain

import numpy as np

from ..core.enumeration import (
    Extremes,
    Law,
    Public,
    Shape,
    count_public_outcomes,
    one_of_each_group,
    output_law,
    private_paths,
    public_outcomes,
)
from ..core.errors import ReportError
from ..core.probability import WORD
from ..core.randomness import Layout, SeededRandom
from ..core.scheme import Scheme
from ..device import Randomizer

Expect = Callable[[bool, str], None]

_SAMPLED_ITEMS = 64
_SAMPLED_PUBLICS = 8
_MOST_PUBLICS = 64
_CLOSE = 8
"""Number of items, and of public outcomes, that are examined closely."""
_LIKELIHOODS = 128
_MOST_RECORD_BYTES = 2**20
_STEP = 2
"""Cost of a path besides its draws, in draws."""


@dataclass(frozen=True)
class Run:
    """The result of running a client."""

    enumerated: Scheme
    worst: Fraction | float
    items: int
    paths: int
    outcomes: int
    public_complete: bool


@dataclass(frozen=True)
class _Plan:
    scheme: Scheme
    items: list[int]
    publics: list[Public] | None
    """All outcomes of the public coins; None if only a sample is run."""
    sample: int
    """Minimum number of outcomes of the public coins in a sample."""


def can_be_run(scheme: Scheme, draws: int) -> bool:
    """Whether a few reports of the client fit the budget of draws, and its records are not too large."""
    return scheme.randomizer.words <= draws // 128 and scheme.report_dtype.itemsize <= _MOST_RECORD_BYTES


def most_draws(client: Randomizer) -> int:
    """Upper limit of the draws of an honest report, to stop a client that draws for ever."""
    return 2 * client.words + 1024


def cut_until(scheme: Scheme, fits: Callable[[Scheme], bool]) -> Scheme | None:
    """The client's scheme on the largest fitting domain, found by repeated halving; None if none fits."""
    # Even a scheme of few items may have many coins: a sketch has those of its cells.
    size = max(scheme.domain.size or 2, *(2 * n for n in (scheme.randomizer.words, 32)))
    while size > 2:
        size = max(2, size // 2)
        cut = scheme.shrunk(size)
        if fits(cut):
            return cut
    return None


def run_client(scheme: Scheme, draws: int, expect: Expect) -> Run:
    """Run the client and compare the laws of items given public outcomes, as many as the budget of draws allows."""
    plan = _plan(scheme, draws)
    client, words = plan.scheme.randomizer, plan.scheme.randomizer.words
    stated = client.worst_ratio()
    groups = one_of_each_group(client)
    worst: Fraction | float = Fraction(1)
    paths = outcomes = 0
    for public in plan.publics or chain(groups[1:], _public_sample(client)):
        extremes = Extremes()
        shapes: set[Shape] = set()
        laws = ((item, output_law(client, item, public, most_draws(client))) for item in plan.items)
        for i, (item, law) in enumerate(laws):
            extremes.add(law)
            shapes |= law.shapes
            paths += law.paths
            close = i < _CLOSE and outcomes < _CLOSE
            expect(
                _likely(plan.scheme, item, law, i + outcomes, close), "the stated likelihood is not the client's law"
            )
        worst = max(worst, extremes.worst_ratio())
        expect(len(shapes) == 1, "the draws depend on the item or on a coin")
        _expect_accepted(plan.scheme, extremes.records, expect)
        outcomes += 1
        # A sampled hash may map all items to one value: continue until the worst ratio is seen or the budget is spent.
        spent = paths * (words + _STEP) >= draws
        if plan.publics is None and outcomes >= plan.sample and (worst >= stated or spent):
            break
    return Run(plan.scheme, worst, len(plan.items), paths, outcomes, plan.publics is not None)


def _plan(scheme: Scheme, draws: int) -> _Plan:
    # Every item of the scheme itself if the budget allows; else some of its items; else all of a smaller domain.
    items, price = scheme.domain.code_count, _price(scheme, draws)
    if price * items <= draws:
        publics = public_outcomes(scheme.randomizer, draws // (_cost(scheme, draws) * items))
        sample = min(_SAMPLED_PUBLICS, max(1, draws // (_cost(scheme, draws) * items)))
        return _planned(scheme, items, publics, sample)
    if 3 * price <= draws // 2:
        cost = _cost(scheme, draws)
        publics_wanted = min(_SAMPLED_PUBLICS, count_public_outcomes(scheme.randomizer))
        some = max(3, min(_SAMPLED_ITEMS, draws // 8 // max(price, cost * publics_wanted)))
        publics = public_outcomes(scheme.randomizer, draws // 2 // (cost * some))
        return _planned(scheme, some, publics, min(_SAMPLED_PUBLICS, max(1, draws // 2 // (cost * some))))
    cut = cut_until(scheme, lambda small: _price(small, draws) * small.domain.code_count <= draws // 8)
    small = cut or scheme.shrunk(2)
    cost = _cost(small, draws)
    some = max(min(3, small.domain.code_count), min(small.domain.code_count, draws // 8 // _price(small, draws)))
    publics = public_outcomes(small.randomizer, max(1, draws // 8 // (cost * some)))
    return _planned(small, some, publics, _SAMPLED_PUBLICS)


def _planned(scheme: Scheme, items: int, publics: list[Public] | None, sample: int) -> _Plan:
    codes = scheme.domain.spread(items)
    numbers = [scheme.domain.number(code) for code in codes]
    return _Plan(scheme, numbers, publics, max(sample, len(one_of_each_group(scheme.randomizer))))


def _cost(scheme: Scheme, draws: int) -> int:
    # The draws of all private coins of one item, given its public coins.
    if not can_be_run(scheme, draws):
        return WORD
    client = scheme.randomizer
    return private_paths(client, most_draws(client)) * (client.words + _STEP)


def _price(scheme: Scheme, draws: int) -> int:
    # The same with one outcome of the public coins for each group.
    return _cost(scheme, draws) * len(one_of_each_group(scheme.randomizer))


def _public_sample(client: Randomizer) -> Iterator[Public]:
    # A fixed sample, so that the same scheme always gets the same certificate.
    stream, layout = SeededRandom(0).replay(0), Layout(dense=client.words)
    return (client.public(stream.source(layout, i)) for i in range(_MOST_PUBLICS))


def _likely(scheme: Scheme, item: int, law: Law, number: int, close: bool) -> bool:
    # Many records of a law under close examination; else one, varying with the item and the public outcome.
    records, dtype = list(law.weights), scheme.report_dtype
    if any(len(record) != dtype.itemsize for record in records):
        return True  # reported elsewhere
    chosen = records[:: 1 + (len(records) - 1) // _LIKELIHOODS] if close else [records[number % len(records)]]
    for record, bytes_of in zip(np.frombuffer(b"".join(chosen), dtype=dtype), chosen, strict=True):
        try:
            stated = scheme.likelihood(record, item)
        except (ValueError, IndexError, ArithmeticError):
            return False
        if stated.numerator * law.denominator != law.weights[bytes_of] * stated.denominator:
            return False
    return True


def _expect_accepted(scheme: Scheme, records: dict[bytes, tuple[int, int, int]], expect: Expect) -> None:
    sized = {len(record) for record in records} == {scheme.report_dtype.itemsize}
    expect(sized, "the size of a record is not the stated one")
    if not sized:
        return
    try:
        scheme.accept(np.frombuffer(b"".join(records), dtype=scheme.report_dtype))
    except ReportError:
        expect(False, "the server refuses what the client sends")
