"""Sessions of analysts in browsers: a signed cookie that names a token of the collector without containing it."""

from __future__ import annotations

import hmac
import secrets
import threading
import time
from collections.abc import Callable

from .tokens import Scope, Tokens

COOKIE = "plausibly-session"
SECONDS = 12 * 3600
"""Time until an analyst has to sign in again."""


class Sessions:
    """The sessions of a process. A token that is revoked, a sign-out and a restart end them.

    A cookie is the time of its end and a code that only this process can compute from it and the digest of a token.
    """

    def __init__(self, tokens: Tokens, *, seconds: int = SECONDS, clock: Callable[[], float] = time.time) -> None:
        self._tokens, self._seconds, self._clock = tokens, seconds, clock
        self._key = secrets.token_bytes(32)
        self._ended: dict[str, int] = {}
        self._own = threading.Lock()

    def begin(self, token: str) -> str | None:
        """The cookie of a new session; None if the token may not read."""
        found = self._tokens.found(token)
        if found is None or not found[1].allows(Scope.READ):
            return None
        ends = int(self._clock()) + self._seconds
        return self._cookie(ends, secrets.token_hex(8), found[0])

    def active(self, cookie: str | None) -> bool:
        """Whether a cookie is that of a session."""
        ends, _, rest = (cookie or "").partition(".")
        drawn, _, _ = rest.partition(".")
        if cookie is None or not ends.isdecimal() or len(ends) > 12 or int(ends) <= self._clock():
            return False
        good = False
        # All are compared, each in constant time.
        for digest, scope in self._tokens.known().items():
            same = hmac.compare_digest(self._cookie(int(ends), drawn, digest).encode(), cookie.encode())
            good |= same and scope.allows(Scope.READ)
        return good and cookie not in self._ended

    def end(self, cookie: str) -> None:
        """End a session before its time."""
        if not self.active(cookie):
            return
        with self._own:
            now = self._clock()
            self._ended = {each: ends for each, ends in self._ended.items() if ends > now}
            self._ended[cookie] = int(cookie.partition(".")[0])

    def _cookie(self, ends: int, drawn: str, digest: str) -> str:
        code = hmac.new(self._key, f"{ends}.{drawn}.{digest}".encode(), "sha256").hexdigest()
        return f"{ends}.{drawn}.{code}"
