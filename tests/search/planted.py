"""Crowds with a few common strings, and what a search should make of them."""

from __future__ import annotations

import json
from typing import Any

import numpy as np

import naive
import plausibly
from contract.entries import required
from plausibly import Keys, Scheme, SeededRandom, Strings

LETTERS = Strings("abcd", 4)
COMMON = {"abcd": 6_000, "ab": 5_000, "": 4_000, "dd": 3_000, "dabb": 2_500}
"""Of full length, shorter, the empty one, and two that begin like others."""


def search_over(name: str, oracle: Scheme, domain: Strings = LETTERS, **given: Any) -> Scheme:
    """The search of that name with the same scheme for all that it asks."""
    return plausibly.make(name, domain=domain, **dict.fromkeys(required(name), oracle), **given)


def search_for(name: str, domain: Strings = LETTERS, *, epsilon: Any = 4, **given: Any) -> Scheme:
    """The search of that name over fast local hashing, with this privacy for each report."""
    return search_over(name, plausibly.make("FLH", epsilon=epsilon, domain=Keys(), hashes=500), domain, **given)


def tally_for(name: str, counts: dict[Any, int], domain: Strings = LETTERS, **given: Any) -> Any:
    """The tally of such a search.

    With the defaults a count has a standard deviation below 220 in every part: what holds 2,500 of 20,500 users is
    eleven of them above nothing, so that no search loses it to noise, whatever the seed.
    """
    return search_for(name, domain, **given).simulate(counts, SeededRandom(1))


def sent(scheme: Any, reports: Any) -> list[naive.Sent]:
    """The reports as a naive server reads them."""
    found = []
    for report in reports:
        group, body, records = int(report["group"]), report["body"].tobytes(), []
        for number in scheme.groups[group]:
            dtype = scheme.parts[number].scheme.report_dtype
            records += naive.fields(np.frombuffer(body[: dtype.itemsize], dtype=dtype))
            body = body[dtype.itemsize :]
        found.append((group, records))
    return found


def assert_equals_the_naive_search(scheme: Scheme, crowd: list[Any], **choices: Any) -> None:
    """The search finds what the slow one does, in the same order and with the same counts."""
    reports = scheme.privatize(crowd, rng=SeededRandom(3))
    tally: Any = scheme.accumulator()
    tally.add(reports)
    found = tally.search(**choices)
    wanted = naive.SEARCHES[scheme.name](json.loads(scheme.to_json()), sent(scheme, reports), **choices)
    assert found.items.tolist() == [text for text, _ in wanted]
    np.testing.assert_allclose(found.values, [float(value) for _, value in wanted], rtol=1e-9)
