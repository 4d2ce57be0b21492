"""Texts of an alphabet, known by their symbols."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from ... import device
from ..arguments import whole_number
from ..errors import DomainError, ParameterError
from ..wording import label_of, plural, shown
from ..words import Kind, Part, Setting, Words, kind_of
from .base import TAKE_OTHERS, Encoded, Facts, Items
from .items import listed, object_array, one_dimensional, refuse, refuse_asked, type_name
from .normalizing import Normalizing, normalized_texts
from .registry import register_domain
from .symbols import Rows, symbol_number, symbol_row, symbol_rows

OTHER_CHARACTER = "\N{REPLACEMENT CHARACTER}"
MAX_SYMBOLS = 2**16
MAX_LENGTH = 256
_TEXTS_AT_ONCE = 2**16
_DEVICES = "devices refuse the scheme"


@register_domain
@dataclass(frozen=True, repr=False)
class Strings(Normalizing):
    """Texts of up to ``length`` characters of an alphabet, including the empty text; byte strings for a bytes alphabet.

    The code of a text is the row of its symbols: 0 is the pad, which fills up short texts and never occurs inside; the
    characters follow in the order of the alphabet. Longer texts are cut (``long="truncate"``) or refused. With
    ``other`` one more, last symbol takes every character outside the alphabet: a scheme for devices should have it,
    and should truncate, because refusing to report is itself an output that reveals something.
    ``normalize="nfc,lower,strip"``, or some of these steps, changes texts before they are cut, on devices too.
    """

    kinds = ("strings", "byte strings")
    title = "strings"
    searchable = True

    alphabet: str | bytes
    length: int
    long: Literal["truncate", "refuse"] = "truncate"
    other: bool = False
    normalize: Sequence[str] = ()
    size: None = field(default=None, init=False, repr=False)

    def __post_init__(self) -> None:
        self._read_steps()
        if not isinstance(self.alphabet, str | bytes):
            raise ParameterError(
                Words(Setting("alphabet"), ": expected characters, as text or bytes, got ", type_name(self.alphabet))
            )
        if len(set(self.alphabet)) != len(self.alphabet):
            raise ParameterError(
                Words(Setting("alphabet"), ": expected distinct characters, some occur more than once")
            )
        if isinstance(self.alphabet, str) and any("\ud800" <= character <= "\udfff" for character in self.alphabet):
            raise ParameterError("alphabet: expected characters that have a UTF-8 form")
        if not isinstance(self.other, bool):
            raise ParameterError(Words(Setting("other"), ": expected true or false, got ", kind_of(self.other)))
        if self.other and not isinstance(self.alphabet, str):
            raise ParameterError("other: goes with an alphabet of text; bytes(range(256)) has every byte")
        if self.other and OTHER_CHARACTER in str(self.alphabet):
            fix = Setting("other", True)
            raise ParameterError(
                Words(Setting("alphabet"), ": the replacement character stands for those that ", fix, " takes")
            )
        if self.long not in ("truncate", "refuse"):
            raise ParameterError(f"long: expected truncate or refuse, got {shown(self.long)}")
        whole_number("alphabet: number of characters", len(self.alphabet) + self.other, 1, MAX_SYMBOLS - 1)
        object.__setattr__(self, "length", whole_number("length", self.length, 1, MAX_LENGTH))
        self._expect_normalized()

    def _expect_normalized(self) -> None:
        # A character that normalizing changes would never occur.
        if not self.normalize:
            return
        if isinstance(self.alphabet, bytes):
            raise ParameterError("normalize: goes with an alphabet of text, got bytes")
        for step in self.normalize:
            changed = sum(device.normalized(character, [step]) != character for character in self.alphabet)
            if changed and step != "strip":  # a space may stand inside a text
                raise ParameterError(
                    f"alphabet: expected characters that normalizing leaves as they are, got "
                    f"{plural(changed, 'character')} that {step} changes; leave them out"
                )

    @property
    def symbols(self) -> int:
        """Number of symbols of the strings: the pad, the characters, and the one for all others if there is one."""
        return 1 + len(self.alphabet) + self.other

    @property
    def symbol_dtype(self) -> np.dtype[Any]:
        """The type of a symbol of the strings; hashes are computed over its bytes."""
        return np.dtype("<u1" if self.symbols <= 256 else "<u2")

    @cached_property
    def _symbol_of(self) -> Rows:
        # By code point; 0 for what is not in the alphabet. The last place is for all beyond the alphabet's last one.
        points = [ord(character) for character in self._characters]
        table = np.full(max(points, default=0) + 2, self.symbols - 1 if self.other else 0, dtype=self.symbol_dtype)
        table[points] = np.arange(1, 1 + len(points))
        return table

    def _symbols_of(self, points: npt.NDArray[Any]) -> Rows:
        last = np.uint32(len(self._symbol_of) - 1)
        symbols: Rows = self._symbol_of[np.minimum(points, last)]
        return symbols

    @property
    def _characters(self) -> str:
        return self.alphabet if isinstance(self.alphabet, str) else self.alphabet.decode("latin-1")

    def encode(self, items: object) -> Encoded:
        """The symbols of each string, normalized, a row of ``length`` symbols each."""
        return self._encode(items, self.normalize)

    def literal(self, texts: object) -> Rows:
        """The symbols of texts taken as they are: of prefixes, which may end in a space where strings do not."""
        return self._encode(texts, ())

    def _encode(self, items: object, steps: Sequence[str]) -> Rows:
        if not steps and type(items) is np.ndarray and items.dtype.kind == "U":
            found = self._rows_of_array(items)
            if found is not None:
                return found
        given, kind = listed(items), type(self.alphabet)
        if not all(issubclass(came, kind) for came in set(map(type, given))):
            wrong = np.array([not isinstance(x, kind) for x in given])
            refuse(wrong, Words("expected texts (", Kind(kind), ")"), given)
        rows = np.zeros((len(given), self.length), dtype=self.symbol_dtype)
        for first in range(0, len(given), _TEXTS_AT_ONCE):
            texts = given[first : first + _TEXTS_AT_ONCE]
            if steps:
                texts = self._shortened(normalized_texts(texts, steps))
            self._encode_texts(texts, rows[first : first + _TEXTS_AT_ONCE], first)
        return rows

    def _shortened(self, texts: list[str]) -> list[str]:
        # Only where the cut leaves a space at the end; the others are cut later, all at once.
        length, steps = self.length, self.normalize
        if self.long == "refuse" or "strip" not in steps or max(map(len, texts)) <= length:
            return texts
        return [
            device.shortened(text, length, steps) if len(text) > length and text[length - 1] in device.SPACES else text
            for text in texts
        ]

    def _encode_texts(self, texts: list[Any], rows: Rows, first: int) -> None:
        lengths = np.fromiter(map(len, texts), dtype=np.int64, count=len(texts))
        self._refuse_long(lengths > self.length, first)
        points: npt.NDArray[Any]
        if isinstance(self.alphabet, bytes):
            points = np.frombuffer(b"".join(texts), dtype=np.uint8)
        else:
            points = np.frombuffer("".join(texts).encode("utf-32-le", "surrogatepass"), dtype="<u4")
        if int(lengths.max()) > self.length:
            place = np.arange(len(points)) - np.repeat(np.cumsum(lengths) - lengths, lengths)
            points = points[place < self.length]
            lengths = np.minimum(lengths, self.length)
        symbols = self._symbols_of(points)
        if not symbols.all():
            self._refuse_unknown(np.repeat(np.arange(len(texts)), lengths)[symbols == 0], len(texts), first)
        rows[np.arange(self.length) < lengths[:, None]] = symbols

    def _rows_of_array(self, texts: npt.NDArray[Any]) -> Rows | None:
        # NumPy's texts are rows of code points already, filled up with zeros; None where a zero is also a character.
        if not isinstance(self.alphabet, str) or "\0" in self.alphabet or not texts.dtype.isnative or not texts.size:
            return None
        texts = np.ascontiguousarray(one_dimensional(texts))
        points = texts.view(np.uint32).reshape(len(texts), texts.itemsize // 4)
        rows = np.zeros((len(texts), self.length), dtype=self.symbol_dtype)
        for first in range(0, len(texts), _TEXTS_AT_ONCE):
            chunk = points[first : first + _TEXTS_AT_ONCE]
            pads = chunk == 0
            if (pads[:, :-1] & ~pads[:, 1:]).any():
                return None
            self._encode_points(chunk, pads, rows[first : first + _TEXTS_AT_ONCE], first)
        return rows

    def _encode_points(self, points: npt.NDArray[Any], pads: npt.NDArray[np.bool_], rows: Rows, first: int) -> None:
        width = min(self.length, points.shape[1])
        if width < points.shape[1]:
            self._refuse_long(~pads[:, width], first)
        points, pads, symbols = points[:, :width], pads[:, :width], rows[:, :width]
        symbols[...] = self._symbols_of(points)
        if self.other:
            symbols[pads] = 0
        elif np.count_nonzero(symbols) + np.count_nonzero(pads) != symbols.size:
            unknown = (symbols == 0) & ~pads
            self._refuse_unknown(np.flatnonzero(unknown.any(axis=1)), len(rows), first)

    def _refuse_long(self, long: npt.NDArray[np.bool_], first: int) -> None:
        if self.long == "refuse":
            refuse(
                long,
                Words(f"expected at most {self.length} characters (", Setting("long", "truncate"), " cuts the rest)"),
                first=first,
            )

    def _refuse_unknown(self, texts: npt.NDArray[np.intp], count: int, first: int) -> None:
        wrong = np.zeros(count, dtype=np.bool_)
        wrong[texts] = True
        hint = Words(" (", TAKE_OTHERS, " takes any)") if isinstance(self.alphabet, str) else ""
        refuse(wrong, Words("expected characters of the alphabet only", hint), first=first)

    def changes(self, codes: Encoded, item_at: Callable[[int], Any]) -> Mapping[str, int]:
        # A cut text fills its row, unless the cut leaves a space at the end that normalizing removes.
        full = np.flatnonzero(codes[:, -1]).tolist()
        cut = sum(len(text) > self.length for text in self.normalized([item_at(place) for place in full]))
        others = codes == self.symbols - 1
        # Row by row only if there are some: that takes longer.
        strange = int(np.count_nonzero(others.any(axis=1))) if self.other and others.any() else 0
        found = {f"cut after {self.length} characters": cut, self._strange_in_words: strange}
        return {words: count for words, count in found.items() if count}

    @property
    def _strange_in_words(self) -> str:
        told = "with characters outside the alphabet, each reported as the one symbol for all others"
        if self.normalize:
            return told
        fix = Setting("normalize", "lower,strip", of="plan")
        return Words(told, "; for capitals and spaces at the ends, use ", fix)

    def ask(self, items: object) -> tuple[Encoded, Items]:
        given = self.normalized(listed(items))
        known = {*self.alphabet, *OTHER_CHARACTER * self.other}
        for position, text in enumerate(given):
            if isinstance(text, self.item_type) and not known.issuperset(text[: self.length]):
                refuse_asked(position, self._foreign, self._foreign_told(text, known))
        return super().ask(given)

    def _foreign_told(self, text: Any, known: set[Any]) -> str:
        strange = next(character for character in text if character not in known)
        if not isinstance(strange, str):
            return self._foreign
        counted = "; it is counted like every other such character" * self.other
        lower = known.issuperset(text.lower()[: self.length])
        suggested = f"; did you mean {shown(text.lower())}?" * lower
        return f"{shown(strange)} is not in the alphabet{counted}{suggested}"

    @property
    def _foreign(self) -> str:
        counted = ", which is counted like every other character outside it" * self.other
        return f"expected characters of the alphabet, got another one{counted}"

    def encoded(self, values: object) -> Encoded:
        """The rows of symbols unchanged, if they look like encoded strings. Raises otherwise."""
        dtype = self.symbol_dtype
        if not isinstance(values, np.ndarray) or values.dtype != dtype or values.shape[1:] != (self.length,):
            expected = f"rows of {self.length} symbols ({dtype})"
            raise DomainError(f"values: expected {expected} that the domain has encoded, got something else")
        rows: Rows = np.ascontiguousarray(values)
        ended = (rows[:, :-1] == 0) & (rows[:, 1:] != 0)
        if len(rows) and (int(rows.max()) >= self.symbols or ended.any()):
            raise DomainError("values: expected symbols that the domain has encoded, got others")
        return rows

    def decode(self, codes: Encoded) -> Items:
        """The strings of rows of symbols."""
        characters = "\0" + self._characters + OTHER_CHARACTER * self.other
        rows = np.asarray(codes)
        if isinstance(self.alphabet, str) and "\0" not in self.alphabet and rows.shape[1]:
            # NumPy forgets the zeros at the end of a text.
            points = np.array([ord(character) for character in characters], dtype=np.uint32)[rows]
            return object_array(points.view(f"<U{rows.shape[1]}")[:, 0].tolist())
        texts = ["".join([characters[symbol] for symbol in row if symbol]) for row in rows.tolist()]
        return object_array(texts if isinstance(self.alphabet, str) else [text.encode("latin-1") for text in texts])

    def number(self, code: Any) -> int:
        """The symbols of a string as the digits of a number, the first one the highest."""
        return symbol_number(np.asarray(code).tolist(), self.symbols)

    def row(self, number: int) -> Rows:
        """The symbols of the string that are the digits of a number."""
        return np.array(symbol_row(number, self.symbols, self.length), dtype=self.symbol_dtype)

    @property
    def code_count(self) -> int:
        """Number of strings, of every length."""
        return sum((self.symbols - 1) ** length for length in range(self.length + 1))

    def of_number(self, number: int) -> Encoded:
        return self.row(number)[None, :]

    def spread(self, count: int) -> Encoded:
        """Up to ``count`` evenly spaced strings, in the order of their length and then of the alphabet."""
        letters, ranks = self.symbols - 1, self.ranks(count)
        rows, first = np.zeros((len(ranks), self.length), dtype=self.symbol_dtype), 0
        start = 0  # the rank of the first text of a length
        for length in range(self.length + 1):
            following = start + letters**length
            last = bisect_left(ranks, following)
            own = [rank - start for rank in ranks[first:last]]
            rows[first:last, :length] += 1
            if following - start <= 2**64:
                rows[first:last, :length] += symbol_rows(np.array(own, dtype=np.uint64), letters, length, rows.dtype)
            else:
                for i, rank in enumerate(own, first):
                    rows[i, :length] += np.array(symbol_row(rank, letters, length), dtype=rows.dtype)
            first, start = last, following
        return rows

    def examples(self, count: int) -> Items:
        return self.decode(self.spread(count))

    @property
    def item_type(self) -> type[str] | type[bytes]:
        return str if isinstance(self.alphabet, str) else bytes

    def parse(self, texts: Sequence[str]) -> list[Any]:
        parsed = super().parse(texts)
        return parsed if self.item_type is str else [text.encode() for text in parsed]

    def describe(self) -> str:
        return f"unknown strings of up to {self.length} of {self.symbols - 1} characters"

    def facts(self) -> Facts:
        text = isinstance(self.alphabet, str)
        unit = "characters" if text else "bytes"
        shown = f": {label_of(self.alphabet)}" if text else ""
        values = f"texts of up to {self.length} {unit} of an alphabet of {len(self.alphabet)}{shown}"
        long: str = f"cut after {self.length} {unit}"
        if self.long == "refuse":
            long = Words(f"refused, and {_DEVICES} (", Setting("long", "truncate"), " cuts them)")
        others = (f"other {unit}", self._others_in_words())
        return [("values", values), *self._normalize_facts(), ("longer texts", long), others]

    def _others_in_words(self) -> str:
        if self.other:
            return "each is reported as the one symbol for all others"
        if self._every_character:
            return "there are none"
        takes: Part = "an alphabet of all 256 bytes" if isinstance(self.alphabet, bytes) else TAKE_OTHERS
        return Words(f"texts with them are refused, and {_DEVICES} (", takes, " takes them)")

    @property
    def _every_character(self) -> bool:
        return self.other or (isinstance(self.alphabet, bytes) and len(self.alphabet) == 256)

    @property
    def argument(self) -> str:
        return "domain=Strings(...)"

    @property
    def refusals(self) -> tuple[str, ...]:
        found = []
        if not self._every_character:
            adds = Words(TAKE_OTHERS, " adds one.")
            if isinstance(self.alphabet, bytes):
                adds = Words("An alphabet of all 256 bytes needs none.")
            found.append(Words("it has no item for other values. ", adds))
        if self.long == "refuse":
            found.append(Words("it refuses longer texts. ", Setting("long", "truncate"), " cuts them."))
        return tuple(found)

    def to_dict(self) -> dict[str, Any]:
        text = isinstance(self.alphabet, str)
        alphabet = self.alphabet if isinstance(self.alphabet, str) else self.alphabet.hex()
        fields = {"type": "strings" if text else "byte strings", "alphabet": alphabet, "length": self.length}
        return fields | {"long": self.long, "other": self.other} | self._normalize_fields()

    @classmethod
    def from_dict(cls, fields: Mapping[str, Any]) -> Strings:
        given = cls.expect_fields(fields)
        if not isinstance(given["alphabet"], str):
            raise ParameterError(Words(Setting("alphabet"), ": expected text, got ", type_name(given["alphabet"])))
        if fields["type"] == "byte strings":
            try:
                given["alphabet"] = bytes.fromhex(given["alphabet"])
            except ValueError:
                raise ParameterError("alphabet: expected the bytes in hexadecimal, got another text") from None
        return cls(**given)
