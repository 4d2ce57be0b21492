"""Trees of merges on a Dask cluster."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..pacing import FAN
from ..workers import combine

RETRIES = 3
"""Number of times that a task is run again after an error that may pass."""


def merged(submit: Callable[..., Any], job: Any, replies: list[Any]) -> Any:
    """The reply that these replies will be merged into, a few at a time; None if there are no replies."""
    while len(replies) > 1:
        replies = [submit(combine, job, replies[first : first + FAN]) for first in range(0, len(replies), FAN)]
    return replies[0] if replies else None
