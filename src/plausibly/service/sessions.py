"""Sessions of analysts in browsers: a signed cookie that names a token of the collector without containing it."""

from __future__ import annotations

import hmac
import secrets
import time
from collections.abc import Callable
from pathlib import Path

from ..client.locking import locked
from ..core.atomic import replacing
from ..core.errors import StateError
from .tokens import Scope, Tokens

COOKIE = "plausibly-session"
_KEY_BYTES = 32
SECONDS = 12 * 3600
"""Time until an analyst has to sign in again."""


class Sessions:
    """The sessions of all collectors on a folder, which share a key. A sign-out and the end of a token end them.

    A cookie is the time of its end, random digits, and a code of both and of the digest of a token, under the key. The
    first two are written down at a sign-out, until that time.
    """

    def __init__(
        self, tokens: Tokens, path: Path, *, seconds: int = SECONDS, clock: Callable[[], float] = time.time
    ) -> None:
        self._tokens, self._path, self._seconds, self._clock = tokens, path, seconds, clock
        self._ended = path.with_suffix(".ended")

    def begin(self, token: str) -> str | None:
        """The cookie of a new session; None if the token may not read."""
        found = self._tokens.found(token)
        if found is None or not found[1].allows(Scope.READ):
            return None
        if not self._path.exists():
            with replacing(self._path, private=True) as unfinished:
                unfinished.write_bytes(secrets.token_bytes(_KEY_BYTES))
        ends = int(self._clock()) + self._seconds
        return _cookie(self._key(), ends, secrets.token_hex(8), found[0])

    def active(self, cookie: str | None) -> bool:
        """Whether a cookie is that of a session."""
        ends, _, rest = (cookie or "").partition(".")
        drawn, _, _ = rest.partition(".")
        if cookie is None or not ends.isdecimal() or len(ends) > 12 or int(ends) <= self._clock():
            return False
        if not self._path.exists():
            return False
        good, key = False, self._key()
        # All are compared, each in constant time.
        for digest, scope in self._tokens.known().items():
            same = hmac.compare_digest(_cookie(key, int(ends), drawn, digest).encode(), cookie.encode())
            good |= same and scope.allows(Scope.READ)
        return good and f"{ends}.{drawn}" not in self._ended_before_their_time()

    def end(self, cookie: str) -> None:
        """End a session before its time, for all collectors on the folder and for good."""
        if not self.active(cookie):
            return
        with locked(self._ended):
            now = self._clock()
            # Without the code: the file opens nothing.
            names = [*self._ended_before_their_time(), cookie.rpartition(".")[0]]
            kept = [name for name in names if int(name.partition(".")[0]) > now]
            with replacing(self._ended, private=True) as unfinished:
                unfinished.write_text("\n".join(kept), encoding="ascii")

    def _ended_before_their_time(self) -> list[str]:
        try:
            return self._ended.read_text(encoding="ascii").split()
        except FileNotFoundError:
            return []

    def _key(self) -> bytes:
        key = self._path.read_bytes()
        if len(key) != _KEY_BYTES:
            raise StateError(f"{self._path}: expected {_KEY_BYTES} bytes, got {len(key)}; remove the file")
        return key


def _cookie(key: bytes, ends: int, drawn: str, digest: str) -> str:
    code = hmac.new(key, f"{ends}.{drawn}.{digest}".encode(), "sha256").hexdigest()
    return f"{ends}.{drawn}.{code}"
