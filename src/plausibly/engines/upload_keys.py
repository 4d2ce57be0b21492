"""The keys of uploaded batches: the same ones whenever a file is uploaded again, and nobody else can compute them.

They come from a random secret in a small file. Keys made of the reports alone would need no such file, but everybody
who has the reports could then recognise the upload in a log of addresses, or use the keys first for other reports.
"""

from __future__ import annotations

import hashlib
import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..core.atomic import folder_of
from ..core.errors import StateError
from ..core.operating_system import sync_folder
from ..core.scheme import Scheme
from ..core.words import Setting, Words

SUFFIX = ".upload"
_VERSION = 1
_SECRET_BYTES, _KEY_BYTES = 32, 16
_REPORTS, _BYTES = 1 << 13, 1 << 20
_MOST_STATE = 1 << 12


@dataclass(frozen=True)
class UploadKeys:
    """A secret, and the size of batches: with another size, the same reports would be other batches."""

    secret: bytes
    reports: int = _REPORTS
    most_bytes: int = _BYTES

    def size(self, scheme: Scheme) -> int:
        """Number of reports of a scheme in a batch to upload."""
        return max(1, min(self.reports, self.most_bytes // scheme.report_dtype.itemsize))

    def key(self, collection: str, file: str, group: int, first: int) -> bytes:
        """The key of the batch that begins at a report of a row group of a file, for uploads to a collection."""
        named = f"{collection}\n{file}\n{group}\n{first}".encode()
        return hashlib.blake2s(named, key=self.secret, digest_size=_KEY_BYTES).digest()

    @classmethod
    def kept(cls, path: Path) -> UploadKeys:
        """The keys that are kept in a file, which is made with a fresh secret if it does not exist."""
        if not path.exists():
            _create(path, cls(os.urandom(_SECRET_BYTES)))
        with path.open("rb") as file:
            content = file.read(_MOST_STATE + 1)
        try:
            given = json.loads(content)
            found = cls(bytes.fromhex(given["secret"]), given["reports"], given["bytes"])
            if content != _written(found) or min(found.reports, found.most_bytes) < 1:
                raise ValueError("not as it was written")
        except (ValueError, LookupError, TypeError, RecursionError):
            raise StateError(
                f"{path}: expected the state of an upload, got something else or a damaged file; restore it, because "
                "reports that were uploaded with it would count once more without it"
            ) from None
        return found


def _written(keys: UploadKeys) -> bytes:
    said: dict[str, Any] = {
        "version": _VERSION,
        "secret": keys.secret.hex(),
        "reports": keys.reports,
        "bytes": keys.most_bytes,
    }
    said["checksum"] = hashlib.sha256(json.dumps(said, sort_keys=True).encode()).hexdigest()
    return json.dumps(said, sort_keys=True).encode() + b"\n"


def _create(path: Path, keys: UploadKeys) -> None:
    # By a link, which cannot replace the file of a process that was faster.
    unfinished = folder_of(path) / f".{path.name}.{os.urandom(6).hex()}.tmp"
    try:
        with os.fdopen(os.open(unfinished, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600), "wb") as file:
            file.write(_written(keys))
            file.flush()
            os.fsync(file.fileno())
        try:
            os.link(unfinished, path)
        except FileExistsError:
            return
        sync_folder(path.parent)
    except OSError as error:
        reason = f"{path}: the state of the upload cannot be kept there: {error.strerror}; name another file with "
        raise StateError(Words(reason, Setting("state", "FILE"))) from None
    finally:
        unfinished.unlink(missing_ok=True)
