"""What runs the consoles of pages tells right from wrong."""

from __future__ import annotations

from pathlib import Path

from cases import in_turn
from consoles import Command, agrees, commands, run

PAGE = """A page.

```console
$ echo one \\
  two
one two
$ true
```

```sh
$ not this
```

```python
# shout.py
print("$1")

print("loud")
```

```python
>>> 1 + 1
2

```

```console
$ python shout.py
$1
loud
$ false
[exit code 1]
```
"""


def test_commands_are_found_with_their_output() -> None:
    assert commands(PAGE) == [
        Command(4, "echo one \\\n  two", "one two"),
        Command(7, "true", ""),
        Command(15, 'cat > shout.py <<\'END OF FILE\'\n# shout.py\nprint("$1")\n\nprint("loud")\nEND OF FILE', ""),
        Command(28, "python shout.py", "$1\nloud"),
        Command(31, "false", "[exit code 1]"),
    ]


def test_a_page_is_run_and_agrees_with_itself(tmp_path: Path) -> None:
    for command in commands(PAGE):
        assert agrees(command.output, run(command.text, tmp_path))


@in_turn(
    ("shown", "printed", "same"),
    [
        ("a\nb", "a\nb\n", True),
        ("a", "a\nb\n", False),
        ("a\n...", "a\nb\nc\n", True),
        ("a\n...\nc", "a\nc\n", True),
        ("...\nc", "a\nb\n", False),
        ("a.c", "abc\n", False),
        ("", "", True),
        ("", "a\n", False),
    ],
)
def test_dots_stand_for_lines_and_nothing_else_is_loose(shown: str, printed: str, same: bool) -> None:
    assert agrees(shown, printed) is same
