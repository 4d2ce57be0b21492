"""The engines that ``--engine`` names."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from ..core.errors import ParameterError
from ..core.wording import nearest, shown
from ..engines.processes import Processes
from ..engines.running import Engine, Threads

ENGINES: Mapping[str, Callable[[], Engine]] = {"threads": Threads, "processes": Processes}
"""Makers of engines, by the name that a command knows them by."""


def engine_of(name: str) -> Engine:
    """The engine that a user names."""
    if name not in ENGINES:
        raise ParameterError(f"--engine: unknown {shown(name)}; {nearest(name, ENGINES)}")
    return ENGINES[name]()
