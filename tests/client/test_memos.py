"""A question with a memo: one report in each slot, one key, and one price, whatever the values are and what crashes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from client.proxying import Proxy, proxying
from plausibly import Labels, make
from plausibly.cli import app
from plausibly.client import ClientError, Collector, LedgerError, Outcome, SpentError, UntrustedError, sent
from plausibly.client.ledger import CAUTION, Ledger
from plausibly.service.collections import Collection
from serving import Serving, serving

pytestmark = pytest.mark.full

ITEMS = Labels([f"theme {number}" for number in range(15)], other=True)
SCHEME = make("LOLOHA", epsilon=1, memo_epsilon=2, domain=ITEMS)
PRICE = 8
"""Of four entries at 2."""
TESTS = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Serving]:
    with serving(tmp_path_factory.mktemp("shared") / "collector") as running:
        yield running


@pytest.fixture(scope="module")
def proxy(server: Serving) -> Iterator[Proxy]:
    with proxying(server.port) as running:
        yield running


def opened(server: Serving, slots: int = 6, **changes: Any) -> list[Collection]:
    """The collections of a new series."""
    given: dict[str, Any] = {"name": os.urandom(8).hex(), "scheme": SCHEME, "series": os.urandom(8).hex()}
    made = [Collection(**given | {"slot": slot} | changes) for slot in range(slots)]
    for each in made:
        assert server.request("POST", "/v1/collections", each.document, "admin").status == 201
    return made


def counts(server: Serving, collections: list[Collection]) -> list[int]:
    listed = server.request("GET", "/v1/collections", role="read").json["collections"]
    found = {each["id"]: each["reports"] for each in listed}
    return [found[each.id] for each in collections]


def device(proxy: Proxy, collection: Collection, ledger: Path, **options: Any) -> Collector:
    given = {"max_epsilon": PRICE, "question": "theme", "ledger": ledger, "patience": 0, "memo": True}
    return Collector(proxy.url(collection.id), **given | options)


def record(proxy: Proxy, collection: Collection, ledger: Path, value: str = "theme 3") -> bytes:
    """The record of a report that is not delivered yet."""
    proxy.faults.extend(["", "deaf"])
    assert device(proxy, collection, ledger).report(value) is Outcome.KEPT
    return Ledger(ledger).account("theme").entries[-1].record


def test_a_device_reports_in_every_slot_and_pays_once(server: Serving, proxy: Proxy, tmp_path: Path) -> None:
    days, ledger = opened(server), tmp_path / "ledger"
    for value in ("theme 3", "theme 4"):  # the second call sends nothing
        assert {device(proxy, day, ledger).report(value) for day in days} == {Outcome.COUNTED}
    assert counts(server, days) == [1] * len(days)
    told = sent(ledger)
    [question] = told["questions"]
    assert [each["slot"] for each in question["reports"]] == list(range(len(days)))
    assert [each["epsilon"] for each in question["reports"]] == ["8", *["0"] * 5]
    assert (told["spent"], question["caution"]) == ("8", CAUTION)
    written = ledger.read_text(encoding="utf-8")
    assert json.loads(written.splitlines()[1])["version"] == 3, "a client that knows no memos would lose the key"
    assert "theme 3" not in written
    assert Ledger(ledger).account("theme").key.hex() not in json.dumps(told) + repr(Ledger(ledger).account("theme"))


def test_the_records_of_all_days_come_from_one_memo(server: Serving, proxy: Proxy, tmp_path: Path) -> None:
    # An answer is the entry but for once in 230 reports: 5 others of 40 once in 10^6 runs. From a memo that is drawn
    # anew every day, a quarter of them would be others.
    scheme = make("LOLOHA", epsilon="99/100", memo_epsilon=1, domain=ITEMS, hash_bits=1)
    days = opened(server, 40, scheme=scheme)
    records = [record(proxy, day, tmp_path / "ledger") for day in days]
    assert len({each[:-1] for each in records}) == 1, "one hash function"
    answers = [each[-1] for each in records]
    assert max(map(answers.count, range(2))) > 35
    assert set(device(proxy, days[0], tmp_path / "ledger").resend().values()) == {Outcome.COUNTED}


def test_a_ledger_does_not_tell_whether_the_value_changed(server: Serving, proxy: Proxy, tmp_path: Path) -> None:
    days = opened(server)
    for slot, day in enumerate(days):
        for name, value in (("same", 3), ("other", slot)):
            assert device(proxy, day, tmp_path / name).report(f"theme {value}") is Outcome.COUNTED
    assert sent(tmp_path / "same") == sent(tmp_path / "other")


def test_a_scheme_with_a_memo_is_refused_unless_the_application_accepts_it(
    server: Serving, proxy: Proxy, tmp_path: Path
) -> None:
    [day], ledger, before = opened(server, 1), tmp_path / "ledger", len(proxy.posts())
    with pytest.raises(UntrustedError, match=r"whether and when a value changed; nothing was sent. Pass memo=True"):
        device(proxy, day, ledger, memo=False).report("theme 3")
    with pytest.raises(SpentError, match="got 0 already spent and 8 for all entries of its memo; nothing was sent"):
        device(proxy, day, ledger, max_epsilon="79/10").report("theme 3")
    with pytest.raises(ClientError, match="again: expected one report in each slot"):
        device(proxy, day, ledger).report("theme 3", again=True)
    with pytest.raises(ClientError, match="memo: expected True or False"):
        device(proxy, day, ledger, memo=b"k" * 32)
    assert (len(proxy.posts()), sent(ledger)["spent"]) == (before, "0")
    assert not Ledger(ledger).account("theme").key
    plain = opened(server, 1, scheme=make("DE", epsilon=1, domain=ITEMS))[0]
    assert device(proxy, plain, ledger).report("theme 3") is Outcome.COUNTED
    assert "caution" not in sent(ledger)["questions"][0]


def test_a_new_collection_of_the_same_question_opens_no_new_memo(server: Serving, proxy: Proxy, tmp_path: Path) -> None:
    ledger = tmp_path / "ledger"
    first, second = (record(proxy, opened(server, 1)[0], ledger) for _ in range(2))
    [alone] = opened(server, 1, series=None, slot=None)
    assert first[:-1] == second[:-1] == record(proxy, alone, ledger)[:-1]
    assert sent(ledger)["spent"] == "8"
    # Another memo has to be paid, and accepted by name.
    larger = make("LOLOHA", epsilon=1, memo_epsilon=3, domain=ITEMS, hash_bits=2)
    [day] = opened(server, 1, scheme=larger)
    with pytest.raises(UntrustedError, match="seen first for this question"):
        device(proxy, day, ledger, max_epsilon=100).report("theme 3")
    given = {"fingerprint": larger.fingerprint()}
    with pytest.raises(SpentError, match="got 8 already spent and 12 for all entries"):
        device(proxy, day, ledger, max_epsilon=19, **given).report("theme 3")
    assert device(proxy, day, ledger, max_epsilon=20, **given).report("theme 3") is Outcome.COUNTED
    assert sent(ledger)["spent"] == "20"


def test_the_values_of_two_items_open_at_most_two_of_four_entries(
    server: Serving, proxy: Proxy, tmp_path: Path
) -> None:
    scheme = make("LOLOHA", epsilon=1, memo_epsilon=2, domain=Labels(["on"], other=True), hash_bits=2)
    [day] = opened(server, 1, scheme=scheme)
    assert device(proxy, day, tmp_path / "ledger", max_epsilon=4).report("on") is Outcome.COUNTED
    unary = make("LSUE", epsilon=1, memo_epsilon="3/2", domain=Labels(["on", "off"], other=True))
    [day] = opened(server, 1, scheme=unary)
    assert device(proxy, day, tmp_path / "unary").report("on") is Outcome.COUNTED
    assert sent(tmp_path / "unary")["spent"] == "9/2"


def test_processes_that_start_together_have_one_memo(server: Serving, proxy: Proxy, tmp_path: Path) -> None:
    days, ledger = opened(server), tmp_path / "ledger"
    commands = [
        [sys.executable, "-m", "client.sender", proxy.url(day.id), str(ledger), "theme 3", str(PRICE), "0"]
        for day in (*days, *days)
    ]
    running = [subprocess.Popen(command, cwd=TESTS, stdout=subprocess.DEVNULL) for command in commands]
    assert [each.wait(60) for each in running] == [0] * len(commands)
    assert counts(server, days) == [1] * len(days)
    assert sent(ledger)["spent"] == "8"


@pytest.mark.slow
def test_a_crash_at_every_step_keeps_one_key_and_one_price(server: Serving, proxy: Proxy, tmp_path: Path) -> None:
    steps = 0
    while True:
        steps += 1
        days, ledger = opened(server, 2), tmp_path / f"{steps}"
        run = subprocess.run(
            [sys.executable, "-m", "client.sender", proxy.url(days[0].id), ledger, "theme 3", str(PRICE), str(steps)],
            cwd=TESTS,
            capture_output=True,
        )
        [question] = json.loads(ledger.read_bytes().splitlines()[1])["questions"].values() if ledger.exists() else [{}]
        kept = question.get("key")
        for day in days:
            collector = Collector(proxy.url(day.id), max_epsilon=PRICE, ledger=ledger, memo=True)
            assert collector.report("theme 4") is Outcome.COUNTED
        [question] = json.loads(ledger.read_bytes().splitlines()[1])["questions"].values()
        assert kept in (None, question["key"]), "a key that was on the disk stays"
        assert counts(server, days) == [1, 1]
        assert sent(ledger)["spent"] == "8"
        if run.returncode != -9:
            break
    assert steps > 8


def test_a_device_without_its_ledger_pays_for_a_new_memo_as_the_documentation_says(
    server: Serving, proxy: Proxy, tmp_path: Path
) -> None:
    keys = []
    for day in opened(server, 2):
        assert device(proxy, day, tmp_path / "ledger").report("theme 3") is Outcome.COUNTED
        keys.append(Ledger(tmp_path / "ledger").account("theme").key)
        assert Ledger(tmp_path / "ledger").account("theme").spent == PRICE
        (tmp_path / "ledger").unlink()
    assert keys[0] != keys[1]


def test_people_are_told_what_the_price_of_a_memo_does_not_bound(server: Serving, proxy: Proxy, tmp_path: Path) -> None:
    [day], ledger = opened(server, 1), tmp_path / "ledger"
    assert device(proxy, day, ledger).report("theme 3") is Outcome.COUNTED
    shown = CliRunner().invoke(app, ["ledger", str(ledger)]).stdout
    assert "from a memo" in shown
    assert "what its reports reveal about values is bounded by ε = 8." in shown
    assert "does not bound whether and when a value changed" in shown


@pytest.mark.parametrize("key", ["", "00" * 31, "zz" * 32, 7, None])
def test_a_ledger_without_the_key_of_its_memo_is_refused(
    tmp_path: Path, key: Any, proxy: Proxy, server: Serving
) -> None:
    [day], ledger = opened(server, 1), tmp_path / "ledger"
    assert device(proxy, day, ledger).report("theme 3") is Outcome.COUNTED
    written = json.loads(ledger.read_bytes().splitlines()[1])
    written["questions"]["theme"]["key"] = key
    text = json.dumps(written, sort_keys=True).encode()
    ledger.write_bytes(sha256(text).hexdigest().encode() + b"\n" + text + b"\n")
    with pytest.raises(LedgerError, match="got a damaged file; nothing is sent"):
        sent(ledger)
