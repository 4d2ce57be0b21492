"""Experiments in a Python file of one's own: a ``FIGURE`` (or ``FIGURES``), with its schemes, crowds and steps."""

from __future__ import annotations

import ast
import hashlib
import traceback
from collections.abc import Iterable, Mapping
from pathlib import Path
from runpy import run_path
from typing import Any

from ..core.errors import ParameterError
from ..core.steps import STEPS
from .cells import SCHEMES, SOURCES
from .crowds import CROWDS
from .figure import Figure

_DECLARED = ("FIGURE", "FIGURES")


def load(path: Path) -> list[Figure]:
    """The figures that a file declares, once it has run and entered its schemes, crowds and steps.

    What it enters is known by the rest of the file, too: measurements of a scheme are not taken for those of the same
    name after a change. The figures may change without that, as comments may.
    """
    text = _read(path)
    before = _entered()
    found = _run(path)
    source = _without_figures(path, text)
    for name, made in _entered().items():
        if before.get(name) is not made:
            SOURCES[name] = source + getattr(made, "digest", "")
    figures = found.get("FIGURES", [found["FIGURE"]] if "FIGURE" in found else [])
    figures = list(figures.values()) if isinstance(figures, Mapping) else figures
    if (
        not isinstance(figures, list | tuple)
        or not figures
        or not all(isinstance(figure, Figure) for figure in figures)
    ):
        raise ParameterError(f"{path}: expected a FIGURE or FIGURES made of plausibly.experiments.figure.Figure")
    return list(figures)


def load_all(paths: Iterable[Path]) -> list[Figure]:
    """The figures of several files; a process that measures them calls this first."""
    return [figure for path in paths for figure in load(path)]


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise ParameterError(f"{path}: {error.strerror}") from None


def _run(path: Path) -> dict[str, Any]:
    try:
        return run_path(str(path), run_name="own_experiment")
    except (Exception, SystemExit) as error:
        raise ParameterError(f"{path}{_where(error, path)}: {type(error).__name__}: {_told(error)}") from error


def _told(error: BaseException) -> str:
    return error.msg if isinstance(error, SyntaxError) else str(error)


def _where(error: BaseException, path: Path) -> str:
    lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == str(path)]
    line = error.lineno if isinstance(error, SyntaxError) else lines[-1] if lines else None
    return "" if line is None else f", line {line}"


def _without_figures(path: Path, text: bytes) -> str:
    tree = ast.parse(text, str(path))
    tree.body = [node for node in tree.body if not _declares(node)]
    return hashlib.sha256(ast.unparse(tree).encode()).hexdigest()[:12]


def _declares(node: ast.stmt) -> bool:
    targets = node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AnnAssign) else []
    return any(isinstance(target, ast.Name) and target.id in _DECLARED for target in targets)


def _entered() -> dict[str, object]:
    return {**SCHEMES, **CROWDS, **{f"+{name}": step for name, step in STEPS.items()}}
