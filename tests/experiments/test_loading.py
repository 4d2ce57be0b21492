"""Experiments in packages, where the paper's are found, and what is known by its source code."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

import pytest

import reproduction
from plausibly.core.errors import ParameterError
from plausibly.experiments import planning
from plausibly.experiments.cells import SCHEMES, SOURCES, Cell
from plausibly.experiments.item_crowds import STRINGS
from plausibly.experiments.loading import load
from plausibly.experiments.measures import MEASURES
from plausibly.experiments.planning import find_folder, plan

ROOT = Path(__file__).resolve().parents[2]
DECLARED = """
from plausibly.experiments import MEASURES, SCHEMES, STRINGS, Experiment, Figure, Sweep, line
from .schemes import mine

SCHEMES["mine"] = STRINGS["words"] = MEASURES["counted"] = mine
EXPERIMENT = Experiment(
    figures=[Figure(name="one", title="One", sweeps=[Sweep(name="s", lines=[line("mine")])])],
    title="A package",
    published=PUBLISHED,
)
"""


@pytest.fixture(autouse=True)
def nothing_entered_stays() -> Any:
    tables: list[dict[str, Any]] = [SCHEMES, STRINGS, MEASURES, SOURCES]
    before, modules = [dict(table) for table in tables], set(sys.modules)
    yield
    for table, kept in zip(tables, before, strict=True):
        table.clear()
        table.update(kept)
    for name in set(sys.modules) - modules:
        if name.startswith("laboratory"):
            del sys.modules[name]


def package(folder: Path, name: str, *, published: bool = False, body: str = "    return None\n") -> Path:
    path = folder / name
    path.mkdir()
    (path / "__init__.py").write_text(DECLARED.replace("PUBLISHED", str(published)), encoding="utf-8")
    (path / "schemes.py").write_text(f"def mine(**given):\n{body}", encoding="utf-8")
    return path


def test_a_package_is_an_experiment_and_is_imported_once(tmp_path: Path) -> None:
    folder = package(tmp_path, "laboratory_a")
    first, again = load(folder), load(folder)
    assert first is again
    assert first.title == "A package"
    assert [figure.name for figure in plan(["one"], folder).figures] == ["one"]
    assert plan([], folder).commands == {"one": f"plausibly reproduce one --folder {folder}"}
    assert str(tmp_path) not in sys.path


def test_names_of_a_package_are_known_by_its_source_unless_it_is_published(tmp_path: Path) -> None:
    keys = {}
    for name, published, body in (
        ("laboratory_b", False, "    return None\n"),
        ("laboratory_c", False, "    return 1  # another\n"),
        ("laboratory_d", True, "    return None\n"),
    ):
        SOURCES.clear()
        load(package(tmp_path, name, published=published, body=body))
        cells = [Cell("mine"), Cell("counted"), Cell("DE", data="words/6", d=0)]
        keys[name] = [cell.key for cell in cells]
        assert all(bool(cell.sources) is not published for cell in cells)
    assert len({key for own in keys.values() for key in own}) == 9


def test_a_package_that_fails_is_told_and_forgotten(tmp_path: Path) -> None:
    folder = package(tmp_path, "laboratory_e")
    (folder / "schemes.py").write_text("1 / 0\n", encoding="utf-8")
    with pytest.raises(ParameterError, match="ZeroDivisionError"):
        load(folder)
    assert not [name for name in sys.modules if name.startswith("laboratory_e")]


def test_folders_that_are_no_packages_are_refused(tmp_path: Path) -> None:
    (tmp_path / "laboratory f").mkdir()
    for name in ("laboratory f", "laboratory_g"):
        with pytest.raises(ParameterError, match=r"expected a folder with an __init__\.py"):
            plan(["one"], tmp_path / name)
    with pytest.raises(ParameterError, match="another package is named json"):
        load(package(tmp_path, "json"))


def test_the_papers_experiments_are_found_here_or_in_the_checkout(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert find_folder() == ROOT / "reproduction"
    (tmp_path / "reproduction").mkdir()  # pictures and rows of an earlier version
    assert find_folder() == ROOT / "reproduction"
    (tmp_path / "reproduction" / "__init__.py").touch()
    assert find_folder() == Path("reproduction")
    assert find_folder(ROOT / "reproduction") == ROOT / "reproduction"


def test_without_a_clone_the_message_says_how_to_get_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(planning, "_CHECKOUT", tmp_path)
    with pytest.raises(ParameterError) as caught:
        plan(["fig1"])
    for words in ("Run the command in a clone of it", "plausibly reproduce fig1 --folder", "reproduce mine.py"):
        assert words in str(caught.value)


def test_one_that_is_ones_own_needs_no_clone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(planning, "_CHECKOUT", tmp_path)
    asked = plan([str(ROOT / "examples" / "own_experiment.py")])
    assert [figure.name for figure in asked.figures] == ["own"]


def test_the_package_of_the_paper_is_one_like_any_other() -> None:
    found = load(ROOT / "reproduction")
    assert found is reproduction.EXPERIMENT
    assert found.published
    assert [name for name in reproduction.SCHEMES if name in SOURCES] == []
    text = (ROOT / "reproduction" / "__init__.py").read_text(encoding="utf-8")
    assert not re.search(r"plausibly\.experiments\.\w+ import", text)
