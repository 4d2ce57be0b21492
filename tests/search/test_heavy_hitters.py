"""What a search returns: counts with intervals, a table, a picture, and the story of how it came to them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import matplotlib as mpl
import numpy as np
import pytest

import plausibly
from contract.entries import KEYED_SEARCHES
from plausibly import HeavyHitters, ParameterError
from plausibly.core.history import search_by
from plausibly.search.trace import Step
from search.planted import COMMON, search_over, tally_for

every_search = pytest.mark.parametrize(
    "name", [pytest.param(name, marks=() if i % 2 else pytest.mark.full) for i, name in enumerate(KEYED_SEARCHES)]
)


@every_search
def test_the_result_is_estimates_and_more(name: str) -> None:
    found = tally_for(name, COMMON).search(k=4)
    assert isinstance(found, HeavyHitters)
    assert isinstance(found, plausibly.Estimates)
    assert len(found) == len(found.items) == len(found.values) == len(found.variance) == 4
    assert found.history == (search_by(name),)
    assert found.p_values is None
    low, high = found.interval(0.9)
    assert (low < found.values).all()
    assert (found.values < high).all()
    assert list(found.to_frame()["item"]) == found.items.tolist()
    assert found.top(2).items.tolist() == found.items[:2].tolist()
    assert f"search by {name}" in repr(found)


@pytest.mark.full
@every_search
def test_its_intervals_cover_the_truth(name: str) -> None:
    # 20 crowds of 5 strings at 95 %, each with hash functions of its own. False alarm: below 1e-6 for each search.
    truth, covered = np.array([COMMON[text] for text in sorted(COMMON)]), 0
    for seed in range(20):
        oracle = plausibly.make("FLH", epsilon=4, domain=plausibly.Keys(seed), hashes=500, hash_seed=seed)
        tally = search_over(name, oracle).simulate(COMMON, plausibly.SeededRandom(seed))
        low, high = tally.estimate(sorted(COMMON)).interval(0.95)
        covered += int(((low <= truth) & (truth <= high)).sum())
    assert covered >= 82


@pytest.mark.full
@every_search
def test_the_trace_tells_how_many_were_asked_looked_at_and_kept(name: str) -> None:
    tally = tally_for(name, COMMON)
    trace = tally.search(k=3).trace
    assert len(trace) == len(tally.parts)
    assert [step.users for step in trace] == [len(part) for part in tally.parts]
    assert trace[-1].kept.tolist() == tally.search(k=3).items.tolist()
    for step in trace:
        assert len(step.kept) == len(step.values) <= step.candidates
        assert step.label in repr(step)
        assert step.cut_off == step.values.min()


@every_search
def test_a_found_string_is_explained_to_the_end(name: str) -> None:
    found = tally_for(name, COMMON).search(k=5)
    lines = found.explain("abcd").splitlines()
    assert lines[0] == "abcd: found"
    assert len(lines) == 1 + len(found.trace)
    assert lines[-1].startswith("  whole strings, abcd: number 1 of 5 kept, estimated ")
    assert found.explain("abcdefgh") == found.explain("abcd"), "it was cut when it was reported"
    assert found.explain("").startswith("(empty): found")


@every_search
def test_a_lost_string_is_explained_up_to_where_it_was_lost(name: str) -> None:
    found = tally_for(name, COMMON).search(k=1)
    lines = found.explain("dd").splitlines()
    assert lines[0] == "dd: not found"
    assert "not among the 1 kept, the smallest with" in lines[-1]
    never = found.explain("cccc").splitlines()
    assert never[0] == "cccc: not found"
    assert "not among" in never[-1]
    with pytest.raises(ParameterError, match="item: expected a string, got int"):
        found.explain(5)  # type: ignore[arg-type]


def test_what_is_settled_after_the_last_step_is_explained_too() -> None:
    # As TRELLIS does: strings that have ended are put aside, and it is not the last step that returns strings.
    trace = (
        Step("first 2 characters", 2, 100, 20, np.array(["ab", "c", "de"], dtype=object), np.array([40.0, 60.0, 20.0])),
        Step("first 4 characters", 4, 100, 50, np.array(["abcd", "dede"], dtype=object), np.array([40.0, 20.0])),
        Step("first 6 characters", 6, 100, 50, np.array([], dtype=object), np.array([])),
    )
    found = HeavyHitters(
        items=np.array(["c"], dtype=object),
        values=np.array([55.0]),
        variance=np.array([4.0]),
        n=300,
        complete=False,
        p_values=np.array([0.00123]),
        trace=trace,
    )
    assert found.explain("c").splitlines() == [
        "c: found",
        "  first 2 characters, c: number 2 of 3 kept, estimated 60",
        "  at the end: number 1 of 1 returned, estimated 55, p-value 0.001",
    ]
    assert found.explain("abcd").splitlines()[-1] == "  first 6 characters, abcd: not among the 0 kept"
    assert found.explain("abc").splitlines()[-1].endswith("not among the 2 kept, the smallest with 20")
    assert found.explain("f").splitlines()[-1].endswith("not among the 3 kept"), "they are not ranked by estimates"
    assert replace(found, p_values=np.array([0.0])).explain("c").endswith(", p-value below 1e-99")
    lost = replace(found, items=found.items[:0], values=found.values[:0], variance=None, p_values=None)
    assert lost.explain("c").splitlines()[-1] == "  at the end: not among the 0 returned"
    assert found.to_frame()["p_value"].tolist() == [0.00123]
    assert "p_value" not in lost.to_frame()


@pytest.mark.full
@pytest.mark.parametrize(
    "name", ["PEM", *(pytest.param(name, marks=pytest.mark.full) for name in KEYED_SEARCHES if name != "PEM")]
)
def test_the_tree_shows_every_step_and_what_was_found(name: str) -> None:
    mpl.use("Agg")
    from matplotlib import pyplot

    found = tally_for(name, COMMON).search(k=5)
    try:
        axes = found.plot_tree(others=2)
        texts = {text.get_text() for text in axes.texts}
        assert {"abcd", "ab", "(empty)", "dd", "dabb", "found"} <= texts
        for step in found.trace:
            assert str(step.length) in {text.split("–")[-1] for text in texts}
        mine = pyplot.figure().subplots()
        assert found.plot_tree(mine) is mine
        axes.get_figure().canvas.draw()
        nothing: Any = tally_for(name, {}).search()
        nothing.plot_tree().get_figure().canvas.draw()
        with pytest.raises(ParameterError, match="others: expected"):
            found.plot_tree(others=-1)
    finally:
        pyplot.close("all")


def test_a_string_that_is_not_told_apart_from_others_is_not_explained() -> None:
    scheme = plausibly.TRELLIS(3, domain=plausibly.Strings("ab", 3, other=True), users=1000)
    found = scheme.simulate({"ab": 900, "XY": 100}, plausibly.SeededRandom(1)).search(k=3)
    assert found.explain("ab").startswith("ab: found")
    with pytest.raises(plausibly.DomainError, match="expected characters of the alphabet, got another one"):
        found.explain("AB")


def test_a_tally_without_a_search_says_what_it_is_for() -> None:
    tally = plausibly.make("OLH", epsilon=1, domain_size=8).accumulator()
    with pytest.raises(
        AttributeError, match="expected a scheme for searches, got OLH, which counts items by name; use"
    ):
        tally.search()  # type: ignore[attr-defined]
    with pytest.raises(AttributeError, match="has no attribute 'serch'"):
        tally.serch()  # type: ignore[attr-defined]
    assert not hasattr(tally, "search")
