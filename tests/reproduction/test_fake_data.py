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


def test_the_script_prints_what_the_page_says(capsys: pytest.CaptureFixture[str]) -> None:
    fake_data.main()
    assert "(2, 2, 2): asked for 1, a record loses 1.82" in capsys.readouterr().out
