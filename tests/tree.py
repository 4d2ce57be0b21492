"""The working tree of a clone: which files in it are neither tracked nor ignored. Without git there are none."""

from __future__ import annotations

import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def untracked(root: Path) -> set[str]:
    """Files that git would list as untracked."""
    return set(_git(root, "ls-files", "--others", "--exclude-standard", "-z").split("\0")) - {""}


def not_ignored(folder: Path) -> list[str]:
    """Files of a folder that git would list as untracked if they were in the same places of the clone."""
    if not _git(ROOT, "rev-parse", "--git-dir"):
        return []
    names = sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())
    ignored = _git(ROOT, "check-ignore", "--no-index", "-z", "--stdin", given="\0".join(names))
    return [name for name in names if name not in set(ignored.split("\0"))]


def _git(root: Path, *words: str, given: str = "") -> str:
    try:
        return subprocess.run(["git", *words], cwd=root, input=given, capture_output=True, text=True).stdout
    except FileNotFoundError:
        return ""
