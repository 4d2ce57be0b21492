"""The picture of a search: everything in its place, nothing over anything else, whatever was found."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
import pytest

from plausibly import HeavyHitters
from plausibly.core.selection import Selection
from plausibly.search.trace import Step
from plausibly.search.tree import MOST_TIPS, tree_of
from plausibly.search.tree_picture import Picture, _count

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def pyplot() -> Iterator[Any]:
    mpl.use("Agg")
    from matplotlib import pyplot

    yield pyplot
    pyplot.close("all")


def step(length: int, kept: Sequence[Any], first: int = 0) -> Step:
    values = np.arange(len(kept), 0, -1) * 100.0
    return Step(f"first {length}", length, 12_345, 10**6, np.array([*kept, None], dtype=object)[:-1], values, first)


def search(found: Sequence[Any], lengths: Sequence[int], lost: Sequence[Any] = (), **given: Any) -> HeavyHitters:
    """A search by prefixes of these lengths, which found the first of all these strings and lost the others."""
    texts = [*found, *lost]
    trace = tuple(step(length, list(dict.fromkeys(text[:length] for text in texts))) for length in lengths)
    values = np.arange(len(found), 0, -1) * 90.0
    items = np.array([*found, None], dtype=object)[:-1]
    return HeavyHitters(
        **{"items": items, "values": values, "variance": values, "n": 10**6, "complete": False, "trace": trace} | given
    )


LONG = [f"https://www.example{i}.org/a/{'long' * 9}/{i:02d}" for i in range(20)]
FORTY = [f"{a}{b}{'xyz'[: i % 4]}" for i, (a, b) in enumerate((a, b) for a in "abcde" for b in "klmnopqr")]
CASES = {
    "one string": search(["google"], [2, 4, 6], ["yahoo.", "goofy"]),
    "forty": search(FORTY, [1, 2, 4], ["zz", "zy", "a", "ak"]),
    "more than are drawn": search([f"{i:03d}" for i in range(100)], [2, 3]),
    "none": search([], [2, 4], ["abcd", "abce", "c"]),
    "no step": search([], []),
    "one step": search(["ab", ""], [2], ["cd"]),
    "many long steps": search(LONG, range(4, 66, 2), [text[::-1] for text in LONG]),
    "long pieces": search(LONG, [16, 32, 64]),
    "bytes": search([b"a\x00", b"\xff b"], [1, 3], [b"zz"]),
    "no variance": search(["ab", "cd"], [1, 2], variance=None),
    "luck": search(["ab", "cd"], [1, 2], p_values=np.array([0.01, 0.9])),
    "upper bounds": search(
        LONG[:3], [16, 64], selection=Selection(np.zeros(3), np.array([0.0, 1e6, 1e6]), np.full(3, 0.1))
    ),
    "formulas": search([r"$\frac$", "$$"], [2, 7]),
    "Greek": search(["αβγ", "δε"], [1, 3], ["ζ"]),
}


LARGE = {"forty", "more than are drawn", "many long steps", "long pieces"}
QUICK = {"none", "no step", "luck", "upper bounds"}


def cases(among: Iterable[str]) -> list[Any]:
    return [pytest.param(case, marks=() if case in QUICK else pytest.mark.full) for case in among]


def overlapping(axes: Any) -> list[tuple[str, str]]:
    axes.get_figure().canvas.draw()
    texts = [text for text in axes.texts if text.get_text()]
    x0, y0, x1, y1 = np.array([text.get_window_extent().extents for text in texts]).T
    apart = (x1[:, None] <= x0) | (x1 <= x0[:, None]) | (y1[:, None] <= y0) | (y1 <= y0[:, None])
    return [(texts[i].get_text(), texts[j].get_text()) for i, j in np.argwhere(~apart) if i < j]


@pytest.mark.parametrize("case", cases(CASES))
def test_no_text_lies_over_another_or_outside(case: str, pyplot: Any) -> None:
    axes = CASES[case].plot_tree()
    assert overlapping(axes) == []
    whole = axes.get_figure().bbox.padded(1)
    for text in axes.texts:
        box = text.get_window_extent()
        assert not text.get_text() or (whole.contains(*box.min) and whole.contains(*box.max)), text.get_text()


@pytest.mark.parametrize("case", cases(case for case in CASES if case not in LARGE))
def test_no_text_lies_over_another_without_intervals(case: str, pyplot: Any) -> None:
    assert overlapping(Picture(CASES[case], 8, intervals=False).draw(None)) == []


@pytest.mark.full
@pytest.mark.parametrize("case", ["forty", "many long steps"])
def test_it_shrinks_to_fit_axes_that_are_given(case: str, pyplot: Any) -> None:
    axes = pyplot.figure(figsize=(5, 4)).subplots()
    assert CASES[case].plot_tree(axes) is axes
    assert overlapping(axes) == []


def test_lines_are_as_wide_as_estimates_are_large(pyplot: Any) -> None:
    found = search(["abcd", "abef", "gh"], [2, 4])
    axes = found.plot_tree()
    widths = {round(patch.get_linewidth(), 6) for patch in axes.patches}
    values = [200.0, 100.0, 300.0, 270.0, 180.0, 90.0]  # of the steps, and of what was found
    assert widths == {round(0.7 + 6.3 * value / 300, 6) for value in values}


def test_branches_are_in_the_order_of_counts_and_dead_ends_last() -> None:
    found = search(["abcd", "gh", "abef"], [2, 4], ["ghgh", "zzzz"])
    tips = [knot.text for _, knot in tree_of(found, found.trace, 6).edges() if not knot.branches]
    assert tips == ["abcd", "abef", "gh", "gh", "zz"]
    rows = [knot.row for _, knot in tree_of(found, found.trace, 6).edges() if not knot.branches]
    assert sorted(rows) == list(range(5))


def test_a_dead_end_is_followed_to_where_it_was_dropped_and_their_number_is_limited() -> None:
    found = search(["abcd"], [1, 2, 4], ["xyzz", "xyz", "x", "abc", "uvw"])
    for others in range(5):
        edges = list(tree_of(found, found.trace, others).edges())
        tips = [knot for _, knot in edges if not knot.branches and not knot.leads]
        assert len(tips) == min(others, 5)
    ends = [knot for _, knot in tree_of(found, found.trace, 1).edges() if not knot.branches and not knot.leads]
    assert [(knot.column, knot.text) for knot in ends] == [(2, "zz")]


def test_the_best_strings_that_were_compared_and_not_returned_are_the_first_dead_ends() -> None:
    found = search(["abcd"], [2, 4], ["ghij", "ghxy", "uv"], judged={"ghxy": 0.3, "uvwx": 1.0, "abcd": 0.01})
    ends = [knot.text for _, knot in tree_of(found, found.trace, 2).edges() if not knot.branches and not knot.leads]
    assert ends[0] == "xy", "although its step ranked another one higher"


def test_the_tree_has_the_order_in_which_strings_were_returned(pyplot: Any) -> None:
    found = search(
        ["ab", "cd", "ef"], [1, 2], selection=Selection(np.zeros(3), np.array([0.0, 1e6, 0]), np.full(3, 0.1))
    )
    found = replace(found, values=np.array([5.0, 3.0, 9.0]))
    tips = [knot.text for _, knot in tree_of(found, found.trace, 0).edges() if knot.place is not None]
    assert tips == ["ab", "cd", "ef"]
    texts = [text.get_text() for text in Picture(found, 0, intervals=False).draw(None).texts]
    assert any(text.startswith("at most") for text in texts)
    assert not any("[" in text for text in texts)


def test_strings_that_were_put_aside_go_straight_to_the_end() -> None:
    trace = (step(2, ["ab", "c"]), step(4, ["abcd"]))
    found = search(["c"], [], trace=trace)
    way = [(knot.column, knot.text) for _, knot in tree_of(found, trace, 0).edges()]
    assert way == [(0, "c"), (2, "c")]


def test_many_steps_are_thinned_and_the_picture_says_so(pyplot: Any) -> None:
    picture = Picture(CASES["many long steps"], 6)
    assert [step.length for step in picture.steps] == [4, 10, 16, 22, 28, 34, 40, 46, 52, 58, 64]
    assert "every third step is shown" in picture.note
    assert "step is shown" not in Picture(CASES["forty"], 6).note


def test_more_strings_than_are_drawn_are_counted(pyplot: Any) -> None:
    texts = [text.get_text() for text in CASES["more than are drawn"].plot_tree().texts]
    assert f"and {100 - MOST_TIPS} more" in texts


@pytest.mark.full
def test_what_may_be_luck_is_hollow(pyplot: Any) -> None:
    axes = CASES["luck"].plot_tree()
    assert [line.get_markerfacecolor() for line in axes.lines].count("white") == 1
    assert "hollow: cannot be told apart from noise" in axes.texts[-1].get_text()
    assert "hollow" not in CASES["forty"].plot_tree().texts[-1].get_text()
    # With an upper bound only, a string is hollow, whether or not the search has p-values.
    bounded = CASES["upper bounds"].plot_tree()
    assert [line.get_markerfacecolor() for line in bounded.lines].count("white") == 2
    assert sum("at most" in text.get_text() for text in bounded.texts) == 2


def test_counts_are_short() -> None:
    numbers = [0, 950, 1_000, 1_561, 9_949, 9_950, 42_891, 128_986, 2_560_000, 31_673_600, 10**9]
    shown = ["0", "950", "1k", "1.6k", "9.9k", "10k", "43k", "129k", "2.6M", "32M", "1G"]
    assert [_count(number) for number in numbers] == shown


@pytest.mark.full
def test_the_example_prints_a_table_and_draws_the_figure(tmp_path: Path) -> None:
    picture = tmp_path / "figure.png"
    command = [sys.executable, str(ROOT / "examples" / "search.py"), "--users", "300000", "--output", str(picture)]
    run = subprocess.run(command, capture_output=True, text=True, check=True, encoding="utf-8")
    assert "google.com" in run.stdout
    assert "that was missed" in run.stdout
    assert picture.read_bytes().startswith(b"\x89PNG")
