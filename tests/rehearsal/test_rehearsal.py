"""Rehearsals: errors against the variance, items matched to domains, the same numbers from the same seed."""

from __future__ import annotations

import json
from pathlib import Path
from statistics import NormalDist
from typing import Any

import numpy as np
import pytest

from cases import case, in_turn
from plausibly import TRELLIS, DomainError, Keys, Labels, ParameterError, Strings, make
from plausibly.certify import clopper_pearson
from plausibly.experiments.csv_files import Labelled, labelled_counts, labelled_values
from plausibly.rehearsal.expected_errors import predicted_variance, told_from_zero
from plausibly.rehearsal.files import write_rehearsal
from plausibly.rehearsal.repeats import rehearse
from plausibly.rehearsal.truth import Truth, made_up, truth_of

SECRET = "hiv-clinic"


def labelled(**counts: int) -> Labelled:
    numbers = np.array([*counts.values()], dtype=np.int64)
    return Labelled("own.csv", tuple(counts), numbers, tuple(range(2, 2 + len(counts))))


def numbered(counts: list[int]) -> Truth:
    return Truth("own.csv", np.arange(len(counts)), np.array(counts, dtype=np.int64), complete=True)


@pytest.mark.full
def test_errors_are_those_of_the_variance_and_intervals_cover() -> None:
    # False alarms, if the law holds: of 4 schemes with 6 items the mean square of each is beyond its limit with
    # probability 1e-6 (as a normal number: each is a mean of 300), the coverage with 2e-6; less than 1e-4 in all. What
    # binomial counts of 2,000 users differ from normal ones is far below the width of these limits.
    repeats, truth = 300, numbered([900, 600, 300, 150, 50, 0])
    z = -NormalDist().inv_cdf(0.5e-6)
    for name in ("DE", "OUE", "TLH", "HR"):
        scheme = make(name, epsilon=1, domain_size=6)
        found = rehearse(scheme, truth, repeats=repeats, seed=3, top=6)
        for each in found.top:
            with case(f"{name}, item {each.item}"):
                assert each.predicted is not None
                assert each.coverage is not None
                assert abs(each.rmse**2 / each.predicted**2 - 1) < z * np.sqrt(2 / repeats)
                assert abs(each.mean - each.count) < z * each.predicted / np.sqrt(repeats)
                low, high = clopper_pearson(round(each.coverage * repeats), repeats, 1e-6)
                assert low < 0.95 < high
        assert found.rmse == pytest.approx(np.sqrt(np.mean([each.rmse**2 for each in found.top])))
        assert found.coverage == pytest.approx(np.mean([each.coverage for each in found.top]))


@pytest.mark.full
def test_what_is_said_to_be_told_from_zero_is() -> None:
    # The count that is stated, and of 400 collections the share whose interval is above zero: 95 % if the estimates are
    # normal; beyond these limits with probability 2e-6.
    scheme = make("OUE", epsilon=1, domain_size=4)
    least = told_from_zero(scheme, numbered([5000, 5000, 5000, 5000]))
    assert least is not None
    truth = numbered([least, 10_000 - least, 5000, 5000])
    found = rehearse(scheme, truth, repeats=400, top=4)
    place = next(i for i, each in enumerate(found.top) if each.item == 0)
    estimates = found.estimates[:, place]
    error = np.sqrt(scheme.variance(truth.n, np.clip(estimates, 0, truth.n)))
    low, high = clopper_pearson(int((estimates > 1.959964 * error).sum()), 400, 1e-6)
    assert low < 0.95 < high
    assert told_from_zero(make("OUE", epsilon="0.01", domain_size=4), numbered([5, 5, 5, 5])) is None


def test_the_same_seed_gives_the_same_numbers_and_another_seed_others() -> None:
    scheme, truth = make("OLH", epsilon=1, domain_size=6), numbered([90, 60, 30, 15, 5, 0])
    first, again, other = (rehearse(scheme, truth, repeats=3, seed=seed) for seed in (1, 1, 2))
    assert first.to_dict() == again.to_dict()
    assert first.rmse != other.rmse


def test_blocks_are_those_of_the_crowd() -> None:
    # One block holds nearly everybody: its items have the noise of many mates, the others that of few.
    scheme = make("HR", epsilon=3, domain_size=40, variant="block")
    counts = [0] * 40
    counts[0] = 5000
    truth = numbered(counts)
    predicted = predicted_variance(scheme, truth)
    assert predicted is not None
    exact = [
        scheme.estimator().law.at(5000, f, mates=sum(counts[x % scheme.blocks :: scheme.blocks]))
        for x, f in enumerate(counts)
    ]
    assert predicted == pytest.approx(exact)
    assert predicted.max() > 1.5 * predicted.min()


def test_labels_are_matched_by_name_and_others_are_counted_together() -> None:
    counts = labelled(bee=3, ant=5, wasp=2, fly=1)
    truth = truth_of(make("DE", epsilon=1, domain=["ant", "bee", "cat"], other=True), counts)
    assert truth.items.tolist() == ["ant", "bee", "cat", "other"]
    assert (truth.counts.tolist(), truth.others, truth.n) == ([5, 3, 0, 3], 3, 11)


@in_turn(
    ("domain", "items", "line"),
    [
        (Labels(("ant", "bee")), {"ant": 3, SECRET: 2}, "line 3"),
        (Strings("ant", 4), {"ant": 3, SECRET: 2}, "line 3"),
        (Strings("hiv-cln", 4, long="refuse"), {SECRET: 2, "hi": 1}, "line 2"),
    ],
)
def test_what_no_client_could_report_is_refused_by_line_and_not_by_name(domain: Any, items: Any, line: str) -> None:
    if isinstance(domain, Strings):
        scheme = make("PEM", oracle=make("OLH", epsilon=1, domain=Keys()), domain=domain, start=1, step=1)
    else:
        scheme = make("DE", epsilon=1, domain=domain)
    with pytest.raises(DomainError, match=f"own.csv, {line}") as raised:
        truth_of(scheme, labelled(**items))
    assert SECRET not in str(raised.value)


def test_numbers_are_matched_by_number() -> None:
    scheme = make("DE", epsilon=1, domain_size=3)
    found = Labelled("own.csv", ("2", "0"), np.array([4, 1]), (2, 3))
    assert truth_of(scheme, found).counts.tolist() == [1, 0, 4]
    for wrong in ("3", "-1", "1.0", "²", SECRET, "9" * 50, ""):
        with case(wrong), pytest.raises(DomainError, match=r"line 3: expected integers in \[0, 3\)"):
            truth_of(scheme, Labelled("own.csv", ("0", wrong), np.array([4, 1]), (2, 3)))


def test_what_nobody_holds_need_not_be_in_the_domain_and_somebody_must_hold_something() -> None:
    scheme = make("DE", epsilon=1, domain_size=3)
    assert truth_of(scheme, Labelled("own.csv", ("0", "7"), np.array([4, 0]), (2, 3))).n == 4
    with pytest.raises(DomainError, match="expected 1 to"):
        truth_of(scheme, Labelled("own.csv", ("0",), np.array([0]), (2,)))


def test_texts_that_are_cut_alike_are_one() -> None:
    scheme = TRELLIS(3, domain=Strings("abcdefgh", 3), users=1000)
    truth = truth_of(scheme, labelled(abcd=3, abce=2, ab=1))
    assert dict(zip(truth.items.tolist(), truth.counts.tolist(), strict=True)) == {"abc": 5, "ab": 1}


def test_a_search_is_scored_by_what_it_finds() -> None:
    scheme = TRELLIS(4, domain=Strings("abcdefgh", 3), users=20_000)
    found = rehearse(scheme, truth_of(scheme, labelled(abc=9000, deaf=6000, hh=5000)), repeats=2, top=2)
    assert found.search is not None
    assert (found.search.f1, found.top_found) == (1.0, 2.0)
    assert [each.found for each in found.top] == [1.0, 1.0]
    told = dict(found.facts())
    assert "F1 1.00" in told["search for 2"]
    assert "above zero if you name it; the share that a search needs is in plausibly show" in told["detectable"]


def test_a_scheme_of_any_texts_is_asked_about_those_of_the_file() -> None:
    scheme = make("OLH", epsilon=3, domain=Keys())
    found = rehearse(scheme, truth_of(scheme, labelled(ant=2000, bee=1000)), repeats=3, top=5)
    assert [each.item for each in found.top] == ["ant", "bee"]
    assert found.top_found == 2.0


def test_after_post_processing_there_are_no_intervals() -> None:
    found = rehearse(make("DE", epsilon=1, domain_size=4), numbered([90, 9, 1, 0]), repeats=2, postprocess="norm-sub")
    assert found.coverage is None
    assert found.top[0].coverage is None
    assert "none after norm-sub" in dict(found.facts())["95 % intervals"]
    assert found.estimates.min() >= 0
    with pytest.raises(ParameterError, match="norm-sub"):
        rehearse(make("DE", epsilon=1, domain_size=4), numbered([90, 9, 1, 0]), postprocess="norm-sup")


@pytest.mark.full
@in_turn(
    ("scheme", "data"),
    [
        (make("DE", epsilon=1, domain_size=10), "uniform"),
        (make("OLH", epsilon=1, domain=Keys()), "uniform"),
        (make("OLH", epsilon=1, domain=Keys()), "url-clicks"),
        (TRELLIS(3, domain=Strings("abcdefghijklmnopqrstuvwxyz.", 6, other=True), users=1000), "url-clicks"),
    ],
)
def test_made_up_crowds_fit_every_domain(scheme: Any, data: str) -> None:
    assert made_up(scheme, data, 1000, 1).n == 1000


@pytest.mark.full
def test_made_up_crowds_that_do_not_fit_are_refused() -> None:
    scheme = TRELLIS(3, domain=Strings("xyz", 6), users=1000)
    with pytest.raises(DomainError, match="url-clicks: these strings have characters"):
        made_up(scheme, "url-clicks", 1000, 1)
    with pytest.raises(ParameterError, match="did you mean 'url-clicks'"):
        made_up(scheme, "url-click", 1000, 1)


def test_so_many_users_are_drawn_as_are_asked_for() -> None:
    truth = numbered([60, 40]).drawn(1000, 1)
    assert truth.n == 1000
    assert 500 < truth.counts[0] < 700  # six standard deviations
    assert truth.counts.tolist() == numbered([60, 40]).drawn(1000, 1).counts.tolist()


def test_items_of_a_file_keep_their_names_and_lines(tmp_path: Path) -> None:
    (tmp_path / "counts.csv").write_text("item,count\nbee,3\n\nant,5\n", encoding="utf-8")
    (tmp_path / "values.csv").write_text("id,site\n1,bee\n2,ant\n3,bee\n", encoding="utf-8")
    counts, values = labelled_counts(tmp_path / "counts.csv"), labelled_values(tmp_path / "values.csv", "site")
    assert (counts.items, counts.counts.tolist(), counts.lines) == (("bee", "ant"), [3, 5], (2, 4))
    assert (values.items, values.counts.tolist(), values.lines) == (("bee", "ant"), [2, 1], (2, 3))


@pytest.mark.full
def test_files_are_written_whole_and_as_their_name_says(tmp_path: Path) -> None:
    found = rehearse(
        make("DE", epsilon=1, domain=["$a$", "b,c"]), Truth("x", np.array(["$a$", "b,c"]), np.array([9, 1]), True)
    )
    for name in ("r.svg", "r.csv", "r.json"):
        write_rehearsal(found, tmp_path / name)
    assert "<svg" in (tmp_path / "r.svg").read_text(encoding="utf-8")
    assert (tmp_path / "r.csv").read_text(encoding="utf-8").splitlines()[2].startswith('"b,c",1,')
    assert json.loads((tmp_path / "r.json").read_text(encoding="utf-8")) == found.to_dict()
    before = (tmp_path / "r.svg").read_bytes()
    write_rehearsal(found, tmp_path / "r.svg")
    assert (tmp_path / "r.svg").read_bytes() == before
    assert sorted(path.name for path in tmp_path.iterdir()) == ["r.csv", "r.json", "r.svg"]
    with pytest.raises(ParameterError, match=r"ends in .png"):
        write_rehearsal(found, tmp_path / "r.pdf")
    with pytest.raises(ParameterError, match="no folder"):
        write_rehearsal(found, tmp_path / "none" / "r.csv")


def test_items_of_a_table_are_no_formulas() -> None:
    scheme = make("DE", epsilon=1, domain=["=1+1", "bee"])
    found = rehearse(scheme, Truth("own.csv", np.array(["=1+1", "bee"]), np.array([30, 20]), complete=True), repeats=2)
    assert [line.split(",")[0] for line in found.to_csv().splitlines()] == ["item", "'=1+1", "bee"]


def test_a_prediction_for_all_hash_functions_is_told_from_the_error_of_one() -> None:
    own, shared = (make(name, epsilon=1, domain_size=4) for name in ("OLH", "FLH"))
    for scheme, mean in ((own, False), (shared, True)):
        told = dict(rehearse(scheme, numbered([90, 9, 1, 0]), repeats=2).facts())
        assert ("on average over all hash functions (see below)" in told["predicted"]) is mean
        assert ("hash functions" in told) is mean
