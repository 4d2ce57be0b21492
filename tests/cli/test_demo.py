"""plausibly demo: the whole story runs and ends with a picture and a page; nobody else's files are touched."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from plausibly.cli import app
from plausibly.demo.story import Story


def run(*arguments: object) -> tuple[int, str, str]:
    result = CliRunner().invoke(app, ["demo", *map(str, arguments)])
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result.exit_code, result.stdout, result.stderr


@pytest.mark.full
def test_the_story_ends_with_the_truth_a_picture_and_a_page(tmp_path: Path) -> None:
    folder = tmp_path / "d"
    folder.mkdir()
    (folder / "demo.png").write_text("of an earlier demo", encoding="utf-8")
    code, shown, told = run("--out", folder, "--users", 20_000, "--json")
    assert code == 0
    for step in Story(folder, 20_000).steps():
        assert step.heading in told
    assert "SIMULATED" not in told
    ending = json.loads(shown)
    assert ending["rows"][0]["site"] == "amber-atlas.example"
    assert ending["rows"][0]["true"] == "4,087"
    assert Path(ending["picture"]).read_bytes().startswith(b"\x89PNG")
    page = Path(ending["page"]).read_text(encoding="utf-8")
    assert page.count("<tr>") == 11
    assert 'href="found.html"' in page
    assert "What the server sees" not in page, "the picture has the truth, which no server sees"
    assert 'class="simulated"' in page
    assert '<source media="(max-width: 46rem)"' in page
    assert 'data-name="found, 95 % interval"' in page
    assert not (folder / "demo-narrow.svg").exists()
    assert (folder / "found.html").exists()
    assert not (folder / "demo.svg").exists()


def test_folders_with_other_files_and_tiny_crowds_are_refused(tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("mine", encoding="utf-8")
    code, _, told = run("--out", tmp_path)
    assert code == 1
    assert "got others" in told
    code, _, told = run("--out", tmp_path / "d", "--users", 5)
    assert code == 2
    assert "users: expected 1000 to" in told
    assert [path.name for path in tmp_path.iterdir()] == ["mine.txt"]
