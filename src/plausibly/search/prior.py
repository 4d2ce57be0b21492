"""The prior probability of a string: a model of its characters, learned from noisy shares.

Naming one of A^L strings takes as many nats of evidence as the prior leaves open, so this model decides how light a
string may be and still be found. It is learned from the groups that report single symbols and pairs of neighbours.
Estimates are noisy, and a symbol wrongly taken for impossible loses every string that contains it. Therefore each
estimate is shrunk towards a coarser one (position -> neighbouring positions -> all positions -> text), the more of
their difference its noise explains (empirical Bayes), and always keeps a part of the coarser one. The coarsest estimate
is ordinary text, as far as the observed letters support it, and uniform otherwise.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from .evidence import Evidence, Floats, Floats32, Numbers, Symbols, Text

FLOOR = 0.05
"""Share of the uniform distribution mixed into every next symbol: no symbol costs more than ln(A/FLOOR) nats."""
_LETTERS_REACH = 3.0
"""Distance in positions at which a neighbour's letters weigh 1/e; all together weigh as much as twelve positions."""
_ENDS_REACH = 2.0
"""Distance in positions at which a neighbour's probability of ending weighs 1/e."""
_KEPT = 0.2
"""Part of the coarser estimate that a finer one keeps for every symbol, even if its own is 0."""
_ENDS_KEPT = 0.25
_ENDS_SPREAD = 0.5
"""Relative standard deviation of the probability of ending around that of its neighbourhood."""
_LEAST_END = 0.0025
_FEWEST = 0.02
"""Least divisor: smaller shares (of strings that continue, or of a symbol) are raised to this."""
_PAIR_SPREAD = 1.0
"""Relative standard deviation of a pair's share around the product of its symbols' shares."""
_TEXT = (0.6, 0.4)
"""Prior mean and standard deviation of the part of the letters that is ordinary text."""
_TEXT_PAIRS = 0.5
"""Fraction of that part that also applies to pairs."""
_RATIOS = (0.1, 10.0)
_END_RATIOS = (0.1, 20.0)
_LEAST_SYMBOL = 2e-3


@dataclass(frozen=True, eq=False)
class CharacterModel:
    """A model of ln P(string): each position has letters and a chance of ending, which depend on the symbol before."""

    ends: Floats
    """[position]: probability that a string ends at this position, if it gets there."""
    letters: Floats
    """[position, letter]: distribution of the letter in strings that continue."""
    ratios: Floats | None = None
    """[letter, next letter]: frequency of the pair, relative to independent letters."""
    end_ratios: Floats | None = None
    """[letter]: relative frequency of an end after this letter."""

    @property
    def symbols(self) -> int:
        return int(self.letters.shape[1]) + 1

    def next_symbol(self, position: int) -> Floats:
        """Learned prior ln P of each symbol at a position, given the symbol before (one row if it does not matter)."""
        letters = self.letters[None, position]
        end = np.array([self.ends[position]])
        if position and self.ratios is not None and self.end_ratios is not None:
            letters = letters * self.ratios
            end = np.minimum(end * self.end_ratios, 0.95)
        letters = letters / letters.sum(axis=1, keepdims=True)
        shares = np.concatenate([end[:, None], (1 - end)[:, None] * letters], axis=1)
        return np.asarray(np.log((1 - FLOOR) * shares + FLOOR / self.symbols))

    def rows(self, last: Symbols) -> Numbers:
        """Row of the prior's ``extensions`` for each preceding letter."""
        return last.astype(np.int64) - 1 if self.ratios is not None else np.zeros(len(last), dtype=np.int64)

    def extensions(self, position: int, step: int) -> Floats:
        """Prior ln P of all A^step extensions from a position on, given the letter before; −inf for inner pads."""
        found = self.next_symbol(position)
        for further in range(position + 1, position + step):
            found = (found.reshape(-1, self.symbols)[:, :, None] + self._after(further)).reshape(len(found), -1)
        return found

    def prefixes(self, length: int) -> Floats32:
        """Prior ln P of all A^length prefixes."""
        return np.asarray(self.extensions(0, length)[0], dtype=np.float32)

    def _after(self, position: int) -> Floats:
        # [symbol before, symbol]: only pads follow a pad.
        after = np.full((self.symbols, self.symbols), -np.inf)
        after[0, 0] = 0.0
        after[1:] = self.next_symbol(position)
        return after


def character_model(evidence: Evidence) -> CharacterModel:
    """The model of characters behind a string's prior probability, learned from noisy shares of symbols and pairs."""
    variance = np.minimum(evidence.letters_variance, 1e6)
    ended = np.clip(isotonic(evidence.letters[:, 0], 1 / variance), 0.0, 1 - 1e-3)
    reached = 1 - np.concatenate([[0.0], ended[:-1]])
    ends = _ends(ended, reached, variance)
    going = np.maximum(1 - ended, _FEWEST)
    letters, trust = _letters(evidence.letters[:, 1:] / going[:, None], variance / going**2, evidence.text)
    model = CharacterModel(ends, letters)
    typical = 1.0 if evidence.text is None else 1 + _TEXT_PAIRS * trust * (evidence.text.ratios - 1)
    if evidence.pairs is None or evidence.pairs_variance is None:
        if evidence.text is None:
            return model
        return replace(model, ratios=np.clip(typical, *_RATIOS), end_ratios=np.ones(evidence.symbols - 1))
    # All positions pooled, weighted by their precision: a single position has too few reports for A² pairs.
    precision = 1 / np.minimum(evidence.pairs_variance, 1e6)
    noise = 1 / precision.sum()
    weights = precision * noise
    pairs = np.tensordot(weights, evidence.pairs, axes=1)[1:]
    before = (weights * reached[1:]) @ letters[:-1]
    both = weights * (1 - ended[1:])
    first, second = both @ letters[:-1], both @ letters[1:]
    chance = _least(first)[:, None] * _least(second) / max(both.sum(), _FEWEST)
    ending = _least(before) * max(
        float(weights @ (ended[1:] - ended[:-1])) / max(float(weights @ reached[1:]), 1e-9), 1e-3
    )
    return replace(
        model,
        ratios=_ratios(pairs[:, 1:], chance, noise, _RATIOS, typical),
        end_ratios=_ratios(pairs[:, 0], ending, noise, _END_RATIOS),
    )


def isotonic(values: Floats, weights: Floats) -> Floats:
    """Isotonic regression for the prior: the non-decreasing sequence nearest to the values."""
    blocks: list[tuple[float, float, int]] = []
    for value, weight in zip(values.tolist(), weights.tolist(), strict=True):
        block = (value, weight, 1)
        while blocks and blocks[-1][0] > block[0]:
            other = blocks.pop()
            total = other[1] + block[1]
            block = ((other[0] * other[1] + block[0] * block[1]) / total, total, other[2] + block[2])
        blocks.append(block)
    return np.repeat([value for value, _, _ in blocks], [count for _, _, count in blocks])


def _ends(ended: Floats, reached: Floats, variance: Floats) -> Floats:
    # The probability of ending at each position, given that the string gets there.
    steps = np.diff(ended, prepend=0.0)
    near = _kernel(len(ended), _ENDS_REACH)
    smooth = near @ steps / np.maximum(near @ reached, 1e-9)
    coarse = np.maximum(smooth, _LEAST_END)
    reached = np.maximum(reached, _FEWEST)
    signal, noise = (_ENDS_SPREAD * coarse) ** 2, 2 * variance / reached**2
    own = smooth + (steps / reached - smooth) * signal / (signal + noise)
    return np.asarray(np.clip(own, _ENDS_KEPT * coarse, 0.98))


def _letters(shares: Floats, variance: Floats, text: Text | None) -> tuple[Floats, float]:
    # The distribution of letters at each position, and the part of it that is ordinary text.
    precision = 1 / variance
    coarse, trust = np.full(shares.shape[1], 1 / shares.shape[1]), 0.0
    everywhere, noise = precision @ shares / precision.sum(), 1 / precision.sum()
    if text is not None:
        away = text.letters - coarse
        trust = _part_of_text(float((everywhere - coarse) @ away / (away @ away)), float(noise / (away @ away)))
        coarse = coarse + trust * away
    everywhere = _shrunk(everywhere[None], coarse[None], noise[None])
    near = _kernel(len(shares), _LETTERS_REACH) * precision
    near /= near.sum(axis=1, keepdims=True)
    around = _shrunk(near @ shares, everywhere, near**2 @ variance)
    return _shrunk(shares, around, variance), trust


def _part_of_text(estimate: float, variance: float) -> float:
    # The posterior mean of the least-squares estimate of λ in λ·text + (1 − λ)·uniform.
    mean, spread = _TEXT
    part = (estimate * spread**2 + mean * variance) / (spread**2 + variance)
    return min(max(part, 0.0), 1.0)


def _shrunk(own: Floats, coarse: Floats, variance: Floats) -> Floats:
    # James-Stein: keep the part of the distance to the coarser estimate that noise does not explain.
    distance = np.mean((own - coarse) ** 2, axis=1)
    part = np.maximum(distance - variance, 0.0) / np.maximum(distance, 1e-300)
    mixed = np.maximum(coarse + (own - coarse) * part[:, None], _KEPT * coarse)
    return np.asarray(mixed / mixed.sum(axis=1, keepdims=True))


def _ratios(
    shares: Floats, chance: Floats, noise: float, limits: tuple[float, float], typical: Floats | float = 1.0
) -> Floats:
    # Observed over expected frequency, shrunk towards the typical ratio by the noise.
    signal = (_PAIR_SPREAD * chance * typical) ** 2
    return np.asarray(np.clip(typical + (shares / chance - typical) * signal / (signal + noise), *limits))


def _least(shares: Floats) -> Floats:
    return np.maximum(shares, _LEAST_SYMBOL)


def _kernel(size: int, reach: float) -> Floats:
    position = np.arange(size)
    return np.asarray(np.exp(-np.abs(position[:, None] - position) / reach))
