"""Keys that authenticate files of reports and tallies: HMAC-SHA-256, byte by byte in docs/files.md.

Anybody with the key can write files that all others with the key accept. A key hides nothing: files are as readable
as before.
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

SHORTEST, LONGEST = 16, 4096
"""Bytes of a key."""
MAC = hashlib.sha256().digest_size
"""Bytes of what a key makes of a content."""
_PURPOSE = b"plausibly key 1\n"
_HOW = "(umask 077; head -c 32 /dev/urandom > shared.key) makes one"


@dataclass(frozen=True, eq=False)
class Key:
    """A secret that senders and receivers of files share; never shown."""

    secret: bytes = field(repr=False)

    def __post_init__(self) -> None:
        if not isinstance(self.secret, bytes):
            raise ParameterError(f"key: expected bytes, got {type(self.secret).__name__}")
        if not SHORTEST <= len(self.secret) <= LONGEST:
            raise ParameterError(f"key: expected {SHORTEST} to {LONGEST} bytes, got {_length(self.secret)}; {_HOW}")

    @classmethod
    def read(cls, path: str | Path) -> Key:
        """The key in a file, every byte of it; warns if all users of the machine can read or change the file."""
        try:
            with open(path, "rb") as file:
                secret, mode = file.read(LONGEST + 1), os.fstat(file.fileno()).st_mode
        except OSError as error:
            raise StateError(f"{path}: {error.strerror}") from None
        others = [can for bit, can in ((stat.S_IROTH, "read"), (stat.S_IWOTH, "change")) if mode & bit]
        if os.name == "posix" and others:
            what = f"every user of this machine can {' and '.join(others)} the key"
            warnings.warn(f"{path}: {what}; chmod 600 {path}", stacklevel=2)
        try:
            return cls(secret)
        except ParameterError as error:
            raise StateError(f"{path}: {str(error).removeprefix('key: ')}") from None

    @property
    def misfit(self) -> str:
        """What is wrong with a file that this key does not fit, with a hint if the key looks like a line of text."""
        text = self.secret.endswith((b"\n", b"\r")) or (self.secret.isascii() and self.secret.decode().isprintable())
        return "written with another key, or changed since" + " (a line break at the end of a key file counts)" * text

    def mac(self, *parts: bytes | memoryview) -> bytes:
        """What only those with the key can compute of these bytes, one part after the other."""
        # HMAC itself takes a key and the same key with zeros behind it for one.
        size = len(self.secret).to_bytes(8, "little")
        made = hmac.new(hashlib.sha256(_PURPOSE + size + self.secret).digest(), digestmod=hashlib.sha256)
        for part in parts:
            made.update(part)
        return made.digest()


class KeyNeededError(StateError):
    """A file that was written with a key, where none is given; each way in has words of its own for how to give it."""

    def __init__(self, what: str | Path) -> None:
        self.reason = f"{what}: written with a key, and not read without it"
        super().__init__(what)

    def __str__(self) -> str:
        return f"{self.reason}; key=Key.read(FILE) gives it"


NOT_AUTHENTICATED = "not written with a key; expected a file that is, since a key is given"


def _length(secret: bytes) -> str:
    return f"more than {LONGEST}" if len(secret) > LONGEST else str(len(secret))
