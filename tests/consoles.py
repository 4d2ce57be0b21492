"""Blocks of ``console`` on a page, run like a person would: commands after ``$``, and below each what it prints.

All blocks of a page share a folder, which begins empty. A line of three dots stands for any lines. A block of Python
that begins with a comment of a file's name, ``# mine.py``, is that file: it is written when the page comes to it.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Command:
    """A command of a page, and what the page says it prints."""

    line: int
    text: str
    output: str


def commands(page: str) -> list[Command]:
    """The commands of all console blocks; one that ends with a backslash goes on in the next line."""
    found: list[Command] = []
    for block in re.finditer(r"^```(?:console|python)\n(.*?)^```$", page, flags=re.DOTALL | re.MULTILINE):
        first = page.count("\n", 0, block.start()) + 2
        if block[0].startswith("```python"):
            if named := re.match(r"# (\w+\.py)\n", block[1]):
                found.append(Command(first, f"cat > {named[1]} <<'END OF FILE'\n{block[1]}END OF FILE", ""))
            continue
        command: list[str] = []
        output: list[str] = []
        start = first
        for number, line in enumerate(block[1].splitlines(), first):
            if line.startswith("$ "):
                if command:
                    found.append(Command(start, "\n".join(command), "\n".join(output)))
                start, command, output = number, [line[2:]], []
            elif command and not output and command[-1].endswith("\\"):
                command.append(line)
            else:
                output.append(line)
        assert command, f"line {first}: a console block without a command"
        found.append(Command(start, "\n".join(command), "\n".join(output)))
    return found


def run(command: str, folder: Path) -> str:
    """What a shell prints, both streams as they come; the environment of the tests has the commands."""
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])
    environment = {**os.environ, "PATH": path, "NO_COLOR": "1"}
    done = subprocess.run(
        ["bash", "-c", command],
        cwd=folder,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        timeout=300,
    )
    text = done.stdout.decode("utf-8")
    # An exit code is part of what a page shows, if it is not 0.
    return text if done.returncode == 0 else f"{text}[exit code {done.returncode}]\n"


def agrees(shown: str, printed: str) -> bool:
    """Whether the output is the shown one, but for spaces at the ends of lines and what dots stand for."""
    lines = [line.rstrip() for line in shown.strip("\n").splitlines()]
    pattern = "".join(r"(?:.*\n)*?" if line.strip() == "..." else re.escape(line) + "\n" for line in lines)
    got = "".join(f"{line.rstrip()}\n" for line in printed.strip("\n").splitlines())
    return re.fullmatch(pattern, got) is not None
