"""The source files of the C library, and the digest that shows whether a library was built from them.

Only the standard library, and no import of the package: setup.py runs this file before anything is installed.
"""

from __future__ import annotations

import hashlib
from pathlib import Path


def source_files(folder: Path) -> list[Path]:
    """The sources of the C library in a fixed order: `native.c`, which is compiled, and the files that it includes."""
    return [folder.joinpath("native.c"), *sorted(folder.joinpath("c").glob("*.h"))]


def has_source(folder: Path) -> bool:
    """Whether the sources are in the kernels' folder, as in a clone. Wheels have none."""
    return source_files(folder)[0].exists()


def digest(folder: Path) -> str:
    """SHA-256 over the name, length and content of each source file in the kernels' folder."""
    whole = hashlib.sha256()
    for file in source_files(folder):
        content = file.read_bytes()
        whole.update(f"{file.relative_to(folder).as_posix()} {len(content)}\n".encode())
        whole.update(content)
    return whole.hexdigest()
