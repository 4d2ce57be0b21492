"""Examples that hypothesis draws: the same every time, on every machine."""

from __future__ import annotations

from typing import Any

from hypothesis import settings

FEWEST = 5


def drawn(examples: int, **more: Any) -> settings:
    """So many examples, or their share where the profile has fewer than the hundred that are usual."""
    fewer = max(FEWEST, examples * settings().max_examples // 100)
    return settings(derandomize=True, deadline=None, database=None, max_examples=min(examples, fewer), **more)
