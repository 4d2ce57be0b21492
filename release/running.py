"""Commands that builds and tests of wheels run."""

from __future__ import annotations

import os
import shlex
import subprocess
from pathlib import Path


def run(*command: str | Path, cwd: Path | None = None, **environment: str) -> str:
    """The standard output of a command, which must succeed."""
    done = subprocess.run(
        [str(word) for word in command],
        cwd=cwd,
        env={**os.environ, **environment},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
    )
    if done.returncode:
        raise SystemExit(f"{shlex.join(map(str, command))}\n{done.stdout}{done.stderr}")
    return done.stdout
