"""Schemes of other packages, found through the entry-point group ``plausibly.schemes``."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from importlib.metadata import EntryPoint, entry_points

GROUP = "plausibly.schemes"


def load_plugins(take: Callable[[object], None]) -> list[str]:
    """Load every plug-in and hand over what its entry point names; return a message for each that failed.

    A failure does not stop the others. It is also a warning, because plug-ins are loaded without being asked for.
    """
    failures = []
    for point in entry_points(group=GROUP):
        try:
            take(point.load())
        except Exception as error:
            failures.append(_failure(point, error))
            warnings.warn(failures[-1], RuntimeWarning, stacklevel=2)
    return failures


def _failure(point: EntryPoint, error: Exception) -> str:
    package = f"the package {point.dist.name} {point.dist.version}" if point.dist else "a package"
    reason = f"{type(error).__name__}: {error}"
    return f"{package} offers the scheme {point.name} ({point.value}), which cannot be loaded: {reason}"
