"""Bonferroni's correction: levels, the score that is enough, and adjusted p-values belong together."""

from __future__ import annotations

import math

import numpy as np
import pytest

from plausibly import ParameterError
from plausibly.search.multiple_testing import adjusted, least_score, significance_level


def test_without_a_level_every_score_is_enough() -> None:
    assert least_score(None, 10) == -math.inf


@pytest.mark.parametrize("level", [0.001, 0.05, 0.9])
@pytest.mark.parametrize("candidates", [1, 1000])
def test_the_least_score_has_the_level_as_its_adjusted_p_value(level: float, candidates: int) -> None:
    least = least_score(level, candidates)
    assert adjusted(np.array([least]), candidates)[0] == pytest.approx(level, rel=1e-9)


def test_the_chance_that_any_of_many_stands_out_is_at_most_one() -> None:
    assert adjusted(np.array([-1.0, 0.0, 40.0]), 100).tolist() == [1.0, 1.0, 0.0]
    assert adjusted(np.array([1.6448536269514722]), 1)[0] == pytest.approx(0.05)
    assert len(adjusted(np.zeros(0), 5)) == 0


@pytest.mark.parametrize("level", [0, 1, -0.1, True, "0.05", None, float("nan")])
def test_a_level_lies_strictly_between_0_and_1(level: object) -> None:
    with pytest.raises(ParameterError, match="level: expected a number strictly between 0 and 1"):
        significance_level(level)
    assert significance_level(np.float32(0.5)) == 0.5
