"""plausibly collections, tokens and serve: what they print, and what they leave in the folder."""

from __future__ import annotations

import json
import sys
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from plausibly import Labels, Table, from_json, make
from plausibly.cli import app
from plausibly.client import Collector, Outcome
from plausibly.service.collector import opened
from plausibly.service.inbox import Batch
from plausibly.service.tokens import Scope, Tokens
from serving import serving

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


@pytest.mark.full
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


def test_the_address_and_the_fingerprint_are_printed_for_devices(folder: Path) -> None:
    create = ["collections", "create", "collector", "--scheme", "scheme.json", "--name", "pets"]
    lines = CliRunner().invoke(app, create).stdout.splitlines()
    with opened(folder) as collector:
        (made,) = [account.collection for account in collector.accounts()]
    assert lines[-3:] == [
        "A device needs:",
        f"address      /v1/collections/{made.id}, after the address that plausibly serve prints",
        f"fingerprint  {made.scheme.fingerprint()}",
    ]
    (other,) = told(*create)
    assert other["address"] == f"/v1/collections/{other['id']}"


@pytest.mark.full
def test_an_analyst_reads_the_estimates_of_a_running_collector(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    survey = Table({"theme": Labels(["dark", "light"], other=True), "age": 3})
    Path("survey.json").write_text(make("CLIQUE", epsilon=4, domain=survey).to_json(), encoding="utf-8")
    with serving(folder) as server:
        at = ["--to", f"http://127.0.0.1:{server.port}"]
        monkeypatch.setenv("PLAUSIBLY_TOKEN", server.tokens["admin"])
        made = {
            name: told("collections", "create", *at, "--name", name, "--scheme", f"{name}.json")[0]
            for name in ("scheme", "survey")
        }
        assert made["survey"]["address"] == f"{at[1]}/v1/collections/{made['survey']['id']}"
        for each, value in (("scheme", "cat"), ("survey", {"theme": "dark", "age": None})):
            collector = Collector(
                made[each]["address"], max_epsilon=9, fingerprint=made[each]["fingerprint"], ledger=f"{each}.ledger"
            )
            assert collector.report(value) is Outcome.COUNTED
        monkeypatch.setenv("PLAUSIBLY_TOKEN", server.tokens["read"])

        def read(*words: str) -> tuple[int, str]:
            ended = CliRunner().invoke(app, ["collections", "read", *at, *words])
            return ended.exit_code, " ".join(ended.output.split())

        assert told("collections", "read", *at, "--id", made["scheme"]["id"])["reports"] == 1
        code, shown = read("--id", made["scheme"]["id"][:12], "--item", "cat")
        assert (code, "95 % interval" in shown, "cat" in shown, "dog" in shown) == (0, True, True, False)
        code, shown = read("--id", made["survey"]["id"], "--rows", "theme", "--columns", "age")
        assert (code, "dark missing" in shown, "theme and age" in shown, "1 report, ε = 4" in shown) == (0, *[True] * 3)
        assert read("--id", made["survey"]["id"], "--rows", "theme")[0] == 0
        code, shown = read("--id", made["survey"]["id"])
        assert (code, "…/table?rows=NAME&columns=NAME" in shown) == (1, True)
        monkeypatch.setenv("PLAUSIBLY_TOKEN", "wrong")
        code, shown = read("--id", made["survey"]["id"])
        assert (code, "plausibly tokens create FOLDER --scope read" in shown) == (1, True)
    ended = CliRunner().invoke(app, ["collections", "read", "collector", "--id", "x"])
    assert ended.exit_code == 2
    assert "expected --to with the address of a running collector" in " ".join(ended.stderr.split())


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


def test_tokens_are_listed_without_their_text_and_a_revoked_one_is_refused(folder: Path) -> None:
    made = [told("tokens", "create", "collector", "--scope", scope, "--name", scope) for scope in ("read", "admin")]
    listed = told("tokens", "list", "collector")
    assert listed == [{key: each[key] for key in ("id", "scope", "name")} for each in made]
    shown = CliRunner().invoke(app, ["tokens", "list", "collector"]).stdout
    assert [line.split() for line in shown.splitlines()[1:]] == [list(each.values()) for each in listed]
    assert not any(each["token"] in shown for each in made)
    tokens = Tokens(folder / "tokens.json")
    assert tokens.scope(f"Bearer {made[0]['token']}") is Scope.READ
    assert told("tokens", "revoke", "collector", "--id", made[0]["id"][:8]) == listed[:1]
    assert tokens.scope(f"Bearer {made[0]['token']}") is None
    assert tokens.scope(f"Bearer {made[1]['token']}") is Scope.ADMIN
    for wrong in ("", "x"):
        ended = CliRunner().invoke(app, ["tokens", "revoke", "collector", "--id", wrong])
        assert ended.exit_code == 2
        assert "--id: expected the beginning of one id, got" in " ".join(ended.stderr.split())
    told("tokens", "revoke", "collector", "--id", made[1]["id"])
    assert CliRunner().invoke(app, ["tokens", "list", "collector"]).stdout == "No tokens.\n"


@pytest.mark.full
def test_a_running_collector_is_administered_over_http(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with serving(folder) as server:
        at = ("--to", f"http://127.0.0.1:{server.port}/", "--token-file", "admin.token")
        Path("admin.token").write_text(f"{server.tokens['admin']}\n", encoding="utf-8")
        refused = CliRunner().invoke(app, ["collections", "list", "collector"])
        assert refused.exit_code == 1
        assert "plausibly collections … --to http://127.0.0.1:8080" in " ".join(refused.stderr.split())
        (made,) = told("collections", "create", *at, "--name", "pets", "--scheme", "scheme.json")
        assert told("collections", "list", *at) == [made]
        assert (made["name"], made["reports"], made["closed"]) == ("pets", 0, False)
        (closed,) = told("collections", "close", *at, "--id", made["id"][:12])
        assert closed["closed"]
        for role in ("read", "nobody's"):
            monkeypatch.setenv("PLAUSIBLY_TOKEN", server.tokens.get(role, role))
            ended = CliRunner().invoke(app, ["collections", "delete", *at[:2], "--id", made["id"]])
            assert ended.exit_code == 1
            assert "plausibly tokens create FOLDER --scope admin" in " ".join(ended.stderr.split())
            assert server.tokens.get(role, role) not in ended.output
        assert told("collections", "delete", *at, "--id", made["id"]) == [closed]
        assert told("collections", "list", *at) == []


def test_a_token_does_not_follow_a_redirection(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []

    class Elsewhere(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.append(self.path)
            self.send_response(307)
            self.send_header("Location", f"http://127.0.0.1:{self.server.server_address[1]}/stolen")
            self.end_headers()

        def log_message(self, *_: object) -> None:
            pass

    monkeypatch.setenv("PLAUSIBLY_TOKEN", "plausibly_x")
    with HTTPServer(("127.0.0.1", 0), Elsewhere) as server:
        threading.Thread(target=server.handle_request, daemon=True).start()
        ended = CliRunner().invoke(app, ["collections", "list", "--to", f"http://127.0.0.1:{server.server_address[1]}"])
    assert ended.exit_code == 1
    assert "307, an answer that is not the collector's" in " ".join(ended.stderr.split())
    assert asked == ["/v1/collections"]
