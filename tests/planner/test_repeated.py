"""Plans for repeated questions: the table of the ways, and refusals."""

from __future__ import annotations

import json
from math import exp
from typing import Any

import pytest
from typer.testing import CliRunner

from plausibly import Keys, ParameterError, Table, from_json, make
from plausibly.cli import app
from plausibly.planner.repeated import repeated

USERS = 3650 * 1000
TABLE = {7: (11.9, 0.53), 30: (225, 2.28), 90: (2025, 6.84), 365: (33306, 27.8)}
"""Variance per user and slot within a lifetime epsilon of 4: that of splitting it, and of a rota."""


@pytest.mark.parametrize(
    "slots", [30, *(pytest.param(slots, marks=pytest.mark.full) for slots in TABLE if slots != 30)]
)
def test_a_rota_beats_splitting_by_the_numbers_of_the_table(slots: int) -> None:
    found = repeated(1000, USERS, slots=slots, lifetime_epsilon=4)
    of = {way.name: USERS * way.variance(USERS) for way in found.ways}
    split, rota = TABLE[slots]
    assert of["split"] == pytest.approx(split, rel=0.01)
    assert of["rota"] == pytest.approx(rota, rel=0.01)
    assert of["rota"] == pytest.approx(slots * 4 * exp(4) / (exp(4) - 1) ** 2, rel=0.01)
    assert found.best.name == "rota"
    assert found.best.slots_per_report == slots
    assert (found.scheme.epsilon, found.ways[1].scheme.epsilon * slots) == (4, 4)
    assert of["memo"] == pytest.approx(4.68, rel=0.01)
    assert [way.scheme.name for way in found.ways if way.memo] == ["LOLOHA"]


def test_a_memo_with_a_larger_first_report_has_the_variance_of_the_table() -> None:
    scheme = make("LOLOHA", epsilon="3/2", memo_epsilon=2, domain_size=1000, hash_bits=1)
    assert scheme.variance(n=1) == pytest.approx(2.48, abs=0.01)


def test_a_memo_is_named_where_it_is_more_accurate_and_its_caution_always() -> None:
    more = "In a single slot, the memo would be more accurate"
    for slots, better in ((2, False), (30, False), (90, True), (100_000, True)):
        found = repeated(1000, USERS, slots=slots, lifetime_epsilon=4)
        memo = found.ways[-1]
        assert found.best.name == "rota", "the one whose ε bounds everything"
        assert (memo.variance(USERS) < found.best.variance(USERS)) == better
        assert any(more in each for each in found.remarks) == better
        assert any(memo.scheme.caution in each for each in found.remarks)
        assert any("Only a memo has a bound for a question without an end" in each for each in found.remarks)
        assert found.to_dict()["ways"][-1]["caution"] == memo.scheme.caution
    assert "memo" not in " ".join(repeated(Keys(), 10_000, slots=3, lifetime_epsilon=2).remarks)


def test_the_lottery_is_in_the_variance_of_common_items() -> None:
    way = repeated(1000, USERS, slots=10, lifetime_epsilon=4).best
    n = USERS // 10
    noise = way.scheme.variance(n, f=n // 2) / n**2
    assert way.variance(USERS, frequency=0.5) == pytest.approx(noise + 0.25 / n * 0.9, rel=1e-6)


def test_keys_have_no_memo_and_short_series_a_short_mean() -> None:
    found = repeated(Keys(), 10_000, slots=3, lifetime_epsilon=2)
    assert [way.name for way in found.ways] == ["rota", "split"]
    assert found.header[-1] == "of a mean over 3"
    assert found.half_width(found.best, 3) == pytest.approx(found.half_width(found.best) / 3**0.5)  # type: ignore[operator]


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"slots": 1}, "slots: expected 2 to"),
        ({"slots": 7, "users": 6}, "at least one user for each"),
        ({"lifetime_epsilon": 0}, "lifetime_epsilon: expected"),
        ({"lifetime_epsilon": 11}, "lifetime_epsilon: expected at most 10, got 11; to allow it, raise limits.epsilon"),
        ({"domain": Table({"a": 2, "b": 3})}, 'with users=142 and epsilon="2"'),
    ],
)
def test_impossible_repetitions_are_refused(given: dict[str, Any], words: str) -> None:
    asked = {"domain": 16, "users": 1000, "slots": 7, "lifetime_epsilon": 2} | given
    with pytest.raises(ParameterError, match=words):
        repeated(**asked)


@pytest.mark.full
def test_the_command_compares_says_what_each_way_promises_and_saves_the_scheme(tmp_path) -> None:  # type: ignore[no-untyped-def]
    words = ["plan", "--items", "1000", "--users", "1000000", "--slots", "30", "--lifetime-epsilon", "4"]
    shown = CliRunner().invoke(app, [*words, "--save", str(tmp_path / "scheme.json")])
    assert shown.exit_code == 0
    assert "once in 30 slots (a rota of 30)" in shown.stdout
    assert "whether or not the" in shown.stdout
    assert {"2.28", "226", "LOLOHA,"} <= set(shown.stdout.split())
    flat = " ".join(shown.stdout.split())
    assert "bounded by ε = 4, for ever; whether and when a value changed is not protected." in flat
    assert "one change is detected with probability 0.43, at 5 % false alarms" in flat
    assert from_json((tmp_path / "scheme.json").read_text()).epsilon == 4
    chosen = [*words, "--save", str(tmp_path / "memo.json"), "--way"]
    assert CliRunner().invoke(app, [*chosen, "memo"]).exit_code == 0
    assert from_json((tmp_path / "memo.json").read_text()).name == "LOLOHA"
    assert "--way: unknown 'mem'; did you mean 'memo'?" in CliRunner().invoke(app, [*chosen, "mem"]).stderr
    assert "--way needs --slots and --save" in CliRunner().invoke(app, [*words, "--way", "memo"]).stderr
    told = json.loads(CliRunner().invoke(app, [*words, "--json"]).stdout)
    assert told["rota"] == 30
    assert from_json(json.dumps(told["scheme"])).epsilon == 4
    for wrong in (words[:-2], [*words, "--epsilon", "1"], [*words, "--within", "1%"]):
        result = CliRunner().invoke(app, wrong)
        assert result.exit_code == 2
        assert "--lifetime-epsilon" in result.stderr
