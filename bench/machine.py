"""Facts about the machine and the software behind the measurements."""

from __future__ import annotations

import os
import platform
import re
import subprocess
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path
from typing import Any

from plausibly import kernels
from plausibly.core.parallel import thread_count
from plausibly.kernels import native

from .jobs import ROOT
from .limits import compiler


def facts() -> dict[str, Any]:
    """The facts that a reader needs to compare the numbers with their own."""
    return {
        "date": datetime.now(UTC).strftime("%Y-%m-%d"),
        "cpu": _found(r"model name\s*:\s*(.+)", "/proc/cpuinfo") or platform.processor() or platform.machine(),
        "cores": os.cpu_count(),
        "threads": thread_count(),
        "memory_gb": round(int(_found(r"MemTotal:\s+(\d+)", "/proc/meminfo") or 0) / 2**20, 1),
        "system": f"{platform.system()} {platform.machine()}, {' '.join(platform.libc_ver())}",
        "python": platform.python_version(),
        "numpy": metadata.version("numpy"),
        "cryptography": metadata.version("cryptography"),
        "compiler": _first_line([*(compiler() or ["none"]), "--version"]),
        "plausibly": metadata.version("plausibly"),
        "commit": _first_line(["git", "-C", str(ROOT), "describe", "--always", "--dirty"]),
        "kernels": f"{kernels.active} ({kernels.reason})",
        "instruction_set": native._best_instruction_set(native._open()) if kernels.active == "c" else "",
        "load_before": load(),
    }


def load() -> float:
    """Average number of processes that wanted a core during the last minute."""
    return round(os.getloadavg()[0], 2)


def _found(pattern: str, file: str) -> str:
    try:
        match = re.search(pattern, Path(file).read_text(encoding="utf-8"))
    except OSError:
        return ""
    return match[1].strip() if match else ""


def _first_line(command: list[str]) -> str:
    try:
        said = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    except (OSError, subprocess.CalledProcessError):
        return ""
    return said.splitlines()[0] if said else ""
