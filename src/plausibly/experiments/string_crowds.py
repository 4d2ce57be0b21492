"""Synthetic crowds of strings with known counts, on which searches can be scored.

Every dataset is a function ``f(n, length, seed)``. The seed determines a model: the strings and their probabilities.
n users draw from the model independently, and their strings are cut to ``length`` characters. The model does not
depend on n, nor the draw on the length: ``f(n, 6, seed)`` has the users of ``f(n, 64, seed)`` with shorter strings.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial

import numpy as np
import numpy.typing as npt

from ..core.arguments import whole_number
from .names import (
    CONSONANTS,
    ENDINGS,
    PATHS,
    PREFIXES,
    SEPARATORS,
    SITES,
    SUBDOMAINS,
    SYLLABLES,
    VOWELS,
    WORDS,
)

Strings = npt.NDArray[np.str_]
Counts = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Words64 = npt.NDArray[np.uint64]

ALPHABET = "abcdefghijklmnopqrstuvwxyz0123456789.-/"
"""The 39 characters of all strings; with the padding symbol, 40 symbols."""

MAX_LENGTH = 64

URL_CLICKS_N = 1_935_614
URL_CLICKS_D = 383_467
"""Clicks and distinct addresses of the search log that ``url-clicks`` imitates."""
MODEL_CLICKS_D = 382_586
"""Distinct addresses of ``url-clicks`` with the same number of clicks and seed 0."""


@dataclass(frozen=True, eq=False)
class Crowd:
    """A crowd: distinct strings with the number of users who have each, most frequent first; counts are positive."""

    name: str
    strings: Strings
    counts: Counts

    @property
    def n(self) -> int:
        """Number of users in the crowd of strings."""
        return int(self.counts.sum())

    def holders(self, rng: np.random.Generator) -> npt.NDArray[np.int32]:
        """All users of the crowd in random order, each given by the index of their string in ``strings``."""
        places = np.repeat(np.arange(len(self.strings), dtype=np.int32), self.counts)
        rng.shuffle(places)
        return places

    def users(self, rng: np.random.Generator) -> Strings:
        """The string of each user in the crowd, in random order."""
        return self.strings[self.holders(rng)]

    def truncated(self, length: int) -> Crowd:
        """The same crowd with strings cut to ``length`` characters; strings that become equal are merged."""
        return _crowd(self.name, self.strings.tolist(), self.counts, length)

    def top(self, k: int) -> list[str]:
        """The k most frequent strings of the crowd; ties are broken by their order."""
        most: list[str] = self.strings[:k].tolist()
        return most


Recipe = Callable[[int, int, int], Crowd]


def url_clicks(n: int, length: int, seed: int) -> Crowd:
    """A crowd of clicked addresses, strings that resemble a web search log of 2006.

    The probabilities imitate the log's: a measured head, then a tail proportional to r^−1.3. The first names are
    well-known sites; the others are composed of words, subdomains and paths, so that many share their first characters.
    """
    rng = _generator("url-clicks", seed)
    keys = rng.integers(2**64, size=16, dtype=np.uint64)
    counts = rng.multinomial(_users(n), url_probabilities())
    ranks = np.flatnonzero(counts)
    known = ranks[ranks < len(SITES)]
    made = ranks[ranks >= len(SITES)]
    strings = [SITES[rank] for rank in known.tolist()] + _addresses(made.astype(np.uint64), keys)
    return _crowd("url-clicks", strings, counts[ranks], length)


def url_probabilities() -> Floats:
    """Probability of each rank in the crowd ``url-clicks``, in order. It nearly doubles where the tail begins."""
    ranks, head = zip(*_URL_HEAD, strict=True)
    last = ranks[-1]
    first = np.exp(np.interp(np.log(np.arange(1, last + 1)), np.log(ranks), np.log(head)))
    tail = np.arange(last + 1, _URL_RANKS + 1) ** -1.3
    return np.concatenate([first, tail * ((1 - first.sum()) / tail.sum())])


_URL_HEAD = (
    (1, 0.0118),
    (2, 0.0107),
    (3, 0.00967),
    (4, 0.00872),
    (5, 0.00504),
    (10, 0.00383),
    (20, 0.00122),
    (50, 7.4e-4),
    (100, 4.76e-4),
    (200, 3.14e-4),
    (500, 1.57e-4),
    (1000, 8.83e-5),
    (2000, 4.9e-5),
    (4000, 2.7e-5),
    (7609, 1.23e-5),
)
"""Rank and probability; interpolated linearly on a log-log scale."""
_URL_RANKS = 3_702_189
"""Number of ranks, chosen so that ``URL_CLICKS_N`` clicks fall on about ``URL_CLICKS_D`` distinct ones."""


def zipf(exponent: float, n: int, length: int, seed: int) -> Crowd:
    """A crowd of 100,000 pronounceable strings of 3 to 20 characters; the probability of rank r is ∝ r^−exponent."""
    name = f"zipf-{exponent}"
    rng = _generator(name, seed)
    strings = _distinct(partial(_pronounceable, rng, lengths=np.arange(3, 21)), 100_000)
    return _drawn(name, strings, _power_law(100_000, exponent), n, length, rng)


def flat_head(n: int, length: int, seed: int) -> Crowd:
    """A crowd with 10 equally probable strings (0.004 each) above 100,000 others.

    The others follow a power law of exponent 1 that starts at rank 500, so that the most probable of them has 1/11 of
    the probability of a head string.
    """
    rng = _generator("flat-head", seed)
    strings = _distinct(partial(_pronounceable, rng, lengths=np.arange(3, 21)), 100_010)
    probabilities = np.concatenate([np.full(10, 0.004), 0.96 * _power_law(100_000, 1.0, first=500)])
    return _drawn("flat-head", strings, probabilities, n, length, rng)


def skewed_letters(n: int, length: int, seed: int) -> Crowd:
    """A crowd of 50,000 full-length strings of independent characters with English letter frequencies; Zipf 1.1."""
    rng = _generator("skewed-letters", seed)
    strings = _letters(rng, np.full(50_000, MAX_LENGTH), _LETTER_WEIGHTS).tolist()
    return _drawn("skewed-letters", strings, _power_law(50_000, 1.1), n, length, rng)


def uniform_letters(n: int, length: int, seed: int) -> Crowd:
    """A crowd of 50,000 full-length strings of uniform characters, where no prior can help; Zipf 1.1."""
    rng = _generator("uniform-letters", seed)
    strings = _letters(rng, np.full(50_000, MAX_LENGTH)).tolist()
    return _drawn("uniform-letters", strings, _power_law(50_000, 1.1), n, length, rng)


def short_strings(n: int, length: int, seed: int) -> Crowd:
    """A crowd of 20,000 strings, 90 % of them drawn with 1 to 5 characters; Zipf 1.1."""
    rng = _generator("short-strings", seed)
    weights = np.array([0.05, 0.15, 0.25, 0.25, 0.2, 0.05, 0.03, 0.02])

    def draw(size: int) -> Strings:
        return _letters(rng, rng.choice(np.arange(1, 9), size, p=weights), _LETTER_WEIGHTS)

    return _drawn("short-strings", _distinct(draw, 20_000), _power_law(20_000, 1.1), n, length, rng)


def shared_prefixes(n: int, length: int, seed: int) -> Crowd:
    """A crowd of 50,000 strings that begin with one of 40 common prefixes; Zipf 1.1.

    The 10 most probable strings share 3 prefixes of 4 characters.
    """
    rng = _generator("shared-prefixes", seed)
    openings = np.array(PREFIXES)
    short = np.flatnonzero(np.char.str_len(openings) == 4)
    # Longer prefixes are rarer: cut to six characters, all strings with one long prefix become the same string.
    weights = 0.5 ** np.maximum(np.char.str_len(openings) - 4, 0)
    leading = rng.choice(short, 3, replace=False)

    def draw(size: int) -> Strings:
        chosen = rng.choice(len(openings), size, p=weights / weights.sum())
        chosen[:10] = rng.choice(leading, 10)
        return np.char.add(openings[chosen], _pronounceable(rng, size, lengths=np.arange(2, 13)))

    return _drawn("shared-prefixes", _distinct(draw, 50_000), _power_law(50_000, 1.1), n, length, rng)


def uniform(n: int, length: int, seed: int) -> Crowd:
    """A crowd of 1,000,000 equally probable strings of 6 to 16 uniform characters: there are no heavy hitters."""
    rng = _generator("uniform", seed)
    own, *keys = rng.integers(2**64, size=17, dtype=np.uint64)
    ranks, counts = np.unique(rng.integers(10**6, size=_users(n), dtype=np.uint64), return_counts=True)
    # Generated from hashes of the rank instead of drawing all strings: n users have only a few of them.
    drawn = np.stack([_mixed(ranks, key) % np.uint64(len(ALPHABET)) for key in keys], axis=1).astype(np.uint8)
    strings = _written(np.array(list(ALPHABET))[drawn], 6 + (_mixed(ranks, own) % np.uint64(11)).astype(np.int64))
    return _crowd("uniform", strings.tolist(), counts, length)


DATASETS: Mapping[str, Recipe] = {
    "url-clicks": url_clicks,
    "zipf-1.0": partial(zipf, 1.0),
    "zipf-1.1": partial(zipf, 1.1),
    "zipf-1.3": partial(zipf, 1.3),
    "flat-head": flat_head,
    "skewed-letters": skewed_letters,
    "uniform-letters": uniform_letters,
    "short-strings": short_strings,
    "shared-prefixes": shared_prefixes,
    "uniform": uniform,
}
"""Every dataset by name."""

SHAPES = tuple(name for name in DATASETS if name != "uniform")
"""Names of the datasets with heavy hitters, on which accuracy is measured."""

# Frequency of each character of the alphabet in English text (per mille): letters, then digits and punctuation.
_LETTER_WEIGHTS = np.array(
    [82, 15, 28, 43, 127, 22, 20, 61, 70, 2, 8, 40, 24, 67, 75, 19, 1, 60, 63, 91, 28, 10, 24, 2, 20, 1]
    + [4] * 10
    + [12, 6, 6],
    dtype=np.float64,
)


def _generator(name: str, seed: int) -> np.random.Generator:
    # The name too: datasets with the same seed are independent.
    return np.random.default_rng([whole_number("seed", seed, 0, 2**64 - 1), *name.encode()])


def _users(n: int) -> int:
    return whole_number("n", n, 1, 2**31 - 1)


def _crowd(name: str, strings: list[str], counts: Counts, length: int) -> Crowd:
    length = whole_number("length", length, 1, MAX_LENGTH)
    cut = [string[:length] for string in strings]
    # A dictionary: sorting long strings in an array takes ten times as long.
    places: dict[str, int] = {}
    place = [places.setdefault(string, len(places)) for string in cut]
    merged = np.zeros(len(places), dtype=np.int64)
    np.add.at(merged, place, counts)
    order = np.argsort(-merged, kind="stable")
    return Crowd(name, np.array(list(places))[order], merged[order])


def _drawn(
    name: str, strings: list[str], probabilities: Floats, n: int, length: int, rng: np.random.Generator
) -> Crowd:
    # n users draw from a model; strings that no user has drawn are omitted.
    counts = rng.multinomial(_users(n), probabilities)
    held = np.flatnonzero(counts)
    return _crowd(name, [strings[place] for place in held.tolist()], counts[held], length)


def _power_law(size: int, exponent: float, first: int = 1) -> Floats:
    weights = np.arange(first, first + size) ** -exponent
    return np.asarray(weights / weights.sum())


def _distinct(draw: Callable[[int], Strings], size: int) -> list[str]:
    # Distinct strings in the order of their first draw.
    found: dict[str, None] = {}
    while len(found) < size:
        found |= dict.fromkeys(draw(size).tolist())
    return list(found)[:size]


def _letters(rng: np.random.Generator, lengths: npt.NDArray[np.integer], weights: Floats | None = None) -> Strings:
    # Strings of the given lengths with independent characters; uniform if no weights are given.
    shape = (len(lengths), int(lengths.max()))
    drawn: npt.NDArray[np.integer]
    if weights is None:
        drawn = rng.integers(len(ALPHABET), size=shape, dtype=np.uint8)
    else:
        drawn = np.searchsorted(np.cumsum(weights / weights.sum())[:-1], rng.random(shape), side="right")
    return _written(np.array(list(ALPHABET))[drawn], lengths)


def _pronounceable(rng: np.random.Generator, size: int, *, lengths: npt.NDArray[np.integer]) -> Strings:
    # Alternating consonants and vowels, starting with either; all lengths equally probable.
    longest = int(lengths.max())
    turns = np.empty((size, longest + 1), dtype="<U1")
    turns[:, 0::2] = _choice(rng, CONSONANTS, turns[:, 0::2].shape)
    turns[:, 1::2] = _choice(rng, VOWELS, turns[:, 1::2].shape)
    first = rng.integers(2, size=(size, 1))
    return _written(np.where(first == 0, turns[:, :-1], turns[:, 1:]), rng.choice(lengths, size))


def _choice(rng: np.random.Generator, characters: str, shape: tuple[int, ...]) -> Strings:
    # Characters drawn with their English frequencies.
    weights = np.array([_LETTER_WEIGHTS[ALPHABET.index(character)] for character in characters])
    return rng.choice(np.array(list(characters)), shape, p=weights / weights.sum())


def _written(characters: Strings, lengths: npt.NDArray[np.integer]) -> Strings:
    # The rows of a table of characters as strings of the given lengths.
    characters[np.arange(characters.shape[1]) >= lengths[:, None]] = ""
    return np.ascontiguousarray(characters).view(f"<U{characters.shape[1]}").ravel()


def _addresses(ranks: Words64, keys: Words64) -> list[str]:
    # A site name for each rank: "[subdomain.][word][-]code.ending[/path]". It depends on rank and keys alone. The code,
    # the last six letters before the ending, is a permutation of the rank, and so all names are distinct.

    def uniform(draw: int) -> Floats:
        return (_mixed(ranks, keys[draw]) >> np.uint64(11)).astype(np.float64) * 2.0**-53

    def picked(words: tuple[str, ...], draw: int, power: float = 1.0) -> npt.NDArray[np.object_]:
        # A power above 1 prefers the first words.
        chosen: npt.NDArray[np.object_] = np.array(words, dtype=object)[
            (len(words) * uniform(draw) ** power).astype(np.intp)
        ]
        return chosen

    def some(share: float, draw: int, parts: npt.NDArray[np.object_]) -> npt.NDArray[np.object_]:
        chosen: npt.NDArray[np.object_] = np.where(uniform(draw) < share, parts, "")
        return chosen

    # A Feistel network on pairs of syllables: every pair once, in an order that the keys decide.
    size = np.uint64(len(SYLLABLES))
    left, right = ranks // size, ranks % size
    for key in keys[:4]:
        left, right = right, (left + _mixed(right, key)) % size
    syllables = np.array(SYLLABLES, dtype=object)
    code = syllables[left.astype(np.intp)] + syllables[right.astype(np.intp)]

    subdomain = some(0.03, 4, picked(SUBDOMAINS, 5, 1.5) + ".")
    word = some(0.8, 6, picked(WORDS, 7, 1.5) + some(0.2, 8, picked(WORDS, 9, 1.5)) + picked(SEPARATORS, 10))
    folder = some(0.4, 13, "/" + picked(WORDS, 14) + some(0.5, 15, "/" + code))
    path = some(0.12, 11, folder + picked(PATHS, 12))
    names: list[str] = (subdomain + word + code + picked(ENDINGS, 3) + path).tolist()
    return names


def _mixed(words: Words64, key: np.uint64) -> Words64:
    # SplitMix64's finalizer over a key: a hash good enough for made-up names.
    mixed = (words + key) * np.uint64(0x9E3779B97F4A7C15)
    mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.asarray(mixed ^ (mixed >> np.uint64(31)))
