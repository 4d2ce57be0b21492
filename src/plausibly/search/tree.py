"""The steps of a search as a tree: the paths to the strings found, and the best dead ends."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import count, pairwise
from typing import Any

from ..core.wording import label_of
from .trace import Step, Traced

MOST_TIPS = 40
"""Largest number of found strings in a picture."""
_WIDEST_PIECE = 8

Kept = list[dict[Any, float]]
"""For each step the candidates that it kept, best first, with their estimated counts."""


@dataclass(eq=False)
class Knot:
    """A node of the tree: the characters that one step adds, or after the last step a string that was found."""

    column: int
    text: str
    value: float
    leads: bool
    """Whether a string was found beyond this node."""
    place: int | None = None
    """Rank of the found string, or None if the node is not one."""
    branches: dict[Any, Knot] = field(default_factory=dict)
    row: float = 0.0

    def branch(self, key: Any, column: int, text: str, value: float, leads: bool) -> Knot:
        """Child of this node of the tree with the given key, created if there is none."""
        return self.branches.setdefault((column, key), Knot(column, text, value, leads))

    def settle(self, rows: Iterator[int]) -> None:
        """Assign a row to every leaf of the tree; other nodes are centred on the nodes that they lead to."""
        for knot in self.branches.values():
            knot.settle(rows)
        places = [knot.row for knot in self.branches.values() if knot.leads == self.leads]
        places = places or [knot.row for knot in self.branches.values()]
        self.row = (places[0] + places[-1]) / 2 if places else next(rows)

    def edges(self) -> Iterator[tuple[Knot, Knot]]:
        """Every edge of the tree below this node, as parent and child."""
        for knot in self.branches.values():
            yield self, knot
            yield from knot.edges()


def tree_of(found: Traced, steps: Sequence[Step], others: int) -> Knot:
    """Root of the tree; strings in the order in which they were returned, dead ends last."""
    root, items = Knot(-1, "", 0.0, leads=True), found.items.tolist()
    kept: Kept = [{} for _ in steps]
    for step, texts in zip(steps, kept, strict=True):
        for text, value in zip(step.kept.tolist(), step.values.tolist(), strict=True):
            texts.setdefault(text, value)  # the best, if it occurs under several tags

    def piece(knot: Knot, text: Any) -> str:
        return _shortened(text[steps[knot.column].length if knot.column >= 0 else 0 :])

    # In the order in which they were returned: strings that may be chance come last.
    for i in range(min(len(items), MOST_TIPS)):
        knot = root
        for x, step in enumerate(steps):
            part, text = step.part_of(items[i]), items[i][: step.length]
            if part in kept[x]:  # a search may set aside strings that end early
                knot = knot.branch(text, x, piece(knot, text), kept[x][part], leads=True)
        tip = knot.branch(items[i], len(steps), label_of(items[i]) or "(empty)", found.values[i], leads=True)
        tip.place = i
    compared = [item for item in found.judged if item not in set(items)]
    for way in _dead_ends(steps, kept, items, compared, others):
        knot = root
        for x, text in way:
            # Marked, so that a piece from the middle of strings is not mistaken for their beginning.
            key = (text,) if steps[x].first else text
            knot = knot.branch(key, x, piece(knot, text), kept[x][text], leads=False)
    root.settle(count())
    return root


def _dead_ends(
    steps: Sequence[Step], kept: Kept, items: list[Any], compared: Sequence[Any], most: int
) -> Iterator[list[tuple[int, Any]]]:
    # First the best strings that were compared at the end and not returned, at most half of all. Then, step by step in
    # turn, the best candidates that led to nothing: their beginnings, and how far they got.
    heirs: list[dict[Any, Any]] = [{} for _ in steps]
    for x, (step, later) in enumerate(pairwise(steps)):
        if step.first == later.first == 0:
            for text in sorted(kept[x + 1], key=lambda text: len(text) <= step.length):  # longer ones first
                heirs[x].setdefault(step.part_of(text), text)
    seen = [{step.part_of(item) for item in items} for step in steps]
    for item in compared[: most // 2]:
        way = [(x, part) for x, step in enumerate(steps) if not step.first and (part := step.part_of(item)) in kept[x]]
        if way and way[-1][1] not in seen[way[-1][0]]:
            most -= 1
            for x, text in way:
                seen[x].add(text)
            yield way
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
    # For labels in a picture: no quotes, and visible blanks.
    text = (label_of(piece) if isinstance(piece, str) else repr(piece)[2:-1]).replace(" ", "\N{OPEN BOX}")
    return text if len(text) <= _WIDEST_PIECE else f"{text[:4]}…{text[-3:]}"
