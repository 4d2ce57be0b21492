"""The Python of README and docs passes mypy in strict mode and pyright, page by page, as a reader would type it."""

from __future__ import annotations

import doctest
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")])
CHECKERS = {
    "mypy": ["mypy", "--strict", "--config-file=", "--follow-imports=silent", "--no-error-summary", "."],
    "pyright": ["pyright", "--pythonpath", sys.executable, "."],
}


def modules(page: Path) -> dict[str, str]:
    """The Python of a page: what is typed at the prompt as one module, and each file that the page shows.

    Every line keeps its number.
    """
    text, name = page.read_text(encoding="utf-8"), re.sub(r"\W", "_", page.relative_to(ROOT).with_suffix("").as_posix())
    lines: dict[int, str] = {}
    for example in doctest.DocTestParser().get_examples(text):
        lines |= dict(enumerate(example.source.splitlines(), example.lineno))
    found = {name: "\n".join(lines.get(i, "") for i in range(max(lines) + 1))} if lines else {}
    for block in re.finditer(r"^```python\n(.*?)^```$", text, flags=re.DOTALL | re.MULTILINE):
        if not re.search("^>>> ", block[1], flags=re.MULTILINE):
            first = text.count("\n", 0, block.start()) + 1
            found[f"{name}_line_{first}"] = "\n" * first + block[1]
    return found


def test_every_python_block_of_the_pages_is_checked() -> None:
    text = "".join("".join(modules(page).values()) for page in PAGES)
    blocks = sum(page.read_text(encoding="utf-8").count("\n```python\n") for page in PAGES)
    assert blocks > 100
    assert text.count("import plausibly") > 10
    assert "def stein(values" in text, "a file that a page shows"
    assert "plausibly.audit(scheme)" in text, "a block at the prompt"


@pytest.mark.full
@pytest.mark.parametrize("checker", CHECKERS)
def test_pages_pass_a_strict_type_checker(checker: str, tmp_path: Path) -> None:
    for page in PAGES:
        for name, source in modules(page).items():
            (tmp_path / f"{name}.py").write_text(f"{source}\n", encoding="utf-8")
    # At a prompt, an expression on a line by itself shows its value.
    settings = {"reportUnusedExpression": "none"}
    (tmp_path / "pyrightconfig.json").write_text(json.dumps(settings), encoding="utf-8")
    command = [sys.executable, "-m", *CHECKERS[checker]]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, encoding="utf-8")
    errors = [line for line in done.stdout.splitlines() if re.search(r"\berror\b(?!s)", line)]
    assert done.stderr == ""
    assert errors == []
