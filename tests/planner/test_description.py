"""A scheme in words: true of every entry of the catalogue, and what one fake report can do by brute force."""

from __future__ import annotations

import json
import re
from copy import copy
from dataclasses import replace
from fractions import Fraction
from math import exp
from typing import Any

import numpy as np
import pytest

import naive
import plausibly
from cases import case, in_turn
from contract.entries import NAMES, SCHEMES, build, is_linear, items_of, reports_of, sized
from drawn import thinned
from plausibly import Keys, Labels, Strings, make
from plausibly.core.linear import KnowsLinear
from plausibly.core.records import RefusedReportsError
from plausibly.planner.description import Description, fields_of_record
from plausibly.planner.devices import device_notes
from plausibly.search.base import Search
from plausibly.search.whole_strings import WholeStrings

SMALL = {f"{name}-small": build(name, sized(name, 6), 1) for name in NAMES}


def neighbours(scheme: Any, count: int, most: int) -> Any:
    """All records that the server takes and that differ in one byte at most from those of some users."""
    size = scheme.report_dtype.itemsize
    raw = np.frombuffer(reports_of(scheme, count).tobytes(), np.uint8).reshape(-1, size)
    every = [raw]
    for place in range(size):
        more = np.repeat(raw, 256, axis=0)
        more[:, place] = np.tile(np.arange(256, dtype=np.uint8), len(raw))
        every.append(more)
    records = np.unique(np.concatenate(every), axis=0).reshape(-1).view(scheme.report_dtype)
    while True:
        try:
            scheme.check(records)
            break
        except RefusedReportsError as error:
            records = records[~error.wrong]
    # Spread over all of them: neighbours in this order are alike.
    return records[:: 1 + len(records) // most]


def counts_of(tally: Any, items: Any) -> Any:
    """The counts of items, each by itself: strings that are asked for together are solved for together."""
    if isinstance(tally.scheme.estimator(), WholeStrings):
        return np.array([tally.estimate([item]).values[0] for item in items])
    return tally.estimate(items).values


def most_moved(scheme: Any, records: Any) -> float:
    items = items_of(scheme)
    before = scheme.accumulator()
    before.add(reports_of(scheme, 40))
    known = counts_of(before, items)
    most = 0.0
    for i in range(len(records)):
        after = copy(before)
        after.add(records[i : i + 1])
        most = max(most, float(np.abs(counts_of(after, items) - known).max()))
    return most


def check_influence(label: str, scheme: Any) -> None:
    with case(label):
        if not isinstance(scheme.estimator(), KnowsLinear):
            assert most_moved(scheme, neighbours(scheme, 8, 100)) == pytest.approx(scheme.influence(), rel=1e-9)
            return
        # Few of its reports move a count furthest, and of products of rows only a bound is known.
        found = most_moved(scheme, neighbours(scheme, 40, 4000 if scheme.size < 20 else 100))
        assert found <= scheme.influence() * (1 + 1e-9)
        assert scheme.size > 20 or found == pytest.approx(scheme.influence(), rel=1e-9)


@pytest.mark.full
def test_no_report_moves_a_count_further_than_stated_and_some_report_does_for_every_entry() -> None:
    for label, scheme in SMALL.items():
        if is_linear(scheme):
            check_influence(label, scheme)


@pytest.mark.full
def test_no_report_moves_a_count_further_than_stated_on_any_domain_and_over_any_oracle() -> None:
    for label, scheme in SCHEMES.items():
        if is_linear(scheme):
            check_influence(label, scheme)


def test_every_entry_is_described_in_words_and_as_json() -> None:
    check_descriptions({label: SMALL[label] for label in thinned(list(SMALL))})


@pytest.mark.full
def test_every_entry_is_described_on_every_domain() -> None:
    check_descriptions(SCHEMES)


def check_descriptions(schemes: dict[str, Any]) -> None:
    for label, scheme in schemes.items():
        with case(label):
            found = Description(scheme, (1000, 10**6))
            text, fields = str(found), json.loads(json.dumps(found.to_dict(), allow_nan=False))
            assert scheme.fingerprint() in text
            assert plausibly.from_json(json.dumps(fields["definition"])) == scheme
            assert Fraction(fields["epsilon_delivered"]) == scheme.privacy_loss() <= scheme.epsilon
            assert fields["report"]["bytes"] == scheme.report_dtype.itemsize
            assert len(fields["errors"]) == (2 if is_linear(scheme) else 0)
            assert (fields["fakes"] is None) == (not is_linear(scheme))
            assert (fields["influence"] is None) == (not (is_linear(scheme) or found.cells))
            assert ("no formula" in text) == (
                not (scheme.linear or found.means or found.cells)
                or (scheme.name != "TRELLIS" and isinstance(scheme, Search))
            )
            assert "nan" not in re.split(r"\W+", text)


def test_beliefs_after_a_report_are_those_of_the_worst_likelihoods() -> None:
    scheme = make("DE", epsilon=1, domain_size=2)
    tables = [[scheme.likelihood(record, item) for item in (0, 1)] for record in records_of(scheme, 2)]
    for each in Description(scheme).suspicions:
        prior = Fraction(each.before).limit_denominator(100)
        after = [prior * p / (prior * p + (1 - prior) * q) for p, q in tables]
        assert each.most == pytest.approx(float(max(after)), rel=1e-12)
        assert each.least == pytest.approx(float(min(after)), rel=1e-12)


def records_of(scheme: Any, count: int) -> Any:
    return np.arange(count, dtype=np.uint8).view(scheme.report_dtype)


@in_turn("epsilon", ["0.000001", "0.1", "1", "3", "10", "40", "1000"])
def test_what_is_said_to_be_the_most_is_not_less_than_it_is(epsilon: str) -> None:
    found = Description(make("DE", epsilon=epsilon, domain_size=8))
    facts = dict(found.sections()[1][1])
    delivered = float(found.delivered)
    odds = float(re.search(r"at most ([0-9,.e+-]+)-fold", facts["odds"])[1].replace(",", ""))  # type: ignore[index]
    assert odds >= exp(delivered) * (1 - 1e-9)
    for each in found.suspicions:
        said = next(
            value for name, value in facts.items() if name == f"a suspicion of {each.before:.0%}".replace("%", " %")
        )
        shown = [float(number) for number in re.findall(r"([0-9.]+) %", said)]
        assert shown[0] / 100 >= each.most - 1e-11
        assert shown[1] / 100 <= each.least + 1e-11


def test_fields_are_public_if_they_were_drawn_before_the_value_was_seen() -> None:
    def public(scheme: Any) -> dict[str, bool]:
        return {field.name: field.public for field in fields_of_record(scheme)}

    assert public(make("OLH", epsilon=1, domain_size=9)) == {"seed": True, "hash": False}
    assert public(make("HM", epsilon=9, domain_size=900)) == {"rows": True, "signs": False}
    assert public(make("DE", epsilon=30, domain_size=2**20)) == {"item": False}
    assert public(make("OUE", epsilon=1, domain_size=10**5)) == {"bits": False}  # of so many bits a few stand for all
    sketch = make("CM", oracle=make("FLH", epsilon=1, domain_size=64), rows=8, domain=Keys())
    assert public(sketch) == {"row": True, "report.index": True, "report.hash": False}


def test_expected_errors_are_those_of_the_variance() -> None:
    scheme = make("OUE", epsilon=1, domain_size=100)
    (error,) = Description(scheme, (5000,)).errors
    assert error.standard_error == pytest.approx(scheme.variance(5000) ** 0.5)
    assert error.half_width == pytest.approx(1.959964 * error.standard_error, rel=1e-6)
    assert error.half_width < error.stands_out * 5000 < 6 * error.standard_error


@pytest.mark.full
@in_turn(
    ("scheme", "said"),
    [
        (
            make("OUE", epsilon=1, domain_size=1000),
            "316.4 users, or every one of the 1,000 items at once by 316.4 users",
        ),
        (make("SS", epsilon=1, domain_size=15), "303.7 users, or every one of the 15 items at once by 6.7 users each"),
        (
            make("OLH", epsilon=1, domain_size=9),
            "every one of the 9 items at once by no more than 332.8 each (a bound)",
        ),
        (make("OLH", epsilon=1, domain_size=99), "by no more than 332.8 each (a bound; probably far less)"),
        (
            make("OLH", epsilon=1, domain=Keys()),
            "332.8 users; every text at once by no more than 332.8 each (a bound; ",
        ),
        (make("CM", oracle=make("OLH", epsilon=1, domain_size=8), rows=2, domain=Keys()), "each (a bound)"),
        (
            make("OUE", epsilon=1, domain_size=1000),
            "grows by at most 3,164 users for each fake report, by 1 on average",
        ),
        (make("SS", epsilon=1, domain_size=15), "grows by at most 1 user for each fake report, by 1 on average"),
        (make("SS", epsilon=1, domain_size=15), "working together move a count by at most 3.1 % of the users"),
        (make("DE", epsilon=1, domain_size=1000), "move a count by up to 5.83 times the number of users"),
    ],
)
def test_what_fakes_can_do_to_all_items_at_once_is_told(scheme: Any, said: str) -> None:
    assert said in str(Description(scheme))


def test_fakes_that_put_a_string_into_a_search_are_told_for_each_crowd() -> None:
    found = Description(plausibly.TRELLIS(3, domain=Strings("abcdefgh", 6), users=10_000), (10_000, 10**6))
    few, many = found.forgeries
    assert (few.users, many.users) == (10_000, 10**6)
    assert [few.share, many.share] == [share for _, share in found.finds]
    assert few.reports < many.reports < 100 * few.reports
    assert f"{many.reports:,} fake reports" in str(found)
    assert "account for chance only, not for fake reports" in str(found)
    oracle = make("FLH", epsilon=1, domain=Keys())
    other = Description(make("PEM", oracle=oracle, domain=Strings("abcdefgh", 6)), (10_000,))
    assert [each.share for each in other.forgeries] == [0.01]
    unsure = "look as if 1 % held it at every step; whether it is found depends on the search"
    assert unsure in str(other)
    assert "see the lines on forged strings" in str(other)


def test_nothing_is_forged_where_nothing_is_found() -> None:
    found = Description(plausibly.TRELLIS(1, domain=Strings("abcdefgh", 6), users=100), (10,))
    assert found.forgeries == []
    assert ("forged, 10 users", "too few users for a search to find anything") in dict(found.sections())[
        "What fake reports can do"
    ]


@in_turn(("epsilon", "refused"), [(8, False), ("8.001", True)])
def test_an_epsilon_that_devices_refuse_is_told(epsilon: Any, refused: bool) -> None:
    scheme = make("DE", epsilon=epsilon, domain_size=3)
    said = ("devices", "refuse ε above 8 unless the application allows it, or knows the scheme by its fingerprint")
    assert (said in dict(Description(scheme).sections())["What a report reveals"]) == refused
    assert accepted(scheme) == (not refused)


def accepted(scheme: Any) -> bool:
    try:
        plausibly.device.load(scheme.to_json())
    except plausibly.device.DeviceError:
        return False
    return True


@in_turn(
    "domain",
    [
        *(Labels(("a", "b"), other=other) for other in (False, True)),
        *(Strings("ab", 3, other=other, long=long) for other in (False, True) for long in ("truncate", "refuse")),
        *(Strings(bytes(range(size)), 2, long=long) for size in (3, 256) for long in ("truncate", "refuse")),
        plausibly.Integers(3),
        Keys(),
    ],
)
def test_devices_refuse_by_default_exactly_what_is_said_to_be_refused(domain: Any) -> None:
    oracle = make("OLH", epsilon=1, domain=Keys())
    scheme = (
        make("PEM", oracle=oracle, domain=domain) if isinstance(domain, Strings) else replace(oracle, domain=domain)
    )
    assert accepted(scheme) == (device_notes(scheme) == ())
    told = any("devices refuse" in value for _, value in domain.facts())
    assert told == (not accepted(scheme))


@in_turn(
    ("domain", "said"),
    [
        (Labels(("a", "b"), other=True), 'every other text is reported as the item "other"'),
        (Labels(tuple("abcdefgh")), "8 labels: a, b, c, d, e, …"),
        (Labels(("a", "b")), "(other=True takes them as one more item)"),
        (Labels(("a\x1b[31m", "b")), "2 labels: a‹escape›[31m, b"),
        (Keys(), "any text, as a 64-bit hash"),
        (Strings("ab", 7), "cut after 7 characters"),
        (Strings("ab", 7), "(other=True takes them)"),
        (Strings("ab", 7, long="refuse"), 'refused, and devices refuse the scheme (long="truncate" cuts'),
        (Strings(b"ab", 7), "(an alphabet of all 256 bytes takes them)"),
        (Strings(bytes(range(256)), 7), "there are none"),
        (Strings("ab", 7, other=True), "the one symbol for all others"),
        (Strings(bytes(range(256)), 7), "texts of up to 7 bytes of an alphabet of 256"),
    ],
)
def test_values_are_told_in_words(domain: Any, said: str) -> None:
    assert any(said in value for _, value in domain.facts())


def test_parts_of_a_search_share_out_its_users() -> None:
    found = Description(plausibly.TRELLIS(3, domain=Strings("abcdefgh", 6), users=10_000))
    assert sum(piece.share for piece in found.pieces) == pytest.approx(1)
    assert sum(piece.number for piece in found.pieces) == len(found.scheme.parts)  # type: ignore[attr-defined]
    assert [n for n, _ in found.finds] == list(found.users)
    shares = [share for _, share in found.finds]
    assert shares == sorted(shares, reverse=True)


def test_what_is_almost_certain_is_not_said_in_percent() -> None:
    for epsilon, told in ((1, "becomes 99.9955 % at most"), (8, "becomes almost certain")):
        facts = dict(Description(make("DE", epsilon=epsilon, domain_size=4)).sections()[1][1])
        with case(epsilon):
            assert facts["several reports"].endswith(told)


def test_schemes_for_values_in_order_say_how_well_the_users_up_to_a_value_are_known() -> None:
    scheme = make("SLIDE", epsilon=1, domain_size=16)
    found = Description(scheme, (1000, 10**6))
    ((few, half), _) = found.up_to_a_value
    server = naive.Slide(json.loads(scheme.to_json()))
    prefixes = [(np.arange(16) <= last).astype(float) for last in range(15)]
    evenly = [np.mean([server.variance_of_one(prefix, x) for x in range(16)]) for prefix in prefixes]
    # By hand for users who are spread evenly; those of the description are almost.
    assert (few, half) == (1000, pytest.approx(1.96 * np.sqrt(1000 * np.mean(evenly)), rel=0.02))
    assert f"up to a value ±{half / 10:.1f} % of 1,000 users" in " ".join(str(found).split())
    assert Description(make("SS", epsilon=1, domain_size=16)).up_to_a_value == []
