"""Crowds of ordered values: exact counts without chance, their shapes, and the domain that schemes get for them."""

from __future__ import annotations

import numpy as np
import pytest

from plausibly import Integers, Ordered
from plausibly.experiments.cells import SCHEMES, Cell
from plausibly.experiments.item_crowds import CROWDS, crowd, is_ordered
from plausibly.experiments.ordered_crowds import SHAPES_IN_ORDER, OrderedCrowd


@pytest.mark.parametrize("data", SHAPES_IN_ORDER)
def test_shapes_are_exact_whatever_their_size(data: str) -> None:
    for n, d in ((1, 2), (10, 3), (999, 7), (10_000, 64), (123_457, 1024)):
        counts, weights = crowd(data, n, d, 0), SHAPES_IN_ORDER[data].weights(d)
        assert counts.min() >= 0
        assert (counts == crowd(data, n, d, 1)).all(), "nothing is drawn"
        expected = n * np.cumsum(weights) / weights.sum()
        assert np.abs(np.cumsum(counts) - expected).max() <= 0.5 + 1e-6


def test_shapes_stay_what_they_are() -> None:
    # Kept measurements are named after them.
    assert crowd("smooth", 1000, 8, 0).tolist() == [178, 300, 257, 161, 76, 24, 4, 0]
    assert crowd("bimodal", 1000, 8, 0).tolist() == [4, 294, 293, 11, 78, 201, 107, 12]
    assert crowd("income", 1000, 8, 0).tolist() == [206, 448, 205, 82, 34, 15, 7, 3]
    assert crowd("income", 1000, 200, 0)[20:28].tolist() == [68, 7, 18, 8, 19, 8, 20, 8]
    assert crowd("spiky", 1000, 8, 0).tolist() == [262, 219, 135, 192, 38, 37, 79, 38]
    assert crowd("even", 1000, 8, 0).tolist() == [125] * 8
    assert crowd("ends", 1000, 8, 0).tolist() == [500, 0, 0, 0, 0, 0, 0, 500]


def test_incomes_are_rounded_and_prices_are_few() -> None:
    incomes, prices = (np.sort(crowd(data, 1_000_000, 1024, 0))[::-1] for data in ("income", "spiky"))
    # 20 values have 30 % of the users, 100 values 60 %, and eight prices 70 %; each has some of the others, too.
    assert 0.3 < incomes[:20].sum() / 1e6 < 0.6 < incomes[:100].sum() / 1e6 < 0.8
    assert 0.7 < prices[:8].sum() / 1e6 < 0.71
    smooth = crowd("smooth", 1_000_000, 1024, 0)
    assert np.abs(np.diff(smooth)).max() < 0.02 * smooth.max()


def test_schemes_get_a_domain_in_order_by_the_type_of_the_crowd(monkeypatch: pytest.MonkeyPatch) -> None:
    assert Cell("SS", data="income", d=20).make().domain == Ordered(0, 19)
    assert Cell("SS", data="uniform", d=20).make().domain == Integers(20)
    sketch = {"oracle": {"scheme": "OUE"}, "width": 8, "rows": 2}
    assert Cell("CM", sketch, data="income", d=20).make().domain == Ordered(0, 19)
    monkeypatch.setitem(CROWDS, "mine", OrderedCrowd(np.ones))
    assert is_ordered("mine")
    assert not is_ordered("nobody's")
    given = []
    monkeypatch.setitem(SCHEMES, "own", lambda **settings: given.append(settings))
    Cell("own", data="mine", d=5).make()
    assert given[0]["domain"] == Ordered(0, 4)
    assert "domain_size" not in given[0]
