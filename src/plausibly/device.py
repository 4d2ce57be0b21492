"""The device path of plausibly: scheme JSON + value -> record bytes. One file, standard library only.

Copy this file to the device; it imports nothing else of the package. Typical use:

    import device
    client = device.load(scheme_json, max_epsilon=2)   # once; refuses a scheme that breaks its own promise, or yours
    record = client.privatize("example.org")           # bytes, to be sent as they are

Every random choice is made by two primitives over whole 64-bit words, ``bernoulli(T)`` and ``below(m)``, in a fixed
order and a fixed number of times: neither the size of a record nor the number of words read depends on the value
or on an earlier coin (except that ``below`` repeats a refused word, with a probability that is the same for every
value). The bulk path, the exact audit and a browser client are held to this file, word for word, by test vectors.
"""

from __future__ import annotations

import json
import re
import secrets
from collections.abc import Callable, Sequence
from datetime import date, datetime, timedelta
from fractions import Fraction
from functools import cached_property
from hashlib import blake2s, sha256
from itertools import pairwise
from typing import Any, Protocol
from unicodedata import normalize

__all__ = [
    "DOMAINS",
    "MAX_EPSILON",
    "NORMALIZING",
    "RANDOMIZERS",
    "Client",
    "DeviceError",
    "Digit",
    "Document",
    "Domain",
    "Fields",
    "Grouped",
    "Memo",
    "Memoised",
    "Oracle",
    "Part",
    "Randomizer",
    "Source",
    "WordSource",
    "load",
    "normalized",
    "randomizer_of",
    "register",
    "register_domain",
]

MAX_EPSILON = 8
"""The largest epsilon that a device accepts unless it is told otherwise: a suspicion of 1 % may become 97 %."""

# What one report may cost a device: 16 MiB of random words (and 200 MB for the places of a subset), 1 MiB to send.
_MOST_WORDS = 2**21
_MOST_BYTES = 2**20
# What a document may cost: a million labels have some twenty million characters.
_MOST_CHARACTERS = 2**25
_MOST_BRACKETS = 2**20
_MOST_PREFIXES = 2**16
_MOST_ORACLES = 2**8

_WORD = 2**64
_M32 = 0xFFFFFFFF


class DeviceError(ValueError):
    """The scheme or the value cannot be used. The message never contains the value."""


class Source(Protocol):
    """A source of the two primitives."""

    def bernoulli(self, threshold: int) -> bool:
        """True with probability threshold / 2^64."""
        ...

    def below(self, size: int) -> int:
        """An exactly uniform integer in [0, size)."""
        ...


class WordSource:
    """The two primitives over words read from ``read(count) -> bytes``, the operating system's secrets by default."""

    def __init__(self, words: int, read: Callable[[int], bytes] = secrets.token_bytes) -> None:
        # All words at once: the number of reads must not depend on the coins.
        self._read = read
        self._refill(words)

    def bernoulli(self, threshold: int) -> bool:
        """True with probability threshold / 2^64."""
        return self._word() < threshold

    def below(self, size: int) -> int:
        """An exactly uniform integer in [0, size); at least one word, also for size 1."""
        limit = _WORD - _WORD % size
        word = self._word()
        while word >= limit:
            word = self._word()
        return word % size

    def _word(self) -> int:
        if self._position == len(self._bytes):
            self._refill(1)
        self._position += 8
        return int.from_bytes(self._bytes[self._position - 8 : self._position], "little")

    def _refill(self, words: int) -> None:
        self._bytes, self._position = self._read(8 * words), 0
        # What is missing would count as zeros, and a word of zeros means "send the truth".
        if len(self._bytes) != 8 * words:
            raise DeviceError("the random source did not give the bytes asked for; do not send anything")


# --- hashing ----------------------------------------------------------------------------------------------------


def key64(content: bytes, hash_seed: int, tag: bytes = b"") -> int:
    """The 64-bit key of ``content``: BLAKE2s personalised by the hash seed, salted by the purpose of the key."""
    digest = blake2s(content, digest_size=8, person=hash_seed.to_bytes(8, "little"), salt=tag)
    return int.from_bytes(digest.digest(), "little")


def item_key(item: object, hash_seed: int) -> int:
    """The 64-bit key of an item of ``Keys()``. The tags keep 5, "5" and b"5" apart."""
    if isinstance(item, bytes):
        return key64(item, hash_seed)
    if isinstance(item, bool) or not isinstance(item, str | int):
        raise DeviceError(f"expected a key (str, bytes or int), got {type(item).__name__}")
    content = _text_bytes(item)
    if content is None:
        raise DeviceError("expected text that has a UTF-8 form, or an integer below 10^4300, got another")
    return key64(content, hash_seed, b"str" if isinstance(item, str) else b"int")


def _text_bytes(item: str | int) -> bytes | None:
    # None rather than an error raised from here: Python's own error would travel along and show the item.
    # The text or number itself: str() of an enumeration is its name, and a subclass may say anything.
    try:
        return "".join((item,)).encode() if isinstance(item, str) else b"%d" % item
    except ValueError:
        return None


def local_hash(seed: int, value: int, split: int, size: int) -> int:
    """The hash of ``value`` under ``seed``, below ``size``: two-character tabulation in 32-bit operations."""
    low, high = seed & _M32, seed >> 32
    return (_entry(low, high, value % split, size) + _entry(high, low, value // split, size)) % size


def _entry(first: int, second: int, character: int, size: int) -> int:
    # The table entry of a character: a 32-bit permutation of the character, then two keyed mixing rounds.
    j = character ^ character >> 16
    j = j * 0x21F0AAAD & _M32
    j ^= j >> 15
    j = j * 0xD35A2D97 & _M32
    j ^= j >> 15
    t = (j ^ first) * 0x21F0AAAD & _M32
    t ^= t >> 15
    t = (t ^ second) * 0xD35A2D97 & _M32
    t ^= t >> 15
    return (t >> 8) * size >> 24


def public_hash_seed(hash_seed: int, index: int) -> int:
    """The seed of one of the public hash functions of fast local hashing."""
    return key64(index.to_bytes(8, "little"), hash_seed, b"FLH seed")


def row_seed(hash_seed: int, row: int) -> int:
    """The seed of the hash function of a row of a sketch."""
    return key64(row.to_bytes(8, "little"), hash_seed, b"row seed")


def bloom_seed(hash_seed: int, row: int) -> int:
    """The seed of a hash function of Bloom filters; with k per cohort, number j of cohort c is row c*k + j."""
    return key64(row.to_bytes(8, "little"), hash_seed, b"bloom")


def _parity(word: int) -> int:
    return word.bit_count() & 1


# --- documents: every field is read once, by name and type, and a field that nobody reads is refused ------------


class Fields:
    """The fields of a JSON object. ``close`` raises if a field was not read."""

    def __init__(self, written: object, name: str) -> None:
        if type(written) is not dict:
            raise DeviceError(f"{name}: expected a JSON object, got {type(written).__name__}")
        self._name = name
        self._left = dict(written)

    def __contains__(self, name: str) -> bool:
        return name in self._left

    def close(self) -> None:
        """Raise if a field was not read."""
        if self._left:
            # Not by name: the author of the document chose it.
            raise DeviceError(f"{self._name}: expected no further fields, got {len(self._left)} more")

    def whole(self, name: str, least: int, most: int) -> int:
        """A whole number in [least, most], written as a JSON number."""
        return _within(name, self._take(name, int), least, most)

    def wholes(self, name: str, least: int, most: int) -> list[int]:
        """A list of whole numbers in [least, most]."""
        numbers = self._take(name, list)
        if not all(type(number) is int for number in numbers):
            raise DeviceError(f"{name}: expected a list of whole numbers, got other things in it")
        return [_within(name, number, least, most) for number in numbers]

    def seed(self, name: str) -> int:
        """A 64-bit number: a JSON number below 2^53, else decimal text, because JavaScript would round it."""
        if type(self._left.get(name)) is int:
            return self.whole(name, 0, 2**53 - 1)
        return _within(name, self._decimal(name), 2**53, _WORD - 1)

    def threshold(self, name: str) -> int:
        """A probability times 2^64, strictly between 0 and 2^64, as decimal text."""
        return _within(name, self._decimal(name), 1, _WORD - 1)

    def fraction(self, name: str, most: int) -> Fraction:
        """A positive fraction in lowest terms, as text."""
        return _fraction(name, self._take(name, str), most)

    def choice(self, name: str, *choices: str) -> str:
        """One of several texts."""
        text: str = self._take(name, str)
        if text not in choices:
            raise DeviceError(f"{name}: expected one of {', '.join(choices)}, got another text")
        return text

    def text(self, name: str) -> str:
        """Any text that has a UTF-8 form."""
        text: str = self._take(name, str)
        if not _has_bytes(text):
            raise DeviceError(f"{name}: expected text that has a UTF-8 form, got text without one")
        return text

    def ratios(self, name: str) -> list[tuple[int, int]]:
        """A list of numbers as fractions: a JSON number if it is whole and below 2^53, else the text of a double."""
        found = [_written_ratio(number) for number in self._take(name, list)]
        ratios = [ratio for ratio in found if ratio]
        if len(ratios) != len(found):
            raise DeviceError(f"{name}: expected numbers, those that are not whole as text, got other things")
        return ratios

    def day(self, name: str) -> int:
        """A date, written as 2026-01-31, in days since 1970-01-01."""
        day = _day_of_text(self.text(name))
        if day is None:
            raise DeviceError(f"{name}: expected a date such as 2026-01-31, got another text")
        return day

    def given(self, name: str, value: object) -> bool:
        """Whether an option has a value that is not its default; a field with its default is refused."""
        if name in self:
            self.exactly(name, value)
            return True
        return False

    def label(self, name: str) -> None:
        """A short text for people, if the field is there."""
        if name in self and not 1 <= len(self.text(name)) <= 40:
            raise DeviceError(f"{name}: expected a text of 1 to 40 characters, got another one")

    def texts(self, name: str) -> list[str]:
        """A list of texts that have a UTF-8 form."""
        texts: list[str] = self._take(name, list)
        if not all(type(text) is str for text in texts) or not _has_bytes("".join(texts)):
            raise DeviceError(f"{name}: expected a list of texts that have a UTF-8 form, got other things in it")
        return texts

    def objects(self, name: str, least: int, most: int) -> list[Any]:
        """A list of ``least`` to ``most`` JSON objects, which are read by the caller."""
        written: list[Any] = self._take(name, list)
        if not least <= len(written) <= most:
            raise DeviceError(f"{name}: expected {least} to {most} objects, got another number")
        return written

    def number_lists(self, name: str, most: int, below: int) -> list[list[int]]:
        """A list of 1 to ``most`` lists of rising whole numbers below a bound, none of them empty."""
        written: list[Any] = self._take(name, list)
        sound = 1 <= len(written) <= most and all(
            type(own) is list
            and own
            and all(type(number) is int and 0 <= number < below for number in own)
            and all(a < b for a, b in pairwise(own))
            for own in written
        )
        if not sound:
            raise DeviceError(f"{name}: expected lists of rising whole numbers below {below}, got others")
        return written

    def steps(self, name: str) -> tuple[str, ...]:
        """The steps by which a domain normalizes texts, in their fixed order; none if there is no such field."""
        if name not in self:
            return ()
        steps = tuple(self.texts(name))
        if not steps or steps != tuple(step for step in NORMALIZING if step in steps):
            raise DeviceError(f"{name}: expected some of {', '.join(NORMALIZING)}, in this order, got others")
        return steps

    def flag(self, name: str) -> bool:
        """True or false."""
        flag: bool = self._take(name, bool)
        return flag

    def exactly(self, name: str, expected: object) -> None:
        """Raise unless the field has the value that follows from the others."""
        if self._take(name, type(expected)) != expected:
            raise DeviceError(f"{name}: expected {expected}, which follows from the other fields, got another value")

    def inner(self, name: str) -> dict[str, Any]:
        """A JSON object within this one."""
        found: dict[str, Any] = self._take(name, dict)
        return found

    def _decimal(self, name: str) -> int:
        text: str = self._take(name, str)
        # As str() would write it: no sign, no space, no other digits, no leading zero.
        if not (text.isascii() and text.isdigit() and len(text) <= 20 and str(int(text)) == text):
            raise DeviceError(f"{name}: expected decimal digits as text, got another text")
        return int(text)

    def _take(self, name: str, kind: type) -> Any:
        if name not in self._left:
            raise DeviceError(f"{name}: expected in the {self._name}, the field is missing")
        # The exact type: True is no number, 2.0 is no whole one.
        if type(self._left[name]) is not kind:
            raise DeviceError(f"{name}: expected {_JSON_NAMES[kind]}, got {type(self._left[name]).__name__}")
        return self._left.pop(name)


_JSON_NAMES: dict[type, str] = {
    int: "a whole number",
    str: "text",
    bool: "true or false",
    list: "a list",
    dict: "a JSON object",
}


def _within(name: str, number: int, least: int, most: int) -> int:
    if not least <= number <= most:
        raise DeviceError(f"{name}: expected {least} to {most}, got another number")
    return number


_DOUBLE: Any = type(json.loads("0.5"))
"""The type of numbers with a decimal point. They are turned into fractions, which are compared, and nothing else."""


def _written_ratio(written: object) -> tuple[int, int] | None:
    # Every number has one text, so that a scheme has one fingerprint: of a double, the shortest that it is read from.
    if type(written) is int:
        return (written, 1) if abs(written) < 2**53 else None
    if type(written) is not str or not re.fullmatch(r"-?[0-9]+(\.[0-9]+)?(e[+-][0-9]+)?", written) or len(written) > 30:
        return None
    double = _DOUBLE(written)
    ratio = _ratio(double)
    whole = ratio is not None and ratio[1] == 1 and abs(ratio[0]) < 2**53
    return None if whole or repr(double) != written else ratio


def _ratio(number: Any) -> tuple[int, int] | None:
    # Exactly; an infinite number has the denominator 0, NaN is None. A subclass may say anything of itself.
    try:
        ratio: tuple[int, int] = _DOUBLE.as_integer_ratio(number) if isinstance(number, _DOUBLE) else (number, 1)
    except ValueError:
        return None
    except OverflowError:
        return (1 if number > 0 else -1), 0
    return ratio


def _has_bytes(text: str) -> bool:
    # A lone surrogate has none.
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


class Document(Fields):
    """A scheme's document: the fields of all schemes, read and checked; the scheme's randomizer reads the others."""

    def __init__(self, written: object) -> None:
        super().__init__(written, "scheme")
        self.name: str = self._take("scheme", str)
        if self._take("version", int) != 1 or self.name not in RANDOMIZERS:
            raise DeviceError("the scheme is of a version or kind this file does not know; update the file")
        self.epsilon = self.fraction("epsilon", 1000)
        self.memo_epsilon: Fraction | None = None
        """Privacy of one entry of a memo, hence of all reports from it together; read by schemes with a memo."""
        self.domain = _domain(self.inner("domain"))

    @property
    def size(self) -> int:
        """Number of items, for schemes that need them listed."""
        if not self.domain.listed:
            raise DeviceError(f"domain: {self.name} expects integers or labels")
        return self.domain.items

    @property
    def items(self) -> int:
        """Number of items, or of the keys that stand for them."""
        return 2**64 if isinstance(self.domain, Keys) else self.size

    @property
    def strings(self) -> Strings:
        """The domain of a search."""
        strings: Strings = self.domain_of(Strings)
        return strings

    def domain_of(self, kind: type[Any]) -> Any:
        """The domain of a scheme that works on domains of one kind."""
        if not isinstance(self.domain, kind):
            raise DeviceError(f"domain: {self.name} expects {kind.__name__.lower()}")
        return self.domain

    def split(self) -> int:
        """Where a hash splits an item in two; it follows from the domain."""
        split: int = 2**32 if isinstance(self.domain, Keys) else max(64, 1 << ((self.size - 1).bit_length() + 1) // 2)
        self.exactly("split", split)
        return split

    def oracle(self, name: str) -> Oracle:
        """A scheme within the scheme, whose randomizer keeps its own epsilon."""
        return Oracle(Document(self.inner(name)), name)

    def oracles(self, name: str) -> list[Oracle]:
        """A list of schemes within the scheme."""
        written = self._take(name, list)
        if not 1 <= len(written) <= _MOST_ORACLES:
            raise DeviceError(f"{name}: expected 1 to {_MOST_ORACLES} schemes, got another number")
        return [Oracle(Document(one), name) for one in written]


class Oracle:
    """A scheme that another scheme reports through. Its cost for a device is checked with the whole scheme."""

    def __init__(self, document: Document, name: str) -> None:
        # Before the randomizer is made: a search among a search's oracles could go on for ever.
        if not isinstance(document.domain, Integers | Keys):
            raise DeviceError(f"{name}: expected an oracle over integers or keys")
        if isinstance(document.domain, Keys) and document.domain.steps:
            raise DeviceError(f"{name}: expected an oracle that does not normalize, since it gets no texts")
        self.name, self.domain, self.sketch = name, document.domain, document.name in ("CM", "CS", "BLOOM")
        self.document = document

    @property
    def size(self) -> int | None:
        """Number of its items; None for keys."""
        return self.domain.items if isinstance(self.domain, Integers) else None

    @cached_property
    def made(self) -> Randomizer:
        """Its randomizer; all parts that report through this oracle share it."""
        made = _made(self.document)
        if isinstance(made, Grouped):
            raise DeviceError(f"{self.name}: expected an oracle, got a scheme whose users are in groups")
        if isinstance(made, Memoised):
            raise DeviceError(f"{self.name}: expected an oracle, got a scheme with a memo")
        _expect_within(made.worst_ratio(), self.document.epsilon)
        return made


# --- normalizing: fixed tables, because Pythons and browsers know different versions of Unicode (docs/adr/0026) --

NORMALIZING = ("nfc", "lower", "strip")
"""The steps of normalizing a text, in the order in which they are done."""

SPACES = (
    "\t\n\v\f\r\x1c\x1d\x1e\x1f \x85\xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a"
    "\u2028\u2029\u202f\u205f\u3000\ufeff"
)
"""The code points that strip removes from both ends: those that Python or JavaScript strips, and no others."""

# The code points from U+0300 on that NFC works on in Unicode 14.0, with others of that version between them. Unicode
# guarantees them the same NFC in all later versions. Every other one stays as it is, and keeps its neighbours apart.
_COMPOSING = (
    "300-374 37E 385-38A 38C 38E-3A1 3A5-4F9 591-5C7 5D0-5EA 5F2 610-6ED 711-74A 7EB-7F3 7FD-82D 859-85B 898-95F "
    "9A1-9A2 9AF 9BC-9BE 9C7 9CB-9CD 9D7 9DC-9DD 9DF 9FE A16-A1C A2B A32-A33 A36 A38 A3C A4D A59-A5B A5E ABC ACD "
    "B21-B22 B3C-B3E B47-B48 B4B-B4D B56-B57 B5C-B5D B92-B94 BBE BC6-BC7 BCA-BCD BD7 C3C C46-C48 C4D C55-C56 CBC-CC2 "
    "CC6-CC8 CCA-CCD CD5-CD6 D3B-D3E D46-D47 D4A-D4D D57 DCA DCF DD9-DDF E38-E3A E48-E4B EB8-EBA EC8-ECB F18-F43 "
    "F4C-F69 F71-F93 F9C-FB9 FC6 1025-108D 1100-11C2 135D-135F 1714-1715 1734 17D2-17DD 18A9 1939-193B 1A17-1A18 "
    "1A60-1A7C 1A7F 1AB0-1ACE 1B05-1B44 1B6B-1B73 1BAA-1BF3 1C37 1CD0-1CF9 1DC0-1F15 1F18-1F1D 1F20-1F45 1F48-1F4D "
    "1F50-1F57 1F59 1F5B 1F5D 1F5F-1F7D 1F80-1FB4 1FB6-1FC4 1FC6-1FD3 1FD6-1FDB 1FDD-1FEF 1FF2-1FF4 1FF6-1FFE "
    "2000-2003 20D0-20F0 2126-212B 2190-232A 2ADC-2ADD 2CEF-2CF1 2D7F 2DE0-2DFF 3008-302F 3046-3094 3099-30FE "
    "349E-9F9C A66F-A6F1 A806-A82C A8C4 A8E0-A953 A9B3-A9C0 AAB0-AAC1 AAF6 ABED AC00-D7A3 F900-FA6D FA70-FAD9 "
    "FB1D-FB36 FB38-FB3C FB3E FB40-FB41 FB43-FB44 FB46-FB4E FE20-FE2F 101FD 102E0 10376-1037A 10A0D-10A0F 10A38-10A3A "
    "10A3F 10AE5-10AE6 10D24-10D27 10EAB-10EAC 10F46-10F50 10F82-10F85 11046 11070 1107F-110BA 11100-11134 11173 "
    "111C0-111CA 11235-11236 112E9-112EA 1133B-1133E 11347 1134B-1134D 11357 11366-1136C 11370-11374 11442-11446 "
    "1145E 114B0-114C3 115AF 115B8-115C0 1163F 116B6-116B7 1172B 11839-1183A 11930-11935 11938 1193D-11943 119E0 "
    "11A34-11A47 11A99 11C3F 11D42-11D45 11D97 16AF0-16AF4 16B30-16B36 16FF0-16FF1 1BC9E 1D157-1D1C0 1D242-1D244 "
    "1E000-1E006 1E008-1E018 1E01B-1E021 1E023-1E024 1E026-1E02A 1E130-1E136 1E2AE 1E2EC-1E2EF 1E8D0-1E8D6 "
    "1E944-1E94A 20122-2A600 2F800-2FA1D"
)

# The simple lower-case mappings of Unicode 14.0: a run of code points (/2: every second one), and what to add to each.
_LOWERING = (
    "41-5A:+32 C0-D6:+32 D8-DE:+32 100-12E/2:+1 130:-199 132-136/2:+1 139-147/2:+1 14A-176/2:+1 178:-121 179-17D/2:+1 "
    "181:+210 182-184/2:+1 186:+206 187:+1 189-18A:+205 18B:+1 18E:+79 18F:+202 190:+203 191:+1 193:+205 194:+207 "
    "196:+211 197:+209 198:+1 19C:+211 19D:+213 19F:+214 1A0-1A4/2:+1 1A6:+218 1A7:+1 1A9:+218 1AC:+1 1AE:+218 1AF:+1 "
    "1B1-1B2:+217 1B3-1B5/2:+1 1B7:+219 1B8:+1 1BC:+1 1C4:+2 1C5:+1 1C7:+2 1C8:+1 1CA:+2 1CB-1DB/2:+1 1DE-1EE/2:+1 "
    "1F1:+2 1F2-1F4/2:+1 1F6:-97 1F7:-56 1F8-21E/2:+1 220:-130 222-232/2:+1 23A:+10795 23B:+1 23D:-163 23E:+10792 "
    "241:+1 243:-195 244:+69 245:+71 246-24E/2:+1 370-372/2:+1 376:+1 37F:+116 386:+38 388-38A:+37 38C:+64 "
    "38E-38F:+63 391-3A1:+32 3A3-3AB:+32 3CF:+8 3D8-3EE/2:+1 3F4:-60 3F7:+1 3F9:-7 3FA:+1 3FD-3FF:-130 400-40F:+80 "
    "410-42F:+32 460-480/2:+1 48A-4BE/2:+1 4C0:+15 4C1-4CD/2:+1 4D0-52E/2:+1 531-556:+48 10A0-10C5:+7264 10C7:+7264 "
    "10CD:+7264 13A0-13EF:+38864 13F0-13F5:+8 1C90-1CBA:-3008 1CBD-1CBF:-3008 1E00-1E94/2:+1 1E9E:-7615 "
    "1EA0-1EFE/2:+1 1F08-1F0F:-8 1F18-1F1D:-8 1F28-1F2F:-8 1F38-1F3F:-8 1F48-1F4D:-8 1F59-1F5F/2:-8 1F68-1F6F:-8 "
    "1F88-1F8F:-8 1F98-1F9F:-8 1FA8-1FAF:-8 1FB8-1FB9:-8 1FBA-1FBB:-74 1FBC:-9 1FC8-1FCB:-86 1FCC:-9 1FD8-1FD9:-8 "
    "1FDA-1FDB:-100 1FE8-1FE9:-8 1FEA-1FEB:-112 1FEC:-7 1FF8-1FF9:-128 1FFA-1FFB:-126 1FFC:-9 2126:-7517 212A:-8383 "
    "212B:-8262 2132:+28 2160-216F:+16 2183:+1 24B6-24CF:+26 2C00-2C2F:+48 2C60:+1 2C62:-10743 2C63:-3814 2C64:-10727 "
    "2C67-2C6B/2:+1 2C6D:-10780 2C6E:-10749 2C6F:-10783 2C70:-10782 2C72:+1 2C75:+1 2C7E-2C7F:-10815 2C80-2CE2/2:+1 "
    "2CEB-2CED/2:+1 2CF2:+1 A640-A66C/2:+1 A680-A69A/2:+1 A722-A72E/2:+1 A732-A76E/2:+1 A779-A77B/2:+1 A77D:-35332 "
    "A77E-A786/2:+1 A78B:+1 A78D:-42280 A790-A792/2:+1 A796-A7A8/2:+1 A7AA:-42308 A7AB:-42319 A7AC:-42315 A7AD:-42305 "
    "A7AE:-42308 A7B0:-42258 A7B1:-42282 A7B2:-42261 A7B3:+928 A7B4-A7C2/2:+1 A7C4:-48 A7C5:-42307 A7C6:-35384 "
    "A7C7-A7C9/2:+1 A7D0:+1 A7D6-A7D8/2:+1 A7F5:+1 FF21-FF3A:+32 10400-10427:+40 104B0-104D3:+40 10570-1057A:+39 "
    "1057C-1058A:+39 1058C-10592:+39 10594-10595:+39 10C80-10CB2:+64 118A0-118BF:+32 16E40-16E5F:+32 1E900-1E921:+34"
)


def _runs(table: str) -> list[tuple[int, int, int, int]]:
    # First and last code point, step and what to add, of each entry of a table.
    runs = []
    for entry in table.split():
        points, _, added = entry.partition(":")
        places, _, step = points.partition("/")
        first, _, last = places.partition("-")
        runs.append((int(first, 16), int(last or first, 16), int(step or 1), int(added or 0)))
    return runs


# A run of them, and the character before it. Characters below U+0300 change only together with one that follows.
_RUN = "[;-\u02ff]?[" + "".join(f"{chr(first)}-{chr(last)}" for first, last, _, _ in _runs(_COMPOSING)) + "]+"
# Sorting the accents of a letter takes quadratic time. No language has longer runs, but a hostile document may.
_LONGEST_RUN = 128
_LOWER = {i: i + added for first, last, step, added in _runs(_LOWERING) for i in range(first, last + 1, step)}


def normalized(text: str, steps: Sequence[str]) -> str:
    """The text after the steps of its domain: nfc, lower and strip, always in this order."""
    if "nfc" in steps:
        text = _composed(text)
    if "lower" in steps:
        text = text.translate(_LOWER)
        # A small letter and its accent may have a code point of their own where the capital has none.
        text = _composed(text) if "nfc" in steps else text
    return text.strip(SPACES) if "strip" in steps else text


def shortened(text: str, length: int, steps: Sequence[str]) -> str:
    """The first ``length`` characters of a normalized text, normalized."""
    # The cut may leave a space at the end. A part of a text in NFC is in NFC.
    return text[:length].rstrip(SPACES) if "strip" in steps else text[:length]


def _composed(text: str) -> str:
    return text if text.isascii() or max(text) < "\u0300" else re.sub(_RUN, _composed_run, text)


def _composed_run(found: re.Match[str]) -> str:
    return found[0] if len(found[0]) > _LONGEST_RUN else normalize("NFC", found[0])


# --- domains: a value -> the integer that a randomizer sees -----------------------------------------------------


class Domain(Protocol):
    """The set of possible values."""

    items: int
    """Upper bound: every encoded value is below it."""
    listed: bool
    """Whether an oracle may report the items as they are: they are listed, and their codes count them."""
    total: bool
    """Whether every text or byte string has a code. A refused value is revealed by the refusal."""

    def encode(self, value: object) -> int:
        """The integer of a value. Raises an error that does not contain the value."""
        ...


class Integers:
    """The integers below ``size``: the application's own numbers, one for every user."""

    listed = True
    total = True

    def __init__(self, fields: Fields) -> None:
        self.items = fields.whole("size", 2, 2**32)

    def encode(self, value: object) -> int:
        if isinstance(value, bool) or not isinstance(value, int):
            raise DeviceError(f"expected an integer, got {type(value).__name__}")
        number = int.__index__(value)  # a subclass may compare as it likes
        if not 0 <= number < self.items:
            raise DeviceError(f"the value is outside the domain of {self.items} items")
        return number


class Labels:
    """Distinct texts, and with ``other`` one more item for every other text."""

    listed = True

    def __init__(self, fields: Fields) -> None:
        labels = fields.texts("labels")
        self.total = fields.flag("other")
        self.index = {label: i for i, label in enumerate(labels)}
        self.items = len(labels) + self.total
        if len(self.index) != len(labels) or not 2 <= self.items <= 2**32 or (self.total and "other" in self.index):
            raise DeviceError(
                'labels: expected 2 or more distinct items ("other" is reserved if other is true), got others'
            )
        self.steps = fields.steps("normalize")
        if any(normalized(label, self.steps) != label for label in labels):
            raise DeviceError("labels: expected labels that are normalized already, got others")

    def encode(self, value: object) -> int:
        if not isinstance(value, str):
            raise DeviceError(f"expected a label (str), got {type(value).__name__}")
        text = normalized("".join((value,)), self.steps)  # no subclass
        found = self.index.get(text, len(self.index))
        if found >= self.items:
            raise DeviceError("the value is not among the labels; a scheme with other=True takes any text")
        return found


class Keys:
    """Any str that has a UTF-8 form, bytes or int below 10^4300, encoded as a 64-bit hash; only a str is normalized."""

    items = 2**64
    listed = False
    total = True

    def __init__(self, fields: Fields) -> None:
        self.hash_seed = fields.seed("hash_seed")
        self.steps = fields.steps("normalize")

    def encode(self, value: object) -> int:
        if isinstance(value, str):
            value = normalized("".join((value,)), self.steps)  # no subclass
        return item_key(value, self.hash_seed)


class Strings:
    """Texts of up to ``length`` symbols: the number whose digits are the symbols, the first one the highest."""

    listed = False

    def __init__(self, fields: Fields, *, in_bytes: bool = False) -> None:
        written = fields.text("alphabet")
        self.in_bytes = in_bytes
        alphabet: str | bytes = _from_hex("alphabet", written) if in_bytes else written
        self.length = fields.whole("length", 1, 256)
        self.cuts = fields.choice("long", "truncate", "refuse") == "truncate"
        self.other = fields.flag("other")
        self.index: dict[Any, int] = {character: 1 + i for i, character in enumerate(alphabet)}
        self.symbols = 1 + len(alphabet) + self.other
        # The replacement character stands for all characters outside.
        doubtful = self.other and (in_bytes or "\N{REPLACEMENT CHARACTER}" in self.index)
        if len(self.index) != len(alphabet) or not 2 <= self.symbols <= 2**16 or doubtful:
            raise DeviceError("alphabet: expected distinct characters, and other only with text, got something else")
        self.steps = fields.steps("normalize")
        # A space may stand inside a text.
        inside = [step for step in self.steps if step != "strip"]
        if self.steps and (in_bytes or any(normalized(character, inside) != character for character in written)):
            raise DeviceError("normalize: expected an alphabet of text that normalizing leaves as it is, got another")
        self.items: int = self.symbols**self.length
        self.total = self.cuts and (self.other or (in_bytes and len(alphabet) == 256))

    def encode(self, value: object) -> int:
        if not isinstance(value, bytes if self.in_bytes else str):
            raise DeviceError(f"expected {'bytes' if self.in_bytes else 'text'}, got {type(value).__name__}")
        # No subclass.
        value = b"".join((value,)) if isinstance(value, bytes) else normalized("".join((value,)), self.steps)
        if len(value) > self.length and not self.cuts:
            raise DeviceError(f"expected at most {self.length} characters, got more")
        if isinstance(value, str):
            value = shortened(value, self.length, self.steps)
        outside, number = self.symbols - 1 if self.other else 0, 0
        for i in range(self.length):
            symbol = self.index.get(value[i], outside) if i < len(value) else 0
            if i < len(value) and symbol == 0:
                raise DeviceError("expected characters of the alphabet only; a scheme with other=True takes any")
            number = number * self.symbols + symbol
        return number

    def stem(self, prefix: Any, places: int) -> int:
        """The number of the first ``places`` symbols of texts that begin with this prefix."""
        number = 0
        for character in prefix:
            symbol = self.index.get(character, self.symbols - 1 if self.other else 0)
            if symbol == 0:
                raise DeviceError("prefixes: expected characters of the alphabet only, got others")
            number = number * self.symbols + symbol
        padding: int = self.symbols ** (places - len(prefix))
        return number * padding

    def cut(self, value: int, first: int, last: int) -> int:
        """The number of the symbols in [first, last)."""
        number: int = value // self.symbols ** (self.length - last) % self.symbols ** (last - first)
        return number

    def content(self, value: int, first: int, last: int) -> bytes:
        """Those symbols as bytes, for hashing."""
        size = 1 if self.symbols <= 256 else 2
        return b"".join(self.cut(value, i, i + 1).to_bytes(size, "little") for i in range(first, last))


class Ordered:
    """Values that have an order, known by their numbers. A value outside the range is the nearest item.

    With ``other`` one more, last item takes missing values and texts, and infinite numbers unless they are clamped.
    """

    listed = True
    finite = False

    def __init__(self, fields: Fields, length: int) -> None:
        self.total = fields.given("other", True)
        self.clamps = not self.finite and fields.given("infinite", "clamp")
        self.length, self.items = length, length + self.total
        if length < 2 or self.items > 2**32:
            raise DeviceError("domain: expected 2 to 2^32 items in rising order, got others")

    def encode(self, value: object) -> int:
        ratio = self.ratio(value)
        if ratio is not None and (ratio[1] or self.clamps):
            return self.place(*ratio)
        if not self.total:
            raise DeviceError("the value is missing, infinite or a text; a scheme with other=True takes it")
        return self.length

    def ratio(self, value: object) -> tuple[int, int] | None:
        """The exact number of a value as a fraction; None for a missing one."""
        if value is None or isinstance(value, str):
            return None
        if isinstance(value, bool) or not isinstance(value, int | _DOUBLE):
            raise DeviceError(f"expected a number, got {type(value).__name__}")
        # A subclass may compare as it likes.
        return (int.__index__(value), 1) if isinstance(value, int) else _ratio(value)

    def place(self, numerator: int, denominator: int) -> int:
        """The item of a number."""
        raise NotImplementedError


class WholeNumbers(Ordered):
    """The whole numbers from low to high; a fraction is the whole number below it."""

    def __init__(self, fields: Fields) -> None:
        self.low, self.high = self.ends(fields)
        super().__init__(fields, self.high - self.low + 1)

    def ends(self, fields: Fields) -> tuple[int, int]:
        """The first and the last number."""
        fields.label("unit")
        return fields.whole("low", 1 - 2**53, 2**53 - 1), fields.whole("high", 1 - 2**53, 2**53 - 1)

    def place(self, numerator: int, denominator: int) -> int:
        if numerator >= self.high * denominator:
            return self.length - 1
        return numerator // denominator - self.low if numerator > self.low * denominator else 0


class Bins(Ordered):
    """Bins between edges; a number on an edge is in the bin above it, and the last bin has both of its edges."""

    def __init__(self, fields: Fields) -> None:
        fields.label("unit")
        self.edges = fields.ratios("edges")
        if any(a * d >= c * b for (a, b), (c, d) in pairwise(self.edges)):
            raise DeviceError("edges: expected numbers in rising order, got others")
        super().__init__(fields, len(self.edges) - 1)

    def place(self, numerator: int, denominator: int) -> int:
        # The last bin that starts at the number or below it, between two that are certain.
        first, last = 0, self.length - 1
        while first < last:
            middle = (first + last + 1) // 2
            above, below = self.edges[middle]
            if numerator * below >= above * denominator:
                first = middle
            else:
                last = middle - 1
        return first


class Dates(WholeNumbers):
    """Days in UTC, counted from 1970-01-01; a time without a zone is in UTC, a text is written as 2026-01-31."""

    finite = True

    def ends(self, fields: Fields) -> tuple[int, int]:
        return fields.day("first"), fields.day("last")

    def ratio(self, value: object) -> tuple[int, int] | None:
        if value is None or value != value:
            return None
        if isinstance(value, str):
            day = _day_of_text("".join((value,)))  # no subclass
            return None if day is None else (day, 1)
        if not isinstance(value, date):
            raise DeviceError(f"expected a date, got {type(value).__name__}")
        days = value.toordinal() - _EPOCH
        if isinstance(value, datetime):
            # Without a conversion: near the first and the last year Python has no date in UTC.
            seconds = 3600 * value.hour + 60 * value.minute + value.second
            own = 10**6 * seconds + value.microsecond - _microseconds(value.utcoffset() or timedelta(0))
            days += own // _UNITS["d"]
        return days, 1


class Durations(WholeNumbers):
    """Whole units of time; a rest is left out. A number is one of this unit."""

    def ends(self, fields: Fields) -> tuple[int, int]:
        self.unit = _UNITS[fields.choice("unit", *_UNITS)]
        return super().ends(fields)

    def ratio(self, value: object) -> tuple[int, int] | None:
        return (_microseconds(value), self.unit) if isinstance(value, timedelta) else super().ratio(value)


class Table:
    """Records of several attributes: the number whose digits are the codes of the values, the last one the lowest."""

    listed = False

    def __init__(self, fields: Fields) -> None:
        self.attributes = [_attribute(written) for written in fields.objects("attributes", 2, 64)]
        names = [name for name, _, _ in self.attributes]
        self.sizes = [domain.items + missing for _, domain, missing in self.attributes]
        self.items = 1
        for size in self.sizes:
            self.items *= size
        self.total = all(domain.total for _, domain, _ in self.attributes)
        if len(set(names)) != len(names) or self.items >= _WORD:
            raise DeviceError("attributes: expected distinct names, and fewer than 2^64 records, got others")

    def encode(self, value: object) -> int:
        values = self._values(value)
        number = 0
        for own, size, (name, domain, missing) in zip(values, self.sizes, self.attributes, strict=True):
            try:
                code = domain.items if missing and own is None else domain.encode(own)
            except DeviceError as error:
                raise DeviceError(f"{name}: {error}") from None
            number = number * size + code
        return number

    def _values(self, value: object) -> list[Any]:
        # A record by its names, or in the order of the attributes.
        names = [name for name, _, _ in self.attributes]
        if isinstance(value, dict):
            own = dict(value.items())  # no subclass
            if set(own) != set(names):
                raise DeviceError("expected a record of exactly the scheme's attributes (None for a missing value)")
            return [own[name] for name in names]
        if not isinstance(value, list | tuple):
            raise DeviceError(f"expected a record (dict, list or tuple), got {type(value).__name__}")
        values = [*value]
        if len(values) != len(names):
            raise DeviceError(f"expected {len(names)} values, one for each attribute (None for a missing one)")
        return values


class Choices(Table):
    """Any number of listed items: the number whose digits say which of them were chosen, the last one the lowest.

    With ``other`` there is one more digit, for any item that is not on the list.
    """

    def __init__(self, fields: Fields) -> None:
        chosen = fields.texts("items")
        self.total = fields.flag("other")
        self.sizes = [2] * (len(chosen) + self.total)
        self.items = 1 << len(self.sizes)
        self.bits = {item: self.items >> place for place, item in enumerate(chosen, 1)}
        if len(self.bits) != len(chosen) or not 2 <= len(self.sizes) < 64 or {"", *["other"] * self.total} & {*chosen}:
            raise DeviceError(
                'items: expected 2 to 63 distinct items ("other" is reserved if other is true), got others'
            )

    def encode(self, value: object) -> int:
        if not isinstance(value, list | tuple | set | frozenset):
            raise DeviceError(f"expected a list or set of items, got {type(value).__name__}")
        number = 0
        for item in [*value]:
            if not isinstance(item, str):
                raise DeviceError(f"expected items that are texts (str), got {type(item).__name__}")
            bit = self.bits.get("".join((item,)), int(self.total))  # no subclass; the lowest bit is that of others
            if not bit:
                raise DeviceError("the value is not among the items; a scheme with other=True takes any text")
            number |= bit
        return number


def _attribute(written: object) -> tuple[str, Domain, bool]:
    fields = Fields(written, "attribute")
    name, missing = fields.text("name"), fields.flag("missing")
    inner = fields.inner("domain")
    # Before it is read: tables could be nested as deep as the document is long.
    if inner.get("type") == "table":
        raise DeviceError("attributes: expected domains whose items can be listed, got a table")
    domain = _domain(inner)
    fields.close()
    if not name or not domain.listed or (missing and isinstance(domain, Ordered) and domain.total):
        raise DeviceError("attributes: expected names, and domains whose items can be listed, got others")
    return name, domain, missing


_EPOCH = date(1970, 1, 1).toordinal()
_UNITS = {"ms": 10**3, "s": 10**6, "min": 60 * 10**6, "h": 3600 * 10**6, "d": 86400 * 10**6}
"""Units of durations in microseconds."""


def _microseconds(duration: timedelta) -> int:
    return (86400 * duration.days + duration.seconds) * 10**6 + duration.microseconds


def _day_of_text(text: str) -> int | None:
    # Only as 2026-01-31: newer Pythons know more forms than older ones.
    if not re.fullmatch("[0-9]{4}-[0-9]{2}-[0-9]{2}", text):
        return None
    try:
        return date.fromisoformat(text).toordinal() - _EPOCH
    except ValueError:
        return None


def _from_hex(name: str, text: str) -> bytes:
    try:
        found = bytes.fromhex(text)
    except ValueError:
        found = b""
    if found.hex() != text:
        raise DeviceError(f"{name}: expected bytes as lower-case hexadecimal text, got another text")
    return found


def _byte_strings(fields: Fields) -> Domain:
    return Strings(fields, in_bytes=True)


DOMAINS: dict[str, Callable[[Fields], Domain]] = {
    "integers": Integers,
    "labels": Labels,
    "keys": Keys,
    "strings": Strings,
    "byte strings": _byte_strings,
    "whole numbers": WholeNumbers,
    "bins": Bins,
    "dates": Dates,
    "durations": Durations,
    "table": Table,
    "choices": Choices,
}
"""Functions that make a domain of each type from the other fields of its object; ``register_domain`` adds to them."""


def _domain(written: dict[str, Any]) -> Domain:
    fields = Fields(written, "domain")
    domain = DOMAINS[fields.choice("type", *DOMAINS)](fields)
    fields.close()
    return domain


def _fraction(name: str, text: str, most: int) -> Fraction:
    # Digits, or two runs of them in lowest terms: a power of ten could keep a device busy for ever.
    numerator, slash, denominator = text.partition("/")
    parts = [numerator, denominator] if slash else [numerator]
    if len(text) <= 2600 and all(part.isascii() and part.isdigit() and part[0] != "0" for part in parts):
        fraction = Fraction(int(numerator), int(denominator or 1))
        if str(fraction) == text and fraction <= most:
            return fraction
    raise DeviceError(f"{name}: expected a positive fraction in lowest terms, at most {most}, got another text")


# --- randomizers: encoded value -> record bytes -----------------------------------------------------------------


class Randomizer(Protocol):
    """One scheme's client: its public draws, its private draws, and the record of both."""

    words: int
    """Number of random words of one report, without repeats."""
    public_words: int
    """Number of those words that are drawn in public."""
    record_bytes: int

    def public(self, source: Source) -> tuple[int, ...]:
        """Draw the public part, which does not depend on the value."""
        ...

    def perturb(self, value: int, public: tuple[int, ...], source: Source) -> bytes:
        """The record: the public part and the perturbed value."""
        ...

    def worst_ratio(self) -> Fraction:
        """The largest ratio of the likelihoods of one record under two values."""
        ...


def field_bytes(count: int) -> int:
    """Bytes of the smallest unsigned integer field that holds every number below ``count``."""
    return next(size for size in (1, 2, 4, 8) if count <= 1 << 8 * size)


def _field(number: int, count: int) -> bytes:
    return number.to_bytes(field_bytes(count), "little")


def _expect_inside(value: int, items: int) -> None:
    # The last line of defence: a value that the randomizer was not made for could be sent as it is.
    if not 0 <= value < items:
        raise DeviceError("the value does not fit the scheme; do not send anything")


def _respond(value: int, size: int, keep: int, source: Source) -> int:
    # Direct encoding below `size`: the value, or a uniform *other* one. Both draws are always made.
    kept = source.bernoulli(keep)
    lie = source.below(size - 1)
    return value if kept else lie + (lie >= value)


def _both_ways(ratio: Fraction) -> Fraction:
    return max(ratio, 1 / ratio)


def _respond_ratio(size: int, keep: int, inside: int = 1) -> Fraction:
    # `inside` equally likely answers share the probability keep, the others the rest.
    return _both_ways(Fraction(keep * (size - inside), (_WORD - keep) * inside))


def _odds_ratio(keep: int, flip: int, whole: int) -> Fraction:
    # Unary encodings of two values differ in two bits, and each contributes its odds ratio once.
    return _both_ways(Fraction(keep * (whole - flip), flip * (whole - keep)))


class Direct:
    """DE: the value itself, or a uniform other one."""

    words = 2
    public_words = 0

    def __init__(self, scheme: Document) -> None:
        self.size = scheme.size
        self.keep = scheme.threshold("keep")
        self.record_bytes = field_bytes(self.size)

    def public(self, source: Source) -> tuple[int, ...]:
        return ()

    def perturb(self, value: int, public: tuple[int, ...], source: Source) -> bytes:
        _expect_inside(value, self.size)
        return _field(_respond(value, self.size, self.keep, source), self.size)

    def worst_ratio(self) -> Fraction:
        return _respond_ratio(self.size, self.keep)


class Unary:
    """SUE, OUE: one bit per item; the value's bit is set with probability keep, every other one with flip."""

    public_words = 0

    def __init__(self, scheme: Document) -> None:
        self.size = self.words = scheme.size
        self.keep = scheme.threshold("keep")
        self.flip = scheme.threshold("flip")
        self.record_bytes = (self.size + 7) // 8

    def public(self, source: Source) -> tuple[int, ...]:
        return ()

    def perturb(self, value: int, public: tuple[int, ...], source: Source) -> bytes:
        _expect_inside(value, self.size)
        bitmap = bytearray(self.record_bytes)
        for i in range(self.size):
            bitmap[i >> 3] |= source.bernoulli(self.keep if i == value else self.flip) << (i & 7)
        return bytes(bitmap)

    def worst_ratio(self) -> Fraction:
        return _odds_ratio(self.keep, self.flip, _WORD)


def _thresholded(scheme: Document) -> Randomizer:
    """THE: like SUE and OUE, with keep and flip computed from noisy bits that are compared with a threshold."""
    if not Fraction(1, 2) <= scheme.fraction("threshold", 1) < 1:
        raise DeviceError("threshold: expected at least 1/2 and less than 1, got another fraction")
    return Unary(scheme)


class LocalHashing:
    """BLH, OLH: a public hash function for each user, and direct encoding of the hashed value."""

    words = 3
    public_words = 1

    def __init__(self, scheme: Document) -> None:
        self.items = scheme.items
        self.size = scheme.whole("hash_range", 2, 2 if scheme.name == "BLH" else 2**16)
        self.split = scheme.split()
        self.keep = scheme.threshold("keep")
        self.record_bytes = 8 + field_bytes(self.size)

    def public(self, source: Source) -> tuple[int, ...]:
        return (source.below(_WORD),)

    def perturb(self, value: int, public: tuple[int, ...], source: Source) -> bytes:
        (seed,) = public
        _expect_inside(value, self.items)
        hashed = local_hash(seed, value, self.split, self.size)
        answer = _respond(hashed, self.size, self.keep, source)
        return seed.to_bytes(8, "little") + _field(answer, self.size)

    def worst_ratio(self) -> Fraction:
        return _respond_ratio(self.size, self.keep)


class FastLocalHashing(LocalHashing):
    """FLH: like OLH, with one of a few hash functions that all clients share."""

    def __init__(self, scheme: Document) -> None:
        super().__init__(scheme)
        self.hashes = scheme.whole("hashes", 1, 2**24)
        self.hash_seed = scheme.seed("hash_seed")
        self.record_bytes = field_bytes(self.hashes) + field_bytes(self.size)

    def public(self, source: Source) -> tuple[int, ...]:
        return (source.below(self.hashes),)

    def perturb(self, value: int, public: tuple[int, ...], source: Source) -> bytes:
        (index,) = public
        _expect_inside(value, self.items)
        hashed = local_hash(public_hash_seed(self.hash_seed, index), value, self.split, self.size)
        answer = _respond(hashed, self.size, self.keep, source)
        return _field(index, self.hashes) + _field(answer, self.size)


class HadamardMechanism:
    """HM: some public rows of the Hadamard matrix, and direct encoding of the value's signs in them.

    A negative value, which has the bit ``order`` as well, has all its signs reversed.
    """

    def __init__(self, scheme: Document) -> None:
        self.items = scheme.size
        self.order = 1 << (self.items - 1).bit_length()
        self.coefficients = self.public_words = scheme.whole("coefficients", 1, 8)
        self.size = 1 << self.coefficients
        self.keep = scheme.threshold("keep")
        self.words = self.coefficients + 2
        self.record_bytes = self.coefficients * field_bytes(self.order) + field_bytes(self.size)

    def take_signs(self) -> None:
        """Take negative values as well."""
        self.items = 2 * self.order

    def public(self, source: Source) -> tuple[int, ...]:
        return tuple(source.below(self.order) for _ in range(self.coefficients))

    def perturb(self, value: int, public: tuple[int, ...], source: Source) -> bytes:
        _expect_inside(value, self.items)
        signs = sum(_parity((row | self.order) & value) << j for j, row in enumerate(public))
        answer = _respond(signs, self.size, self.keep, source)
        return b"".join(_field(row, self.order) for row in public) + _field(answer, self.size)

    def worst_ratio(self) -> Fraction:
        return _respond_ratio(self.size, self.keep)


class HadamardResponse:
    """HR: a row of the value's block where its Hadamard code is +1, or any other row of any block."""

    words = 3
    public_words = 0

    def __init__(self, scheme: Document) -> None:
        self.items = scheme.size
        self.blocks = scheme.whole("blocks", 1, 2**32)
        scheme.exactly("variant", "pure" if self.blocks == 1 else "block")
        # The smallest power of two with a code for every item of a block. With fewer rows, a flipped bit could leave
        # them, and a record would give its item away whatever the threshold.
        self.order = 1 << (-(-self.items // self.blocks)).bit_length()
        scheme.exactly("order", self.order)
        self.keep = scheme.threshold("keep")
        if self.blocks & self.blocks - 1 or self.blocks * self.order > 2**32:
            raise DeviceError("blocks: expected a power of two, and at most 2^32 rows in all")
        self.record_bytes = field_bytes(self.blocks * self.order)

    def public(self, source: Source) -> tuple[int, ...]:
        return ()

    def perturb(self, value: int, public: tuple[int, ...], source: Source) -> bytes:
        _expect_inside(value, self.items)
        code, own = divmod(value, self.blocks)
        code += 1
        kept = source.bernoulli(self.keep)
        # The complement of the code's half-block is 2B-1 half-blocks: its own other half, and whole blocks.
        part = source.below(2 * self.blocks - 1)
        row = source.below(self.order)
        other = max(part - 1, 0) >> 1
        elsewhere = not kept and part > 0
        block = other + (other >= own) if elsewhere else own
        # Flipping the code's lowest bit flips the parity: two rows to one, so exactly uniform on the half.
        if not elsewhere and _parity(row & code) != (not kept):
            row ^= code & -code
        return _field(block * self.order + row, self.blocks * self.order)

    def worst_ratio(self) -> Fraction:
        return _respond_ratio(2 * self.blocks, self.keep)


class SubsetSelection:
    """SS: a random subset of fixed size that contains the value with probability keep."""

    public_words = 0

    def __init__(self, scheme: Document) -> None:
        self.size = scheme.size
        self.subset_size = scheme.whole("subset_size", 1, self.size - 1)
        self.keep = scheme.threshold("keep")
        self.words = 1 + self.subset_size
        self.record_bytes = (self.size + 7) // 8

    def public(self, source: Source) -> tuple[int, ...]:
        return ()

    def perturb(self, value: int, public: tuple[int, ...], source: Source) -> bytes:
        _expect_inside(value, self.size)
        kept = source.bernoulli(self.keep)
        # Fisher and Yates over the others, as many as the subset holds; the value takes the last place if kept.
        moved: dict[int, int] = {}
        bitmap = bytearray(self.record_bytes)
        for i in range(self.subset_size):
            j = i + source.below(self.size - 1 - i)
            pick = moved.get(j, j)
            moved[j] = moved.pop(i, i)
            item = value if kept and i == self.subset_size - 1 else pick + (pick >= value)
            bitmap[item >> 3] |= 1 << (item & 7)
        return bytes(bitmap)

    def worst_ratio(self) -> Fraction:
        return _respond_ratio(self.size, self.keep, self.subset_size)


def _window(hashed: int, size: int, window: int, keep: int, source: Source) -> int:
    # The hash xor a number below the window, or xor one beyond it. All draws are always made.
    kept = source.bernoulli(keep)
    inside = source.below(window)
    outside = window + source.below(size - window)
    return hashed ^ (inside if kept else outside)


class ToeplitzHashing:
    """TLH: a public random Toeplitz matrix over GF(2), and a window around the value's hash."""

    words = 4
    public_words = 1

    def __init__(self, scheme: Document) -> None:
        self.items = scheme.items
        self.hash_bits = scheme.whole("hash_bits", 1, 12)
        # Of a 64-bit key, as many bits as leave the matrix in one word.
        keys = isinstance(scheme.domain, Keys)
        self.item_bits = 65 - self.hash_bits if keys else (self.items - 1).bit_length()
        scheme.exactly("item_bits", self.item_bits)
        self.size = 1 << self.hash_bits
        self.window = scheme.whole("window", 1, self.size - 1)
        self.keep = scheme.threshold("keep")
        self.record_bytes = field_bytes(1 << self.item_bits + self.hash_bits - 1) + field_bytes(self.size)

    def public(self, source: Source) -> tuple[int, ...]:
        return (source.below(1 << self.item_bits + self.hash_bits - 1),)

    def perturb(self, value: int, public: tuple[int, ...], source: Source) -> bytes:
        (matrix,) = public
        _expect_inside(value, self.items)
        item = value & (1 << self.item_bits) - 1
        hashed = sum(_parity(matrix >> j & item) << j for j in range(self.hash_bits))
        answer = _window(hashed, self.size, self.window, self.keep, source)
        return _field(matrix, 1 << self.item_bits + self.hash_bits - 1) + _field(answer, self.size)

    def worst_ratio(self) -> Fraction:
        return _respond_ratio(self.size, self.keep, self.window)


# The numerically smallest irreducible polynomial of each degree, bit i the coefficient of X^i.
FIELD_POLYNOMIALS = (0, 0b11, 0b111, 0b1011, 0x13, 0x25, 0x43, 0x83, 0x11B, 0x203, 0x409, 0x805, 0x1009)


def field_multiply(a: int, b: int, bits: int) -> int:
    """The product in GF(2^bits)."""
    product = 0
    while b:
        if b & 1:
            product ^= a
        b >>= 1
        a <<= 1
        if a >> bits:
            a ^= FIELD_POLYNOMIALS[bits]
    return product


def projective_point(line: int, bits: int) -> list[int]:
    """The coordinates over GF(2^bits) of a line's canonical point, up to its last one, which is 1."""
    coordinates: list[int] = []
    offset, free = 0, 1  # lines before those with one more free coordinate, and how many those are
    while line >= offset + free:
        offset, free = offset + free, free << bits
        coordinates.append(0)
    rest = line - offset
    for i in range(len(coordinates)):
        coordinates[i] = rest >> bits * i & (1 << bits) - 1
    return [*coordinates, 1]


class AffineResponse:
    """AGR: a public line of an affine geometry over GF(2^t), and a window around the value's place on it."""

    def __init__(self, scheme: Document) -> None:
        self.items = scheme.size
        self.hash_bits = scheme.whole("hash_bits", 1, 12)
        self.dimension = scheme.whole("dimension", 1, 64 // self.hash_bits)
        self.size = 1 << self.hash_bits
        self.window = scheme.whole("window", 1, self.size - 1)
        self.keep = scheme.threshold("keep")
        self.lines = (self.size**self.dimension - 1) // (self.size - 1)
        self.public_words = 1 + (self.window > 1)
        self.words = 3 + self.public_words
        if self.size**self.dimension < self.items:
            raise DeviceError("dimension: expected a space with a point for every item")
        self.record_bytes = field_bytes(self.lines) + self.public_words * field_bytes(self.size)

    def public(self, source: Source) -> tuple[int, ...]:
        line = source.below(self.lines)
        # A window of several places needs a random stretch: their differences must reach every place alike.
        return (line, source.below(self.size - 1)) if self.window > 1 else (line,)

    def perturb(self, value: int, public: tuple[int, ...], source: Source) -> bytes:
        line, stretch = public[0], 1 + sum(public[1:])
        _expect_inside(value, self.items)
        hashed = 0
        for i, coordinate in enumerate(projective_point(line, self.hash_bits)):
            digit = value >> self.hash_bits * i & self.size - 1
            hashed ^= field_multiply(coordinate, digit, self.hash_bits)
        place = field_multiply(stretch, hashed, self.hash_bits)
        answer = _window(place, self.size, self.window, self.keep, source)
        stretched = _field(stretch, self.size) if self.window > 1 else b""
        return _field(line, self.lines) + stretched + _field(answer, self.size)

    def worst_ratio(self) -> Fraction:
        return _respond_ratio(self.size, self.keep, self.window)


class RowSketch:
    """CM, CS: a public row, and an oracle's report of the value's hash below it."""

    seed = staticmethod(row_seed)
    most_cells = 2**24

    def __init__(self, scheme: Document) -> None:
        oracle = scheme.oracle("oracle")
        if oracle.sketch:
            raise DeviceError("oracle: expected an oracle, got a sketch")
        if oracle.size is None or oracle.size > self.most_cells or (scheme.name == "CS" and oracle.size % 2):
            raise DeviceError(f"oracle: expected one over at most {self.most_cells} integers, for CS an even number")
        self.items = scheme.items
        self.oracle, self.size = oracle.made, oracle.size
        if scheme.name == "CS" and "signs" in scheme:
            # Half of the hashes stand for negative cells, which the coefficients of the oracle take as they are.
            scheme.choice("signs", "coefficients")
            self.size *= 2
            if not isinstance(self.oracle, HadamardMechanism) or self.size != 2 * self.oracle.order:
                raise DeviceError("signs: expected HM over a power of two as oracle, got another one")
            if self.size > self.most_cells:
                raise DeviceError(f"oracle: expected at most {self.most_cells // 2} cells with signs")
            self.oracle.take_signs()
        self.rows = self.rows_of(scheme)
        self.hash_seed = scheme.seed("hash_seed")
        self.split = scheme.split()
        self.words = 1 + self.oracle.words
        self.public_words = 1 + self.oracle.public_words
        self.record_bytes = field_bytes(self.rows) + self.oracle.record_bytes

    def rows_of(self, scheme: Document) -> int:
        """Number of rows."""
        return scheme.whole("rows", 1, 2**16)

    def public(self, source: Source) -> tuple[int, ...]:
        return (source.below(self.rows), *self.oracle.public(source))

    def perturb(self, value: int, public: tuple[int, ...], source: Source) -> bytes:
        row, *rest = public
        _expect_inside(value, self.items)
        cell = local_hash(self.seed(self.hash_seed, row), value, self.split, self.size)
        return _field(row, self.rows) + self.oracle.perturb(cell, tuple(rest), source)

    def worst_ratio(self) -> Fraction:
        return self.oracle.worst_ratio()


class Bloom:
    """BLOOM: a public cohort, and every bit of the value's Bloom filter, wrong with the same probability."""

    public_words = 1

    def __init__(self, scheme: Document) -> None:
        self.items = scheme.items
        self.size = scheme.whole("bits", 2, 2**16)
        self.hashes = scheme.whole("hashes", 1, 2**8)
        self.cohorts = scheme.whole("cohorts", 1, 2**16)
        self.hash_seed = scheme.seed("hash_seed")
        self.split = scheme.split()
        self.keep = scheme.threshold("keep")
        self.words = 1 + self.size
        self.record_bytes = field_bytes(self.cohorts) + (self.size + 7) // 8

    def public(self, source: Source) -> tuple[int, ...]:
        return (source.below(self.cohorts),)

    def perturb(self, value: int, public: tuple[int, ...], source: Source) -> bytes:
        (cohort,) = public
        _expect_inside(value, self.items)
        first = cohort * self.hashes
        seeds = [bloom_seed(self.hash_seed, first + j) for j in range(self.hashes)]
        true_bits = {local_hash(seed, value, self.split, self.size) for seed in seeds}
        bitmap = bytearray((self.size + 7) // 8)
        for i in range(self.size):
            bitmap[i >> 3] |= source.bernoulli(self.keep if i in true_bits else _WORD - self.keep) << (i & 7)
        return _field(cohort, self.cohorts) + bytes(bitmap)

    def worst_ratio(self) -> Fraction:
        # Two filters of at most k ones differ in at most 2k bits, and each of those contributes its odds once.
        return _both_ways(Fraction(self.keep, _WORD - self.keep)) ** min(2 * self.hashes, self.size)


class SampledBloom(RowSketch):
    """BLOOM over an oracle: a public cohort and one of its hash functions, and an oracle's report of that one bit."""

    seed = staticmethod(bloom_seed)
    most_cells = 2**16

    def rows_of(self, scheme: Document) -> int:
        rows = scheme.whole("cohorts", 1, 2**16) * scheme.whole("hashes", 1, 2**8)
        return _within("cohorts and hashes", rows, 1, 2**16)


def _bloom(scheme: Document) -> Randomizer:
    return SampledBloom(scheme) if "oracle" in scheme else Bloom(scheme)


# --- groups: users report through one or more parts of a scheme -------------------------------------------------


class Part:
    """One aspect of a value that users report: an oracle, and the oracle's item for each value."""

    def __init__(self, oracle: Oracle) -> None:
        if oracle.size is not None and oracle.size < self.count():
            raise DeviceError(f"{oracle.name}: expected Keys(), or an item for everything it is asked about")
        self.randomizer = oracle.made

    def count(self) -> int:
        """Number of different items that the oracle may be given."""
        raise NotImplementedError

    def item(self, value: int) -> int:
        """The oracle's item for a value."""
        raise NotImplementedError


class Digit(Part):
    """A part that reports one digit of a value: ``value // step % base``, such as one attribute of several."""

    def __init__(self, oracle: Oracle, step: int, base: int) -> None:
        self.step, self.base = step, base
        if step < 1 or base < 1 or oracle.size is None:
            raise DeviceError(f"{oracle.name}: expected an oracle over integers, and a step and a base of at least 1")
        super().__init__(oracle)

    def count(self) -> int:
        return self.base

    def item(self, value: int) -> int:
        return value // self.step % self.base


class Grouped:
    """A public group of users, drawn by weights, and a report through each part of the group.

    ``items``: every encoded value is below this. ``groups``: the parts of each group, by number.
    """

    def __init__(
        self, items: int, parts: Sequence[Part], groups: Sequence[Sequence[int]], weights: Sequence[int]
    ) -> None:
        if not groups or len(weights) != len(groups):
            raise DeviceError(f"weights: expected one for each of the {len(groups)} groups")
        self.items = items
        self.groups = [[parts[i] for i in group] for group in groups]
        self.weights = list(weights)
        self.words = 1 + max(sum(part.randomizer.words for part in group) for group in self.groups)
        self.body = max(sum(part.randomizer.record_bytes for part in group) for group in self.groups)
        self.record_bytes = field_bytes(len(groups)) + self.body
        self.public_words = 1  # at least; those of its parts depend on the group

    def public(self, source: Source) -> tuple[int, ...]:
        ticket, number = source.below(sum(self.weights)), 0
        while ticket >= self.weights[number]:
            ticket -= self.weights[number]
            number += 1
        drawn = [draw for part in self.groups[number] for draw in part.randomizer.public(source)]
        return (number, *drawn)

    def perturb(self, value: int, public: tuple[int, ...], source: Source) -> bytes:
        number, *drawn = public
        _expect_inside(value, self.items)
        group, body = self.groups[number], b""
        for part in group:
            count = part.randomizer.public_words
            own, drawn = drawn[:count], drawn[count:]
            body += part.randomizer.perturb(part.item(value), tuple(own), source)
        # All groups draw the same number of words and send the same number of bytes.
        for _ in range(1 + sum(part.randomizer.words for part in group), self.words):
            source.below(1)
        return _field(number, len(self.groups)) + body.ljust(self.body, b"\0")

    def worst_ratio(self) -> Fraction:
        # A user sends all parts of one group: their ratios multiply, and the worst group counts. Many share oracles.
        worst = Fraction(1)
        for group in {tuple(id(part.randomizer) for part in group): group for group in self.groups}.values():
            ratio = Fraction(1)
            for part in group:
                ratio *= part.randomizer.worst_ratio()
            worst = max(worst, ratio)
        return worst


# --- items in order ---------------------------------------------------------------------------------------------

_MOST_OFFSETS = 256


class Blocks:
    """A public offset, and an oracle's report of the block of ``width`` items that holds the value.

    The blocks begin at the offset. Items from ``length`` on have no place in the order: each is a block of its own.
    """

    def __init__(self, oracle: Oracle, items: int, length: int, width: int) -> None:
        self.items, self.length, self.width = items, length, width
        self.step = -(-width // _MOST_OFFSETS)
        self.offsets = width // self.step
        self.blocks = (length - 1 + width - self.step) // width + 1
        if width % self.step or oracle.size != self.blocks + items - length:
            raise DeviceError(f"{oracle.name}: expected an oracle over the blocks of each width, got another one")
        self.oracle = oracle.made
        self.words = 1 + self.oracle.words
        self.public_words = 1 + self.oracle.public_words
        self.record_bytes = field_bytes(self.offsets) + self.oracle.record_bytes

    def public(self, source: Source) -> tuple[int, ...]:
        return (source.below(self.offsets), *self.oracle.public(source))

    def perturb(self, value: int, public: tuple[int, ...], source: Source) -> bytes:
        offset, *rest = public
        _expect_inside(value, self.items)
        place = (value + offset * self.step) // self.width
        block = place if value < self.length else self.blocks + value - self.length
        return _field(offset, self.offsets) + self.oracle.perturb(block, tuple(rest), source)

    def worst_ratio(self) -> Fraction:
        return self.oracle.worst_ratio()


class SquareWave:
    """SW: a place near the value with probability keep, else any other; places 0 to 2 * reach are near value 0."""

    public_words = 0
    words = 3

    def __init__(self, scheme: Document) -> None:
        self.size = scheme.size
        self.near = 2 * scheme.whole("reach", 0, self.size) + 1
        self.keep = scheme.threshold("keep")
        self.places = self.size + self.near - 1
        self.record_bytes = field_bytes(self.places)

    def public(self, source: Source) -> tuple[int, ...]:
        return ()

    def perturb(self, value: int, public: tuple[int, ...], source: Source) -> bytes:
        _expect_inside(value, self.size)
        kept = source.bernoulli(self.keep)
        near, far = source.below(self.near), source.below(self.size - 1)
        other = far if far < value else far + self.near
        return _field(value + near if kept else other, self.places)

    def worst_ratio(self) -> Fraction:
        return _respond_ratio(self.places, self.keep, self.near)


class OneBit:
    """MEAN: 1 with a probability that grows linearly with the place of the value; without places, item x is at x."""

    public_words = 0
    words = 1
    record_bytes = 1

    def __init__(self, scheme: Document) -> None:
        self.size = scheme.size
        self.first, self.step = scheme.threshold("first"), scheme.threshold("step")
        self.places = scheme.wholes("places", 0, 2**40) if "places" in scheme else None
        if self.places is not None and (len(self.places) != self.size or self.places != sorted(self.places)):
            raise DeviceError("places: expected one for each item, in rising order, got others")
        self.last = self.first + self.step * (self.size - 1 if self.places is None else self.places[-1])
        if self.last >= _WORD:
            raise DeviceError("step: expected probabilities below 1, got a larger one")

    def public(self, source: Source) -> tuple[int, ...]:
        return ()

    def perturb(self, value: int, public: tuple[int, ...], source: Source) -> bytes:
        _expect_inside(value, self.size)
        place = value if self.places is None else self.places[value]
        return _field(int(source.bernoulli(self.first + self.step * place)), 2)

    def worst_ratio(self) -> Fraction:
        # The first and the last item differ most, for a 1 and for a 0.
        return max(Fraction(self.last, self.first), Fraction(_WORD - self.first, _WORD - self.last))


class Width(Part):
    """A part that reports the block of a value at one width; the offset is public, hence drawn by its randomizer."""

    def __init__(self, oracle: Oracle, items: int, length: int, width: int) -> None:
        self.items = items
        self.randomizer = Blocks(oracle, items, length, width)

    def count(self) -> int:
        return self.items

    def item(self, value: int) -> int:
        return value


def slide(scheme: Document) -> Randomizer:
    """SLIDE: a public width, a public offset, and the block of the value."""
    items = scheme.size
    length = scheme.whole("length", max(2, items - 1), items)
    widths, oracles = scheme.wholes("widths", 1, length), scheme.oracles("oracles")
    if len(widths) != len(oracles):
        raise DeviceError(f"oracles: expected one for each of the {len(widths)} widths, got another number")
    if any(oracle.sketch for oracle in oracles):
        raise DeviceError("oracles: expected oracles, got a sketch")
    parts = [Width(oracle, items, length, width) for oracle, width in zip(oracles, widths, strict=True)]
    return Grouped(items, parts, [(i,) for i in range(len(parts))], _weights(scheme))


class Half(Part):
    """A part that reports the block of a value, with a sign: negative in the right half of the block."""

    def __init__(self, oracle: Oracle, items: int, width: int) -> None:
        self.items, self.width, self.randomizer = items, width, oracle.made
        blocks = (1 << (items - 1).bit_length()) // width
        if not isinstance(self.randomizer, HadamardMechanism) or oracle.size != max(2, blocks):
            raise DeviceError(f"{oracle.name}: expected HM over the blocks of each level, got another one")
        self.order = self.randomizer.order
        self.randomizer.take_signs()

    def count(self) -> int:
        return 2 * self.order

    def item(self, value: int) -> int:
        return value // self.width + value // (self.width // 2) % 2 * self.order


def haar(scheme: Document) -> Randomizer:
    """HAAR: a public level, and the block of the value with the sign of the value's half."""
    items, oracles = scheme.size, scheme.oracles("oracles")
    if len(oracles) != (items - 1).bit_length():
        raise DeviceError("oracles: expected one for each level of halves, got another number")
    parts = [Half(oracle, items, 2 << level) for level, oracle in enumerate(oracles)]
    return Grouped(items, parts, [(i,) for i in range(len(parts))], _weights(scheme))


def hierarchy(scheme: Document) -> Randomizer:
    """HH: a public level of a tree, and the block of the value."""
    items, oracles = scheme.size, scheme.oracles("oracles")
    branching = scheme.whole("branching", 2, 2**16)
    widths = [branching**level for level in range(len(oracles))]
    if any(oracle.sketch for oracle in oracles):
        raise DeviceError("oracles: expected oracles, got a sketch")
    if not widths[-1] < items <= widths[-1] * branching:
        raise DeviceError("oracles: expected one for each level of the tree, got another number")
    parts = [Digit(oracle, width, -(-items // width)) for oracle, width in zip(oracles, widths, strict=True)]
    if any(oracle.size != part.base for oracle, part in zip(oracles, parts, strict=True)):
        raise DeviceError("oracles: expected oracles over the blocks of each level, got others")
    return Grouped(items, parts, [(i,) for i in range(len(parts))], _weights(scheme))


# --- several attributes -----------------------------------------------------------------------------------------

_MOST_CLIQUES = 4096


class Joint(Part):
    """A part that reports some digits of a value as one number, such as two attributes of a record together.

    ``digits``: the step and the base of each digit, as of ``Digit``; the last digit is the lowest.
    """

    def __init__(self, oracle: Oracle, digits: Sequence[tuple[int, int]]) -> None:
        self.digits = list(digits)
        if oracle.size != self.count() or oracle.sketch:
            raise DeviceError(f"{oracle.name}: expected an oracle over the cells of each table, got another one")
        super().__init__(oracle)

    def count(self) -> int:
        count = 1
        for _, base in self.digits:
            count *= base
        return count

    def item(self, value: int) -> int:
        item = 0
        for step, base in self.digits:
            item = item * base + value // step % base
        return item


def _joints(scheme: Document, cliques: Sequence[Sequence[int]]) -> list[Part]:
    # The parts of sets of attributes; sets with equally many cells share an oracle.
    sizes: list[int] = scheme.domain_of(Table).sizes
    digits = []
    for i, size in enumerate(sizes):
        step = 1
        for own in sizes[i + 1 :]:
            step *= own
        digits.append((step, size))
    given = scheme.oracles("oracles")
    oracles = {oracle.size: oracle for oracle in given}
    parts: list[Part] = []
    for clique in cliques:
        cells = 1
        for i in clique:
            cells *= sizes[i]
        if cells not in oracles:
            raise DeviceError("oracles: expected one for the cells of each table, got others")
        parts.append(Joint(oracles[cells], [digits[i] for i in clique]))
    if {part.count() for part in parts} != set(oracles) or len(given) != len(oracles):
        raise DeviceError("oracles: expected one for the cells of each table, got more")
    return parts


def clique(scheme: Document) -> Randomizer:
    """CLIQUE: a public set of attributes, and the cell of the record in the table of all of them."""
    table: Table = scheme.domain_of(Table)
    cliques = scheme.number_lists("cliques", _MOST_CLIQUES, len(table.sizes))
    return Grouped(table.items, _joints(scheme, cliques), [(i,) for i in range(len(cliques))], _weights(scheme))


def sampled_attribute(scheme: Document) -> Randomizer:
    """SMP: a public attribute, and its value."""
    table: Table = scheme.domain_of(Table)
    single = [(i,) for i in range(len(table.sizes))]
    return Grouped(table.items, _joints(scheme, single), single, [1] * len(single))


def split_attributes(scheme: Document) -> Randomizer:
    """SPL: the values of all attributes, which share epsilon."""
    table: Table = scheme.domain_of(Table)
    everything = range(len(table.sizes))
    return Grouped(table.items, _joints(scheme, [(i,) for i in everything]), [everything], [1])


# --- the same people again: a memo that follows from one key ----------------------------------------------------


class Memo:
    """The lasting choices of one user about one question. They follow from a key, so there is no table to store.

    ``key``: 32 bytes from ``secrets.token_bytes(32)``, drawn once and kept on the device, one for all questions. A lost
    key means new choices, which reveal as much again. ``series``: the application's name of the question, the same in
    all its collections. The collector must not choose it: a new name means new choices, too.
    """

    def __init__(self, key: bytes, series: str) -> None:
        if not isinstance(key, bytes) or len(key) != 32:
            raise DeviceError("key: expected 32 bytes, such as secrets.token_bytes(32), got something else")
        if not isinstance(series, str) or not series or not _has_bytes(series):
            raise DeviceError("series: expected a text that has a UTF-8 form and is not empty, got something else")
        self._key, self.series = key, series

    def __repr__(self) -> str:
        return f"<memo of the series {self.series!r}>"

    def choices(self, subject: str) -> Callable[[bytes, int, int], WordSource]:
        """Sources of the words for the choices about a subject: ``(purpose, number, words)``.

        The words are the bytes of BLAKE2s under a key of the subject, of (number, 0), (number, 1), …
        """
        key = blake2s(f"{subject}\n{self.series}".encode(), key=self._key, salt=b"series").digest()
        return lambda purpose, number, words: WordSource(words, _Keystream(key, purpose, number))


class _Keystream:
    """``read`` of a ``WordSource``: the bytes of a pseudo-random function, one after the other."""

    def __init__(self, key: bytes, purpose: bytes, number: int) -> None:
        self._key, self._purpose, self._number = key, purpose, number.to_bytes(8, "little")
        self._block, self._left = 0, b""

    def __call__(self, count: int) -> bytes:
        blocks = range(self._block, self._block - (len(self._left) - count) // 32)
        self._block = blocks.stop
        made = b"".join([self._left, *map(self._digest, blocks)])
        self._left = made[count:]
        return made[:count]

    def _digest(self, block: int) -> bytes:
        return blake2s(self._number + block.to_bytes(8, "little"), key=self._key, salt=self._purpose).digest()


class Memoised:
    """A randomizer of users who report again and again: lasting public choices, a memo, and a fresh answer from it.

    The memo has one entry for each cell, drawn once and for ever; the value determines the cell. A report is drawn from
    the entry. The reports of a user reveal at most the entries of the cells that the user has been in.
    """

    words: int
    public_words: int
    memo_words: int
    """Number of words of one entry of the memo."""
    memo_entries: int
    """The most entries that the values of one user can open."""
    record_bytes: int
    subject: str
    """Everything that the memo depends on. If that changes, the entries must be independent of the old ones."""

    def __init__(self, scheme: Document) -> None:
        scheme.memo_epsilon = scheme.fraction("memo_epsilon", 1000)

    def public(self, source: Source) -> tuple[int, ...]:
        """The user's public choices: none, unless there is a hash function."""
        return ()

    def cell(self, value: int, public: tuple[int, ...]) -> int:
        """The cell of a value."""
        raise NotImplementedError

    def memoise(self, cell: int, source: Source) -> bytes:
        """The entry of a cell."""
        raise NotImplementedError

    def answer(self, entry: bytes, public: tuple[int, ...], source: Source) -> bytes:
        """The record of a fresh report from an entry."""
        raise NotImplementedError

    def perturb(self, value: int, public: tuple[int, ...], source: Source) -> bytes:
        """The first report of a user: an entry, and an answer from it."""
        return self.answer(self.memoise(self.cell(value, public), source), public, source)

    def worst_ratio(self) -> Fraction:
        """The largest ratio of the likelihoods of a first report under two values."""
        raise NotImplementedError

    def memo_ratio(self) -> Fraction:
        """The largest ratio of the likelihoods of one entry under two cells."""
        raise NotImplementedError


class MemoisedHashing(Memoised):
    """LOLOHA: a lasting hash function, direct encoding of the hash in the memo, and of the entry in every report."""

    def __init__(self, scheme: Document) -> None:
        super().__init__(scheme)
        self.items = scheme.size
        self.order = 1 << (self.items - 1).bit_length()
        self.hash_bits = self.public_words = scheme.whole("hash_bits", 1, 8)
        self.size = 1 << self.hash_bits
        self.memo_keep, self.keep = scheme.threshold("memo_keep"), scheme.threshold("keep")
        self.memo_entries = min(self.size, self.items)
        self.memo_words = 2
        self.words = self.hash_bits + 4
        self.record_bytes = self.hash_bits * field_bytes(self.order) + field_bytes(self.size)
        self.subject = f"LOLOHA {self.items} {self.hash_bits} {self.memo_keep}"

    def public(self, source: Source) -> tuple[int, ...]:
        return tuple(source.below(self.order) for _ in range(self.hash_bits))

    def cell(self, value: int, public: tuple[int, ...]) -> int:
        _expect_inside(value, self.items)
        return sum(_parity(row & value) << j for j, row in enumerate(public))

    def memoise(self, cell: int, source: Source) -> bytes:
        return _field(_respond(cell, self.size, self.memo_keep, source), self.size)

    def answer(self, entry: bytes, public: tuple[int, ...], source: Source) -> bytes:
        (cell,) = entry
        answer = _respond(cell, self.size, self.keep, source)
        return b"".join(_field(row, self.order) for row in public) + _field(answer, self.size)

    def worst_ratio(self) -> Fraction:
        # Of the cell itself and of each other one, over both responses.
        others = self.size - 1
        lies = (_WORD - self.memo_keep) * (_WORD - self.keep)
        own = self.memo_keep * self.keep * others + lies
        return _both_ways(Fraction(own * others, _WORD * _WORD * others - own))

    def memo_ratio(self) -> Fraction:
        return _respond_ratio(self.size, self.memo_keep)


class MemoisedUnary(Memoised):
    """LOSUE, LSUE: a memo of one bit per item for every value, and each bit of it flipped anew in every report."""

    public_words = 0

    def __init__(self, scheme: Document) -> None:
        super().__init__(scheme)
        self.size = self.memo_entries = self.memo_words = scheme.size
        self.memo_keep, self.memo_flip = scheme.threshold("memo_keep"), scheme.threshold("memo_flip")
        self.keep = scheme.threshold("keep")
        self.words = 2 * self.size
        self.record_bytes = (self.size + 7) // 8
        self.subject = f"unary {self.size} {self.memo_keep} {self.memo_flip}"

    def cell(self, value: int, public: tuple[int, ...]) -> int:
        _expect_inside(value, self.size)
        return value

    def memoise(self, cell: int, source: Source) -> bytes:
        return self._bits(lambda i: source.bernoulli(self.memo_keep if i == cell else self.memo_flip))

    def answer(self, entry: bytes, public: tuple[int, ...], source: Source) -> bytes:
        return self._bits(lambda i: source.bernoulli(self.keep if entry[i >> 3] >> (i & 7) & 1 else _WORD - self.keep))

    def _bits(self, is_set: Callable[[int], bool]) -> bytes:
        bitmap = bytearray(self.record_bytes)
        for i in range(self.size):
            bitmap[i >> 3] |= is_set(i) << (i & 7)
        return bytes(bitmap)

    def worst_ratio(self) -> Fraction:
        keep, flip = (on * self.keep + (_WORD - on) * (_WORD - self.keep) for on in (self.memo_keep, self.memo_flip))
        return _odds_ratio(keep, flip, _WORD * _WORD)

    def memo_ratio(self) -> Fraction:
        return _odds_ratio(self.memo_keep, self.memo_flip, _WORD)


# --- searches: a string is the number whose digits are its symbols, the first one the highest -------------------


class Tag:
    """A few bits of a hash of the whole string, which keep the fragments of one string together."""

    def __init__(self, scheme: Document) -> None:
        self.text = scheme.strings
        self.hash_seed = scheme.seed("hash_seed")
        self.bits = scheme.whole("hash_bits", 0, 16)

    def of(self, value: int) -> int:
        """The tag of a string."""
        content = self.text.content(value, 0, self.text.length)
        return key64(content, self.hash_seed, b"tag") & (1 << self.bits) - 1


class Symbols(Part):
    """A part that reports the symbols of a string in [first, last), with a tag of the whole string."""

    def __init__(self, oracle: Oracle, text: Strings, first: int, last: int, tag: Tag | None = None) -> None:
        self.text, self.first, self.last, self.tag = text, first, last, tag
        self.hash_seed = oracle.domain.hash_seed if isinstance(oracle.domain, Keys) else None
        super().__init__(oracle)

    def count(self) -> int:
        """How many different things the oracle may be given."""
        count: int = self.text.symbols ** (self.last - self.first)
        return count << self.tag.bits if self.tag else count

    def item(self, value: int) -> int:
        """What the oracle is given of a string: a number, or the key of some bytes."""
        tag = self.tag.of(value) if self.tag else 0
        if self.hash_seed is None:
            return self.text.cut(value, self.first, self.last) << (self.tag.bits if self.tag else 0) | tag
        content = self.text.content(value, self.first, self.last)
        return key64(content + tag.to_bytes(2, "little") if self.tag else content, self.hash_seed, b"symbols")


def _levels(scheme: Document) -> list[int]:
    length = scheme.strings.length
    start = scheme.whole("start", 1, length)
    return [*range(start, length, scheme.whole("step", 1, length)), length]


def _weights(scheme: Document) -> list[int]:
    return scheme.wholes("weights", 1, 2**32 - 1)


class Fold(Symbols):
    """A part that reports the cell of a prefix: a hash of its stem chooses and rotates a block, the rest a cell."""

    def __init__(self, oracle: Oracle, text: Strings, stem: int, last: int, cohort: int, hash_seed: int) -> None:
        super().__init__(oracle, text, stem, last)
        self.cohort, self.fold_seed = cohort, hash_seed
        self.block = 1 << (self.count() - 1).bit_length()
        self.blocks = (oracle.size or 0) // self.block
        if self.blocks < 1 or self.blocks & self.blocks - 1 or self.blocks * self.block != oracle.size:
            raise DeviceError(f"{oracle.name}: expected an oracle over a power of two of cells, at least {self.block}")

    def item(self, value: int) -> int:
        """The cell."""
        key = key64(self.text.content(value, 0, self.first) + bytes([self.cohort]), self.fold_seed, b"fold")
        place = (self.text.cut(value, self.first, self.last) + key) % self.block
        return (key >> 32) % self.blocks * self.block + place


class Extension(Symbols):
    """A part that reports the symbols after a published prefix, or that no published prefix fits."""

    def __init__(self, oracle: Oracle, text: Strings, stem: int, last: int, prefixes: list[int]) -> None:
        self.numbers = {prefix: number for number, prefix in enumerate(prefixes)}
        self.more: int = text.symbols ** (last - stem)
        super().__init__(oracle, text, stem, last)
        if self.hash_seed is not None:
            raise DeviceError(f"{oracle.name}: expected an oracle over integers")

    def count(self) -> int:
        """How many different things the oracle may be given."""
        return len(self.numbers) * self.more + 1

    def item(self, value: int) -> int:
        """The number of the extension; the last one for strings that have none."""
        number = self.numbers.get(self.text.cut(value, 0, self.first), len(self.numbers))
        ending = self.text.cut(value, self.first, self.last) if number < len(self.numbers) else 0
        return number * self.more + ending


def search_round(scheme: Document) -> Randomizer:
    """ROUND: the continuation of the string, if it begins with a published prefix."""
    text = scheme.strings
    stem = scheme.whole("stem", 0, text.length - 1)
    reach = scheme.whole("reach", stem + 1, text.length)
    published: list[Any] = scheme.texts("prefixes")
    published = [_from_hex("prefixes", prefix) for prefix in published] if text.in_bytes else published
    if not 1 <= len(published) <= _MOST_PREFIXES or max(map(len, published)) > stem:
        raise DeviceError(f"prefixes: expected 1 to {_MOST_PREFIXES}, of at most {stem} characters each, got others")
    prefixes = [text.stem(prefix, stem) for prefix in published]
    if published != sorted(published) or len(set(prefixes)) != len(prefixes):
        raise DeviceError("prefixes: expected distinct ones in order, got others")
    return Grouped(text.items, [Extension(scheme.oracle("oracle"), text, stem, reach, prefixes)], [(0,)], [1])


def trellis(scheme: Document) -> Randomizer:
    """TRELLIS: a public group, and a symbol, two symbols, a short prefix, or the cell of a longer one."""
    text, levels = scheme.strings, _levels(scheme)
    seed, cohorts = scheme.seed("hash_seed"), scheme.whole("cohorts", 1, 16)
    tables = {name: scheme.oracle(name) for name in ("letters", "pairs", "first", "folded", "deep") if name in scheme}
    if any(isinstance(table.domain, Keys) for table in tables.values()):
        raise DeviceError("letters, pairs, first, folded, deep: expected oracles over integers")
    # Deeper levels have a table where the first of them has one, and they need one where there are any.
    needed = {"letters", "first"} | ({"folded"} if len(levels) > 1 else set())
    if not needed <= tables.keys() or ("folded" in tables) > ("deep" in tables):
        raise DeviceError(f"expected oracles for {', '.join(sorted(needed))}, and deep beside folded")
    for table in tables.values():
        _ = table.made  # one that no level uses is checked, too
    parts = [Symbols(tables["letters"], text, i, i + 1) for i in range(text.length)]
    if "pairs" in tables:
        parts += [Symbols(tables["pairs"], text, i, i + 2) for i in range(text.length - 1)]
    parts.append(Symbols(tables["first"], text, 0, levels[0]))
    for stem, last in pairwise(levels):
        cells = tables["folded" if stem == levels[0] else "deep"]
        parts += [Fold(cells, text, stem, last, cohort, seed) for cohort in range(cohorts)]
    return Grouped(text.items, parts, [(i,) for i in range(len(parts))], _weights(scheme))


def prefix_extending(scheme: Document) -> Randomizer:
    """PEM: a public prefix length, and that prefix."""
    text, oracle = scheme.strings, scheme.oracle("oracle")
    parts = [Symbols(oracle, text, 0, length) for length in _levels(scheme)]
    return Grouped(text.items, parts, [(i,) for i in range(len(parts))], _weights(scheme))


def _split(scheme: Document, pieces: Sequence[Part], *choices: str) -> Randomizer:
    # By default all users report a piece and the whole string. With split "users" each reports one of the two, half of
    # them the whole string; with "none" all report a piece only.
    text, count = scheme.strings, len(pieces)
    if not pieces:
        raise DeviceError("start: expected less than the length of the strings")
    split = scheme.choice("split", *choices) if "split" in scheme else ""
    if split == "none":
        return Grouped(text.items, list(pieces), [(i,) for i in range(count)], [1] * count)
    parts = [*pieces, Symbols(scheme.oracle("word_oracle"), text, 0, text.length)]
    if split == "users":
        return Grouped(text.items, parts, [(i,) for i in range(count + 1)], [*[1] * count, count])
    return Grouped(text.items, parts, [(i, count) for i in range(count)], [1] * count)


def tree_histogram(scheme: Document) -> Randomizer:
    """TH: a public prefix length, that prefix, and the whole string; or one of the two."""
    text, oracle = scheme.strings, scheme.oracle("oracle")
    return _split(scheme, [Symbols(oracle, text, 0, length) for length in _levels(scheme)[:-1]], "users")


def fragment_puzzle(scheme: Document) -> Randomizer:
    """SFP: a public position, the fragment there with a tag, and the whole string; or one of the two, or no string."""
    text, oracle = scheme.strings, scheme.oracle("oracle")
    size, tag = scheme.whole("fragment", 1, text.length), Tag(scheme)
    starts = range(0, text.length, size)
    pieces = [Symbols(oracle, text, first, min(first + size, text.length), tag) for first in starts]
    return _split(scheme, pieces, "users", "none")


def bitstogram(scheme: Document) -> Randomizer:
    """BITSTOGRAM: a public position and the symbol there with a tag, or the whole string."""
    text, oracle, tag = scheme.strings, scheme.oracle("oracle"), Tag(scheme)
    parts = [Symbols(oracle, text, i, i + 1, tag) for i in range(text.length)]
    parts.append(Symbols(scheme.oracle("word_oracle"), text, 0, text.length))
    return Grouped(text.items, parts, [(i,) for i in range(len(parts))], _weights(scheme))


RANDOMIZERS: dict[str, Callable[[Document], Randomizer]] = {
    "DE": Direct,
    "SUE": Unary,
    "OUE": Unary,
    "THE": _thresholded,
    "BLH": LocalHashing,
    "OLH": LocalHashing,
    "FLH": FastLocalHashing,
    "HM": HadamardMechanism,
    "HR": HadamardResponse,
    "SS": SubsetSelection,
    "TLH": ToeplitzHashing,
    "AGR": AffineResponse,
    "CM": RowSketch,
    "CS": RowSketch,
    "BLOOM": _bloom,
    "SLIDE": slide,
    "SW": SquareWave,
    "MEAN": OneBit,
    "HH": hierarchy,
    "HAAR": haar,
    "CLIQUE": clique,
    "SMP": sampled_attribute,
    "SPL": split_attributes,
    "LOLOHA": MemoisedHashing,
    "LOSUE": MemoisedUnary,
    "LSUE": MemoisedUnary,
    "TRELLIS": trellis,
    "ROUND": search_round,
    "PEM": prefix_extending,
    "TH": tree_histogram,
    "SFP": fragment_puzzle,
    "BITSTOGRAM": bitstogram,
}
"""Functions that make the randomizer of each scheme from its document; ``register`` adds to them."""


def register(name: str, randomizer: Callable[[Document], Randomizer]) -> None:
    """Register a scheme of another package: ``randomizer`` makes its client from a document.

    It reads every field that the scheme adds to a document, and raises for unexpected values.
    """
    _register(RANDOMIZERS, name, randomizer)


def register_domain(kind: str, domain: Callable[[Fields], Domain]) -> None:
    """Register a kind of domain of another package by its "type": ``domain`` makes it from the other fields."""
    _register(DOMAINS, kind, domain)


def _register(known: dict[str, Callable[[Any], Any]], name: str, made: Callable[[Any], Any]) -> None:
    # A module that is imported anew defines the same thing anew; anything else would replace a client by another.
    if name in known and _origin(known[name]) != _origin(made):
        raise DeviceError(f"{name}: expected a name that is not taken yet")
    known[name] = made


def _origin(made: Callable[[Any], Any]) -> tuple[object, object]:
    return getattr(made, "__module__", None), getattr(made, "__qualname__", made)


# --- the client -------------------------------------------------------------------------------------------------


def randomizer_of(scheme: dict[str, Any]) -> Randomizer:
    """The randomizer of a scheme's document; only its oracles are checked to keep their own epsilon."""
    return _made(Document(scheme))


def _made(document: Document) -> Randomizer:
    made = RANDOMIZERS[document.name](document)
    document.close()
    return made


def _expect_at_most(limit: Fraction | None, epsilon: Fraction) -> None:
    if limit is not None and epsilon > limit:
        raise DeviceError(f"expected epsilon at most {limit}, got a larger one (load(..., max_epsilon=…))")


def _expect_within(ratio: Fraction, epsilon: Fraction) -> None:
    if ratio > _exp_lower_bound(epsilon):
        raise DeviceError("the scheme's probabilities exceed its own epsilon; do not send anything")


class Client:
    """A scheme on a device; ``privatize(value)`` is the only method that takes a value.

    A device does not trust the sender of a scheme. ``max_epsilon`` is the largest epsilon that the application allows
    (a number, or text such as "1/3"), ``fingerprint`` that of the only scheme it accepts. None means: not checked; if
    both are None, epsilon is at most ``MAX_EPSILON``. For a scheme with a memo, this limits the epsilon of an entry.
    ``total=False`` accepts a domain that refuses some values: a user who sends nothing is known to have one of them.
    ``memo``: the user's memo, which a scheme with a memo needs; "once" for a user who never reports again.
    """

    def __init__(
        self,
        scheme: dict[str, Any],
        *,
        max_epsilon: object = None,
        fingerprint: str | None = None,
        total: bool = True,
        memo: Memo | str | None = None,
    ) -> None:
        limit = _limit(max_epsilon, fingerprint)
        if fingerprint is not None and not (isinstance(fingerprint, str) and _is_fingerprint(fingerprint)):
            raise DeviceError("fingerprint: expected 64 lower-case hexadecimal digits, got something else")
        if not isinstance(total, bool):
            raise DeviceError(f"total: expected True or False, got {type(total).__name__}")
        # Cheap checks come first: an unwanted scheme costs nothing.
        self.fingerprint = _fingerprint(scheme)
        """Unique name of the scheme, to show or compare: hex SHA-256 of its canonical text."""
        if fingerprint not in (None, self.fingerprint):
            raise DeviceError("the scheme is not the one that the application knows by its fingerprint")
        document = Document(scheme)
        self.name, self.epsilon = document.name, document.epsilon
        """Privacy of one report: no record is more than e^epsilon times as likely under one value as under another."""
        _expect_at_most(limit, self.epsilon)
        if total and not document.domain.total:
            raise DeviceError(
                "the domain refuses some values, and a user who sends nothing is known to have one of them; make the "
                "scheme with other=True (strings: and long='truncate'), or accept that with load(..., total=False)"
            )
        self.encode = document.domain.encode
        self.randomizer = _made(document)
        if self.randomizer.words > _MOST_WORDS or self.randomizer.record_bytes > _MOST_BYTES:
            raise DeviceError(
                f"expected reports of at most {_MOST_WORDS} random words and {_MOST_BYTES} bytes, got more"
            )
        _expect_within(self.randomizer.worst_ratio(), self.epsilon)
        self.memo_epsilon = document.memo_epsilon
        """Privacy of all reports of one value together, for a scheme with a memo; else None."""
        self._remembered: Remembered | None = None
        if isinstance(self.randomizer, Memoised) and self.memo_epsilon is not None:
            _expect_at_most(limit, self.memo_epsilon)
            _expect_within(self.randomizer.memo_ratio(), self.memo_epsilon)
            self._remembered = _remembered(self.randomizer, memo)
        elif memo not in (None, "once"):
            raise DeviceError(f"memo: expected none, since {self.name} has no memo, got one")

    def __repr__(self) -> str:
        return f"<client of {self.name}, epsilon = {self.epsilon}, {self.fingerprint[:12]}>"

    def privatize(self, value: object, source: Source | None = None) -> bytes:
        """The record of one randomized report."""
        encoded, made = self.encode(value), self.randomizer
        if self._remembered:
            return self._remembered.record(encoded, source)
        source = source or WordSource(made.words)
        return made.perturb(encoded, made.public(source), source)


def _remembered(made: Memoised, memo: Memo | str | None) -> Remembered | None:
    if memo == "once":
        return None
    if not isinstance(memo, Memo):
        raise DeviceError(
            "memo: expected load(..., memo=Memo(key, series)), got none; without it, the average of a user's reports "
            'reveals the value. A user who never reports again needs none: memo="once"'
        )
    return Remembered(made, memo)


class Remembered:
    """A scheme with the memo of one user: only the answers are drawn anew."""

    def __init__(self, made: Memoised, memo: Memo) -> None:
        self._made, self._choices = made, memo.choices(made.subject)
        self._public = made.public(self._choices(b"hash", 0, made.public_words))

    def record(self, value: int, source: Source | None) -> bytes:
        """The record of one report; ``source`` has the words of the answer."""
        made = self._made
        cell = made.cell(value, self._public)
        entry = made.memoise(cell, self._choices(b"memo", cell, made.memo_words))
        words = made.words - made.public_words - made.memo_words
        return made.answer(entry, self._public, source or WordSource(words))


def load(
    scheme_json: str,
    *,
    max_epsilon: object = None,
    fingerprint: str | None = None,
    total: bool = True,
    memo: Memo | str | None = None,
) -> Client:
    """The client of a scheme given as JSON text.

    ``max_epsilon``: the largest epsilon to accept, a number or text such as "1/3". ``fingerprint``: that of the only
    scheme to accept. None means: not checked; if both are None, epsilon is at most 8. ``total=False`` accepts a domain
    that refuses some values. ``memo``: the user's memo for a scheme with one, or "once" (see ``Client``).
    """
    if not isinstance(scheme_json, str):
        raise DeviceError(f"expected the JSON text of a scheme (str), got {type(scheme_json).__name__}")
    if len(scheme_json) > _MOST_CHARACTERS:
        raise DeviceError(f"expected a scheme of at most {_MOST_CHARACTERS} characters, got {len(scheme_json)}")
    # Empty lists and objects take thirty times the memory of their text.
    if scheme_json.count("[") + scheme_json.count("{") > _MOST_BRACKETS:
        raise DeviceError(f"expected a scheme with at most {_MOST_BRACKETS} opening brackets, got more")
    try:
        scheme = json.loads(scheme_json, object_pairs_hook=_once)
    except (ValueError, RecursionError):
        hint = " (load takes the text of a file, not its name)" if scheme_json.endswith(".json") else ""
        raise DeviceError(f"the scheme is not valid JSON{hint}") from None
    return Client(scheme, max_epsilon=max_epsilon, fingerprint=fingerprint, total=total, memo=memo)


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    fields = dict(pairs)
    if len(fields) != len(pairs):
        raise ValueError("a field occurs twice")
    return fields


def _fingerprint(scheme: dict[str, Any]) -> str:
    try:
        canonical = json.dumps(scheme, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
        return sha256(canonical.encode()).hexdigest()
    except (TypeError, ValueError, RecursionError):
        raise DeviceError("the scheme has no JSON form, or text in it has no UTF-8 form") from None


def _is_fingerprint(text: str) -> bool:
    return len(text) == 64 and all(digit in "0123456789abcdef" for digit in text)


def _limit(max_epsilon: object, fingerprint: object) -> Fraction | None:
    if max_epsilon is None:
        return Fraction(MAX_EPSILON) if fingerprint is None else None
    try:
        limit = Fraction(str(max_epsilon))
    except (ValueError, ZeroDivisionError):
        limit = Fraction(0)
    if limit <= 0:
        raise DeviceError('max_epsilon: expected a number above 0, or text such as "1/3", got something else')
    return limit


def _exp_lower_bound(epsilon: Fraction) -> Fraction:
    # Partial sums of the series lie below e^epsilon; 200 bits of agreement are far more than the 2^-64 to which
    # thresholds are rounded, so no honest scheme is refused.
    scale = 1 << 300
    term = total = scale
    k = 0
    while term > total >> 220:
        k += 1
        term = term * epsilon.numerator // (epsilon.denominator * k)
        total += term
    return Fraction(total, scale)
