"""A series with a rota: one report in any window of slots, whatever crashes, waits, jumps or lies."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from client.proxying import FAULTS, Proxy, proxying
from client.steps import Steps
from drawn import drawn
from plausibly import Labels, make
from plausibly.client import ClientError, Collector, LedgerError, Outcome, SpentError, UntrustedError, sent
from plausibly.client.documents import parsed
from plausibly.client.ledger import Account, Entry, Ledger, Turns
from plausibly.client.rota import Rota
from plausibly.service.collections import Collection
from serving import Serving, serving

pytestmark = pytest.mark.full

ITEMS = Labels(["cat", "dog"], other=True)
SCHEME = make("OLH", epsilon=1, domain=ITEMS)
ROTA, LENGTH, STEPS = 3, 9, 22
TESTS = Path(__file__).parents[1]


class CrashError(BaseException):
    """The process ends here."""


def crash() -> None:
    raise CrashError


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Serving]:
    with serving(tmp_path_factory.mktemp("shared") / "collector") as running:
        yield running


@pytest.fixture(scope="module")
def proxy(server: Serving) -> Iterator[Proxy]:
    with proxying(server.port) as running:
        yield running


def opened(server: Serving, slots: int = LENGTH, **changes: Any) -> list[Collection]:
    """The collections of a new series."""
    given: dict[str, Any] = {"name": "pets", "scheme": SCHEME, "series": os.urandom(8).hex(), "rota": ROTA}
    made = [Collection(**given | {"slot": slot} | changes) for slot in range(slots)]
    for each in made:
        assert server.request("POST", "/v1/collections", each.document, "admin").status == 201
    return made


def counts(server: Serving, collections: list[Collection]) -> list[int]:
    listed = server.request("GET", "/v1/collections", role="read").json["collections"]
    found = {each["id"]: each["reports"] for each in listed}
    return [found[each.id] for each in collections]


def most_in_a_window(reports: list[int]) -> int:
    return max(sum(reports[first : first + ROTA]) for first in range(len(reports) - ROTA + 1))


def device(proxy: Proxy, collection: Collection, ledger: Path, **options: Any) -> Collector:
    given = {"max_epsilon": 100, "question": "pets", "ledger": ledger, "patience": 0}
    return Collector(proxy.url(collection.id), **given | options)


def test_a_device_reports_in_its_turns_and_in_no_others(server: Serving, proxy: Proxy, tmp_path: Path) -> None:
    days, ledger = opened(server), tmp_path / "ledger"
    outcomes = [device(proxy, day, ledger).report("dog") for day in days]
    assert Outcome.NOT_DUE.final
    due = [outcome is Outcome.COUNTED for outcome in outcomes]
    assert set(outcomes) == {Outcome.COUNTED, Outcome.NOT_DUE}
    assert counts(server, days) == list(map(int, due))
    [offset] = {slot % ROTA for slot in range(LENGTH) if due[slot]}
    assert {sum(due[first : first + ROTA]) for first in range(LENGTH - ROTA + 1)} == {1}
    told = sent(ledger)
    assert told["spent"] == "3"
    [question] = told["questions"]
    assert question["question"] == "pets"
    assert question["rota"] == {"series": days[0].series, "slots": ROTA, "offset": offset}
    assert [each["slot"] for each in question["reports"]] == [offset, offset + ROTA, offset + 2 * ROTA]
    assert "dog" not in ledger.read_text(encoding="utf-8")


def test_the_total_ends_a_series(server: Serving, proxy: Proxy, tmp_path: Path) -> None:
    days, ledger = opened(server), tmp_path / "ledger"
    outcomes = [device(proxy, day, ledger, max_epsilon=2).report("dog") for day in days[: 2 * ROTA]]
    assert outcomes.count(Outcome.COUNTED) == 2
    refused = []
    for day in days[2 * ROTA :]:
        try:
            device(proxy, day, ledger, max_epsilon=2).report("dog")
        except SpentError as error:
            refused.append(str(error))
    assert len(refused) == 1
    assert "got 2 already spent and 1 for one more report; nothing was sent" in refused[0]
    assert sum(counts(server, days)) == 2


def fixed(ledger: Path, days: list[Collection], offset: int) -> None:
    """Write the turns of a device."""
    with Ledger(ledger).changing("pets") as account:
        account.turns = Turns(str(days[0].series), Rota(ROTA, offset))


def test_a_late_report_keeps_its_slot_and_its_value(server: Serving, proxy: Proxy, tmp_path: Path) -> None:
    days, ledger = opened(server), tmp_path / "ledger"
    fixed(ledger, days, 1)
    records = []
    for value in ("dog", "cat"):
        proxy.faults.extend(["deaf"] if records else ["", "deaf"])
        assert device(proxy, days[1], ledger).report(value) is Outcome.KEPT
        records.append(Ledger(ledger).account("pets").entries[0].record)
    assert records[0] == records[1]
    assert device(proxy, days[2], ledger).resend() == {days[1].id: Outcome.COUNTED}
    assert counts(server, days) == [0, 1, *[0] * 7]


def test_a_slot_before_the_last_report_is_over(server: Serving, proxy: Proxy, tmp_path: Path) -> None:
    days, ledger = opened(server), tmp_path / "ledger"
    fixed(ledger, days, 0)
    outcomes = [device(proxy, days[slot], ledger).report("dog").value for slot in (3, 0, 6, 3, 0)]
    assert outcomes == ["counted", "not due", "counted", "counted", "not due"]
    assert counts(server, days) == [0, 0, 0, 1, 0, 0, 1, 0, 0]


# --- what a server may not change ----------------------------------------------------------------------------------


@pytest.mark.parametrize("change", [{"series": "another"}, {"rota": 2}, {"series": None, "slot": None, "rota": None}])
@pytest.mark.parametrize("offset", range(ROTA))
def test_another_series_another_rota_and_none_are_refused(
    server: Serving, proxy: Proxy, tmp_path: Path, change: dict[str, Any], offset: int
) -> None:
    days, ledger = opened(server), tmp_path / "ledger"
    fixed(ledger, days, offset)
    before = len(proxy.posts())
    [other] = opened(server, slots=1, **{"name": os.urandom(8).hex(), "series": days[0].series, "slot": 6} | change)
    with pytest.raises(UntrustedError, match=r"expected .* series .*nothing was sent"):
        device(proxy, other, ledger).report("cat")
    assert (len(proxy.posts()), sent(ledger)["spent"]) == (before, "0")
    assert device(proxy, other, ledger, question="another").report("cat") in (Outcome.COUNTED, Outcome.NOT_DUE)


def test_a_question_that_was_asked_without_a_rota_gets_none(server: Serving, proxy: Proxy, tmp_path: Path) -> None:
    [plain] = opened(server, slots=1, name=os.urandom(8).hex(), series=None, slot=None, rota=None)
    ledger = tmp_path / "ledger"
    assert device(proxy, plain, ledger).report("cat") is Outcome.COUNTED
    for day in opened(server):
        with pytest.raises(UntrustedError, match="expected the series and the rota"):
            device(proxy, day, ledger).report("cat")
    assert sent(ledger)["spent"] == "1"


def test_two_collections_of_one_slot_get_one_report(server: Serving, proxy: Proxy, tmp_path: Path) -> None:
    days, ledger = opened(server), tmp_path / "ledger"
    twins = opened(server, series=days[0].series, name="twins")
    for day, twin in zip(days, twins, strict=True):
        assert device(proxy, day, ledger).report("cat") is device(proxy, twin, ledger).report("cat")
    assert (sum(counts(server, days)), sum(counts(server, twins))) == (3, 0)


def test_one_more_report_is_refused(server: Serving, proxy: Proxy, tmp_path: Path) -> None:
    for day in opened(server, slots=1):
        with pytest.raises(ClientError, match="again: expected one report in each turn"):
            device(proxy, day, tmp_path / "ledger").report("cat", again=True)


@pytest.mark.parametrize(
    "change",
    [{"rota": 1}, {"rota": 2**31}, {"rota": True}, {"rota": "7"}, {"slot": -1}, {"slot": None}, {"series": None}],
    ids=str,
)
def test_a_document_with_a_strange_rota_is_refused(change: dict[str, Any]) -> None:
    made = Collection(name="x", scheme=SCHEME, series="daily", slot=3, rota=7)
    document = json.loads(made.document)
    found = parsed(made.document.encode())
    assert (found.series, found.slot, found.rota) == ("daily", 3, 7)
    with pytest.raises(UntrustedError, match="expected a series and a slot with the rota"):
        parsed(json.dumps(document | change).encode())


# --- the ledger ----------------------------------------------------------------------------------------------------


def test_a_ledger_without_turns_is_written_as_before_and_one_with_turns_has_a_version_of_its_own(
    tmp_path: Path,
) -> None:
    ledger = Ledger(tmp_path / "ledger")
    entry = Entry(collection="0" * 64, series="weekly", fingerprint="f", epsilon=Fraction(1), outcome=Outcome.COUNTED)
    with ledger.changing("pets") as account:
        account.entries.append(entry)
    before = json.loads(ledger.path.read_bytes().splitlines()[1])
    assert before["version"] == 1
    assert before["questions"]["pets"]["reports"][0].keys() == {
        *("collection", "series", "fingerprint", "epsilon", "outcome")
    }
    assert before["questions"]["pets"].keys() == {"fingerprint", "reports"}
    with ledger.changing("daily") as account:
        assert account.due("daily", 5, 7) in (True, False)
    after = json.loads(ledger.path.read_bytes().splitlines()[1])
    assert after["version"] == 2, "a client that does not know turns would lose them"
    assert ledger.account("daily").turns is not None
    assert ledger.account("pets").entries == [entry]


@pytest.mark.parametrize("rota", [{}, {"series": "s", "slots": 7, "offset": 7}, {"series": 3, "slots": 7, "offset": 1}])
def test_damaged_turns_are_refused(tmp_path: Path, rota: object, monkeypatch: pytest.MonkeyPatch) -> None:
    ledger = Ledger(tmp_path / "ledger")
    monkeypatch.setattr(Turns, "facts", lambda _: rota)
    with ledger.changing("pets") as account:
        account.turns = Turns("s", Rota(7, 1))
    with pytest.raises(LedgerError, match="damaged file; nothing is sent"):
        ledger.account("pets")


def test_every_offset_is_drawn() -> None:
    found = set()
    for _ in range(200):  # one of five offsets is missing once in 10^19 runs
        account = Account()
        account.due("daily", 0, 5)
        assert account.turns is not None
        found.add(account.turns.rota.offset)
    assert found == set(range(5))


# --- misfortunes ---------------------------------------------------------------------------------------------------

Call = tuple[int, int, str, str, bool]
OFTEN_NONE = ("",) * len(FAULTS) + FAULTS  # a fault of the first request ends a call before most steps
CALLS = st.tuples(
    st.integers(0, LENGTH - 1),  # the slot, by a clock that jumps in both directions
    st.sampled_from(range(STEPS + 1)),  # where the process ends; 0 and steps that are not reached: it does not
    st.sampled_from(OFTEN_NONE),
    st.sampled_from(OFTEN_NONE),
    st.booleans(),  # report or resend
)


# A process that crashes closes no connection.
@pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning")
def test_no_window_has_two_reports_whatever_happens(server: Serving, proxy: Proxy) -> None:
    crashes: list[int] = []

    @drawn(30)
    @given(calls=st.lists(CALLS, max_size=15))
    def holds(calls: list[Call]) -> None:
        survive(server, proxy, calls, crashes)

    holds()
    assert len(set(crashes)) >= 10


def survive(server: Serving, proxy: Proxy, calls: list[Call], crashes: list[int]) -> None:
    days = opened(server)
    with tempfile.TemporaryDirectory() as folder:
        ledger = Path(folder) / "ledger"
        turns = None
        for slot, step, first, second, again in calls:
            proxy.faults.clear()
            proxy.faults.extend([first, second])
            # A process of its own, and perhaps of a new version of the application: it has the ledger and nothing else.
            collector = device(proxy, days[slot], ledger)
            try:
                with Steps(step, crash):
                    _ = collector.resend() if again else collector.report("cat")
            except CrashError:
                crashes.append(step)
            except UntrustedError:
                pass  # a document that is not the collection's is among the faults
            account = Ledger(ledger).account("pets")
            assert turns is None or account.facts()["rota"] == turns.facts(), "an offset that was kept stays"
            turns = account.turns
            entered = [entry.slot for entry in account.entries]
            assert most_in_a_window([entered.count(each) for each in range(LENGTH)]) <= 1
            assert most_in_a_window(counts(server, days)) <= 1
            assert all(turns is not None and turns.rota.due(each or 0) for each in entered)
        proxy.faults.clear()
        for day in days:
            device(proxy, day, ledger).report("cat")
        found = counts(server, days)
        assert most_in_a_window(found) <= 1
        latest = max(slot for slot in range(LENGTH) if found[slot])
        assert latest >= LENGTH - ROTA, "every device reports in the last window"


def test_a_crash_at_every_step_keeps_the_promise(server: Serving, proxy: Proxy, tmp_path: Path) -> None:
    """Three fresh devices for each step, so that some are due and some are not; killed, then asked for all slots."""
    steps = 0
    while True:
        steps += 1
        reached = False
        for attempt in range(3):
            days, ledger = opened(server, slots=2 * ROTA), tmp_path / f"{steps} {attempt}"
            run = subprocess.run(
                [sys.executable, "-m", "client.sender", proxy.url(days[attempt].id), ledger, "cat", "9", str(steps)],
                cwd=TESTS,
                capture_output=True,
            )
            reached |= run.returncode == -9
            for day in days:
                Collector(proxy.url(day.id), max_epsilon=9, ledger=ledger).report("dog")
            found = counts(server, days)
            assert most_in_a_window(found) <= 1
            assert sum(found) == len(sent(ledger)["questions"][0]["reports"])
        if not reached:
            break
    assert steps > 8


def test_processes_that_start_together_draw_one_offset(server: Serving, proxy: Proxy, tmp_path: Path) -> None:
    for attempt in range(3):
        days, ledger = opened(server, slots=ROTA), tmp_path / f"{attempt}"
        commands = [
            [sys.executable, "-m", "client.sender", proxy.url(day.id), str(ledger), "cat", "9", "0"]
            for day in (*days, *days)
        ]
        running = [subprocess.Popen(command, cwd=TESTS, stdout=subprocess.DEVNULL) for command in commands]
        assert [each.wait(60) for each in running] == [0] * len(commands)
        assert sum(counts(server, days)) == 1


def test_a_device_without_its_ledger_may_report_twice_as_the_documentation_says(
    server: Serving, proxy: Proxy, tmp_path: Path
) -> None:
    days, ledger = opened(server, slots=ROTA), tmp_path / "ledger"
    fixed(ledger, days, 0)
    assert device(proxy, days[0], ledger).report("cat") is Outcome.COUNTED
    ledger.unlink()
    fixed(ledger, days, 1)  # the draw of a new installation, which is another one twice out of three times
    assert device(proxy, days[1], ledger).report("cat") is Outcome.COUNTED
    assert most_in_a_window(counts(server, days)) == 2
