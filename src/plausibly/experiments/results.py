"""The results file: one line of JSON per measurement, append-only."""

from __future__ import annotations

import hashlib
import json
import os
import platform
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any

from .. import kernels
from ..core.errors import StateError
from ..core.operating_system import hold
from .cells import Cell, View, canonical
from .measures import Metrics


@dataclass(frozen=True, order=True)
class Origin:
    """Origin of a measurement: the version of this package, its kernels, and the machine's name in the file."""

    plausibly: str
    kernels: str
    machine: str


_BEGUN = ('{"machine":"' + "h" * 12 + '"', '{"key":"' + "h" * 32 + '","cell":{')
"""Beginnings of a line, with h for a hexadecimal digit. A torn last line is cut off only if it begins like this."""


class Results:
    """The measurements of a results file; without a path, measurements in memory."""

    def __init__(self, path: Path | None = None) -> None:
        self.path = path
        self.machines: dict[str, dict[str, Any]] = {}
        self.origins: dict[str, Origin] = {}
        """Origin of every measurement, by the key of its cell."""
        self._collected: dict[str, Metrics] = {}
        self._estimated: dict[tuple[str, str], Metrics] = {}
        text = path.read_bytes() if path is not None and path.exists() else b""
        whole = text.rfind(b"\n") + 1
        self._torn_at = whole if whole < len(text) else None
        if not any(_begins(text[whole:], begun) for begun in _BEGUN):
            raise StateError(f"{path}: expected a results file, got one whose last line is not a measurement")
        for number, line in enumerate(text[:whole].splitlines(), 1):
            try:
                self._take(json.loads(line))
            except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
                raise StateError(f"{path}, line {number}: expected a measurement, got something else") from None

    def missing(self, wanted: Mapping[Cell, Iterable[View]]) -> dict[Cell, list[View]]:
        """The wanted cells and views that are not in the results."""
        absent = {
            cell: [view for view in views if (cell.key, view.key) not in self._estimated]
            for cell, views in wanted.items()
        }
        return {cell: views for cell, views in absent.items() if views}

    def metrics(self, cell: Cell, view: View) -> Metrics:
        """The metrics of a measured cell and view in the results."""
        return self._collected[cell.key] | self._estimated[cell.key, view.key]

    def add(self, cell: Cell, metrics: Metrics, views: Mapping[str, Metrics]) -> None:
        """Write one measurement to the results file, completely or not at all."""
        machine = machine_facts()
        name = hashlib.sha256(canonical(machine).encode()).hexdigest()[:12]
        if name not in self.machines:
            self._write({"machine": name, "facts": machine})
        answers = {view: _short(own) for view, own in views.items()}
        row = {"key": cell.key, "cell": cell.to_dict(), "metrics": _short(metrics), "views": answers}
        row |= {"sources": cell.sources} if cell.sources else {}
        self._write(row | {"plausibly": version("plausibly"), "kernels": kernels.active, "machine": name})

    def _take(self, line: dict[str, Any]) -> None:
        if "facts" in line:
            self.machines[line["machine"]] = line["facts"]
            return
        # A later run may have added views of the same cell: the first run's times are kept.
        self._collected.setdefault(line["key"], line["metrics"])
        self.origins.setdefault(line["key"], Origin(*(line[name] for name in ("plausibly", "kernels", "machine"))))
        for name, metrics in line["views"].items():
            self._estimated.setdefault((line["key"], name), metrics)

    def _write(self, line: dict[str, Any]) -> None:
        self._take(line)
        if self.path is None:
            return
        text = json.dumps(line, separators=(",", ":")).encode() + b"\n"
        if self._torn_at is not None:
            # The last line was cut off by an interrupt: remove it before appending.
            os.truncate(self.path, self._torn_at)
            self._torn_at = None
        with self.path.open("ab", buffering=0) as file:
            end = file.tell()
            if file.write(text) < len(text):
                file.truncate(end)
                raise StateError(f"{self.path}: the disk is full; free some space and run the same command again")


def _short(metrics: Metrics) -> Metrics:
    # Seven digits: more carry no information and would double the file.
    return {name: float(f"{value:.7g}") for name, value in metrics.items()}


def _begins(text: bytes, begun: str) -> bool:
    # Compared up to the shorter length.
    letters = text.decode("latin-1")
    return all(a == b or (b == "h" and a in "0123456789abcdef") for a, b in zip(letters, begun, strict=False))


@contextmanager
def held(path: Path) -> Iterator[Results]:
    """The results in a file, locked against other processes; fails if another process holds the lock."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("ab") as file:
        try:
            hold(file.fileno())
        except BlockingIOError:
            message = f"{path}: another run is writing to this file; wait for it or choose another file"
            raise StateError(message) from None
        yield Results(path)


@cache
def machine_facts() -> dict[str, Any]:
    """Facts about the machine for the results, needed to compare times."""
    found = re.search(r"model name\s*:\s*(.+)", _text("/proc/cpuinfo"))
    memory = re.search(r"MemTotal:\s+(\d+)", _text("/proc/meminfo"))
    return {
        "cpu": found[1].strip() if found else platform.processor() or platform.machine(),
        "cores": os.cpu_count(),
        "memory_gb": round(int(memory[1]) / 2**20) if memory else None,
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
        "numpy": version("numpy"),
    }


def _text(file: str) -> str:
    try:
        return Path(file).read_text(encoding="utf-8")
    except OSError:
        return ""
