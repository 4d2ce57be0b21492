"""What comes out: estimates of all or some items, of nobody, of labels; tables, pictures, intervals, history."""

from __future__ import annotations

from dataclasses import FrozenInstanceError, replace
from statistics import NormalDist
from typing import Any

import matplotlib as mpl
import numpy as np
import pytest

import plausibly
from cases import in_turn
from contract.entries import (
    COUNTING,
    SCHEMES,
    build,
    crowd,
    every_counting_scheme,
    every_labelled_name,
    every_linear_scheme,
    every_listed_linear_scheme,
    every_listed_scheme,
    every_mean_only_scheme,
    every_name,
    every_scheme,
    is_linear,
    items_of,
    reports_of,
    sized,
    tally_of,
)
from plausibly import (
    DomainError,
    Estimates,
    Integers,
    Labels,
    ParameterError,
    Scheme,
    SeededRandom,
    StateError,
)
from plausibly.core.history import Applied, selection
from plausibly.core.laws import Estimator
from plausibly.search.whole_strings import WholeStrings


def filled(scheme: Scheme, count: int = 80) -> plausibly.Accumulator:
    return tally_of(scheme, scheme.privatize(crowd(scheme, count), rng=SeededRandom(1)))


def some() -> Estimates:
    return Estimates(
        items=np.array(["a", "b", "c", "d"], dtype=object),
        values=np.array([3.0, -1.0, 8.0, 3.0]),
        variance=np.array([4.0, 4.0, 9.0, 1.0]),
        n=13,
        complete=True,
    )


# --- every entry -----------------------------------------------------------------------------------------------------


@every_listed_linear_scheme
def test_estimates_of_some_items_are_those_of_the_whole_domain(scheme: Scheme) -> None:
    tally = filled(scheme)
    whole = tally.estimate()
    assert whole.items.tolist() == items_of(scheme)
    for places in ([0], [3, 1, 3], list(reversed(range(scheme.size)))):
        items = [items_of(scheme)[place] for place in places]
        part = tally.estimate(items)
        assert part.items.tolist() == items
        np.testing.assert_array_equal(part.values, whole.values[places])
        np.testing.assert_array_equal(part.variance, whole.variance[places])
        assert (part.complete, whole.complete) == (False, True)
        assert tally.scores(items).tolist() == tally.scores()[places].tolist()


@every_linear_scheme
def test_items_asked_together_or_one_by_one_get_the_same_estimates(scheme: Scheme) -> None:
    tally, items = filled(scheme), items_of(scheme)
    together = tally.estimate(items)
    if isinstance(scheme.estimator(), WholeStrings):
        # Strings that share cells are solved for together (ADR 24); their order does not matter.
        backwards = tally.estimate(items[::-1])
        np.testing.assert_array_equal(together.values, backwards.values[::-1])
        np.testing.assert_array_equal(together.variance, backwards.variance[::-1])
        return
    for i, item in enumerate(items):
        alone = tally.estimate([item])
        assert (alone.values[0], alone.variance[0]) == (together.values[i], together.variance[i])


@every_counting_scheme
def test_items_may_come_as_any_sequence(scheme: Scheme) -> None:
    tally, items = filled(scheme), items_of(scheme)[:3]
    wanted = tally.estimate(items)
    in_array = np.array(items, dtype=object)
    for same in (tuple(items), in_array):
        found = tally.estimate(same)
        assert found.items.tolist() == items
        np.testing.assert_array_equal(found.values, wanted.values)


@pytest.mark.full
def test_items_that_can_be_read_only_once_are_read_once_or_refused() -> None:
    for label in COUNTING:
        tally, items = filled(SCHEMES[label]), items_of(SCHEMES[label])[:3]
        try:
            found = tally.estimate(iter(items))
        except DomainError:
            continue
        assert (found.items.tolist(), len(found.values)) == (items, len(items))


@every_linear_scheme
def test_no_items_give_no_estimates(scheme: Scheme) -> None:
    none = filled(scheme).estimate([])
    assert (len(none), len(none.items), len(none.values), len(none.variance)) == (0, 0, 0, 0)
    assert not none.complete


@every_linear_scheme
def test_zero_reports_estimate_zero_with_no_variance_left(scheme: Scheme) -> None:
    tally = scheme.accumulator()
    estimates = tally.estimate(items_of(scheme))
    assert (len(tally), estimates.n) == (0, 0)
    assert not estimates.values.any()
    assert not estimates.variance.any()
    low, high = estimates.interval()
    assert not low.any()
    assert not high.any()
    with pytest.raises(StateError, match="zero reports"):
        _ = estimates.fractions


@every_counting_scheme
def test_a_domain_that_cannot_be_listed_needs_items(scheme: Scheme) -> None:
    tally = filled(scheme)
    if scheme.domain.size is None:
        with pytest.raises(StateError, match="cannot be listed; say which items"):
            tally.estimate()
        with pytest.raises(plausibly.PlausiblyError):
            tally.scores()
    else:
        assert len(tally.estimate()) == scheme.domain.size


@every_linear_scheme
def test_estimates_carry_variance_number_and_an_empty_history(scheme: Scheme) -> None:
    estimates = filled(scheme).estimate(items_of(scheme))
    assert estimates.n == 80
    assert estimates.history == ()
    assert estimates.values.shape == estimates.variance.shape == (len(items_of(scheme)),)
    assert (estimates.variance > 0).all()
    np.testing.assert_array_equal(estimates.fractions, estimates.values / 80)


@every_counting_scheme
def test_estimates_that_are_not_linear_say_so_and_have_no_variance(scheme: Scheme) -> None:
    if is_linear(scheme):
        return
    for count in (0, 80):
        tally = filled(scheme, count)
        for items in ([], items_of(scheme)):
            estimates = tally.estimate(items)
            assert (len(estimates), estimates.n) == (len(items), count)
            assert estimates.variance is None
            assert estimates.history
            assert count or not estimates.values.any()
            with pytest.raises(StateError, match="no interval"):
                estimates.interval()
        with pytest.raises(StateError):
            tally.scores(items_of(scheme))


@every_mean_only_scheme
def test_schemes_without_counts_refuse_them_and_name_the_mean(scheme: Scheme) -> None:
    tally = filled(scheme)
    before = tally.to_bytes()
    for asked in (None, [], items_of(scheme)):
        with pytest.raises(StateError, match=r"no counts of items, .* tally\.mean\(\)"):
            tally.estimate(asked)
    for refused in (tally.scores, lambda: scheme.variance(10, 1)):
        with pytest.raises(StateError, match="no counts of items"):
            refused()
    assert not scheme.linear
    assert scheme.influence() is None
    row = tally.mean()
    assert row.interval()[0] < row.value < row.interval()[1]
    assert tally.to_bytes() == before
    with pytest.raises(StateError, match="a mean needs reports"):
        scheme.accumulator().mean()


@every_counting_scheme
def test_estimating_changes_nothing(scheme: Scheme) -> None:
    tally = filled(scheme)
    before = tally.to_bytes()
    first = tally.estimate(items_of(scheme))
    second = tally.estimate(items_of(scheme))
    np.testing.assert_array_equal(first.values, second.values)
    assert tally.to_bytes() == before


@every_scheme
def test_items_outside_the_domain_are_refused_by_position(scheme: Scheme) -> None:
    tally = filled(scheme)
    with pytest.raises(DomainError, match="item 1: expected"):
        tally.estimate([items_of(scheme)[0], None])


@every_linear_scheme
def test_estimates_are_unbiased_over_many_users(scheme: Scheme) -> None:
    # One item holds half of 20,000 users. Public hash functions are allowed the term that they have over fresh ones.
    # Sketches are measured by their law at the true counts: one of 30 cells knows too little of F2 and of its giant.
    # False alarm: five standard deviations for each of at most 50 * 11 items, below 4e-4 over fresh seeds.
    items = items_of(scheme)
    counts = {item: 10_000 // (len(items) - 1) for item in items}
    counts[items[0]] = 10_000
    estimates = scheme.simulate(counts, rng=SeededRandom(6)).estimate(items)
    truth = np.array(list(counts.values()))
    variance = estimates.variance
    if scheme.channels is not None:
        variance = scheme.variance(estimates.n, truth, f2=float((truth**2).sum()))
    assert (np.abs(estimates.values - truth) < 5 * np.sqrt(variance)).all()


@every_labelled_name
def test_labels_are_the_integers_of_their_places(name: str) -> None:
    by_label = build(name, Labels(("a", "b", "c", "d", "e")))
    by_place = build(name, Integers(5))
    assert by_label != by_place
    places = [i * i % 5 for i in range(60)]
    reports = by_label.privatize(["abcde"[place] for place in places], rng=SeededRandom(2))
    assert reports.tobytes() == by_place.privatize(places, rng=SeededRandom(2)).tobytes()
    estimates = tally_of(by_label, reports).estimate()
    assert estimates.items.tolist() == list("abcde")


@pytest.mark.full
@every_labelled_name
def test_other_takes_every_text_outside_the_labels(name: str) -> None:
    scheme = build(name, Labels(("a", "b", "c"), other=True), 8)
    assert scheme.size == 4
    items = ["a", "never seen", "", "other", "A", "a "] * 50
    reports = scheme.privatize(items, rng=SeededRandom(2))
    listed = scheme.privatize(["a", *["other"] * 5] * 50, rng=SeededRandom(2))
    assert reports.tobytes() == listed.tobytes()
    estimates = tally_of(scheme, reports).estimate()
    assert estimates.items.tolist() == ["a", "b", "c", "other"]
    # The others hold 250 of 300 users, the standard deviation is below 16. False alarm: none in 200 other seeds each.
    assert int(np.argmax(estimates.values)) == 3


@every_labelled_name
def test_without_other_texts_outside_the_labels_are_refused(name: str) -> None:
    scheme = build(name, Labels(("a", "b", "c")))
    with pytest.raises(DomainError, match="item 2: expected one of the 3 labels"):
        scheme.privatize(["a", "b", "other"])


# --- the result itself -----------------------------------------------------------------------------------------------


def test_top_sorts_and_breaks_ties_in_the_order_of_the_domain() -> None:
    top = some().top(3)
    assert top.items.tolist() == ["c", "a", "d"]
    assert top.values.tolist() == [8.0, 3.0, 3.0]
    assert top.variance.tolist() == [9.0, 4.0, 1.0]  # type: ignore[union-attr]
    assert top.n == 13


def test_top_of_a_part_is_incomplete_and_of_all_stays_complete() -> None:
    assert not some().top(3).complete
    assert some().top(4).complete
    assert some().top(99).complete
    assert not replace(some(), complete=False).top(99).complete


def test_what_was_done_travels_along() -> None:
    assert some().history == ()
    assert some().top(3).history == (selection("top", k=3),)
    assert some().top(3).top(1).history == (selection("top", k=3), selection("top", k=1))


@pytest.mark.parametrize("k", [0, -1, 1.5, "3", None, True])
def test_top_of_no_whole_positive_number_is_refused(k: object) -> None:
    with pytest.raises(ParameterError, match="k: expected a positive integer"):
        some().top(k)  # type: ignore[arg-type]


def test_results_cannot_be_reassigned() -> None:
    with pytest.raises(FrozenInstanceError):
        some().values = np.zeros(4)  # type: ignore[misc]


def test_comparing_two_results_is_no_error() -> None:
    assert isinstance(some() == some(), bool)


def test_the_repr_is_a_table_with_intervals_largest_first() -> None:
    assert repr(some()).splitlines() == [
        "<estimates of 4 items from 13 reports>",
        "  item  estimate  95 % interval",
        "  c          8.0   [ 2.1, 13.9]",
        "  a          3.0   [-0.9,  6.9]",
        "  d          3.0   [ 1.0,  5.0]",
        "  b         -1.0   [-4.9,  2.9]",
    ]


def test_the_repr_of_many_items_shows_ten_and_says_how_many_more() -> None:
    many = Estimates(np.arange(1234), np.arange(1234) - 0.1, np.ones(1234), 1_000_000, complete=True)
    lines = repr(many).splitlines()
    assert lines[0] == "<estimates of 1,234 items from 1,000,000 reports, the largest>"
    assert lines[2] == "  1233     1,233  [1,231, 1,235]"
    assert lines[-1] == "  ... and 1,224 more; the intervals allow for this choice, those of to_frame() do not"
    assert len(lines) == 1 + 1 + 10 + 1


def test_the_repr_without_variance_has_no_interval_and_says_what_was_done() -> None:
    bare = replace(some(), variance=None, history=(Applied("norm-sub"),))
    assert repr(bare).startswith("<estimates of 4 items from 13 reports, norm-sub>")
    assert "interval" not in repr(bare)


def test_the_repr_keeps_one_line_per_item_whatever_the_labels() -> None:
    labels = np.array(["a\nb\x1b[2J", "x" * 500 + "end", "\N{MAN}\u200d\N{GIRL}"], dtype=object)
    shown = repr(Estimates(labels, np.array([3.0, 2.0, 1.0]), np.ones(3), 5, complete=True)).splitlines()
    assert len(shown) == 5
    assert "a‹line feed›b‹escape›[2J " in shown[2]
    assert f" {'x' * 20}...{'x' * 14}end " in shown[3]
    assert "\N{MAN}\u200d\N{GIRL}" in shown[4]
    assert max(map(len, shown)) < 80


def test_the_repr_of_nothing_is_one_line() -> None:
    nothing = Estimates(np.zeros(0, dtype=object), np.zeros(0), np.zeros(0), 1, complete=False)
    assert repr(nothing) == "<estimates of 0 items from 1 report>"


def test_an_interval_is_normal_and_not_clipped() -> None:
    low, high = some().interval(0.95)
    half = NormalDist().inv_cdf(0.975) * np.sqrt([4.0, 4.0, 9.0, 1.0])
    np.testing.assert_allclose(low, some().values - half)
    np.testing.assert_allclose(high, some().values + half)
    assert low[1] < 0
    wide = some().interval(0.999)
    assert (wide[0] < low).all()
    assert (wide[1] > high).all()


@pytest.mark.parametrize("level", [0, 1, -0.5, 95, float("nan"), float("inf"), "0.95", None, 1j])
def test_an_impossible_level_is_refused(level: float) -> None:
    with pytest.raises(ParameterError, match="level: expected a number strictly between 0 and 1"):
        some().interval(level)


@every_listed_scheme
def test_one_report_moves_an_estimate_by_no_more_than_is_stated(scheme: Scheme) -> None:
    # docs/adr/0003-variance-laws.md, poisoning: what a liar can do is what any report does.
    estimator, reports = scheme.estimator(), reports_of(scheme, 20)
    if not isinstance(estimator, Estimator):
        return  # what a report can do to the rows of a sketch is the business of its own tests
    most = float(estimator.scale * max(estimator.offset, 1 - estimator.offset))
    moved = [tally_of(scheme, reports[i : i + 1]).estimate().values for i in range(len(reports))]
    assert np.abs(moved).max() <= most * (1 + 1e-12)


@every_name
@in_turn("numbers", [(-1, 0), (5, 6), (5, -1), (5, float("nan")), ("5", 0), (5, 0, -1), (5, 0, "1")])
def test_a_variance_for_an_impossible_crowd_is_refused(name: str, numbers: tuple[Any, ...]) -> None:
    with pytest.raises(ParameterError, match="variance: expected numbers"):
        build(name, sized(name, 5)).variance(*numbers)


def test_without_variance_there_is_no_interval_but_a_table() -> None:
    bare = replace(some(), variance=None, history=(Applied("norm-sub"),))
    with pytest.raises(StateError, match="no variance, hence no interval, after norm-sub"):
        bare.interval()
    assert list(bare.to_frame().columns) == ["item", "estimate", "share"]
    assert bare.top(2).variance is None


def test_a_table_has_estimates_errors_and_intervals() -> None:
    frame = some().to_frame(level=0.5)
    assert list(frame.columns) == ["item", "estimate", "standard_error", "low", "high", "share"]
    assert frame["share"].tolist() == (some().values / 13).tolist()
    assert frame["item"].tolist() == ["a", "b", "c", "d"]
    assert frame["standard_error"].tolist() == [2.0, 2.0, 3.0, 1.0]
    low, high = some().interval(0.5)
    np.testing.assert_array_equal(frame["low"], low)
    np.testing.assert_array_equal(frame["high"], high)


def test_a_picture_shows_the_largest_estimates_with_their_intervals() -> None:
    mpl.use("Agg")
    from matplotlib import pyplot

    try:
        axes = some().plot(k=3)
        assert [label.get_text() for label in axes.get_yticklabels()] == ["c", "a", "d"]
        assert len(axes.patches) == 3
        assert "95" in axes.get_xlabel()
        assert "13 reports" in axes.get_xlabel()
        mine = pyplot.figure().subplots()
        assert replace(some(), variance=None, history=(Applied("cut"),)).plot(mine) is mine
        assert "interval" not in mine.get_xlabel()
        pyplot.figure().canvas.draw()
    finally:
        pyplot.close("all")


def test_items_that_cannot_be_told_apart_from_noise_are_hollow() -> None:
    mpl.use("Agg")
    from matplotlib import pyplot

    try:
        axes = replace(some(), values=np.array([30.0, -1.0, 8.0, 2.0])).plot(k=3)  # 15, 2.7 and 2 standard errors
        assert [patch.get_facecolor() == (1, 1, 1, 1) for patch in axes.patches] == [False, True, True]
        assert "hollow: the interval contains 0" in axes.get_xlabel()
        assert "cannot be told apart from noise" in axes.get_xlabel()
        assert "cannot be told apart" not in some().plot().get_xlabel(), "all items are shown: nothing was selected"
    finally:
        pyplot.close("all")


def test_every_label_of_a_picture_lies_within_it() -> None:
    mpl.use("Agg")
    from matplotlib import pyplot

    # Dollar signs would be a formula to matplotlib, and this one a broken formula.
    labels = np.array([r"$\frac$", "https://a-rather-long-name.example/with/a/long/path", "c", "d"], dtype=object)
    try:
        axes = replace(some(), items=labels).plot()
        figure = axes.get_figure()
        figure.canvas.draw()
        for text in (*axes.get_yticklabels(), axes.xaxis.label):
            box = text.get_window_extent()
            assert figure.bbox.x0 <= box.x0
            assert figure.bbox.y0 <= box.y0
    finally:
        pyplot.close("all")
