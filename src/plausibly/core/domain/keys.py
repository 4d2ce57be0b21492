"""Any text, bytes or integer, known by a keyed hash."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ... import kernels
from ...device import DeviceError, item_key
from ..arguments import json_integer, parse_integer, whole_number
from ..errors import ParameterError
from .base import Encoded, Facts, Items
from .items import listed, object_array, refuse
from .normalizing import Normalizing
from .registry import register_domain


@register_domain
@dataclass(frozen=True, repr=False)
class Keys(Normalizing):
    """Any str, bytes or int, encoded as a 64-bit keyed hash. Keys cannot be listed: estimates need candidates.

    Another ``hash_seed`` gives other keys, so that no two items collide in every collection.
    ``normalize="nfc,lower,strip"``, or some of these steps, changes texts before they are hashed, on devices too; bytes
    and integers are left as they are.
    """

    kinds = ("keys",)
    title = "keys"

    hash_seed: int = 0
    normalize: Any = ()  # not Sequence[str]: Keys(**seeds) with a dict of integers is well typed
    size: None = field(default=None, init=False, repr=False)

    def __post_init__(self) -> None:
        self._read_steps()
        object.__setattr__(self, "hash_seed", whole_number("hash_seed", self.hash_seed, 0, 2**64 - 1))

    @property
    def code_count(self) -> int:
        return 2**64

    def encode(self, items: object) -> Encoded:
        given = self.normalized(listed(items))
        seed = self.hash_seed
        contents, tag = _contents(given)
        if contents is not None:
            ends = np.cumsum(np.fromiter(map(len, contents), dtype=np.int64, count=len(contents)))
            return kernels.keyed_hash(np.frombuffer(b"".join(contents), dtype=np.uint8), ends, seed, tag)
        try:
            return np.fromiter((item_key(x, seed) for x in given), dtype=np.uint64, count=len(given))
        except DeviceError:
            # Checked one by one only now, so that the common case does not pay for the position.
            wrong = np.array([not _is_key(x, seed) for x in given])
            refuse(wrong, "expected keys: text that has a UTF-8 form, bytes or integers", given)
            raise

    def decode(self, codes: Encoded) -> Items:
        raise ParameterError("keys cannot be listed: the items must be given")

    def named(self, items: object) -> Items:
        given = self.normalized(listed(items))
        self.encode(given)
        return object_array(given)

    def ask(self, items: object) -> tuple[Encoded, Items]:
        given = self.normalized(listed(items))
        return self.encoded(self.encode(given)), object_array(given)

    def examples(self, count: int) -> Items:
        return object_array(f"item {i + 1}" for i in range(count))

    def describe(self) -> str:
        return "any text, asked about by candidates"

    def facts(self) -> Facts:
        known = "any text, as a 64-bit hash of it; the server can count what it can name"
        return [("values", known), *self._normalize_facts(), ("others", "there are none")]

    @property
    def argument(self) -> str:
        return f"domain={self!r}" if self.hash_seed or self.normalize else "domain=Keys()"

    def to_dict(self) -> dict[str, Any]:
        return {"type": "keys", "hash_seed": json_integer(self.hash_seed)} | self._normalize_fields()

    @classmethod
    def from_dict(cls, fields: Mapping[str, Any]) -> Keys:
        given = cls.expect_fields(fields)
        return cls(**given | {"hash_seed": parse_integer("hash_seed", given["hash_seed"])})


def _contents(items: list[Any]) -> tuple[list[bytes] | None, bytes]:
    # The bytes of keys that are all of one plain type, and its tag; None where they must be looked at one by one.
    kinds = set(map(type, items))
    try:
        if kinds == {str}:
            return [item.encode() for item in items], b"str"
        if kinds == {int}:
            return [b"%d" % item for item in items], b"int"
    except ValueError:
        return None, b""
    return (items, b"") if kinds == {bytes} else (None, b"")


def _is_key(item: object, hash_seed: int) -> bool:
    try:
        item_key(item, hash_seed)
    except DeviceError:
        return False
    return True
