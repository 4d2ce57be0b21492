"""Schemes of other packages, found through the entry-point group ``plausibly.schemes``."""

from __future__ import annotations

import sys
import traceback
import warnings
from collections.abc import Callable
from contextlib import redirect_stdout
from importlib.metadata import EntryPoint, entry_points

GROUP = "plausibly.schemes"


def load_plugins(take: Callable[[object], None]) -> list[str]:
    """Load every plug-in and hand over what its entry point names; return a message for each that failed.

    A failure does not stop the others. It is also a warning, because plug-ins are loaded without being asked for.
    """
    failures = []
    for point in entry_points(group=GROUP):
        try:
            with redirect_stdout(sys.stderr):  # standard output is for results
                take(point.load())
        except (Exception, SystemExit) as error:
            failures.append(_failure(point, error))
            warnings.warn(failures[-1], RuntimeWarning, stacklevel=2)
    return failures


def _failure(point: EntryPoint, error: BaseException) -> str:
    package = f"the package {point.dist.name} {point.dist.version}" if point.dist else "a package"
    # Works even for an error that has no text.
    text = " ".join("".join(traceback.format_exception_only(type(error), error)).split())
    reason = "".join(c if c.isprintable() else ascii(c)[1:-1] for c in text)
    return f"{package} offers the scheme {point.name} ({point.value}), which cannot be loaded: {reason}"
