"""Devices that report to a real collector: once, within their total, whatever fails on the way."""

from __future__ import annotations

import ast
import json
import os
import shutil
import stat
import subprocess
import sys
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from fractions import Fraction
from pathlib import Path

import pytest

from client.proxying import Proxy, proxying
from plausibly import Labels, client, device, make
from plausibly.client import ClientError, Collector, LedgerError, Outcome, SpentError, UntrustedError
from plausibly.client.documents import Place
from plausibly.core.codec import encode_reports
from plausibly.service.collections import Collection
from serving import Serving, place, serving

pytestmark = pytest.mark.full

ITEMS = Labels(["cat", "dog"], other=True)
TESTS = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Serving]:
    with serving(tmp_path_factory.mktemp("shared") / "collector") as running:
        yield running
        assert running.terminate() == 0
        assert "error" not in running.logged()


@pytest.fixture
def proxy(server: Serving) -> Iterator[Proxy]:
    with proxying(server.port) as running:
        yield running


def asked(server: Serving, name: str = "", epsilon: object = 1, seed: int = 0, **options: object) -> Collection:
    """A new collection of the server."""
    scheme = make("OLH", epsilon=epsilon, domain=ITEMS)
    if seed:
        scheme = make("FLH", epsilon=epsilon, domain=ITEMS, hashes=4, hash_seed=seed)
    made = Collection(name=name or os.urandom(8).hex(), scheme=scheme, **options)  # type: ignore[arg-type]
    assert server.request("POST", "/v1/collections", made.document, "admin").status == 201
    return made


def counted(server: Serving, collection: Collection) -> int:
    listed = server.request("GET", "/v1/collections", role="read").json["collections"]
    return int(next(each["reports"] for each in listed if each["id"] == collection.id))


# --- the ordinary way ----------------------------------------------------------------------------------------------


def test_a_report_is_counted_once_and_leaves_neither_value_nor_address(
    server: Serving, proxy: Proxy, tmp_path: Path
) -> None:
    question, ledger = asked(server), tmp_path / "ledger"
    collector = Collector(
        proxy.url(question.id), max_epsilon=2, ledger=ledger, fingerprint=question.scheme.fingerprint()
    )
    assert [collector.report("dog") for _ in range(3)] == [Outcome.COUNTED] * 3
    assert (counted(server, question), len(proxy.posts())) == (1, 1)
    kept = ledger.read_text(encoding="utf-8")
    for absent in ("dog", "127.0.0.1", str(proxy.port), "http", '"record"', '"key"', proxy.posts()[0][-32:]):
        assert absent not in kept
    assert stat.S_IMODE(ledger.stat().st_mode) == 0o600
    assert collector.sent() | {"question": ""} == {
        "question": "",
        "max_epsilon": "2",
        "spent": "1",
        "reports": [
            {
                "collection": question.id,
                "fingerprint": question.scheme.fingerprint(),
                "epsilon": "1",
                "outcome": "counted",
            }
        ],
    }


def test_one_more_report_costs_epsilon_once_more(server: Serving, proxy: Proxy, tmp_path: Path) -> None:
    question = asked(server)
    collector = Collector(proxy.url(question.id), max_epsilon=2, ledger=tmp_path / "ledger")
    assert collector.report("dog") is collector.report("cat", again=True) is Outcome.COUNTED
    assert (counted(server, question), collector.sent()["spent"]) == (2, "2")
    with pytest.raises(SpentError, match="expected at most 2 for the total epsilon of this question, got 2 already"):
        collector.report("cat", again=True)


def test_a_series_gets_one_report(server: Serving, proxy: Proxy, tmp_path: Path) -> None:
    slots = [asked(server, series="weekly", slot=slot) for slot in range(3)]
    for slot in slots:
        collector = Collector(proxy.url(slot.id), max_epsilon=9, ledger=tmp_path / "ledger")
        assert collector.report("dog") is Outcome.COUNTED
    assert [counted(server, slot) for slot in slots] == [1, 0, 0]
    assert collector.sent()["spent"] == "1"


def test_a_gateway_has_a_ledger_for_each_person_and_fetches_the_scheme_once(
    server: Serving, proxy: Proxy, tmp_path: Path
) -> None:
    question = asked(server)
    collector = Collector(proxy.url(question.id), max_epsilon=1, ledger=tmp_path / "own")
    for person in range(5):
        assert collector.with_ledger(tmp_path / f"{person}.ledger").report("cat") is Outcome.COUNTED
    assert counted(server, question) == 5
    assert [method for method, _, _ in proxy.seen].count("GET") == 1


# --- the total -----------------------------------------------------------------------------------------------------


def test_a_server_that_opens_a_collection_every_day_gets_no_more_than_the_total(
    server: Serving, proxy: Proxy, tmp_path: Path
) -> None:
    days = [asked(server, epsilon="1/10") for _ in range(11)]
    outcomes = []
    for day in days[:10]:  # ten times 1/10 is exactly 1, which floats do not know
        collector = Collector(proxy.url(day.id), max_epsilon=1, ledger=tmp_path / "ledger")
        outcomes.append(collector.report("cat"))
    assert outcomes == [Outcome.COUNTED] * 10
    with pytest.raises(SpentError, match="got 1 already spent and 1/10 for one more"):
        Collector(proxy.url(days[10].id), max_epsilon=1, ledger=tmp_path / "ledger").report("cat")
    assert [counted(server, day) for day in days] == [1] * 10 + [0]


def test_the_application_names_the_question_and_not_the_server(server: Serving, proxy: Proxy, tmp_path: Path) -> None:
    first, second = asked(server), asked(server)
    named = {"max_epsilon": 1, "ledger": tmp_path / "ledger", "question": "pets"}
    assert Collector(proxy.url(first.id), **named).report("cat") is Outcome.COUNTED
    with pytest.raises(SpentError):
        Collector(proxy.url(second.id, host="localhost"), **named).report("cat")
    other = Collector(proxy.url(second.id), **named | {"question": "theme"})
    assert other.report("cat") is Outcome.COUNTED
    assert [counted(server, each) for each in (first, second)] == [1, 1]


def test_by_default_all_collections_of_a_host_are_one_question() -> None:
    addresses = ["http://Example.org/v1", "https://example.org:8443/x/v1", "https://example.org./v1"]
    hosts = {Place.of(f"{base}/collections/{'0' * 64}").host for base in addresses}
    assert hosts == {"example.org"}


def test_a_scheme_beyond_the_total_is_refused(server: Serving, proxy: Proxy, tmp_path: Path) -> None:
    question = asked(server, epsilon=3)
    with pytest.raises(device.DeviceError, match="expected epsilon at most 2"):
        Collector(proxy.url(question.id), max_epsilon=2, ledger=tmp_path / "ledger").report("cat")
    assert proxy.posts() == []


# --- what a device does not trust ----------------------------------------------------------------------------------


def test_the_fingerprint_is_pinned_by_the_application_or_at_first_sight(
    server: Serving, proxy: Proxy, tmp_path: Path
) -> None:
    first, second = asked(server, seed=1), asked(server, seed=2)
    given = {"max_epsilon": 9, "ledger": tmp_path / "ledger"}
    with pytest.raises(UntrustedError, match="that the application knows by its fingerprint, got another"):
        Collector(proxy.url(first.id), fingerprint=second.scheme.fingerprint(), **given).report("cat")
    assert Collector(proxy.url(first.id), **given).report("cat") is Outcome.COUNTED
    with pytest.raises(UntrustedError, match="that this device has seen first for this question, got another"):
        Collector(proxy.url(second.id), **given).report("cat")
    assert counted(server, second) == 0
    accepted = Collector(proxy.url(second.id), fingerprint=second.scheme.fingerprint(), **given)
    assert accepted.report("cat") is Outcome.COUNTED


def test_a_document_that_is_not_the_one_in_the_address_is_refused(
    server: Serving, proxy: Proxy, tmp_path: Path
) -> None:
    question, other = asked(server), asked(server, epsilon=2)
    collector = Collector(proxy.url(question.id), max_epsilon=9, ledger=tmp_path / "ledger")
    for replacement in (other.document.encode(), question.document.encode() + b" ", b"", b"[]"):
        proxy.replacement = replacement
        proxy.faults.append("altered")
        with pytest.raises(UntrustedError, match="expected the document whose SHA-256 is the id in the address"):
            collector.report("cat")
    for fault, message in (("portal", "SHA-256"), ("elsewhere", "got status 302"), ("refused", "got status 400")):
        proxy.faults.append(fault)
        with pytest.raises(UntrustedError, match=message):
            collector.report("cat")
    with pytest.raises(UntrustedError, match="no collection with this id"):
        Collector(proxy.url("0" * 64), max_epsilon=9, ledger=tmp_path / "ledger").report("cat")
    assert (proxy.posts(), collector.sent()["spent"]) == ([], "0")
    assert proxy.faults == type(proxy.faults)()
    assert collector.report("cat") is Outcome.COUNTED


@pytest.mark.parametrize(
    "change",
    [
        {"version": 2},
        {"version": True},
        {"scheme": []},
        {"series": 3},
        {"series": ""},
        {"window": None},
        {"window": {"opens": "tomorrow"}},
        {"scheme": {"text": "\udc80"}},
    ],
    ids=str,
)
def test_a_strange_document_is_refused_even_if_its_digest_fits(change: dict[str, object]) -> None:
    document = json.loads(Collection(name="x", scheme=make("OLH", epsilon=1, domain=ITEMS)).document)
    assert client.documents.parsed(json.dumps(document).encode()).series is None
    with pytest.raises(UntrustedError, match="expected"):
        client.documents.parsed(json.dumps(document | change).encode())


def test_addresses_totals_and_names_are_checked_at_once(tmp_path: Path) -> None:
    good, ledger = f"http://host/v1/collections/{'0' * 64}", tmp_path / "ledger"
    wrong = ["", 3, "ftp" + good[4:], good[:-1], good + "/scheme", good + "?a", "http://u:p@host" + good[11:]]
    for url in [*wrong, "http://[::1/v1" + good[14:], "http://host:x" + good[11:]]:
        with pytest.raises(ClientError, match="expected the address of a collection, such as"):
            Collector(url, max_epsilon=1, ledger=ledger)  # type: ignore[arg-type]
    for total in (0, -1, "x", "1/0", None, float("nan"), float("inf")):
        with pytest.raises(ClientError, match="max_epsilon: expected a number above 0"):
            Collector(good, max_epsilon=total, ledger=ledger)
    for name in ("", "a\n", "x" * 201, 3):
        with pytest.raises(ClientError, match="question: expected a name"):
            Collector(good, max_epsilon=1, question=name, ledger=ledger)  # type: ignore[arg-type]
    for patience in (-1, float("nan"), "x"):
        with pytest.raises(ClientError, match="patience: expected a number of seconds"):
            Collector(good, max_epsilon=1, patience=patience, ledger=ledger)  # type: ignore[arg-type]
    assert not ledger.exists()


# --- statuses and failures -----------------------------------------------------------------------------------------


def test_a_lost_answer_is_followed_by_the_same_bytes_under_the_same_key(
    server: Serving, proxy: Proxy, tmp_path: Path
) -> None:
    question = asked(server)
    collector = Collector(proxy.url(question.id), max_epsilon=1, ledger=tmp_path / "ledger", patience=30)
    proxy.faults.extend(["", "deaf", "busy", "lost answer"])
    assert collector.report("cat") is Outcome.COUNTED
    assert (counted(server, question), len(proxy.posts()), len(set(proxy.posts()))) == (1, 4, 1)


@pytest.mark.parametrize("fault", ["portal", "rate limit", "nonsense", "elsewhere", "no disk", "busy"])
def test_an_answer_that_is_not_the_collectors_acknowledges_and_refuses_nothing(
    server: Serving, proxy: Proxy, tmp_path: Path, fault: str
) -> None:
    question = asked(server)
    collector = Collector(proxy.url(question.id), max_epsilon=1, ledger=tmp_path / "ledger", patience=0)
    proxy.faults.extend(["", fault])
    assert collector.report("cat") is Outcome.KEPT
    assert proxy.seen[-1][2] == fault
    assert collector.report("cat") is Outcome.COUNTED
    assert (counted(server, question), len(set(proxy.posts()))) == (1, 1)


def test_what_is_not_acknowledged_is_kept_for_the_next_call(server: Serving, proxy: Proxy, tmp_path: Path) -> None:
    first, second = asked(server), asked(server)
    given = {"max_epsilon": 2, "ledger": tmp_path / "ledger", "patience": 0}
    for question in (first, second):
        proxy.faults.extend(["", "lost answer"])
        assert Collector(proxy.url(question.id), **given).report("cat") is Outcome.KEPT
    kept = (tmp_path / "ledger").read_text(encoding="utf-8")
    assert kept.count('"record"') == 2
    assert "cat" not in kept
    third = Collector(proxy.url(second.id), **given)
    assert third.resend() == {first.id: Outcome.COUNTED, second.id: Outcome.COUNTED}
    assert third.resend() == {}
    assert [counted(server, each) for each in (first, second)] == [1, 1]
    assert '"record"' not in (tmp_path / "ledger").read_text(encoding="utf-8")


def test_records_that_wait_for_another_collector_are_not_sent_to_this_one(
    server: Serving, proxy: Proxy, tmp_path: Path
) -> None:
    question = asked(server)
    given = {"max_epsilon": 2, "ledger": tmp_path / "ledger", "patience": 0, "question": "pets"}
    proxy.faults.extend(["", "deaf"])
    assert Collector(proxy.url(question.id), **given).report("cat") is Outcome.KEPT
    with proxying(server.port) as other:
        elsewhere = Collector(other.url(question.id), **given)
        assert (elsewhere.resend(), elsewhere.report("cat"), other.seen) == ({}, Outcome.KEPT, [])


def test_a_server_that_asks_to_wait_is_left_alone(server: Serving, proxy: Proxy, tmp_path: Path) -> None:
    question = asked(server)
    collector = Collector(proxy.url(question.id), max_epsilon=2, ledger=tmp_path / "ledger", patience=5)
    proxy.faults.extend(["", "busy for hours"])
    assert [collector.report("cat") for _ in range(3)] == [Outcome.KEPT] * 3
    assert len(proxy.posts()) == 1


def test_an_unreachable_collector_costs_nothing(server: Serving, proxy: Proxy, tmp_path: Path) -> None:
    question = asked(server)
    collector = Collector(proxy.url(question.id), max_epsilon=2, ledger=tmp_path / "ledger", patience=1)
    for fault in ("deaf", "busy", "lost answer", "no disk"):
        proxy.faults.append(fault)
        assert collector.report("cat") is Outcome.UNREACHABLE
    assert collector.sent()["spent"] == "0"


def test_final_refusals_are_noted_and_drop_the_record(server: Serving, proxy: Proxy, tmp_path: Path) -> None:
    closed, full, refused = asked(server), asked(server, cap=1), asked(server)
    assert server.request("POST", f"{place(closed)}/close", role="admin").status == 200
    body = encode_reports(full.scheme, full.scheme.privatize(["cat"]))
    assert server.request("POST", f"{place(full)}/reports/{os.urandom(16).hex()}", body).status == 201
    expected = {closed: Outcome.CLOSED, full: Outcome.FULL, refused: Outcome.REFUSED}
    for number, (question, outcome) in enumerate(expected.items()):
        ledger = tmp_path / f"{number}"
        collector = Collector(proxy.url(question.id), max_epsilon=9, ledger=ledger)
        proxy.faults.extend(["", "refused"] if question is refused else [])
        assert collector.report("cat") is collector.report("cat") is outcome
        assert outcome.final
        assert '"record"' not in ledger.read_text(encoding="utf-8")
        assert collector.sent()["spent"] == "1", "the server has seen the record"
    assert len(proxy.posts()) == 3


def test_a_collection_outside_its_window_costs_nothing(server: Serving, proxy: Proxy, tmp_path: Path) -> None:
    now = datetime.now(UTC).replace(microsecond=0)
    early, late = asked(server, opens=now + timedelta(hours=1)), asked(server, closes=now - timedelta(hours=1))
    for question, outcome in ((early, Outcome.EARLY), (late, Outcome.CLOSED)):
        collector = Collector(proxy.url(question.id), max_epsilon=9, ledger=tmp_path / "ledger")
        assert (collector.report("cat"), collector.sent()["spent"]) == (outcome, "0")
    assert proxy.posts() == []


def test_a_collector_that_is_killed_and_comes_back_counts_once(tmp_path: Path) -> None:
    folder, ledger = tmp_path / "collector", tmp_path / "ledger"
    with serving(folder) as running, proxying(running.port) as proxy:
        question = asked(running)
        collector = Collector(proxy.url(question.id), max_epsilon=1, ledger=ledger, patience=0)
        proxy.faults.extend(["", "lost answer"])
        assert collector.report("cat") is Outcome.KEPT
        running.kill()
        assert collector.report("cat") is Outcome.KEPT
        with serving(folder) as again:
            proxy.target = again.port
            assert collector.report("cat") is Outcome.COUNTED
            assert counted(again, question) == 1


# --- processes -----------------------------------------------------------------------------------------------------


def start(url: str, ledger: Path, total: str = "1", die_at: int = 0) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "client.sender", url, str(ledger), "cat", total, str(die_at)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=TESTS)


def test_eight_processes_with_one_ledger_send_one_report(server: Serving, proxy: Proxy, tmp_path: Path) -> None:
    question = asked(server)
    running = [start(proxy.url(question.id), tmp_path / "ledger", total="9") for _ in range(8)]
    said = [process.communicate(timeout=60) for process in running]
    assert [out.split()[:1] for out, _ in said] == [["counted"]] * 8, said
    assert counted(server, question) == 1
    assert len(set(proxy.posts())) == 1, "every attempt sends the same"


def test_a_process_that_was_faster_by_a_moment_is_noticed(
    server: Serving, proxy: Proxy, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    question = asked(server)
    slower, faster = (Collector(proxy.url(question.id), max_epsilon=9, ledger=tmp_path / "ledger") for _ in range(2))
    outcomes = []

    def meanwhile(size: int) -> bytes:
        # The slower one has its record and draws its key.
        monkeypatch.undo()
        outcomes.append(faster.report("dog"))
        return os.urandom(size)

    monkeypatch.setattr(client.collector.secrets, "token_bytes", meanwhile)
    assert [slower.report("cat"), *outcomes] == [Outcome.COUNTED] * 2
    assert (counted(server, question), len(proxy.posts()), slower.sent()["spent"]) == (1, 1, "1")


def test_a_device_that_is_killed_at_any_step_reports_once_and_pays_once(
    server: Serving, proxy: Proxy, tmp_path: Path
) -> None:
    out, error = start(proxy.url(asked(server).id), tmp_path / "whole").communicate(timeout=60)
    assert out.startswith("counted"), error
    steps = int(out.split()[1])
    assert steps >= 12
    sent_before = 0
    for step in range(1, steps + 1):
        question, ledger = asked(server), tmp_path / f"{step}"
        killed = start(proxy.url(question.id), ledger, die_at=step)
        killed.communicate(timeout=60)
        assert killed.returncode == -9
        sent_before += counted(server, question)
        last = start(proxy.url(question.id), ledger)
        out, error = last.communicate(timeout=60)
        assert out.startswith("counted"), (step, error)
        assert counted(server, question) == 1, step
        collector = Collector(proxy.url(question.id), max_epsilon=1, ledger=ledger)
        assert collector.sent()["spent"] == "1", step
        assert sorted(path.name for path in tmp_path.glob(f"*{step}*") if path.name.endswith(".tmp")) == []
    assert sent_before > 0, "some were killed after the collector had counted"


# --- the ledger ----------------------------------------------------------------------------------------------------


def test_a_damaged_ledger_is_refused_and_nothing_is_sent(server: Serving, proxy: Proxy, tmp_path: Path) -> None:
    question, ledger = asked(server), tmp_path / "ledger"
    collector = Collector(proxy.url(question.id), max_epsilon=9, ledger=ledger, patience=0)
    proxy.faults.extend(["", "deaf"])
    assert collector.report("cat") is Outcome.KEPT
    whole, sent = ledger.read_bytes(), len(proxy.seen)
    damaged = [whole[:size] for size in (0, 1, *range(0, len(whole), 7), len(whole) - 1)]
    damaged += [whole + b"\n", whole + whole]
    damaged += [whole[:at] + bytes([whole[at] ^ 1 << at % 8]) + whole[at + 1 :] for at in range(len(whole))]
    for content in damaged:
        ledger.write_bytes(content)
        with pytest.raises(LedgerError, match="got a damaged file; nothing is sent"):
            collector.report("cat", again=True)
        assert ledger.read_bytes() == content
    assert len(proxy.seen) == sent
    ledger.write_bytes(whole)
    assert collector.report("cat") is Outcome.COUNTED


def test_a_ledger_that_cannot_be_written_keeps_everything_here(server: Serving, proxy: Proxy, tmp_path: Path) -> None:
    question = asked(server)
    with pytest.raises(LedgerError, match="the ledger cannot be used, so nothing is sent: No such file"):
        Collector(proxy.url(question.id), max_epsilon=9, ledger=tmp_path / "missing" / "ledger").report("cat")
    (tmp_path / ".ledger.tmp").mkdir()
    with pytest.raises(LedgerError, match="the ledger cannot be used, so nothing is sent: Is a directory"):
        Collector(proxy.url(question.id), max_epsilon=9, ledger=tmp_path / "ledger").report("cat")
    assert proxy.posts() == []


def test_a_ledger_without_room_for_the_acknowledgement_learns_it_again(
    server: Serving, proxy: Proxy, tmp_path: Path
) -> None:
    question, obstacle = asked(server), tmp_path / ".ledger.tmp"
    collector = Collector(proxy.url(question.id), max_epsilon=1, ledger=tmp_path / "ledger", patience=0)
    proxy.faults.extend(["", "deaf"])
    assert collector.report("cat") is Outcome.KEPT
    obstacle.mkdir()  # the ledger can be read, but not written
    assert collector.report("cat") is Outcome.COUNTED
    assert collector.sent()["reports"][0]["outcome"] == "kept"
    obstacle.rmdir()
    assert collector.report("cat") is Outcome.COUNTED
    assert (collector.sent()["reports"][0]["outcome"], len(proxy.posts())) == ("counted", 3)
    assert collector.report("cat") is Outcome.COUNTED
    assert (counted(server, question), len(proxy.posts())) == (1, 3)


def test_a_ledger_that_another_process_never_releases_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(client.locking, "PATIENCE", 0.05)
    collector = Collector(f"http://localhost/v1/collections/{'0' * 64}", max_epsilon=9, ledger=tmp_path / "ledger")
    with client.locking.locked(tmp_path / "ledger"), pytest.raises(LedgerError, match="another process has locked"):
        collector.sent()
    assert collector.sent()["spent"] == "0"


def test_the_default_ledger_is_that_of_the_user(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    Collector(f"http://localhost/v1/collections/{'0' * 64}", max_epsilon=9).sent()
    assert (tmp_path / "state" / "plausibly" / "ledger.lock").exists()
    assert stat.S_IMODE((tmp_path / "state" / "plausibly").stat().st_mode) == 0o700


# --- without the package -------------------------------------------------------------------------------------------


def test_the_sender_imports_the_standard_library_and_the_device_file_alone() -> None:
    for path in Path(client.__file__).parent.glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                assert {alias.name.split(".")[0] for alias in node.names} <= sys.stdlib_module_names
            elif isinstance(node, ast.ImportFrom) and node.level == 0:
                assert str(node.module).split(".")[0] in sys.stdlib_module_names
            elif isinstance(node, ast.ImportFrom) and node.level > 1:
                assert (node.level, node.module) == (2, "device")


def test_a_copy_beside_the_device_file_sends_without_the_package(server: Serving, proxy: Proxy, tmp_path: Path) -> None:
    home = tmp_path / "application" / "sending"
    shutil.copytree(Path(client.__file__).parent, home / "client", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(device.__file__, home / "device.py")
    question = asked(server)
    program = (
        "import sys; sys.path.insert(0, 'application')\n"
        "from sending.client import Collector\n"
        f"print(Collector({proxy.url(question.id)!r}, max_epsilon=1, ledger='ledger').report('cat').value)\n"
        "assert not {'numpy', 'plausibly'} & set(sys.modules)\n"
    )
    done = subprocess.run([sys.executable, "-I", "-S", "-c", program], cwd=tmp_path, capture_output=True, text=True)
    assert (done.stdout, done.stderr) == ("counted\n", "")
    assert counted(server, question) == 1


def test_fractions_are_exact_in_the_ledger(server: Serving, proxy: Proxy, tmp_path: Path) -> None:
    for _ in range(3):
        question = asked(server, epsilon=Fraction(1, 3))
        collector = Collector(proxy.url(question.id), max_epsilon="1", ledger=tmp_path / "ledger")
        assert collector.report("cat") is Outcome.COUNTED
    assert collector.sent()["spent"] == "1"
