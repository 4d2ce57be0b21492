"""Padding and sampling for lists that nobody can write down (docs/adr/0040): private, its bias and variance, exactly.

Every draw and every report is enumerated, with the client's own probabilities in fractions.
"""

from __future__ import annotations

import doctest
from fractions import Fraction
from functools import cache
from itertools import chain, combinations
from pathlib import Path
from types import CodeType
from typing import Any

import pytest

from plausibly import make
from plausibly.core.probability import within_exp

PAGE = Path(__file__).resolve().parents[2] / "docs" / "tables.md"
ITEMS, DUMMY = 3, 3
"""Items 0, 1 and 2, and the dummy."""
LISTS = list(chain.from_iterable(combinations(range(ITEMS), count) for count in range(ITEMS + 1)))


@cache
def documented() -> tuple[CodeType, ...]:
    """The code of docs/tables.md up to the definition of ``one_of``, which devices run."""
    section = PAGE.read_text(encoding="utf-8").partition("\n### Lists that nobody can write down\n")[2]
    found = []
    for example in doctest.DocTestParser().get_examples(section):
        found.append(compile(example.source, PAGE.name, "exec"))
        if example.source.startswith("def one_of("):
            return tuple(found)
    raise AssertionError("the page defines no one_of")


def sampled(answers: tuple[int, ...], length: int) -> list[int]:
    """The item for each number that a device may draw, all equally likely, as the code of docs/tables.md draws it.

    The device has its answers in reverse and one of them twice, which must not matter.
    """
    names: dict[str, Any] = {}
    for code in documented():
        exec(code, names)
    names["LENGTH"] = length
    given = [str(item) for item in (*reversed(answers), *answers[:1])]
    limits: list[int] = []

    def reported_at(number: int) -> int:
        # What the device reports if it draws this number; and below which number it draws.
        def below(limit: int) -> int:
            limits.append(limit)
            return number

        item = names["one_of"](given, below)
        return DUMMY if item == names["DUMMY"] else int(item)

    first = reported_at(0)
    (limit,) = limits
    found = [first, *map(reported_at, range(1, limit))]
    assert limits == [limit] * limit, "one draw for each report, below the same number"
    return found


def test_each_answer_is_drawn_once_and_dummies_fill_the_length() -> None:
    for answers in LISTS:
        for length in (1, 2, 3, 5):
            drawn, most = sampled(answers, length), max(len(answers), length)
            assert sorted(drawn) == sorted([*answers, *[DUMMY] * (most - len(answers))])


def reported(scheme: Any, answers: tuple[int, ...], length: int) -> list[Fraction]:
    """Probability of each report of direct encoding, from the client's threshold."""
    keep = Fraction(scheme.randomizer.keep, 2**64)
    law = [Fraction(0)] * scheme.size
    for item in (drawn := sampled(answers, length)):
        for report in range(scheme.size):
            law[report] += (keep if report == item else (1 - keep) / (scheme.size - 1)) / len(drawn)
    return law


@pytest.mark.parametrize("length", [1, 2, 3, 5])
def test_a_report_is_private_for_the_whole_list(length: int) -> None:
    scheme = make("DE", epsilon=1, domain_size=ITEMS + 1)
    laws = [reported(scheme, answers, length) for answers in LISTS]
    for one in laws:
        assert sum(one) == 1
        for other in laws:
            assert all(within_exp(a / b, Fraction(1)) for a, b in zip(one, other, strict=True))


@pytest.mark.parametrize("length", [1, 2, 3, 5])
def test_bias_and_variance_are_the_stated_ones(length: int) -> None:
    scheme = make("DE", epsilon=1, domain_size=ITEMS + 1)
    keep = Fraction(scheme.randomizer.keep, 2**64)
    lie = (1 - keep) / ITEMS
    for answers in LISTS:
        law = reported(scheme, answers, length)
        for item in range(ITEMS):
            # The oracle's score of a report, times the length.
            scores = [length * ((report == item) - lie) / (keep - lie) for report in range(ITEMS + 1)]
            mean = sum(chance * score for chance, score in zip(law, scores, strict=True))
            second = sum(chance * score**2 for chance, score in zip(law, scores, strict=True))
            holds, most = item in answers, max(len(answers), length)
            assert mean == (Fraction(length, most) if holds else 0)
            assert -1 < mean - holds <= 0
            chance = Fraction(int(holds), most)
            drawn = length**2 * chance * (1 - chance)
            oracle = length**2 * float(scheme.variance(1, float(chance)))
            assert float(second - mean**2) == pytest.approx(oracle + float(drawn), rel=1e-9)
            if len(answers) <= length:
                assert drawn == holds * (length - 1)
