"""plausibly collections, tokens and serve: what they print, and what they leave in the folder."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from plausibly import Labels, from_json, make
from plausibly.cli import app
from plausibly.service.collector import opened
from plausibly.service.inbox import Batch
from plausibly.service.tokens import Scope, Tokens

SCHEME = make("FLH", epsilon=1, domain=Labels(["cat", "dog"], other=True), hashes=10)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("scheme.json").write_text(SCHEME.to_json(), encoding="utf-8")
    return tmp_path / "collector"


def told(*words: str) -> Any:
    ended = CliRunner().invoke(app, [*words, "--json"])
    assert ended.exit_code == 0, ended.output
    return json.loads(ended.stdout)


def test_a_collection_is_created_listed_closed_and_deleted(folder: Path) -> None:
    create = ("collections", "create", "collector", "--scheme", "scheme.json", "--minimum", "3")
    (made,) = told(*create, "--name", "pets")
    with opened(folder) as collector:
        account = collector.account(made["id"])
        assert account is not None
        scheme = account.collection.scheme
        assert scheme != SCHEME, "fresh hashes"
        batch = Batch(bytes(16), scheme.privatize(["cat"] * 5).tobytes(), 5)
        collector.writer.run(lambda: collector.inbox.commit({made["id"]: [batch]})).result()
    (other,) = told(*create, "--name", "pets")
    assert other["id"] != made["id"]
    assert [each["reports"] for each in told("collections", "list", "collector")] == [5, 0]
    (closed,) = told("collections", "close", "collector", "--id", made["id"][:12])
    assert (closed["closed"], closed["reports"]) == (True, 5)
    shown = CliRunner().invoke(app, ["collections", "list", "collector"])
    assert [line.split()[-1] for line in shown.stdout.splitlines()] == ["state", "closed", "open"]
    told("collections", "delete", "collector", "--id", made["id"])
    assert [each["id"] for each in told("collections", "list", "collector")] == [other["id"]]
    assert not (folder / made["id"]).exists()


def test_a_series_keeps_its_scheme(folder: Path) -> None:
    for slot in range(2):
        told(
            *("collections", "create", "collector", "--name", "pets", "--scheme", "scheme.json"),
            *("--series", "weekly", "--slot", str(slot)),
        )
    with opened(folder) as collector:
        schemes = [account.collection.scheme for account in collector.accounts()]
    assert schemes == [SCHEME, SCHEME] == [from_json(SCHEME.to_json())] * 2


def test_a_scheme_without_an_item_for_others_is_warned_about(folder: Path) -> None:
    Path("labels.json").write_text(make("DE", epsilon=1, domain=["cat", "dog"]).to_json(), encoding="utf-8")
    ended = CliRunner().invoke(app, ["collections", "create", "collector", "--name", "x", "--scheme", "labels.json"])
    assert ended.exit_code == 0
    assert "Devices refuse this scheme" in " ".join(ended.stderr.split())


def test_a_token_is_printed_once_and_only_its_digest_is_stored(folder: Path) -> None:
    token = told("tokens", "create", "collector", "--scope", "admin")["token"]
    plain = CliRunner().invoke(app, ["tokens", "create", "collector"]).stdout.strip()
    tokens = Tokens(folder / "tokens.json")
    assert tokens.scope(f"Bearer {token}") is Scope.ADMIN
    assert tokens.scope(f"bearer {plain}") is Scope.READ
    for wrong in ("Bearer ", "Bearer x", f"Basic {token}", token, f"Bearer {token}x", "Bearer ä"):
        assert tokens.scope(wrong) is None
    assert tokens.scope(None) is Scope.ANYONE
    stored = (folder / "tokens.json").read_text(encoding="utf-8")
    assert token not in stored
    assert plain not in stored
    assert (folder / "tokens.json").stat().st_mode & 0o77 == 0


def test_a_missing_package_is_named_with_the_command_that_installs_it(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in list(sys.modules):
        if name.startswith(("starlette", "plausibly.service", "plausibly.cli.serve")):
            monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "starlette", None)
    ended = CliRunner().invoke(app, ["serve", "collector"])
    assert ended.exit_code == 1
    assert "pip install starlette uvicorn httptools" in ended.stderr
