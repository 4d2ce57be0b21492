"""Ledgers that nobody's client has written, and files that are none: refused in no time, and nothing is sent."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from plausibly.cli import app
from plausibly.client import LedgerError, sent
from plausibly.client.ledger import Ledger

ROW = {"collection": "0" * 64, "series": "daily", "slot": 3, "fingerprint": "f", "epsilon": "1", "outcome": "counted"}
WAITING = {"outcome": "kept", "record": "00", "key": "00", "server": "s"}
TURNS = {"series": "daily", "slots": 7, "offset": 3}


def write(path: Path, given: object) -> None:
    """A ledger whose digest fits."""
    text = given if isinstance(given, bytes) else json.dumps(given).encode()
    path.write_bytes(sha256(text).hexdigest().encode() + b"\n" + text + b"\n")


def whole(version: object = 2, rota: object = TURNS, **row: Any) -> dict[str, Any]:
    question = {"fingerprint": "f", "reports": [ROW | row], "rota": rota}
    return {"version": version, "questions": {"pets": question}}


STRANGE: list[object] = [
    *[whole(slot=slot) for slot in (-1, 2**31, 2**63, 10**400, None, True, "3", 3.0)],
    *[whole(epsilon=text) for text in ("0", "-1", "nan", "1e100000000", "1/0", "1" * 5000, " 1", "٣", "1_0", 1, None)],
    *[whole(outcome=text) for text in ("not due", "early", "", ["kept"], None)],
    *[whole(**WAITING | change) for change in ({"record": "zz"}, {"record": 5}, {"key": None}, {"server": 7})],
    *[whole(rota=TURNS | change) for change in ({"offset": 7}, {"offset": -1}, {"offset": 2**63}, {"slots": 2**63})],
    *[whole(rota=TURNS | change) for change in ({"slots": 1}, {"slots": True}, {"offset": 3.0}, {"series": None})],
    *[whole(rota=rota) for rota in ("x", False, [], {})],
    whole(series="\ud800"),
    whole(memo="LOLOHA 16 2 5"),
    {"version": 1, "questions": []},
    {"version": 1, "questions": {"pets": {"fingerprint": "", "reports": {}}}},
    {"version": 1, "questions": {"pets": {"fingerprint": "", "reports": [], "key": "00"}}},
    [],
    None,
    b'{"version": 1, "questions": ' + b"[" * 100_000 + b"]" * 100_000 + b"}",
    b"\xff",
]


def refused(ledger: Path, words: str) -> None:
    before = os.stat(ledger, follow_symlinks=False)
    with pytest.raises(LedgerError, match=words):
        sent(ledger)
    with pytest.raises(LedgerError, match=words), Ledger(ledger).changing("pets") as account:
        account.due("daily", 3, 7)
    after = os.stat(ledger, follow_symlinks=False)
    assert (after.st_ino, after.st_mtime_ns, after.st_size) == (before.st_ino, before.st_mtime_ns, before.st_size)


@pytest.mark.parametrize("given", STRANGE, ids=range(len(STRANGE)))
def test_a_ledger_with_a_fitting_digest_and_strange_contents_is_refused(tmp_path: Path, given: object) -> None:
    write(tmp_path / "ledger", given)
    refused(tmp_path / "ledger", "got a damaged file; nothing is sent")


@pytest.mark.parametrize("version", [0, 4, 1.0, True, "1", None, [1], 10**400])
def test_a_ledger_of_another_version_asks_for_another_client(tmp_path: Path, version: object) -> None:
    write(tmp_path / "ledger", whole(version=version))
    refused(tmp_path / "ledger", "expected version 1 to 3 of a ledger, got another; update this client")


def test_these_ledgers_are_strange_and_the_whole_one_is_not(tmp_path: Path) -> None:
    for given in (whole(), whole(**WAITING), whole(epsilon=f"1/{10**1000}"), whole(slot=2**31 - 1)):
        write(tmp_path / "ledger", given)
        assert sent(tmp_path / "ledger")["questions"][0]["question"] == "pets"


@pytest.mark.full
def test_what_is_no_file_is_refused_before_it_is_read(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "folder").mkdir()
    with (tmp_path / "huge").open("wb") as file:
        file.truncate(2**40)  # takes no room on the disk
    for name in ("pipe", "folder", "huge"):
        refused(tmp_path / name, "expected the ledger of a device, got something else")
        assert CliRunner().invoke(app, ["ledger", str(tmp_path / name)]).exit_code > 0
    (tmp_path / "loop").symlink_to("loop")
    refused(tmp_path / "loop", "the ledger cannot be used, so nothing is sent")


def test_a_link_names_the_same_ledger_with_the_same_lock(tmp_path: Path) -> None:
    (tmp_path / "kept").mkdir()
    link, ledger = tmp_path / "link", tmp_path / "kept" / "ledger"
    link.symlink_to(ledger)
    with Ledger(link).changing("pets") as account:
        account.due("daily", 3, 7)
    assert link.is_symlink()
    assert link.read_bytes() == ledger.read_bytes()
    assert sent(link) == sent(ledger)
    assert sent(link)["questions"][0]["rota"]["slots"] == 7
    assert sorted(path.name for path in tmp_path.iterdir()) == ["kept", "link"], "no lock beside the link"


def test_a_link_in_place_of_an_unfinished_file_or_of_the_lock_is_not_followed(tmp_path: Path) -> None:
    victim = tmp_path / "victim"
    victim.write_text("kept")
    for name in (".ledger.tmp", "ledger.lock"):
        (tmp_path / name).unlink(missing_ok=True)
        (tmp_path / name).symlink_to(victim)
        with (
            pytest.raises(LedgerError, match="the ledger cannot be used, so nothing is sent"),
            Ledger(tmp_path / "ledger").changing("pets") as account,
        ):
            account.due("daily", 3, 7)
    assert victim.read_text() == "kept"
    assert not (tmp_path / "ledger").exists()


def test_a_ledger_in_a_folder_that_nobody_may_write_is_shown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path / "ledger", whole())
    with monkeypatch.context() as patch:
        patch.setattr(os, "access", lambda *_: False)  # the superuser may write everywhere
        assert sent(tmp_path / "ledger")["spent"] == "1"
        assert [path.name for path in tmp_path.iterdir()] == ["ledger"], "no lock"
        assert sent(tmp_path / "none")["spent"] == "0"
        write(tmp_path / "ledger", [])
        with pytest.raises(LedgerError, match="got a damaged file"):
            sent(tmp_path / "ledger")


WRITER = """
import resource, signal, sys
from pathlib import Path
from plausibly.client import LedgerError
from plausibly.client.ledger import Ledger
resource.setrlimit(resource.RLIMIT_FSIZE, (40, 40))
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
try:
    with Ledger(Path(sys.argv[1])).changing("pets") as account:
        account.due("daily", 3, 7)
except LedgerError as error:
    print(error)
"""


@pytest.mark.full
def test_a_full_disk_leaves_the_ledger_as_it_was(tmp_path: Path) -> None:
    ledger = tmp_path / "ledger"
    for before in (None, whole(rota=TURNS | {"offset": 5}) | {"questions": {}}):
        if before is not None:
            write(ledger, before)
        content = ledger.read_bytes() if ledger.exists() else None
        done = subprocess.run([sys.executable, "-c", WRITER, str(ledger)], capture_output=True, text=True, check=True)
        assert "the ledger cannot be used, so nothing is sent: File too large" in done.stdout
        assert (ledger.read_bytes() if ledger.exists() else None) == content
    with Ledger(ledger).changing("pets") as account:  # the disk has room again
        account.due("daily", 3, 7)
    assert Ledger(ledger).account("pets").turns is not None
