"""Cells: what names a measurement, and the scheme that it makes."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from plausibly import make
from plausibly.experiments import cells
from plausibly.experiments.cells import Cell, view

CELL = Cell("FLH", {"hashes": 100, "hash_range": 8}, data="zipf-1.1", n=1000, d=64, epsilon=0.5, repeat=3)
KEY = "b440b9958273be26d252d3aec36301b3"


@pytest.mark.full
def test_keys_are_the_same_in_every_process() -> None:
    code = (
        "from plausibly.experiments.cells import Cell;"
        "print(Cell('FLH', {'hash_range': 8, 'hashes': 100}, n=1000, d=64, epsilon=.5, repeat=3).key)"
    )
    environment = os.environ | {"PYTHONHASHSEED": "12345"}
    said = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
    assert said.stdout.strip() == CELL.key == KEY


@pytest.mark.parametrize(
    "change",
    [
        {"scheme": "OLH"},
        {"parameters": {"hashes": 101, "hash_range": 8}},
        {"data": "uniform"},
        {"n": 1001},
        {"d": 65},
        {"epsilon": 0.6},
        {"data_seed": 1},
        {"repeat": 4},
        {"rounds": 2},
    ],
    ids=lambda change: next(iter(change)),
)
def test_keys_and_seeds_differ_with_everything_that_is_measured(change: dict[str, Any]) -> None:
    other = replace(CELL, **change)
    assert other != CELL
    assert other.seed("noise") != CELL.seed("noise") != CELL.seed("hashes")
    assert CELL.seed("noise", 1) != CELL.seed("noise")


def test_what_is_ones_own_is_known_by_what_it_is_made_of(monkeypatch: pytest.MonkeyPatch) -> None:
    sketch = {"oracle": {"scheme": "mine"}, "width": 8, "rows": 2}
    cells_before = [Cell("mine"), Cell("CM", sketch), Cell("DE", data="mine"), Cell("DE")]
    keys = [cell.key for cell in cells_before]
    for source in ("first", "second"):
        monkeypatch.setitem(cells.SOURCES, "mine", source)
        now = [replace(cell).key for cell in cells_before]
        assert [a == b for a, b in zip(keys, now, strict=True)] == [False, False, False, True]
        keys = now


def test_keys_do_not_depend_on_how_a_value_is_written() -> None:
    assert Cell("DE", epsilon=3) == Cell("DE", epsilon=3.0)
    assert Cell("CM", {"sizes": (1, 2)}) == Cell("CM", {"sizes": [1, 2]})
    assert len({Cell("DE"), Cell("DE"), Cell("OUE")}) == 2


def test_parameters_that_json_cannot_say_are_refused() -> None:
    for wrong in (np.int64(3), float("nan"), {1, 2}):
        with pytest.raises((TypeError, ValueError)):
            Cell("FLH", {"hashes": wrong})


def test_every_repeat_has_hash_functions_of_its_own() -> None:
    schemes = [replace(CELL, repeat=repeat).make() for repeat in range(3)]
    assert len(set(schemes)) == 3
    assert {(scheme.hashes, scheme.g, scheme.epsilon) for scheme in schemes} == {(100, 8, schemes[0].epsilon)}
    assert Cell("FLH", {"hash_seed": 7}).make() == make("FLH", epsilon=3, domain_size=1024, hash_seed=7)


def test_sketches_are_made_over_oracles_of_their_width() -> None:
    parameters = {"oracle": {"scheme": "FLH", "hashes": 50}, "width": 32, "rows": 4}
    for name, items in (("CM", 32), ("CS", 64)):
        scheme = Cell(name, parameters, d=500).make()
        assert (scheme.name, scheme.width, scheme.rows, scheme.size) == (name, 32, 4, 500)
        assert (scheme.oracle.name, scheme.oracle.size, scheme.oracle.hashes) == ("FLH", items, 50)


def test_schemes_of_ones_own_are_found_by_name(monkeypatch: pytest.MonkeyPatch) -> None:
    def half(epsilon: float, domain_size: int, hash_seed: int, share: int) -> Any:
        return make("DE", epsilon=epsilon / share, domain_size=domain_size)

    monkeypatch.setitem(cells.SCHEMES, "half", half)
    assert Cell("half", {"share": 2}, d=8).make() == make("DE", epsilon=1.5, domain_size=8)
    with pytest.raises(ValueError, match="unknown scheme"):
        Cell("haf").make()


def test_bloom_filters_are_sent_whole_or_one_bit_through_an_oracle() -> None:
    whole = Cell("BLOOM", {"bits": 32, "hashes": 2, "cohorts": 8}, d=500, epsilon=2).make()
    assert (whole.width, whole.oracle, whole.channels, whole.epsilon) == (32, None, 8, 2)
    one = Cell("BLOOM", {"width": 32, "oracle": {"scheme": "TLH"}, "hashes": 2, "cohorts": 8}, d=500, epsilon=2).make()
    assert (one.width, one.oracle.name, one.channels, one.epsilon) == (32, "TLH", 16, 2)


def test_views_reach_the_oracle_within_a_sketch() -> None:
    read = view("base-pos", combine="mean", oracle={"decoder": "paper"})
    assert str(read) == "combine=mean, oracle.decoder=paper, base-pos"
    assert read.keywords == {"combine": "mean", "oracle": {"decoder": "paper"}}
    assert hash(read) == hash(view("base-pos", oracle={"decoder": "paper"}, combine="mean"))


def test_views_are_named_by_what_they_do() -> None:
    assert str(view()) == "plain"
    assert str(view("base-pos", "norm", combine="min")) == "combine=min, base-pos, norm"
    assert view(b=1, a=2) == view(a=2, b=1)


def test_repeats_share_a_setting_and_nothing_else_does() -> None:
    cell = Cell("OUE", n=10, d=4)
    assert replace(cell, repeat=3).setting == cell.setting
    assert replace(cell, repeat=3).seed("noise") != cell.seed("noise")  # so repeats are independent
    assert replace(cell, d=5).setting != cell.setting
