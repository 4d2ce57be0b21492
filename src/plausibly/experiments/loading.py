"""Load experiments from Python files and packages, with the schemes, crowds, steps and measures they define.

Every worker process loads the same files, so a file should only declare things.
"""

from __future__ import annotations

import ast
import hashlib
import sys
import traceback
from collections.abc import Iterable, Mapping
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from runpy import run_path
from typing import Any

from ..core.errors import ParameterError
from ..core.steps import STEPS
from .cells import SCHEMES, SOURCES
from .experiment import Experiment
from .figure import Figure
from .item_crowds import CROWDS, STRINGS
from .measures import MEASURES

_DECLARED = ("FIGURE", "FIGURES", "EXPERIMENT")


def load(path: Path) -> Experiment:
    """Load the experiment declared by a file or by a folder with an ``__init__.py``.

    Everything that it registers is keyed by its source code as well as by name, so that a changed scheme is measured
    again. Comments and the declared figures do not count as source code. A published experiment is keyed by names only.
    """
    before = _entered()
    found = _experiment(path, _import_package(path) if path.is_dir() else _run_file(path))
    if not found.published:
        source = _digest(path)
        for place, made in _entered().items():
            if before.get(place) is not made:
                SOURCES[place[1]] = source + getattr(made, "digest", "")
    return found


def load_all(paths: Iterable[Path]) -> None:
    """Load several experiments, as every worker process does first."""
    for path in paths:
        load(path)


def _experiment(path: Path, declared: Mapping[str, Any]) -> Experiment:
    whole = declared.get("EXPERIMENT")
    if isinstance(whole, Experiment):
        return whole
    figures = declared.get("FIGURES", [declared["FIGURE"]] if "FIGURE" in declared else [])
    figures = list(figures.values()) if isinstance(figures, Mapping) else figures
    if (
        whole is not None
        or not isinstance(figures, list | tuple)
        or not figures
        or not all(isinstance(figure, Figure) for figure in figures)
    ):
        raise ParameterError(
            f"{path}: expected a FIGURE or FIGURES made of plausibly.experiments.Figure, or an EXPERIMENT"
        )
    try:
        return Experiment(figures=figures)
    except ParameterError as error:
        raise ParameterError(f"{path}: {error}") from None


def _run_file(path: Path) -> Mapping[str, Any]:
    try:
        path.read_bytes()
    except OSError as error:
        raise ParameterError(f"{path}: {error.strerror}") from None
    try:
        return run_path(str(path), run_name="own_experiment")
    except (Exception, SystemExit) as error:
        raise _failed(path, error) from error


def _import_package(folder: Path) -> Mapping[str, Any]:
    # Under the name of its folder, without sys.path, which would expose everything next to it.
    name, file = folder.resolve().name, folder.resolve() / "__init__.py"
    known = sys.modules.get(name)
    if known is not None:
        if Path(known.__file__ or "").resolve() != file:
            raise ParameterError(f"{folder}: another package is named {name}; rename the folder")
        return vars(known)
    spec = spec_from_file_location(name, file, submodule_search_locations=[str(file.parent)])
    if spec is None or spec.loader is None or not name.isidentifier() or not file.is_file():
        raise ParameterError(f"{folder}: expected a folder with an __init__.py and a name that Python can import")
    sys.modules[name] = module = module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except (Exception, SystemExit) as error:
        for loaded in [each for each in sys.modules if each == name or each.startswith(f"{name}.")]:
            del sys.modules[loaded]
        raise _failed(file, error) from error
    return vars(module)


def _failed(path: Path, error: BaseException) -> ParameterError:
    text = error.msg if isinstance(error, SyntaxError) else str(error)
    lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == str(path)]
    line = error.lineno if isinstance(error, SyntaxError) else lines[-1] if lines else None
    return ParameterError(f"{path}{'' if line is None else f', line {line}'}: {type(error).__name__}: {text}")


def _digest(path: Path) -> str:
    # Digest of the code without comments and declared figures.
    files = sorted(path.rglob("*.py")) if path.is_dir() else [path]
    return hashlib.sha256("\n".join(map(_without_figures, files)).encode()).hexdigest()[:12]


def _without_figures(path: Path) -> str:
    tree = ast.parse(path.read_bytes(), str(path))
    tree.body = [node for node in tree.body if not _declares(node)]
    return ast.unparse(tree)


def _declares(node: ast.stmt) -> bool:
    targets = node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AnnAssign) else []
    return any(isinstance(target, ast.Name) and target.id in _DECLARED for target in targets)


def _entered() -> dict[tuple[int, str], object]:
    # By kind and name: a crowd of items and a crowd of strings may have the same name.
    steps = {f"+{name}": step for name, step in STEPS.items()}
    kinds: list[Mapping[str, object]] = [SCHEMES, CROWDS, STRINGS, MEASURES, steps]
    return {(kind, name): made for kind, entries in enumerate(kinds) for name, made in entries.items()}
