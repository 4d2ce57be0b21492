"""The source files of the C library, and the digest that tells whether a library was built from them.

Standard library only, and no import of the package: setup.py runs this file before anything is installed.
"""

from __future__ import annotations

import hashlib
from pathlib import Path


def source_files(folder: Path) -> list[Path]:
    """`native.c`, which is compiled, and the files that it includes, always in the same order."""
    return [folder.joinpath("native.c"), *sorted(folder.joinpath("c").glob("*.h"))]


def digest(folder: Path) -> str:
    """SHA-256 over the name, length and content of each source file below the folder of the kernels."""
    whole = hashlib.sha256()
    for file in source_files(folder):
        content = file.read_bytes()
        whole.update(f"{file.relative_to(folder).as_posix()} {len(content)}\n".encode())
        whole.update(content)
    return whole.hexdigest()
