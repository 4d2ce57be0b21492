"""Messages whose settings each tool spells in its own way: ``missing="skip"`` or ``--missing skip``."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Setting:
    """A parameter in a message, alone or with the value to give it. ``str`` spells it as Python does.

    ``of`` names the step it belongs to (plan, collect, search) if that is another one than the reader is taking;
    ``python`` is the spelling in Python if that is not an argument.

    >>> str(Setting("missing", "skip")), str(Setting("epsilon")), str(Setting("keys", True, python="Keys()"))
    ('missing="skip"', 'epsilon', 'Keys()')
    """

    name: str
    value: object = None
    of: str = ""
    python: str = ""

    def __str__(self) -> str:
        if self.python or self.value is None:
            return self.python or self.name
        value = f'"{repr(self.value)[1:-1]}"' if isinstance(self.value, str) else repr(self.value)
        return f"{self.name}={value}"


@dataclass(frozen=True)
class Kind:
    """The type of a value in a message that says which type was expected. ``str`` is its name in Python."""

    type: type

    def __str__(self) -> str:
        return self.type.__name__


Part = str | Setting | Kind


class Words(str):
    """A text for people, in Python's spelling, that remembers its parts, so that another tool can spell it again.

    >>> Words("no value; skip it with ", Setting("missing", "skip"))
    'no value; skip it with missing="skip"'
    """

    parts: tuple[Part, ...]

    def __new__(cls, *parts: Part) -> Words:
        """The text of these parts; the parts of other texts are kept."""
        flat: list[Part] = []
        for part in parts:
            flat.extend(part.parts if isinstance(part, Words) else [part])
        made = super().__new__(cls, "".join(map(str, flat)))
        made.parts = tuple(flat)
        return made

    def __add__(self, more: str) -> Words:
        return Words(self, more)


def kind_of(value: object) -> Kind:
    """The type of a value, for a message that says which type was expected."""
    return Kind(type(value))
