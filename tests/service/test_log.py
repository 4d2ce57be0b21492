"""The log: one line for each message, and nothing that describes a sender or a value, whichever library speaks."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

LOGGING = """
import asyncio, logging, socket, threading
from plausibly.service.log import fault, log_to_stderr, note

def broken():
    raise ValueError("unmistakable")

log_to_stderr(lines={lines})
note("listening")
try:
    broken()
except ValueError as error:
    fault(error, "nothing could be stored")
    logging.getLogger("uvicorn.error").exception("Exception in ASGI application\\n")
with socket.create_server(("127.0.0.1", 0)) as server, socket.create_connection(server.getsockname()) as sender:
    loop = asyncio.new_event_loop()
    failed = OSError("unmistakable")
    loop.call_exception_handler({{"message": "a connection failed", "exception": failed, "socket": sender}})
    loop.close()
thread = threading.Thread(target=broken)
thread.start()
thread.join()
"""
SAID = [
    ("info", "listening"),
    ("error", "nothing could be stored: ValueError"),
    ("error", "Exception in ASGI application", "ValueError"),
    ("error", "a connection failed", "OSError"),
    ("error", "a thread ended: ValueError"),
]


@pytest.mark.parametrize("lines", [True, False])
def test_every_message_is_one_line_without_values_addresses_and_tracebacks(lines: bool) -> None:
    done = subprocess.run([sys.executable, "-c", LOGGING.format(lines=lines)], capture_output=True, text=True)
    assert done.returncode == 0
    if lines:
        assert [tuple(json.loads(line).values()) for line in done.stderr.splitlines()] == SAID
    else:
        told = [": ".join(words[words[0] == "info" :]) for words in SAID]
        assert done.stderr.splitlines() == told
