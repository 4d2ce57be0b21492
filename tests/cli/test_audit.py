"""plausibly audit: the certificate for people and machines, and an exit code that tells whether it holds."""

from __future__ import annotations

import json
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest
from typer.testing import CliRunner

from cases import in_turn
from plausibly import TRELLIS, Strings, make
from plausibly.certify import StatisticalAudit, audit
from plausibly.cli import app
from plausibly.cli import audit as command
from plausibly.files import write_tally

WORDS = "OLH:epsilon=1,domain_size=1000"


def run(*arguments: object) -> tuple[int, str, str]:
    result = CliRunner().invoke(app, ["audit", *map(str, arguments)])
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result.exit_code, result.stdout, result.stderr


@pytest.mark.full
def test_the_certificate_is_printed() -> None:
    code, shown, said = run(WORDS)
    assert (code, said) == (0, "")
    first = shown.splitlines()[0]
    assert "holds: the client was run on every item with 8 of 2^64 public draws, and a written proof covers" in first
    assert "epsilon <= 1, attained" in shown


@pytest.mark.full
def test_json_has_the_exact_numbers() -> None:
    code, shown, _ = run("DE:epsilon=1,domain_size=100000", "--json")
    found, certificate = json.loads(shown), audit(make("DE", epsilon=1, domain_size=100_000))
    assert code == 0
    assert Fraction(found["worst_ratio"]) == certificate.worst_ratio
    assert Fraction(found["epsilon_delivered"]) == certificate.epsilon <= 1
    assert (found["holds"], found["whole_domain"], found["findings"]) == (True, False, [])
    assert found["enumerated"]["domain"]["size"] < 100_000
    assert (found["verdict"], found["proved"], found["complete"]) == ("holds", True, False)
    assert (found["covers"], found["argument"]) == (certificate.covers, "docs/adr/0015")
    assert found["bulk_complete"] is (certificate.compared_items == 100_000)
    assert "statistical" not in found


@pytest.mark.full
def test_more_draws_cover_more() -> None:
    words = "FLH:epsilon=1,domain_size=5,hashes=100"
    assert "holds: the client was run on every item with every coin" in run(words)[1].splitlines()[0]
    assert "every item with 8 of 100 public draws" in run(words, "--draws", 10_000)[1].splitlines()[0]


def test_the_scheme_of_a_tally_is_audited(tmp_path: Path) -> None:
    write_tally(tmp_path / "visits.tally", make("DE", epsilon=1, domain_size=4).accumulator())
    code, shown, _ = run(tmp_path / "visits.tally")
    assert code == 0
    assert "DE(epsilon=1, domain_size=4) holds" in shown


def test_a_scheme_that_does_not_hold_ends_with_1(monkeypatch: pytest.MonkeyPatch) -> None:
    found = replace(audit(make("DE", epsilon=1, domain_size=4)), findings=("a likelihood ratio exceeds e^epsilon",))
    monkeypatch.setattr(
        command, "audited", lambda scheme, draws: replace(found, worst_ratio=float("inf"), epsilon=float("inf"))
    )
    code, shown, _ = run(WORDS)
    assert code == 1
    assert "DOES NOT HOLD" in shown
    assert "FINDING   a likelihood ratio exceeds" in shown
    code, shown, _ = run(WORDS, "--json")
    assert code == 1
    assert json.loads(shown)["worst_ratio"] == "infinity"


def test_reports_are_attacked_if_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    code, shown, _ = run("DE:epsilon=1,domain_size=4", "--statistical", 500)
    assert code == 0
    assert "1,500 reports show epsilon >=" in shown
    code, shown, _ = run("DE:epsilon=1,domain_size=4", "--statistical", 100, "--json")
    assert json.loads(shown)["statistical"]["reports"] == 300
    broken = StatisticalAudit(make("DE", epsilon=1, domain_size=4), 1.5, 0.999, 300)
    monkeypatch.setattr(command, "audit_statistically", lambda scheme, reports: broken)
    code, shown, _ = run("DE:epsilon=1,domain_size=4", "--statistical", 100)
    assert code == 1
    assert "VIOLATES" in shown


@pytest.mark.full
def test_a_search_is_named_in_a_line(tmp_path: Path) -> None:
    path = tmp_path / "scheme.json"
    path.write_text(TRELLIS(3, domain=Strings("abcdefgh", 6), users=1000).to_json(), encoding="utf-8")
    code, shown, _ = run(path)
    assert code == 0
    assert shown.startswith("TRELLIS with epsilon=3 (")


@in_turn(("arguments", "code"), [(["OLH"], 2), ([WORDS, "--statistical", "1"], 2), (["none.parquet"], 1)])
def test_what_cannot_be_audited_is_told(arguments: list[str], code: int) -> None:
    found, shown, said = run(*arguments)
    assert (found, shown) == (code, "")
    assert said
