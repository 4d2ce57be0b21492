"""Bonferroni's correction: levels and adjusted p-values."""

from __future__ import annotations

import numpy as np
import pytest

from plausibly import ParameterError
from plausibly.search.multiple_testing import adjusted, significance_level


def test_the_chance_that_any_of_many_stands_out_is_at_most_one() -> None:
    assert adjusted(np.array([0.5, 0.01, 0.001, 0.0])).tolist() == [1.0, 0.04, 0.004, 0.0]
    assert len(adjusted(np.zeros(0))) == 0


@pytest.mark.parametrize("level", [0, 1, -0.1, True, "0.05", None, float("nan")])
def test_a_level_lies_strictly_between_0_and_1(level: object) -> None:
    with pytest.raises(ParameterError, match="level: expected a number strictly between 0 and 1"):
        significance_level(level)
    assert significance_level(np.float32(0.5)) == 0.5
