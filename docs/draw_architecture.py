"""Draws docs/architecture.svg: the parts of the package in their layers, and who imports whom.

Run ``python docs/draw_architecture.py`` after an import between two parts was added or removed; a test compares the
picture with the code. The rows are the layers of the import contract in pyproject.toml, the lines are imports found in
the source. An import that follows from two others is left out: it would hide them.
"""

from __future__ import annotations

import ast
import re
import tomllib
from collections.abc import Iterator
from html import escape
from itertools import pairwise
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "src" / "plausibly"
TARGET = ROOT / "docs" / "architecture.svg"

WIDTH, ROW, BOX_HEIGHT, GAP, MARGIN = 1000, 104, 58, 18, 24
LETTER = 9.2
"""Width of a letter of a name, about."""

LEFT_OUT = {"__main__", "extend", "version"}
"""Doors and constants: they are not parts of the house."""

ABOUT = {
    "cli": "the command line",
    "service": "the collector",
    "experiments": "declare and measure",
    "rehearsal": "a collection, simulated",
    "demo": "the first look",
    "engines": "many files, one tally",
    "pages": "HTML, charts",
    "planner": "which scheme, how exact",
    "files": "values, reports, tallies",
    "presets": "published systems",
    "diagnose": "plausibly doctor",
    "certify": "audits",
    "shuffling": "central ε",
    "catalog": "name ↔ scheme ↔ JSON",
    "oracles": "layer 1",
    "sketches": "layer 2",
    "search": "layer 3",
    "postprocess": "layer 4",
    "core": "scheme, domain, tally, laws",
    "client": "sending, with a ledger",
    "kernels": "hot loops, C and NumPy",
    "device": "the client: one file",
    "plugins": "finds other packages",
}


def layers() -> list[list[str]]:
    """The rows of the import contract, highest first; layers that nothing fills yet are left out."""
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
    rows = next(contract["layers"] for contract in contracts if contract["type"] == "layers")
    found = [[name for name in re.findall(r"\w+", row) if _exists(name)] for row in rows]
    shown = [[name for name in row if name not in LEFT_OUT] for row in found]
    return [row for row in shown if row]


def _exists(name: str) -> bool:
    return (PACKAGE / name).is_dir() or (PACKAGE / f"{name}.py").is_file()


def imports() -> dict[str, set[str]]:
    """The parts that each part imports directly, imports for type checkers left out."""
    found: dict[str, set[str]] = {}
    for path in sorted(PACKAGE.rglob("*.py")):
        place = path.relative_to(PACKAGE).with_suffix("").parts
        own = found.setdefault(place[0], set())
        for target in _imported(ast.parse(path.read_text()), ("plausibly", *place[:-1])):
            if target != place[0]:
                own.add(target)
    return found


def _imported(tree: ast.AST, package: tuple[str, ...]) -> Iterator[str]:
    for node in _without_type_checking(tree):
        if isinstance(node, ast.ImportFrom) and node.level:
            base = package[: len(package) - node.level + 1]
            module = (*base, *(node.module or "").split(".")) if node.module else base
            names = [module] if len(module) > 1 else [(*module, alias.name) for alias in node.names]
            yield from (name[1] for name in names if name[0] == "plausibly" and _exists(name[1]))


def _without_type_checking(tree: ast.AST) -> Iterator[ast.AST]:
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING":
            continue
        yield node
        yield from _without_type_checking(node)


def reduced(graph: dict[str, set[str]], shown: set[str]) -> list[tuple[str, str]]:
    """The imports among the shown parts that do not follow from others."""
    graph = {name: targets & shown for name, targets in graph.items() if name in shown}

    def reaches(start: str, end: str) -> bool:
        return end in graph[start] or any(reaches(middle, end) for middle in graph[start])

    return sorted(
        (name, target)
        for name, targets in graph.items()
        for target in targets
        if not any(reaches(other, target) for other in targets - {target})
    )


def places(rows: list[list[str]]) -> dict[str, tuple[float, float, float]]:
    """Centre, top and width of every box."""
    found = {}
    for number, row in enumerate(rows):
        widths = [max(116.0, LETTER * len(name) + 24, 7.0 * len(ABOUT.get(name, "")) + 20) for name in row]
        left = (WIDTH - sum(widths) - GAP * (len(row) - 1)) / 2
        for name, width in zip(row, widths, strict=True):
            found[name] = (left + width / 2, MARGIN + number * ROW, width)
            left += width + GAP
    return found


def drawing() -> str:
    """The picture as SVG text."""
    rows = layers()
    boxes = places(rows)
    edges = reduced(imports(), set(boxes))
    height = 2 * MARGIN + (len(rows) - 1) * ROW + BOX_HEIGHT
    title = "The parts of plausibly in layers; every line goes down from a part to one that it imports."
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" height="{height}" '
        'role="img" aria-labelledby="title">',
        f'<title id="title">{title}</title>',
        "<style>",
        'text { font-family: "DejaVu Sans", "Segoe UI", Helvetica, Arial, sans-serif; }',
        "text { text-anchor: middle; fill: #222; }",
        ".n { font-size: 15px; font-weight: bold; } .a { font-size: 12px; fill: #555; }",
        "path { fill: none; stroke: #8a97a5; stroke-width: 1.4; }",
        "rect.b { fill: #e8f1fa; stroke: #4477aa; stroke-width: 1.3; }",
        "</style>",
        f'<rect width="{WIDTH}" height="{height}" fill="white"/>',
    ]
    lines += [_curve(start, end, boxes) for start, end in edges]
    for name, (centre, top, width) in boxes.items():
        lines.append(
            f'<rect class="b" x="{centre - width / 2:.1f}" y="{top}" width="{width:.1f}" height="{BOX_HEIGHT}" rx="8"/>'
            f'<text class="n" x="{centre:.1f}" y="{top + 25}">{escape(name)}</text>'
            f'<text class="a" x="{centre:.1f}" y="{top + 44}">{escape(ABOUT.get(name, ""))}</text>'
        )
    return "\n".join([*lines, "</svg>", ""])


def _curve(start: str, end: str, boxes: dict[str, tuple[float, float, float]]) -> str:
    """A line from the bottom of one box to the top of another, past the boxes of the rows between."""
    (x, top, _), (u, v, _) = boxes[start], boxes[end]
    y = top + BOX_HEIGHT
    path = [f"M{x:.1f} {y:.1f}"]
    for row in range(round((top - MARGIN) / ROW) + 1, round((v - MARGIN) / ROW)):
        upper = MARGIN + row * ROW
        straight = x + (u - x) * (upper - y) / (v - y)
        beside = min(_gaps(upper, boxes), key=lambda gap: abs(gap - straight))
        path += [_bend(x, y, beside, upper), f"V{upper + BOX_HEIGHT}"]
        x, y = beside, upper + BOX_HEIGHT
    return f'<path d="{" ".join([*path, _bend(x, y, u, v)])}"/>'


def _bend(x: float, y: float, u: float, v: float) -> str:
    middle = (y + v) / 2
    return f"C{x:.1f} {middle:.1f} {u:.1f} {middle:.1f} {u:.1f} {v:.1f}"


def _gaps(top: float, boxes: dict[str, tuple[float, float, float]]) -> list[float]:
    """Where a line may pass through a row: between its boxes, and beside the first and the last one."""
    row = sorted((centre - width / 2, centre + width / 2) for centre, own, width in boxes.values() if own == top)
    between = [(first[1] + second[0]) / 2 for first, second in pairwise(row)]
    return [row[0][0] - GAP, *between, row[-1][1] + GAP]


def falls() -> bool:
    """Whether every import goes to a lower row."""
    level = {name: number for number, row in enumerate(layers()) for name in row}
    return all(level[a] < level[b] for a, targets in imports().items() if a in level for b in targets if b in level)


if __name__ == "__main__":
    TARGET.write_text(drawing(), encoding="utf-8")
    print(f"{TARGET.relative_to(ROOT)}: {sum(len(row) for row in layers())} parts in {len(layers())} layers")
