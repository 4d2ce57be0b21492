"""Tokens of analysts and administrators, of which only digests are stored.

A token is 256 random bits, so nobody can guess one, and a plain SHA-256 of it is as good as a slow hash: slow hashes
protect passwords, which people choose from few.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import secrets
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path
from typing import Any

from ..core.atomic import replacing
from ..core.errors import ParameterError, StateError
from ..core.wording import nearest, plural, shown
from ..core.words import Setting, Words

_PREFIX, _BYTES = "plausibly_", 32
_LONGEST = 200
_SHOWN = 12
"""Number of digits of a digest that people see."""


class Scope(Enum):
    """What a request may do. An administrator may also read."""

    ANYONE = "anyone"
    READ = "read"
    ADMIN = "admin"

    def allows(self, needed: Scope) -> bool:
        """Whether a token of this scope may do what needs another."""
        order = list(Scope)
        return order.index(self) >= order.index(needed)


def scope_named(name: str) -> Scope:
    """The scope of a token that the user names."""
    valid = [Scope.READ.value, Scope.ADMIN.value]
    if name not in valid:
        raise ParameterError(Words(Setting("scope"), f": unknown {shown(name)}; {nearest(name, valid)}"))
    return Scope(name)


def create_token(path: Path, scope: Scope, name: str = "") -> str:
    """A new token, whose digest is added to the file; the token itself is not stored anywhere."""
    token = _PREFIX + secrets.token_urlsafe(_BYTES)
    _write(path, [*_listed(path), {"scope": scope.value, "sha256": _digest(token), "name": name}])
    return token


def token_id(token: str) -> str:
    """The beginning of a token's digest, by which people name it."""
    return _digest(token)[:_SHOWN]


def listed_tokens(path: Path) -> list[dict[str, str]]:
    """The id, scope and name of each token of the file, in the order in which they were created."""
    return [_told(each) for each in _listed(path)]


def revoke_token(path: Path, beginning: str) -> dict[str, str]:
    """Remove the token whose digest begins like this from the file; its id, scope and name."""
    listed = _listed(path)
    matching = [each for each in listed if each["sha256"].startswith(beginning.lower())]
    if not beginning or len(matching) != 1:
        found = plural(len(matching), "token")
        expected = f": expected the beginning of one id, got {found}; plausibly tokens list shows all of them"
        raise ParameterError(Words(Setting("id"), expected))
    _write(path, [each for each in listed if each not in matching])
    return _told(matching[0])


@dataclass
class Tokens:
    """The tokens of a collector, read again when their file has changed."""

    path: Path
    _read: tuple[int, int] | None = None
    _scopes: dict[str, Scope] = field(default_factory=dict)

    def scope(self, authorization: str | None) -> Scope | None:
        """The scope of an Authorization header: ANYONE without one, None for a token that is not known."""
        if authorization is None:
            return Scope.ANYONE
        kind, _, token = authorization.partition(" ")
        if kind.lower() != "bearer" or not token or len(token) > _LONGEST:
            return None
        found = self.found(token)
        return None if found is None else found[1]

    def found(self, token: str) -> tuple[str, Scope] | None:
        """The digest and the scope of a token, if the collector has it."""
        given, found = _digest(token.strip()), None
        # All digests are compared, each in constant time.
        for digest, scope in self.known().items():
            if hmac.compare_digest(digest, given):
                found = digest, scope
        return found

    def known(self) -> dict[str, Scope]:
        """The scopes of all tokens by their digests, as the file has them now."""
        try:
            status = self.path.stat()
        except FileNotFoundError:
            return {}
        seen = (status.st_mtime_ns, status.st_ino)
        if seen != self._read:
            self._scopes = {each["sha256"]: Scope(each["scope"]) for each in _listed(self.path)}
            self._read = seen
        return self._scopes


def _listed(path: Path) -> list[dict[str, Any]]:
    try:
        listed = json.loads(path.read_text(encoding="utf-8"))
        wanted = {"scope", "sha256", "name"}
        if not all(set(each) == wanted and scope_named(each["scope"]) for each in listed):
            raise ValueError("expected a list of tokens")
        if not all(isinstance(each["sha256"], str) and len(bytes.fromhex(each["sha256"])) == 32 for each in listed):
            raise ValueError("expected digests")
    except FileNotFoundError:
        return []
    except (ValueError, TypeError):
        raise StateError(f"{path}: damaged; move it away, and create new tokens with plausibly tokens create") from None
    return list(listed)


def _write(path: Path, listed: list[dict[str, Any]]) -> None:
    with replacing(path, private=True) as unfinished:
        unfinished.write_text(json.dumps(listed, indent=1) + "\n", encoding="utf-8")


def _told(listed: dict[str, Any]) -> dict[str, str]:
    return {"id": listed["sha256"][:_SHOWN], "scope": listed["scope"], "name": listed["name"]}


def _digest(token: str) -> str:
    return hashlib.sha256(token.encode()).hexdigest()
