"""Files in object stores and other file systems that pyarrow reaches: ``s3://``, ``gs://``, ``abfs://``, ``hdfs://``.

Credentials come from the environment, as for the store's own tools. docs/adr/0032-object-stores.md has the reasons.
"""

from __future__ import annotations

import io
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from errno import EACCES, EHOSTUNREACH, EIO, ENOENT
from functools import lru_cache
from pathlib import Path, PurePosixPath
from typing import Any, TypeGuard
from urllib.parse import unquote

from ..core.errors import ParameterError, StateError
from .unreachable import UnreachableError

_ADDRESS = re.compile(r"([A-Za-z][A-Za-z0-9+.-]+)://([^/]*)/*(.*)", re.DOTALL)
_LOCAL = re.compile(r"file://(?:localhost)?(/.*)", re.DOTALL | re.IGNORECASE)
_WITH_BUCKETS = ("s3", "gs", "gcs")
_KINDS = (*_WITH_BUCKETS, "abfs", "abfss", "hdfs", "viewfs")
_BUCKET = re.compile("[^:@]*")
_ACCOUNT = re.compile("([^:@]*@)?[^:@]*(:[0-9]*)?")
"""The part of an address before its path: for buckets, and for stores on a host that may have an account and a port."""
_ATTEMPTS = 5
"""Maximum number of attempts of a request that S3 answers with an error of its own, such as 500 or 503."""
_CONNECT_SECONDS = 5.0
_SILENT_SECONDS = 10.0
_LEAST = 1 << 12
"""Minimum number of bytes in a request. Arrow needs that much room to understand an error, and to try again."""

_CAUSES = (
    (
        ("ACCESS_DENIED", "INVALID_ACCESS_KEY_ID", "SIGNATURE", "CREDENTIALS", "TOKEN", "status 403", "Permission"),
        EACCES,
        "access denied; check the credentials in the environment (for S3: AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, "
        "or AWS_PROFILE), and what they may read, list and write",
    ),
    (("NO_SUCH_BUCKET", "ContainerNotFound"), ENOENT, "there is no such bucket; check its name and the endpoint"),
    (
        ("NETWORK_CONNECTION", "REQUEST_TIMEOUT", "imed out", "Could not connect", "Could not resolve"),
        EHOSTUNREACH,
        "the store does not answer; check the endpoint in the environment and the network, then repeat the call",
    ),
)
"""Words in the errors that Arrow raises, and what these errors mean to the user."""
_NO_FILE = "there is no such file; check its name and that of the bucket"


def is_address(given: object) -> TypeGuard[str]:
    """Whether a text is the address of a stored file or folder, and not a path on this machine.

    >>> is_address("s3://bucket/monday.parquet"), is_address("monday.parquet"), is_address("file:///monday.parquet")
    (True, False, False)
    """
    if not isinstance(given, str):
        return False
    found = _ADDRESS.fullmatch(given)
    return found is not None and found[1].lower() != "file"


def local_path(given: str | Path) -> Path:
    """The path of a file or folder on this machine that is not stored elsewhere, also from ``file:///folder/name``.

    >>> local_path("file:///folder/a%20name").as_posix()
    '/folder/a name'
    """
    text = os.fspath(given)
    if not text.lower().startswith("file://"):
        return Path(given)
    found = _LOCAL.fullmatch(text)
    if found is None:  # a host may have a password, which a message would show
        raise ParameterError(
            "file://: expected file:///folder/name, with the whole path, got a relative path or a host; "
            "leave file:// out if the path is relative"
        )
    path = unquote(found[1])
    return Path(path[1:] if re.match("/[A-Za-z]:", path) else path)


def was_address(given: str | Path) -> bool:
    """Whether a path was made from an address, and has lost a slash.

    >>> was_address(Path("s3://bucket/day")), was_address(Path("day")), was_address("s3://bucket/day")
    (True, False, False)
    """
    return isinstance(given, Path) and re.match(r"[A-Za-z][A-Za-z0-9+.-]+:/", given.as_posix()) is not None


AS_TEXT = "give an address as a text, not as a path"
"""The advice to those who gave such a path."""


def is_hidden(path: PurePosixPath | Path) -> bool:
    """Whether a path has a hidden part. Programs that write Parquet mark unfinished files with such names."""
    return any(part.startswith((".", "_")) for part in path.parts)


@dataclass(frozen=True)
class StoredFile:
    """The opener of a stored file: only its address, so that it can be sent to other machines."""

    name: str

    def open(self) -> StoredBytes:
        """The opener's file, open at its beginning. This takes a request, for the size."""
        system, path = _stored(self.name)
        with _explained():
            return StoredBytes(system.open_input_file(path))


class StoredBytes(io.RawIOBase):
    """The content of a stored file. Each read is one request for a range of bytes."""

    def __init__(self, file: Any) -> None:
        self._file, self._size, self._position = file, int(file.size()), 0

    def again(self) -> StoredBytes:
        """The same stored file at its beginning, without a request."""
        return StoredBytes(self._file)

    def seekable(self) -> bool:
        """Whether a stored file can be read from any position: yes."""
        return True

    def seek(self, offset: int, whence: int = os.SEEK_SET, /) -> int:
        """Move to another position in the stored file and return it."""
        self._position = offset + {os.SEEK_SET: 0, os.SEEK_CUR: self._position, os.SEEK_END: self._size}[whence]
        return self._position

    def read(self, size: int | None = -1, /) -> bytes:
        """Up to ``size`` bytes of the stored file, with one request."""
        left = max(0, self._size - self._position)
        length = left if size is None or size < 0 else min(size, left)
        if not length:
            return b""
        start = min(self._position, max(0, self._size - _LEAST))
        before = self._position - start
        with _explained():
            found: bytes = self._file.read_at(max(before + length, _LEAST), start)
        found = found[before : before + length]
        self._position += len(found)
        return found

    def readinto(self, buffer: Any, /) -> int:
        """Read the stored file into the buffer, with one request, and return the number of bytes read."""
        found = self.read(len(buffer))
        buffer[: len(found)] = found
        return len(found)


def stored_files(address: str) -> list[StoredFile]:
    """The stored file at an address, or the Parquet files in the folder there at any depth, except hidden ones.

    An address that ends in ``.parquet`` is taken for a file, without a request.
    """
    system, path = _stored(address)
    if address.endswith(".parquet"):
        return [StoredFile(address)]
    _, fs = _pyarrow()
    with _reaching(address):
        try:
            listed = system.get_file_info(fs.FileSelector(path.rstrip("/"), recursive=True))
        except FileNotFoundError:
            listed = []
    files = [each.path for each in listed if each.type == fs.FileType.File]
    for each in files:
        _expect_no_empty_part(f"{address.rstrip('/')}{each.removeprefix(path.rstrip('/'))}", each)
    inside = [PurePosixPath(each).relative_to(path) for each in files]
    found = sorted(each for each in inside if each.suffix == ".parquet" and not is_hidden(each))
    if found:
        return [StoredFile(f"{address.rstrip('/')}/{each}") for each in found]
    if not inside and size_of_stored(address) is not None:
        return [StoredFile(address)]
    raise StateError(f"{address}: expected a file, or a folder of files that end in .parquet; found neither")


def size_of_stored(address: str) -> int | None:
    """Size of a stored file in bytes; None if there is no file at the address."""
    _, fs = _pyarrow()
    system, path = _stored(address)
    with _reaching(address):
        found = system.get_file_info(path)
    return int(found.size) if found.type == fs.FileType.File else None


def upload(path: Path, address: str) -> None:
    """Upload a file whole: the stored file appears, or replaces another, once all its bytes have arrived."""
    _, fs = _pyarrow()
    system, place = _stored(address)
    with _reaching(address):
        fs.copy_files(str(path), place, source_filesystem=fs.LocalFileSystem(), destination_filesystem=system)


def expect_address(address: str) -> tuple[str, str, str]:
    """The kind, the bucket and the path of a stored file or folder. Refuse unknown kinds, and credentials.

    >>> expect_address("s3://bucket/day/monday.parquet")
    ('s3', 'bucket', 'day/monday.parquet')
    """
    found = _ADDRESS.fullmatch(address)
    assert found is not None
    kind, authority, path = found[1].lower(), found[2], found[3]
    if kind not in _KINDS:
        known = ", ".join(f"{each}://" for each in _KINDS)
        raise UnreachableError(f"{kind}://", f"unknown kind of address; expected a path, or one of {known}")
    # Secret keys may contain slashes: the part before the first slash need not end in "@".
    expected = _BUCKET if kind in _WITH_BUCKETS else _ACCOUNT
    if not expected.fullmatch(authority) or re.search(r"\?[^/]*=", path):
        # Messages, logs and tallies contain the names of files.
        reason = "the address has credentials or options, which messages would show; set them in the environment"
        raise UnreachableError(f"{kind}://", reason)
    if not authority and kind != "hdfs":
        raise UnreachableError(address, f"the address names no bucket; expected one such as {kind}://bucket/day")
    try:
        address.encode()
    except UnicodeEncodeError:
        raise UnreachableError(f"{kind}://", "expected an address that has a UTF-8 form; rename the object") from None
    _expect_no_empty_part(address, path.rstrip("/"))
    return kind, authority, path


def canonical(address: str) -> str:
    """The address of a stored file in the spelling that stands for all others.

    >>> canonical("S3://bucket//day.tally")
    's3://bucket/day.tally'
    """
    kind, authority, path = expect_address(address)
    return f"{kind}://{authority}/{path}"


def _expect_no_empty_part(address: str, path: str) -> None:
    if "//" in path:
        raise UnreachableError(address, "pyarrow cannot read an object with // in its name; rename the object")


def _stored(address: str) -> tuple[Any, str]:
    # The file system of a stored file or folder, and the path there.
    kind, authority, path = expect_address(address)
    with _reaching(address):
        if kind == "s3":
            system, root = _s3(authority, _s3_endpoint(), _s3_region(), os.getpid()), authority
        else:
            system, root = _other(f"{kind}://{authority}/", os.getpid())
    return system, f"{root.rstrip('/')}/{path}"


@contextmanager
def _reaching(address: str) -> Iterator[None]:
    try:
        with _explained():
            yield
    except OSError as error:
        raise UnreachableError(address, str(error.strerror)) from None


@contextmanager
def _explained() -> Iterator[None]:
    # The errors that Arrow raises have internal names and no advice.
    arrow, _ = _pyarrow()
    try:
        yield
    except FileNotFoundError:
        raise FileNotFoundError(ENOENT, _NO_FILE) from None
    except (OSError, arrow.ArrowException) as error:
        text = str(error).partition("AWS Error ")[2] or str(error)  # before it, Arrow quotes the names of files
        for words, number, meaning in _CAUSES:
            if any(word in text for word in words):
                raise OSError(number, meaning) from None
        raise OSError(EIO, f"the store answered with an error ({_code(text)}); repeat the call later") from None


def _code(text: str) -> str:
    # The rest of the text is for developers, and may quote more than a log should have.
    found = re.search(r"status ([0-9]+)", text) or re.match(r"([A-Z_0-9]+) during", text)
    return "of unknown kind" if found is None else found[1]


# Filesystems are cached for each process: their connections do not survive a fork.
@lru_cache(maxsize=64)
def _s3(bucket: str, endpoint: str | None, region: str | None, process: int) -> Any:
    _, fs = _pyarrow()
    return fs.S3FileSystem(
        endpoint_override=endpoint,
        region=region or (fs.resolve_s3_region(bucket) if endpoint is None else "us-east-1"),
        retry_strategy=fs.AwsStandardS3RetryStrategy(max_attempts=_ATTEMPTS),
        connect_timeout=_CONNECT_SECONDS,
        request_timeout=_SILENT_SECONDS,
    )


def _s3_endpoint() -> str | None:
    # Arrow looks at these variables only for addresses, and then takes neither timeouts nor retries.
    return os.environ.get("AWS_ENDPOINT_URL_S3") or os.environ.get("AWS_ENDPOINT_URL") or None


def _s3_region() -> str | None:
    return os.environ.get("AWS_REGION") or os.environ.get("AWS_DEFAULT_REGION") or None


@lru_cache(maxsize=64)
def _other(root: str, process: int) -> tuple[Any, str]:
    arrow, fs = _pyarrow()
    try:
        system, path = fs.FileSystem.from_uri(root)
    except (OSError, arrow.ArrowException):
        reason = "pyarrow cannot open this store; check the address, and what the store needs (docs/files.md)"
        raise UnreachableError(root, reason) from None
    return system, str(path)


def _pyarrow() -> tuple[Any, Any]:
    try:
        import pyarrow
        from pyarrow import fs
    except ImportError as error:
        raise ImportError("files in object stores need pyarrow: pip install pyarrow") from error
    return pyarrow, fs
