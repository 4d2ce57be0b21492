"""Examples that hypothesis draws: the same every time, on every machine."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeVar

from hypothesis import settings

Case = TypeVar("Case")
FEWEST = 5


def drawn(examples: int, **more: Any) -> settings:
    """So many examples, or their share where the profile has fewer than the hundred that are usual."""
    fewer = max(FEWEST, examples * settings().max_examples // 100)
    return settings(derandomize=True, deadline=None, database=None, max_examples=min(examples, fewer), **more)


def thinned(cases: Sequence[Case]) -> Sequence[Case]:
    """All cases of a loop; in the quick tests every fourth, from the first one on."""
    return cases[:: max(1, 100 // settings().max_examples)]
