"""The decoder of TRELLIS: find the heavy strings that explain the decoded evidence.

One beam of prefixes grows level by level. Each prefix has log-odds of being (the beginning of) a heavy string. They
combine the prior of its symbols, the evidence of its own count, and the odds of its parent, capped at certainty: a
parent beyond doubt says nothing about how it continues. A string that has ended leaves the beam; all longer levels
report it whole, and their evidence is added. Finally the best of the ended strings are taken one by one, and the count
of each is removed from the cells that it shares with others. Strings of a dictionary join at this point: they need no
beam and do not change it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields
from math import log, sqrt

import numpy as np
import numpy.typing as npt

from .. import kernels
from ..core.parallel import in_chunks
from ..core.tails import Noise
from .dictionary import LN_KNOWN, Dictionary, distinct, places_in
from .evidence import Evidence, Floats, Level, Numbers, Symbols, digits, numbers
from .prior import CharacterModel, character_model
from .scoring import CLIP, cells_of, combined, followed, needed, read, support, upper_tail

FIRST_KEPT = 20_000
"""Number of prefixes kept at the first level. Three times as many found nothing more."""
KEPT = 10_000
"""Number of prefixes kept at late levels; from FIRST_KEPT the beam narrows by NARROWING from level to level."""
NARROWING = 0.85
FINISHED = 4_000
"""Number of strings scored with all their evidence, and again as many of a dictionary; the last level keeps as many."""
CLOSELY = 600
"""Number of the scored strings that may be taken or explained away."""
TAKEN = 4
"""Number of strings taken one by one before the final ranking, as a multiple of k."""
DEEPEST = -17.0
"""Log-odds below which a child is not examined. A true prefix may sink at a level where it happens to get few reports,
and rise again at later ones; about e^−S others have log-odds as good as S, so the beam must be wide to keep it."""
ROOM = 300_000
"""Number of children examined closely at one level; if there are more, the limit on their log-odds rises."""
SPREAD = (1.0, 0.1)
"""Odds that a heavy prefix has no heavy string below it, only many light ones: at the first level, where many strings
share a short prefix, and at later levels."""
EXPLAINED = 8
"""Number of heavy children whose counts are subtracted from their parent's, one by one, before scoring the others."""

_UNIT = 32
"""Number of integer steps per standard error of a cell: the kernel compares integers."""
_MOST = 32_000
_KIND = 0.5
"""Largest difference of the priors of children of the same kind, in nats."""
_KINDS = 50
_PARENTS_AT_ONCE = 1_024
_SAMPLED = 16
_HALVINGS = 30

Ids = npt.NDArray[np.int32]


@dataclass(frozen=True, eq=False)
class Stage:
    """Record of one level of the search."""

    length: int
    looked_at: int
    promising: int
    kept: int
    limit: float
    """Lowest log-odds among the kept prefixes."""
    prefixes: Symbols
    """Kept prefixes, best first."""
    counts: Floats
    """Estimated counts of the kept prefixes."""


@dataclass(frozen=True, eq=False)
class Found:
    """Strings that were found, the most probable members of the top k first."""

    strings: Symbols
    values: Floats
    """Counts for ranking, pooled with those of prefixes that agree with them; they have no variance law."""
    scores: Floats
    """Log-odds of being held by many users rather than by none."""
    posterior: Floats
    """Probability of being among the k most frequent strings, if the prior is right."""
    own: Floats
    """Estimate from the groups that report the whole string, which had no part in choosing it."""
    noise: Noise
    """Noise of this estimate if nobody has the string."""
    model: CharacterModel
    trace: tuple[Stage, ...]
    ranking: Ranking


@dataclass(frozen=True, eq=False)
class _Beam:
    """Prefixes of one length; ``_Children`` explains ``against`` and the parent's figures."""

    prefixes: Symbols
    score: Floats
    count: Floats
    variance: Floats
    prior: Floats
    step_prior: Floats
    against: Floats
    parent: Floats
    parent_variance: Floats
    parent_score: Floats
    parent_prior: Floats

    def take(self, chosen: npt.NDArray[np.bool_] | Numbers) -> _Beam:
        return _Beam(*(getattr(self, field.name)[chosen] for field in fields(self)))

    def padded(self, length: int) -> _Beam:
        """The decoder's beam with its prefixes padded to whole strings."""
        strings = np.zeros((len(self.prefixes), length), dtype=np.uint16)
        strings[:, : self.prefixes.shape[1]] = self.prefixes
        return _Beam(strings, *(getattr(self, field.name) for field in fields(self)[1:]))


def decode(evidence: Evidence, k: int, dictionary: Dictionary | None = None) -> Found:
    """Decode up to 4k strings, best first, among which the k most frequent are likely to be."""
    model = character_model(evidence)
    beam = _first(evidence, model)
    trace = [_stage(evidence.start, len(evidence.first), len(beam.score), beam)]
    grown, finished = [], []
    for i in range(len(evidence.levels)):
        ended = beam.prefixes[:, -1] == 0
        finished.append(beam.take(ended).padded(evidence.length))
        beam, step = _extended(evidence, model, i, beam.take(~ended))
        grown.append(beam)
        trace.append(step)
    finished.append(beam.padded(evidence.length))
    strings = _joined(finished)
    strings = strings.take(_best(strings.score, FINISHED))
    if dictionary is not None:
        strings = _with_known(strings, _walked(evidence, dictionary, grown))
    return _settled(evidence, strings, k, model, tuple(trace))


def _joined(beams: Sequence[_Beam]) -> _Beam:
    return _Beam(*(np.concatenate([getattr(beam, field.name) for beam in beams]) for field in fields(_Beam)))


def _first(evidence: Evidence, model: CharacterModel) -> _Beam:
    prior = model.prefixes(evidence.start)
    noise = evidence.noise(evidence.first_variance)
    score = np.maximum(evidence.first, 0) ** 2 / np.float32(2 * noise) + prior
    chosen = _best(score, FIRST_KEPT)
    chosen = chosen[score[chosen] > -np.inf]
    return _rooted(evidence, chosen, prior[chosen].astype(np.float64), score[chosen].astype(np.float64))


def _rooted(evidence: Evidence, chosen: Numbers, prior: Floats, score: Floats) -> _Beam:
    """The decoder's beam of the first level's prefixes with the numbers ``chosen``."""
    count = np.maximum(evidence.first[chosen], 0).astype(np.float64)
    none = np.zeros(len(chosen))
    return _Beam(
        prefixes=digits(chosen, evidence.start, evidence.symbols),
        score=score,
        count=count,
        variance=np.full(len(chosen), evidence.noise(evidence.first_variance)),
        prior=prior,
        # No parent: the prior is that of the whole prefix, and nothing speaks against it.
        step_prior=prior,
        against=none,
        parent=none,
        parent_variance=none,
        parent_score=none,
        parent_prior=none,
    )


def _extended(evidence: Evidence, model: CharacterModel, i: int, beam: _Beam) -> tuple[_Beam, Stage]:
    """The decoder's beam one level on: the best children of a beam at folded level i."""
    level = evidence.levels[i]
    before = level.length - level.step
    priors = model.extensions(before, level.step)
    rows = model.rows(beam.prefixes[:, -1])
    places = evidence.places(i, beam.prefixes)
    parents, ordinals = _promising(evidence, level, priors, rows, places, beam)
    last = level.length == evidence.length
    most = FINISHED if last else max(KEPT, int(FIRST_KEPT * NARROWING ** (i + 1)))
    grown = _grown(evidence, i, beam, places, (parents, ordinals, priors[rows[parents], ordinals]), most)
    looked = len(beam.score) * priors.shape[1]
    return grown, _stage(level.length, looked, len(parents), grown)


def _grown(
    evidence: Evidence,
    i: int,
    beam: _Beam,
    places: tuple[Numbers, Numbers],
    some: tuple[Numbers, Numbers, Floats],
    most: int,
) -> _Beam:
    """The decoder's next beam: the best of the given children, which are given by parents, numbers and priors."""
    parents, ordinals, prior = some
    level = evidence.levels[i]
    cells = places[0][:, parents] + (ordinals + places[1][:, parents]) % level.block
    noise = evidence.noise(level.pooled)
    count = combined(read(level, cells), evidence.noise(level.variance))
    drawn = evidence.drawn(i) + evidence.drawn(i + 1)
    children = _Children(beam, parents, prior, count, (noise, drawn), SPREAD[i > 0])
    children.explain()
    chosen = _best(children.score, most)
    pooled, variance = followed(count, noise, children.parent, children.parent_variance)
    own = digits(ordinals[chosen], level.step, evidence.symbols)
    return _Beam(
        prefixes=np.concatenate([beam.prefixes[parents[chosen]], own], axis=1),
        score=children.score[chosen],
        count=np.maximum(pooled[chosen], 0.0),
        variance=variance[chosen],
        prior=beam.prior[parents[chosen]] + children.prior[chosen],
        step_prior=children.prior[chosen],
        against=children.against[chosen],
        parent=children.parent[chosen],
        parent_variance=children.parent_variance[chosen],
        parent_score=children.parent_score[chosen],
        parent_prior=beam.prior[parents[chosen]],
    )


def _walked(evidence: Evidence, dictionary: Dictionary, grown: Sequence[_Beam]) -> _Beam:
    """A dictionary's best strings for the decoder, each scored along its own prefixes, even outside the beam.

    The prior of a prefix is the share of the dictionary that begins with it. ``grown``: the beam after each level.
    """
    symbols = evidence.symbols
    first, sizes, _ = dictionary.prefixes(0, evidence.start)
    roots = numbers(dictionary.strings[first], 0, evidence.start, symbols)
    prior = np.log(sizes / len(dictionary)) + LN_KNOWN
    squares = np.maximum(evidence.first[roots], 0).astype(np.float64) ** 2
    score = squares / (2 * evidence.noise(evidence.first_variance)) + prior
    beam, finished = _rooted(evidence, roots, prior, score), []
    for i, level in enumerate(evidence.levels):
        going = beam.prefixes[:, -1] != 0
        finished.append(beam.take(~going).padded(evidence.length))
        beam, above, before = beam.take(going), sizes[going], level.length - level.step
        first, sizes, parents = dictionary.prefixes(before, level.length)
        prefixes = dictionary.strings[first, : level.length]
        # Heavy siblings that are not in the dictionary also explain their part of the parent's count.
        heavy = grown[i].take(grown[i].score > 0)
        beside = places_in(heavy.prefixes[:, :before], beam.prefixes)
        others = np.flatnonzero((beside >= 0) & (places_in(heavy.prefixes, prefixes) < 0))
        children = (
            np.concatenate([parents, beside[others]]),
            numbers(np.concatenate([prefixes, heavy.prefixes[others]]), before, level.length, symbols),
            np.concatenate([np.log(sizes / above[parents]), heavy.step_prior[others]]),
        )
        family = _grown(evidence, i, beam, evidence.places(i, beam.prefixes), children, len(children[0]))
        beam = family.take(np.arange(len(first)))
    strings = _joined([*finished, beam.padded(evidence.length)])
    return strings.take(_best(strings.score, FINISHED))


def _with_known(strings: _Beam, known: _Beam) -> _Beam:
    """Both beams of the decoder joined; a string in both keeps its better score."""
    both = _joined([strings, known])
    both = both.take(np.argsort(-both.score, kind="stable"))
    return both.take(distinct(both.prefixes))


def _promising(
    evidence: Evidence, level: Level, priors: Floats, rows: Numbers, places: tuple[Numbers, Numbers], beam: _Beam
) -> tuple[Numbers, Numbers]:
    """Parent and number of every child that the decoder must score: its log-odds may exceed the limit.

    The kernel compares integers: the cells, in fractions of their standard error, with the least value that a child
    needs, by parent and by kind of child (its prior, rounded down).
    """
    error = sqrt(evidence.noise(level.variance))
    cohorts = len(level.tables)
    most = _MOST // cohorts
    tables = np.clip(np.rint(level.tables * np.float32(_UNIT / error)), -most, most).astype(np.int16)
    possible = np.isfinite(priors)
    kinds = np.where(possible, np.minimum(-np.where(possible, priors, 0) / _KIND, _KINDS - 2), _KINDS - 1)
    kinds = np.ascontiguousarray(kinds.astype(np.uint8))
    open_odds = -np.logaddexp(0.0, -beam.score)
    slack = int(CLIP * _UNIT * sqrt(cohorts))
    limit = DEEPEST

    def scan(some: Numbers) -> list[tuple[int, Ids, Ids]]:
        lack = np.float32(limit) - open_odds.astype(np.float32)[some, None]
        lack = lack + np.float32(_KIND) * np.arange(_KINDS, dtype=np.float32)

        def chunk(first: int, last: int) -> tuple[int, Ids, Ids]:
            part = some[first:last]
            least = needed(lack[first:last], evidence.noise(level.pooled), beam.count[part], beam.variance[part])
            # The needed sum over the cohorts, in steps, with one step of tolerance for the rounding of each cell. A
            # count below 0 is no evidence for any child.
            needs = np.clip(np.floor(least * np.float32(_UNIT * sqrt(cohorts))) - cohorts, 0, _MOST)
            needs[:, -1] = 2**31 - 2**8
            starts, rotations = (np.ascontiguousarray(place[:, part]) for place in places)
            found, parents, children = kernels.promising_children(
                *(tables, (starts, rotations), level.block, kinds, rows[part]),
                *(needs.astype(np.int32), slack, ROOM),
            )
            return found, some[first:last][parents].astype(np.int32), children

        return list(in_chunks(len(some), _PARENTS_AT_ONCE, chunk))

    # A sample of the parents shows which limit leaves at most ROOM children.
    for stride in (_SAMPLED, 1):
        while True:
            scanned = scan(np.arange(0, len(beam.score), stride))
            found = stride * sum(count for count, _, _ in scanned)
            if found <= ROOM:
                break
            limit += max(0.25, log(found / ROOM))
    empty = np.empty(0, dtype=np.int64)
    parents = np.concatenate([empty, *(parents for _, parents, _ in scanned)])
    return parents, np.concatenate([empty, *(children for _, _, children in scanned)])


class _Children:
    """Promising children of a beam, and their log-odds.

    A child is heavy with odds a/(e^-S + spread + Σ min(a', 1)), where a is its prior times its support, S is its
    parent's log-odds, and the sum is over its siblings. So a doubtful parent makes its children doubtful, a heavy
    parent may have no heavy child, and an equally good sibling competes with the child. No sibling counts for more
    than 1, because several may be heavy. The logarithm of the denominator is ``against``.
    """

    def __init__(
        self,
        beam: _Beam,
        parents: Numbers,
        prior: Floats,
        count: Floats,
        noise: tuple[float, float],
        spread: float,
    ) -> None:
        # Variance of a count, and the variance per holder of the difference between two groups.
        self._noise, self._drawn = noise
        self._beam, self._of, self._own, self._spread = beam, parents, count, spread
        self.prior = prior
        self.parent = beam.count[parents]
        self.parent_variance = beam.variance[parents]
        self.parent_score = beam.score[parents]
        self.against = np.zeros(len(parents))
        self.score = np.zeros(len(parents))
        self._judge(np.arange(len(parents)))

    def _judge(self, some: Numbers) -> None:
        # `some` must have whole families, because siblings compete.
        parents = self._of[some]
        gain = support(self._own[some], self._noise, self.parent[some], self.parent_variance[some])
        gain += self.prior[some]
        rival = np.exp(np.minimum(gain, 0.0))
        rivals = np.bincount(parents, rival, len(self._beam.score))[parents] - rival
        self.against[some] = _against(self.parent_score[some], self._spread + np.maximum(rivals, 0.0))
        self.score[some] = gain - self.against[some]

    def explain(self) -> None:
        """Decode the siblings of a heavy prefix again: score them with its count subtracted from their parent's.

        They keep their previous odds, times the probability that the prefix is not heavy, if those are better.
        """
        unsettled = np.ones(len(self._of), dtype=bool)
        for _ in range(EXPLAINED):
            best = np.full(len(self._beam.score), -np.inf)
            np.maximum.at(best, self._of[unsettled], self.score[unsettled])
            concerned = np.flatnonzero(unsettled & (best[self._of] > 0))
            if not len(concerned):
                return
            first = self.score[concerned] == best[self._of[concerned]]
            heavy, rest = concerned[first], concerned[~first]
            unsettled[heavy] = False
            taken = np.zeros(len(best))
            taken[self._of[heavy]] = np.maximum(self._own[heavy], 0.0)
            before = [part[rest] for part in self._state()]
            self.parent[rest] = np.maximum(self.parent[rest] - taken[self._of[rest]], 0.0)
            self.parent_variance[rest] += self._noise + self._drawn * taken[self._of[rest]]
            left = self.parent[rest] ** 2 / (2 * self.parent_variance[rest]) + self._beam.prior[self._of[rest]]
            self.parent_score[rest] = np.minimum(self.parent_score[rest], left)
            self._judge(rest)
            doubt = np.logaddexp(0.0, best[self._of[rest]])
            better = before[0] - doubt > self.score[rest]
            before[0] -= doubt
            before[1] += doubt
            for part, old in zip(self._state(), before, strict=True):
                part[rest[better]] = old[better]

    def _state(self) -> tuple[Floats, ...]:
        return self.score, self.against, self.parent, self.parent_variance, self.parent_score


def _against(parent_score: Floats, others: Floats) -> Floats:
    return np.asarray(np.log(np.exp(-np.clip(parent_score, -600.0, 600.0)) + others))


class _Settling:
    """Finished strings with all their evidence, from which the heavy ones are taken one by one."""

    def __init__(self, evidence: Evidence, strings: _Beam) -> None:
        self._evidence = evidence
        self._keep(strings, *self._gathered(strings.prefixes))
        self._score(np.arange(len(self.whole)))
        self.keep(_best(self.score, CLOSELY))

    def _gathered(self, strings: Symbols) -> tuple[list[Numbers], list[Floats]]:
        # The cells of the strings at each level and their values, [cohort, string].
        evidence = self._evidence
        own = numbers(strings, 0, evidence.start, evidence.symbols)[None]
        cells, values = [own], [evidence.first[own].astype(np.float64)]
        for i, level in enumerate(evidence.levels):
            cells.append(cells_of(evidence, i, strings))
            values.append(read(level, cells[-1]))
        return cells, values

    def _keep(self, strings: _Beam, cells: list[Numbers], values: list[Floats]) -> None:
        self.strings, self._cells, self._values = strings, cells, values
        self.whole = self._evidence.first_whole(strings.prefixes)
        self._scored = np.zeros((6, len(self.whole)))

    @property
    def _scored(self) -> tuple[Floats, ...]:
        return self.score, self.count, self.variance, self.own, self.own_variance, self._users

    @_scored.setter
    def _scored(self, given: Iterable[Floats]) -> None:
        self.score, self.count, self.variance, self.own, self.own_variance, self._users = given

    def keep(self, chosen: Numbers) -> None:
        """Drop all other decoded strings."""
        scored = [part[chosen] for part in self._scored]
        self._keep(
            self.strings.take(chosen),
            [cells[:, chosen] for cells in self._cells],
            [values[:, chosen] for values in self._values],
        )
        self._scored = scored

    def _score(self, some: Numbers) -> None:
        evidence, whole = self._evidence, self.whole[some]
        total, precision, users = np.zeros((3, len(some)))
        for i, values in enumerate(self._values):
            of_one = evidence.noise(evidence.levels[i - 1].variance if i else evidence.first_variance)
            weight = (whole <= i) * (len(values) / of_one)
            total += weight * combined(values[:, some], of_one)
            precision += weight
            users += (whole <= i) / (1 + evidence.drawn(i))
        self.own[some], self.own_variance[some], self._users[some] = total / precision, 1 / precision, users
        self.score[some], self.count[some], self.variance[some] = self.weighed(some, self.own[some])

    def noise(self) -> Noise:
        """Noise of the decoded strings' own counts, without holders."""
        evidence = self._evidence
        third, jump = np.zeros((2, len(self.whole)))
        for i, values in enumerate(self._values):
            level = evidence.levels[i - 1] if i else None
            of_one = evidence.noise(evidence.first_variance if level is None else level.variance)
            # The weight of one cohort in the mean.
            weight = (self.whole <= i) * self.own_variance / of_one
            third += len(values) * weight**3 * (evidence.first_third if level is None else level.third)
            jump = np.maximum(jump, weight * (evidence.first_jump if level is None else level.jump))
        errors = np.sqrt(self.own_variance)
        return Noise(errors, np.maximum(third, 0.0) / errors**3, jump)

    def weighed(self, some: Numbers, own: Floats) -> tuple[Floats, Floats, Floats]:
        """Score, count and variance that the decoded strings would have with the given counts of their own groups."""
        strings, variance, users = self.strings.take(some), self.own_variance[some], self._users[some]
        alone = self.whole[some] == 0
        around = np.where(alone, 1.0, strings.parent_variance)
        gain = support(own, variance, strings.parent, around) - strings.against
        gain = np.where(alone, np.maximum(own, 0.0) ** 2 / (2 * variance), gain) + strings.step_prior
        # Capped at 0: a prefix that was lucky on the way must not help a string that has no support at the end.
        score = np.where(own > 0, gain, -np.inf)
        count, pooled = followed(own, variance, strings.parent, around)
        drawn = np.maximum(own, 0.0) * np.maximum(1 / users - 1, 0.0)
        return score, np.where(alone, own, count), np.where(alone, variance, pooled) + drawn

    def taken(self, most: int) -> Numbers:
        """Up to ``most`` decoded strings in the order in which they are taken, each time the best of the rest."""
        left = np.ones(len(self.whole), dtype=bool)
        order: list[int] = []
        while len(order) < min(most, len(left)):
            best = int(np.argmax(np.where(left, self.score, -np.inf)))
            if not left[best] or self.score[best] == -np.inf:
                break
            left[best] = False
            order.append(best)
            self._explain(best, left)
        return np.array(order, dtype=np.int64)

    def _explain(self, best: int, left: npt.NDArray[np.bool_]) -> None:
        """Subtract the count of a decoded string from the cells that it shares with others."""
        shared_somewhere = np.zeros(len(left), dtype=bool)
        for i, (cells, values) in enumerate(zip(self._cells, self._values, strict=True)):
            shared = (cells == cells[:, best, None]) & (left & (self.whole <= i))
            values -= self.count[best] * shared
            shared_somewhere |= shared.any(axis=0)
        if shared_somewhere.any():
            self._score(np.flatnonzero(shared_somewhere))
        # A string beyond doubt in the beam has already been explained to its siblings there.
        if self.whole[best] and self.strings.score[best] <= 0:
            self._explain_to_siblings(best, left)

    def _explain_to_siblings(self, best: int, left: npt.NDArray[np.bool_]) -> None:
        # As in `_Children.explain`, now with all the evidence: the count is subtracted from the parent's.
        strings, count = self.strings, self.count[best]
        at = self._evidence.levels[self.whole[best] - 1]
        prefix = strings.prefixes[:, : at.length - at.step]
        siblings = left & (self.whole == self.whole[best]) & (prefix == prefix[best]).all(axis=1)
        some = np.flatnonzero(siblings)
        if not len(some):
            return
        state = (strings.against, strings.parent, strings.parent_variance, strings.parent_score)
        before, score = [part[some] for part in state], self.score[some]
        odds = np.exp(-np.clip(strings.parent_score[some], -600.0, 600.0))
        others = np.maximum(np.exp(strings.against[some]) - odds, SPREAD[-1])
        strings.parent[some] = np.maximum(strings.parent[some] - count, 0.0)
        strings.parent_variance[some] += self.variance[best]
        remains = strings.parent[some] ** 2 / (2 * strings.parent_variance[some]) + strings.parent_prior[some]
        strings.parent_score[some] = np.minimum(strings.parent_score[some], remains)
        strings.against[some] = _against(strings.parent_score[some], others)
        self._score(some)
        doubt = np.logaddexp(0.0, self.score[best])
        better = score - doubt > self.score[some]
        before[0] += doubt
        for part, old in zip(state, before, strict=True):
            part[some[better]] = old[better]
        self._score(some[better])


class Ranking:
    """The final ranking of decoded strings, by the probability of being among the k most frequent."""

    def __init__(self, settling: _Settling, k: int) -> None:
        self._settling, self._k = settling, k
        self._heavy = np.sort(settling.count[self._is_heavy(settling.score) > 0.5])[::-1]

    def _is_heavy(self, score: Floats) -> Floats:
        # Of k heavy strings, k·P(x) are expected to be x, hence the odds k·e^S of being heavy at all.
        return np.asarray(1 / (1 + np.exp(-np.clip(score + log(self._k), -600.0, 600.0))))

    def posterior(self, some: Numbers, own: Floats, *, without: Floats | None = None) -> Floats:
        """Probability of being among the k most frequent, if the decoded strings' own groups had counted ``own``.

        It is the probability of being heavy, times that of exceeding the k-th of the strings that are more likely
        heavy than not; ``without`` excludes a count of each string itself from these.
        """
        score, count, variance = self._settling.weighed(some, own)
        last = self._last(0) if without is None else np.where(without >= self._last(0), self._last(1), self._last(0))
        return self._is_heavy(score) * upper_tail((last - count) / np.sqrt(variance))

    def _last(self, more: int) -> float:
        place = self._k - 1 + more
        return float(self._heavy[place]) if len(self._heavy) > place else 0.0

    def least(self, chosen: Numbers, beaten: float) -> Floats:
        """Smallest count of its own groups with which each chosen string would still beat the given posterior."""
        settling = self._settling
        without = np.where(self._is_heavy(settling.score[chosen]) > 0.5, settling.count[chosen], -np.inf)
        low, high = np.zeros(len(chosen)), settling.own[chosen]
        for _ in range(_HALVINGS):
            middle = (low + high) / 2
            enough = self.posterior(chosen, middle, without=without) > beaten
            low, high = np.where(enough, low, middle), np.where(enough, middle, high)
        return high


def _settled(evidence: Evidence, strings: _Beam, k: int, model: CharacterModel, trace: tuple[Stage, ...]) -> Found:
    settling = _Settling(evidence, strings)
    settling.keep(settling.taken(TAKEN * k))
    ranking = Ranking(settling, k)
    posterior = ranking.posterior(np.arange(len(settling.score)), settling.own)
    order = np.argsort(-posterior, kind="stable")
    settling.keep(order)
    return Found(
        strings=settling.strings.prefixes,
        values=settling.count,
        scores=settling.score,
        posterior=posterior[order],
        own=settling.own,
        noise=settling.noise(),
        model=model,
        trace=trace,
        ranking=ranking,
    )


def _best(score: npt.NDArray[np.floating], most: int) -> Numbers:
    """Positions of the ``most`` largest scores of the decoder, in ascending order."""
    if len(score) <= most:
        return np.arange(len(score))
    return np.sort(np.argpartition(-score, most - 1)[:most])


def _stage(length: int, looked_at: int, promising: int, beam: _Beam) -> Stage:
    limit = float(beam.score.min()) if len(beam.score) else np.inf
    order = np.argsort(-beam.score, kind="stable")
    return Stage(length, looked_at, promising, len(order), limit, beam.prefixes[order], beam.count[order])
