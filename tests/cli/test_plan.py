"""plausibly plan: the planner on the command line, for people and for machines."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

import plausibly
from cases import in_turn
from plausibly import device
from plausibly.cli import app
from plausibly.cli.naming import scheme_of
from plausibly.cli.options.plan import PlanOptions


def run(*arguments: object) -> tuple[int, str, str]:
    result = CliRunner().invoke(app, ["plan", *map(str, arguments)])
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result.exit_code, result.stdout, result.stderr


@pytest.mark.full
def test_the_target_of_the_help_runs_and_explains_itself() -> None:
    example = next(line for line in (PlanOptions.__doc__ or "").splitlines() if "With a target:" in line)
    words = shlex.split(example.partition("With a target:")[2])
    assert words[:2] == ["plausibly", "plan"]
    code, shown, _ = run(*words[2:])
    assert code == 0
    for part in (
        "You will see any item that at least 1.4 % of users have.",
        "TLH:epsilon=0.7",
        "1,000,000 users",
        "±0.5 % with 95 % confidence",
        "Why not",
        "OLH",
        "Cormode, Maddock and",
    ):
        assert part in shown
    assert max(map(len, shown.splitlines())) <= 110
    assert "--within" in CliRunner().invoke(app, ["plan", "--help"], env={"COLUMNS": "200"}).stdout


def test_the_page_about_planning_shows_what_is_printed() -> None:
    page = (Path(__file__).parents[2] / "docs" / "planning.md").read_text(encoding="utf-8")
    command, shown = re.findall(r"```(?:sh|text)\n(.*?)\n```", page, flags=re.DOTALL)
    code, printed, _ = run(*shlex.split(command)[2:])
    assert code == 0
    assert [line.rstrip() for line in printed.rstrip().splitlines()] == shown.splitlines()


def test_json_is_that_of_the_plan_and_the_saved_scheme_is_ready(tmp_path: Path) -> None:
    file = tmp_path / "scheme.json"
    code, shown, _ = run("--items", 50, "--users", 10_000, "--epsilon", "0.5", "--json", "--save", file)
    assert code == 0
    expected = plausibly.plan(50, 10_000, epsilon="0.5")
    assert json.loads(shown) == expected.to_dict()
    assert plausibly.from_json(file.read_text(encoding="utf-8")) == expected.scheme


@pytest.mark.full
@in_turn(
    ("arguments", "name"),
    [
        ("--label cat --label dog --users 1000 --epsilon 1", "DE"),
        ("--keys --users 1000000 --epsilon 3 --candidates 50", "CM"),
        ("--keys --users 1000000 --epsilon 3 --memory 100MB --skew worst", "OLH"),
        ("--alphabet abcdefgh --length 6 --epsilon 2 --find 1%", "TRELLIS"),
        ("--items 1000000 --users 1000000 --epsilon 3 --report-bytes 2 --memory 1MB", "CM"),
        ("--items 300 --epsilon 1 --within 1% --every --frequency 5% --confidence 99%", "TLH"),
    ],
)
def test_every_kind_of_question(arguments: str, name: str) -> None:
    code, shown, stderr = run(*arguments.split(), "--json")
    assert (code, stderr) == (0, "")
    assert json.loads(shown)["scheme"]["scheme"] == name
    code, shown, _ = run(*arguments.split())
    assert code == 0
    assert "Why not" in shown


def test_labels_are_read_from_a_file(tmp_path: Path) -> None:
    file = tmp_path / "pets.txt"
    file.write_text("cat\ndog\n\nfish\n", encoding="utf-8")
    code, shown, _ = run("--labels", file, "--users", 1000, "--epsilon", 1, "--json")
    assert code == 0
    assert json.loads(shown)["scheme"]["domain"]["labels"] == ["cat", "dog", "fish"]
    code, shown, _ = run("--labels", file, "--other", "--users", 1000, "--epsilon", 1, "--json")
    assert json.loads(shown)["scheme"]["domain"]["other"] is True


@pytest.mark.full
@in_turn(
    ("arguments", "message"),
    [
        ("--users 10 --epsilon 1", "--durations, --attribute, --attributes, --choices, got none"),
        ("--items 5 --keys --users 10 --epsilon 1", "got --items and --keys"),
        ("--alphabet abc --users 10 --epsilon 1", "expected --alphabet and --length together"),
        ("--label a --label b --labels x.txt --users 10 --epsilon 1", "expected --label or --labels, got both"),
        (
            "--items 5 --other --users 10 --epsilon 1",
            "--other needs --label, --labels, --attribute, --attributes, --choices, --alphabet,",
        ),
        ("--alphabet z-a --length 3 --users 10 --epsilon 1", "--alphabet: the range z-a ends before it begins"),
        ("--alphabet aa --length 3 --users 10 --epsilon 1", "--alphabet: expected distinct characters"),
        (
            "--items 5 --users 10",
            "expected two of --users, --epsilon and a target (--within, --find or",
        ),
        ("--items 5 --users 0 --epsilon 1", "--users: expected 1 to"),
        ("--items 5 --users 10 --epsilon much", "--epsilon: expected a finite positive number"),
        ("--items 5 --users 10 --within 1% --find 1%", "expected one target, got --within and --find"),
        ("--items 5 --users 10 --epsilon 1 --every", "--frequency and --every need --within"),
        ("--items 5 --users 10 --within lots", "--within: expected a share such as"),
        ("--items 1000000 --users 10 --epsilon 1 --report-bytes 1", "--report-bytes 2 is enough"),
        ("--items 5 --users 10 --epsilon 1 --skew odd", "--skew: expected the exponent"),
        ("--items 5 --users 10 --epsilon 1 --memory big", "--memory: expected bytes"),
    ],
)
def test_what_cannot_be_meant_ends_with_2_and_a_message(arguments: str, message: str) -> None:
    code, shown, stderr = run(*arguments.split())
    assert (code, shown) == (2, "")
    assert message in stderr


def test_a_file_that_is_not_text_or_not_there_is_named(tmp_path: Path) -> None:
    file = tmp_path / "pets.txt"
    file.write_bytes(b"cat\n\xff\xfe")
    code, _, stderr = run("--labels", file, "--users", 10, "--epsilon", 1)
    assert code == 2
    assert "pets.txt: expected UTF-8 text, got another encoding at byte 4" in stderr
    file.write_text("cat\ncat\n", encoding="utf-8")
    code, _, stderr = run("--labels", file, "--users", 10, "--epsilon", 1)
    assert code == 2
    assert "expected distinct values, got some lines more than once" in stderr
    code, _, stderr = run("--labels", tmp_path / "none.txt", "--users", 10, "--epsilon", 1)
    assert code == 1
    assert "none.txt" in stderr


def test_an_alphabet_may_have_ranges_and_take_other_characters() -> None:
    code, shown, _ = run("--alphabet", "a-c0-2.-/", "--length", 4, "--other", "--users", 1000, "--epsilon", 3, "--json")
    assert code == 0
    domain = json.loads(shown)["scheme"]["domain"]
    assert (domain["alphabet"], domain["length"], domain["other"]) == ("abc012.-/", 4, True)


REFUSED = "Devices refuse this scheme unless told otherwise: it has no item for other values. --other adds one"
LARGE = "Devices refuse ε above 8 unless the application allows it, or knows the scheme by its fingerprint."


@pytest.mark.full
@in_turn("domain", ["--label a --label b", "--alphabet abc --length 4"])
def test_a_scheme_that_devices_refuse_is_told_with_the_remedy(domain: str, tmp_path: Path) -> None:
    for other in ([], ["--other"]):
        asked = (
            *domain.split(),
            *other,
            "--users",
            1000,
            "--epsilon",
            9,
            "--save",
            tmp_path / "scheme.json",
            "--overwrite",
        )
        code, shown, _ = run(*asked)
        assert code == 0
        said = " ".join(shown.split())
        assert (REFUSED in said) == (not other)
        assert LARGE in said
        scheme = (tmp_path / "scheme.json").read_text(encoding="utf-8")
        if other:
            device.load(scheme, max_epsilon=9)
        else:
            with pytest.raises(device.DeviceError, match="refuses some values"):
                device.load(scheme, max_epsilon=9)


def test_the_scheme_of_the_example_loads_on_a_device_and_takes_any_text(tmp_path: Path) -> None:
    example = next(line for line in (PlanOptions.__doc__ or "").splitlines() if "Example:" in line)
    words = shlex.split(example.partition("Example:")[2])
    assert words[-1] == "scheme.json"
    readme = (Path(__file__).parents[2] / "README.md").read_text(encoding="utf-8")
    assert f"\n{shlex.join(words)}\n" in readme
    code, shown, _ = run(*words[2:-1], tmp_path / "scheme.json")
    said = " ".join(shown.split())
    assert (code, REFUSED in said, LARGE in said) == (0, False, False)
    client = device.load((tmp_path / "scheme.json").read_text(encoding="utf-8"))
    assert len(client.privatize("Über/straße?" * 5)) == 7
    assert "seven bytes a user" in " ".join(readme.split())


def test_the_same_hash_seed_makes_the_same_scheme() -> None:
    asked = ("--alphabet", "a-c", "--length", 4, "--users", 1000, "--epsilon", 3, "--json")
    schemes = [json.loads(run(*asked, *seed)[1])["scheme"] for seed in ([], [], ["--hash-seed", 7], ["--hash-seed", 7])]
    assert schemes[0] != schemes[1]
    assert schemes[2] == schemes[3]


@pytest.mark.full
def test_a_saved_scheme_is_replaced_only_when_told_to(tmp_path: Path) -> None:
    file = tmp_path / "scheme.json"
    asked = ("--keys", "--users", 1000, "--epsilon", 1, "--save", file)
    assert run(*asked)[0] == 0
    before = file.read_bytes()
    code, shown, told = run(*asked)
    assert (code, shown, file.read_bytes()) == (1, "", before)
    assert told == f"{file}: the file exists already; choose another name, or replace it with --overwrite\n"
    assert run(*asked, "--overwrite")[0] == 0
    assert file.read_bytes() != before, "a fresh seed"
    # The same plan again is no loss, so that a script may run twice.
    assert run(*asked, "--hash-seed", 7, "--overwrite")[0] == run(*asked, "--hash-seed", 7)[0] == 0


@pytest.mark.full
@in_turn(
    ("words", "first"),
    [
        (
            "--items 5 --users 20",
            "This plan cannot show anything: with 20 users and ε = 0.5, not even an item ",
        ),
        ("--items 1000 --users 1000", "This plan shows almost nothing: you would only see what 70.9 % of users have."),
        ("--items 1000 --users 1000000", "You will see any item that at least"),
        ("--alphabet a-z --length 12 --users 9000", "This plan shows almost nothing: you would only see what"),
    ],
)
def test_the_first_line_says_what_the_plan_will_show(words: str, first: str) -> None:
    code, shown, _ = run(*words.split(), "--epsilon", "0.5")
    assert code == 0
    assert shown.startswith(first)


def test_the_recommended_scheme_is_printed_as_commands_take_it() -> None:
    shown = run("--items", 50, "--users", 1000, "--epsilon", 1)[1].splitlines()
    scheme = plausibly.plan(50, 1000, epsilon=1).scheme
    (text,) = [line.split()[-1] for line in shown if line.startswith("  as a text")]
    assert (scheme_of(text), shown[2]) == (scheme, scheme.name)


@pytest.mark.full
@in_turn("values", ["--label Dog --label ' café'", "--keys", "--alphabet a-zé --length 5"])
def test_a_plan_that_normalizes_makes_devices_do_so(values: str, tmp_path: Path) -> None:
    path = tmp_path / "scheme.json"
    other = [] if values == "--keys" else ["--other"]
    typed = [*shlex.split(values), *other, "--users", 100_000, "--epsilon", 3, "--normalize", "strip,lower,nfc"]
    code, _, told = run(*typed, "--save", path, "--overwrite")
    assert (code, told) == (0, "")
    text = path.read_text(encoding="utf-8")
    assert json.loads(text)["domain"]["normalize"] == ["nfc", "lower", "strip"]
    client = device.load(text)
    assert len({client.encode(spelling) for spelling in ("café", "Café ", " CAFE\u0301")}) == 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            "--items 9 --normalize lower",
            "--normalize needs --label, --labels, --attribute, --attributes, --keys or --alphabet",
        ),
        ("--keys --normalize lowr", "unknown step 'lowr'; did you mean 'lower'"),
        ("--keys --normalize lower,lower", "expected each step once"),
        ("--alphabet A-Z --length 3 --normalize lower", "got 26 characters that lower changes; leave them out"),
        ("--label a --label A --normalize lower", "some become equal"),
    ],
)
def test_steps_that_make_no_sense_end_with_2_and_a_message(arguments: str, message: str) -> None:
    code, shown, told = run(*shlex.split(arguments), "--users", 10_000, "--epsilon", 1)
    assert (code, shown) == (2, "")
    assert message in told


@pytest.mark.full
@in_turn(
    ("words", "domain"),
    [
        ("--range 0..120", {"type": "whole numbers", "low": 0, "high": 120}),
        ("--range -5..5 --other", {"type": "whole numbers", "low": -5, "high": 5, "other": True}),
        ("--bins 0,10,20.5,50 --infinite clamp", {"type": "bins", "edges": [0, 10, "20.5", 50], "infinite": "clamp"}),
        ("--bins 0..0.3/3 --unit s", {"type": "bins", "edges": [0, "0.1", "0.2", "0.3"], "unit": "s"}),
        ("--bins=-1..1/4", {"type": "bins", "edges": [-1, "-0.5", 0, "0.5", 1]}),
        ("--range 0..120 --unit years", {"type": "whole numbers", "low": 0, "high": 120, "unit": "years"}),
        ("--dates 2026-01-01..2026-01-31", {"type": "dates", "first": "2026-01-01", "last": "2026-01-31"}),
        ("--durations 0..50ms --other", {"type": "durations", "low": 0, "high": 50, "unit": "ms", "other": True}),
    ],
)
def test_ordered_values_are_given_by_their_ends(words: str, domain: dict[str, Any]) -> None:
    code, shown, stderr = run(*words.split(), "--users", 1000, "--epsilon", 1, "--json")
    assert (code, stderr) == (0, "")
    assert json.loads(shown)["scheme"]["domain"] == domain


def test_a_text_may_name_a_range() -> None:
    assert scheme_of("DE:epsilon=1,range=0..120") == plausibly.make("DE", epsilon=1, domain=plausibly.Ordered(0, 120))
    named = scheme_of("OUE:epsilon=1,dates=2026-01-01..2026-01-31,other=true")
    assert named.domain == plausibly.Ordered.dates("2026-01-01", "2026-01-31", other=True)
    named = scheme_of("SLIDE:epsilon=1,bins=0..1/4,unit=s,infinite=clamp")
    assert named.domain == plausibly.Ordered.equal(0, 1, 4, unit="s", infinite="clamp")


def test_the_interval_of_a_quantile_is_never_promised_shorter_than_a_bin() -> None:
    _, shown, _ = run("--bins", "0..100/10", "--users", 1_000_000, "--epsilon", 1)
    assert "the median to about ±5," in shown


@pytest.mark.full
def test_too_many_items_for_ranges_are_said() -> None:
    _, shown, _ = run("--range", "0..1048576", "--users", 1000, "--epsilon", 1)
    assert "SLIDE, which is made for ranges, works on at most 1,048,576 items." in " ".join(shown.split())


def test_a_shuffler_needs_its_smallest_batch() -> None:
    code, _, said = run("--items", 10, "--users", 50_000, "--central-epsilon", 1)
    assert code == 2
    assert "--central-epsilon needs --shuffler" in said
    code, _, said = run("--items", 10, "--users", 50_000, "--epsilon", 1, "--delta", "1e-9")
    assert code == 2
    assert "--delta needs --shuffler" in said
    code, _, said = run("--items", 10, "--users", 1000, "--slots", 3, "--lifetime-epsilon", 1, "--shuffler", 100)
    assert code == 2
    assert "asked once with --shuffler, got --slots" in said


@pytest.mark.full
def test_a_shuffler_raises_the_local_epsilon() -> None:
    code, shown, _ = run("--items", 10, "--users", 50_000, "--central-epsilon", 1, "--smallest-batch", 10_000, "--json")
    found = json.loads(shown)
    assert code == 0
    assert found["central"]["epsilon"] <= 1 < 5 < found["central"]["local_epsilon"]


@pytest.mark.full
def test_a_shuffler_adds_the_central_epsilon_of_the_plan() -> None:
    asked = "--items", 10, "--users", 50_000, "--epsilon", 1
    alone, shuffled = (json.loads(run(*asked, *more, "--json")[1]) for more in ([], ["--shuffler", 10_000]))
    assert shuffled["recommended"] == alone["recommended"]
    assert shuffled["central"]["epsilon"] < 0.04
    assert "central" not in alone
    code, shown, _ = run(*asked, "--shuffler", 10_000, "--delta", "1e-9")
    assert code == 0
    assert "at δ = 1e-9, in batches of at least 10,000 reports from a trusted shuffler" in " ".join(shown.split())


def test_the_shuffler_has_its_older_name_too() -> None:
    asked = "--items", 10, "--users", 5_000, "--epsilon", 1
    for name in ("--shuffler", "--smallest-batch"):
        code, _, said = run(*asked, name, 10_000)
        assert code == 2
        assert "expected at most the 5,000 users of the plan, got 10,000" in said
