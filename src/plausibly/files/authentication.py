"""Keys that authenticate files of reports and tallies with HMAC-SHA-256; docs/files.md specifies every byte.

Anybody with the key can write files that all others with the key accept. A key does not encrypt: the files stay
readable without it.
"""

from __future__ import annotations

import hashlib
import hmac
import os
import stat
import warnings
from dataclasses import dataclass, field
from pathlib import Path

from ..core.errors import ParameterError, StateError
from ..core.words import Setting, Words, kind_of

SHORTEST, LONGEST = 16, 4096
"""Minimum and maximum length of a key in bytes."""
MAC = hashlib.sha256().digest_size
"""Length of a message authentication code in bytes."""
_PURPOSE = b"plausibly key 1\n"
_HOW = "make one with (umask 077; head -c 32 /dev/urandom > shared.key)"


@dataclass(frozen=True, eq=False)
class Key:
    """A secret shared by the senders and receivers of files. Messages never show it."""

    secret: bytes = field(repr=False)

    def __post_init__(self) -> None:
        if not isinstance(self.secret, bytes):
            raise ParameterError(Words("key: expected bytes, got ", kind_of(self.secret)))
        if not SHORTEST <= len(self.secret) <= LONGEST:
            raise ParameterError(f"key: expected {SHORTEST} to {LONGEST} bytes, got {_length(self.secret)}; {_HOW}")

    @classmethod
    def read(cls, path: str | Path) -> Key:
        """The authentication key in a file, all of its bytes. Warn if every user can read or change the file."""
        try:
            with open(path, "rb") as file:
                secret, mode = file.read(LONGEST + 1), os.fstat(file.fileno()).st_mode
        except OSError as error:
            raise StateError(f"{path}: {error.strerror}") from None
        others = [can for bit, can in ((stat.S_IROTH, "read"), (stat.S_IWOTH, "change")) if mode & bit]
        if os.name == "posix" and others:
            what = f"every user of this machine can {' and '.join(others)} the key"
            warnings.warn(f"{path}: {what}; run chmod 600 {path}", stacklevel=2)
        try:
            return cls(secret)
        except ParameterError as error:
            raise StateError(f"{path}: {str(error).removeprefix('key: ')}") from None

    @property
    def misfit(self) -> str:
        """The reason to refuse a file that fails authentication, with a hint if the key looks like a line of text."""
        text = self.secret.endswith((b"\n", b"\r")) or (self.secret.isascii() and self.secret.decode().isprintable())
        return "written with another key, or changed since" + " (a line break at the end of a key file counts)" * text

    def mac(self, *parts: bytes | memoryview) -> bytes:
        """The message authentication code of the concatenated parts."""
        # HMAC itself does not distinguish a key from the same key with zeros appended.
        size = len(self.secret).to_bytes(8, "little")
        made = hmac.new(hashlib.sha256(_PURPOSE + size + self.secret).digest(), digestmod=hashlib.sha256)
        for part in parts:
            made.update(part)
        return made.digest()


class KeyNeededError(StateError):
    """A file was written with a key, and none is given."""

    def __init__(self, what: str | Path) -> None:
        self._what = what
        super().__init__(what)

    @property
    def words(self) -> str:
        fix = Setting("key", "FILE", python="key=Key.read(FILE)")
        return Words(f"{self._what}: written with a key, which is needed to read it; pass ", fix)

    def __str__(self) -> str:
        return self.words


NOT_AUTHENTICATED = "expected a file written with the given key, got one written without a key"


def _length(secret: bytes) -> str:
    return f"more than {LONGEST}" if len(secret) > LONGEST else str(len(secret))
