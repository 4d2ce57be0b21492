"""Keys that authenticate files of reports and tallies: HMAC-SHA-256, byte by byte in docs/files.md.

Who has the key can write files that others with the key accept. It hides nothing: files are as readable as before.
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
_HOW = "head -c 32 /dev/urandom > FILE makes one"


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
        """The key that a file consists of, every byte of it; warns if all users of the machine can read the file."""
        try:
            with open(path, "rb") as file:
                secret, mode = file.read(LONGEST + 1), os.fstat(file.fileno()).st_mode
        except OSError as error:
            raise StateError(f"{path}: {error.strerror}") from None
        if os.name == "posix" and mode & stat.S_IROTH:
            warnings.warn(f"{path}: every user of this machine can read the key; chmod 600 {path}", stacklevel=2)
        try:
            return cls(secret)
        except ParameterError as error:
            raise StateError(f"{path}: {error}") from None

    def mac(self, *parts: bytes | memoryview) -> bytes:
        """What only those with the key can compute of these bytes, one part after the other."""
        made = hmac.new(self.secret, digestmod=hashlib.sha256)
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
OTHER_KEY = "written with another key, or changed since"


def _length(secret: bytes) -> str:
    return f"more than {LONGEST}" if len(secret) > LONGEST else str(len(secret))
