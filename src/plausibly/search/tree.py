"""The steps of a search as a tree: the ways of what was found, and the best of those that led nowhere."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import count, pairwise
from typing import Any

from ..core.wording import label_of
from .trace import Step, Traced

MOST_TIPS = 40
"""So many of the strings that were found are drawn."""
_WIDEST_PIECE = 8

Kept = list[dict[Any, float]]
"""For each step what it kept, the best first, with the estimated counts."""


@dataclass(eq=False)
class Knot:
    """What one step adds to a string; behind the last step a string that was found."""

    column: int
    text: str
    value: float
    leads: bool
    """Whether something was found behind it."""
    place: int | None = None
    """Which of the strings that were found it is, if it is one."""
    branches: dict[Any, Knot] = field(default_factory=dict)
    row: float = 0.0

    def branch(self, key: Any, column: int, text: str, value: float, leads: bool) -> Knot:
        """The knot behind this one with that key, a new one if there is none."""
        return self.branches.setdefault((column, key), Knot(column, text, value, leads))

    def settle(self, rows: Iterator[int]) -> None:
        """Gives every tip a row; the other knots are level with the middle of what they lead to."""
        for knot in self.branches.values():
            knot.settle(rows)
        places = [knot.row for knot in self.branches.values() if knot.leads == self.leads]
        places = places or [knot.row for knot in self.branches.values()]
        self.row = (places[0] + places[-1]) / 2 if places else next(rows)

    def edges(self) -> Iterator[tuple[Knot, Knot]]:
        """Every knot behind this one, together with the one before it."""
        for knot in self.branches.values():
            yield self, knot
            yield from knot.edges()


def tree_of(found: Traced, steps: Sequence[Step], others: int) -> Knot:
    """The root of the tree; branches with the most common strings come first, those that lead nowhere last."""
    root, items = Knot(-1, "", 0.0, leads=True), found.items.tolist()
    kept: Kept = [{} for _ in steps]
    for step, texts in zip(steps, kept, strict=True):
        for text, value in zip(step.kept.tolist(), step.values.tolist(), strict=True):
            texts.setdefault(text, value)  # under several tags: the best

    def piece(knot: Knot, text: Any) -> str:
        return _shortened(text[steps[knot.column].length if knot.column >= 0 else 0 :])

    for i in sorted(range(min(len(items), MOST_TIPS)), key=lambda i: -found.values[i]):
        knot = root
        for x, step in enumerate(steps):
            part, text = step.part_of(items[i]), items[i][: step.length]
            if part in kept[x]:  # a search may put aside strings that end early
                knot = knot.branch(text, x, piece(knot, text), kept[x][part], leads=True)
        tip = knot.branch(items[i], len(steps), label_of(items[i]) or "(empty)", found.values[i], leads=True)
        tip.place = i
    for way in _dead_ends(steps, kept, items, others):
        knot = root
        for x, text in way:
            # A piece from the middle of strings is not mistaken for their beginning.
            key = (text,) if steps[x].first else text
            knot = knot.branch(key, x, piece(knot, text), kept[x][text], leads=False)
    root.settle(count())
    return root


def _dead_ends(steps: Sequence[Step], kept: Kept, items: list[Any], most: int) -> Iterator[list[tuple[int, Any]]]:
    # In turns the best of each step behind which nothing was found: what it began with, and what became of it.
    heirs: list[dict[Any, Any]] = [{} for _ in steps]
    for x, (step, later) in enumerate(pairwise(steps)):
        if step.first == later.first == 0:
            for text in sorted(kept[x + 1], key=lambda text: len(text) <= step.length):  # longer ones first
                heirs[x].setdefault(step.part_of(text), text)
    seen = [{step.part_of(item) for item in items} for step in steps]
    waiting = [iter(texts) for texts in kept]
    turns = [x for x, texts in enumerate(kept) if texts]
    while turns and most > 0:
        x = turns.pop(0)
        text = next((text for text in waiting[x] if text not in seen[x]), None)
        if text is None:
            continue
        turns.append(x)
        most -= 1
        stems = [(i, text[: steps[i].length]) for i in range(x) if steps[i].first == steps[x].first == 0]
        way = [(i, stem) for i, stem in stems if stem in kept[i]]
        while text is not None:
            way.append((x, text))
            text, x = heirs[x].get(text), x + 1
        for i, text in way:
            seen[i].add(text)
        yield way


def _shortened(piece: Any) -> str:
    # Between other lines of a picture: no quotes, and blanks that can be seen.
    text = (label_of(piece) if isinstance(piece, str) else repr(piece)[2:-1]).replace(" ", "\N{OPEN BOX}")
    return text if len(text) <= _WIDEST_PIECE else f"{text[:4]}…{text[-3:]}"
