"""Normalizing texts before they get a code, by the steps and tables that devices have (docs/adr/0026)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields as fields_of
from dataclasses import replace
from typing import Any, Self

from ... import device
from ..errors import ParameterError
from ..wording import nearest, shown
from ..words import Setting, Words
from .base import Domain, Facts

STEPS = device.NORMALIZING
_SETTING = Setting("normalize")
_WORDS = {
    "nfc": "accents and letters put together (Unicode NFC)",
    "lower": "lower case",
    "strip": "no spaces at the ends",
}


def steps_of(given: object) -> tuple[str, ...]:
    """The steps of normalizing that an argument asks for, in their fixed order.

    >>> steps_of("lower, nfc")
    ('nfc', 'lower')
    """
    asked = [step.strip() for step in given.split(",")] if isinstance(given, str) else given
    if not isinstance(asked, Sequence) or not all(isinstance(step, str) for step in asked):
        raise ParameterError(Words(_SETTING, f": expected steps such as {','.join(STEPS)}, got {shown(given)}"))
    for step in asked:
        if step == "truncate":
            why = ": expected no step truncate, since strings are cut at their length anyway, after these steps"
            raise ParameterError(Words(_SETTING, why))
        if step not in STEPS:
            raise ParameterError(Words(_SETTING, f": unknown step {shown(step)}; {nearest(step, STEPS)}"))
    if len(set(asked)) != len(asked):
        raise ParameterError(Words(_SETTING, ": expected each step once, got one twice"))
    return tuple(step for step in STEPS if step in asked)


def normalized_texts(texts: Sequence[str], steps: Sequence[str]) -> list[str]:
    """Each text after the steps of normalizing, which are the same as on devices."""
    # Within ASCII Python's own methods do what the tables say, without a call for each text.
    plain = map(str.lower, texts) if "lower" in steps else texts
    done = list(map(str.strip, plain)) if "strip" in steps else list(plain)
    if not all(map(str.isascii, texts)):
        others = [place for place, text in enumerate(texts) if not text.isascii()]
        # Many users have the same text, and the tables take microseconds.
        known = {text: device.normalized(text, steps) for text in {texts[place] for place in others}}
        for place in others:
            done[place] = known[texts[place]]
    return done


class Normalizing(Domain):
    """A domain of texts that may be normalized before they get a code.

    Its dataclass has a parameter ``normalize`` and calls ``_read_steps`` first.
    """

    optional = frozenset({"normalize"})

    def _read_steps(self) -> None:
        object.__setattr__(self, "normalize", steps_of(self.normalize))

    def normalizing(self, steps: object) -> Self:
        return replace(self, normalize=steps_of(steps))  # type: ignore[type-var]

    def normalized(self, items: list[Any]) -> list[Any]:
        if not self.normalize:
            return items
        if all(issubclass(kind, str) for kind in set(map(type, items))):
            return normalized_texts(items, self.normalize)
        return [device.normalized(item, self.normalize) if isinstance(item, str) else item for item in items]

    def _normalize_facts(self) -> Facts:
        if not self.normalize:
            return []
        words = ", ".join(_WORDS[step] for step in self.normalize)
        return [("normalized", f"first of all, on devices too: {words}")]

    def _normalize_fields(self) -> dict[str, Any]:
        # Only where it is used: the JSON and the fingerprint of every other domain stay as they are.
        return {"normalize": list(self.normalize)} if self.normalize else {}

    @classmethod
    def expect_fields(cls, fields: Mapping[str, Any]) -> dict[str, Any]:
        given = super().expect_fields(fields)
        if "normalize" in given:
            written = given["normalize"]
            known = isinstance(written, list) and [step for step in STEPS if step in written]
            if not written or written != known:
                raise ParameterError(
                    f"normalize: expected some of {', '.join(STEPS)}, in this order, got {shown(written)}"
                )
        return given

    def __repr__(self) -> str:
        own: Any = self
        shown_fields = [field.name for field in fields_of(own) if field.repr]
        words = [f"{name}={getattr(self, name)!r}" for name in shown_fields if name != "normalize"]
        if self.normalize:
            words.append(f"normalize={','.join(self.normalize)!r}")
        return f"{type(self).__name__}({', '.join(words)})"
