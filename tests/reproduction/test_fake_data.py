"""RS+FD does not deliver epsilon for a record: the published randomizer, enumerated."""

from __future__ import annotations

from itertools import product
from math import exp, log

import pytest

from cases import in_turn
from reproduction import fake_data


@in_turn(("sizes", "expected"), [((2, 2), 1.49), ((2, 2, 2), 1.82), ((3, 2, 2), 1.82), ((2, 2, 2, 2), 2.06)])
def test_a_record_loses_more_than_it_was_promised(sizes: tuple[int, ...], expected: float) -> None:
    found = fake_data.loss(sizes, 1.0)
    assert found == pytest.approx(expected, abs=0.005)
    # Both records differ everywhere, and the report is one of them: the amplified epsilon itself.
    assert found == pytest.approx(log(len(sizes) * (exp(1) - 1) + 1))


@in_turn(("sizes", "expected"), [((3, 2), 1.07), ((3, 3, 2), 1.05)])
def test_even_a_single_attribute_may_lose_more(sizes: tuple[int, ...], expected: float) -> None:
    assert fake_data.loss(sizes, 1.0, changed=1) == pytest.approx(expected, abs=0.005)


def test_the_probabilities_of_all_reports_add_up_to_one() -> None:
    sizes = (3, 2, 2)
    reports = list(product(*map(range, sizes)))
    assert sum(fake_data.probability(report, (0, 1, 1), sizes, 1.0) for report in reports) == pytest.approx(1)


def test_at_the_same_epsilon_for_a_record_sampling_in_public_is_better() -> None:
    # Fake values are noise: the variance is more than m times as large. By enumeration of the reports.
    for size, attributes in ((2, 2), (3, 2), (2, 3)):
        sizes, record = (size,) * attributes, (1,) * attributes
        # The amplified epsilon is 1 if this is asked for; a record then loses just that.
        asked = log((exp(1.0) - 1) / attributes + 1)
        assert fake_data.loss(sizes, asked) == pytest.approx(1)
        reports = list(product(range(size), repeat=attributes))
        support = sum(fake_data.probability(y, record, sizes, asked) for y in reports if y[0] == 0)
        q = 1 / (exp(1.0) + size - 1)
        p = exp(1.0) * q
        fake = support * (1 - support) * (attributes / (p - q)) ** 2
        # In public: m times (support - q)/(p - q) with probability 1/m, else 0.
        public = attributes**2 * (q * (1 - q) / (p - q) ** 2) / attributes
        assert fake_data.times_sampling(size, attributes, 1.0) == pytest.approx(fake / public)
        assert fake / public > attributes


def test_the_script_prints_what_the_page_says(capsys: pytest.CaptureFixture[str]) -> None:
    fake_data.main()
    assert "(2, 2, 2): asked for 1, a record loses 1.82" in capsys.readouterr().out
