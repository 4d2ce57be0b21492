"""The catalogue of planted faults: what each one breaks, how it is planted, and the detector that must see it."""

from __future__ import annotations

import itertools
import os
from dataclasses import dataclass
from typing import Any

import faults.detectors as detect
from faults import answers, fakes, fits, searches, shuffles, slides, special, tables, trees, waves
from faults.detectors import Detector, audit
from faults.planting import Edit, Step, Twin, Value, kernel
from plausibly import Scheme, kernels
from plausibly.core.randomness import Stream

# What the audit says of a fault.
EXCEEDS = "a likelihood ratio exceeds e^epsilon"
THRESHOLDS = "the thresholds exceed e^epsilon"
LAW = "the stated likelihood is not the client's law"
DRAWS = "the draws depend on the item or on a coin"
WORDS = "more or fewer words than it says"
SIZE = "the size of a record is not the stated one"
REFUSED = "the server refuses what the client sends"
BULK = "the bulk path and the client differ"
COINS = "the device does not turn words into coins as defined"
BIAS = "the estimate is biased"
VARIANCE = "the variance is not the stated one"


@dataclass(frozen=True)
class Fault:
    """One deliberate mistake; ``sees`` is part of what the detector must say about it."""

    id: str
    breaks: str
    steps: tuple[Step, ...]
    detector: Detector
    sees: str


def fault(id: str, breaks: str, *steps: Step, by: Detector, sees: str) -> Fault:
    return Fault(id, breaks, steps, by, sees)


DE, SUE, OUE, BLH, OLH, FLH, HR_PURE, HR_BLOCK = (
    audit(name, epsilon=epsilon, domain_size=size, **more)
    for name, epsilon, size, more in (
        ("DE", 1, 6, {}),
        ("SUE", 1, 5, {}),
        ("OUE", 1, 5, {}),
        ("BLH", 1, 5, {}),
        ("OLH", 1, 5, {}),
        ("FLH", 1, 5, {"hashes": 10}),
        ("HR", 1, 5, {"variant": "pure"}),
        ("HR", 2, 12, {"variant": "block"}),
    )
)
HM = audit("HM", epsilon=1, domain_size=4, coefficients=2)
SS = audit("SS", epsilon=1, domain_size=6, subset_size=3)
TLH = audit("TLH", epsilon=1, domain_size=5)
TLH_WINDOW = audit("TLH", epsilon=1, domain_size=5, hash_bits=2, window=3)
TLH_KEYS = audit("TLH", epsilon=2, domain=detect.plausibly.Keys())
AGR = audit("AGR", epsilon=1, domain_size=16)
AGR_WINDOW = audit("AGR", epsilon=1, domain_size=8, hash_bits=2, dimension=2, window=2)
OUE_BYTE = audit("OUE", epsilon=1, domain_size=8)
DE_TWO_BYTES = audit("DE", epsilon=1, domain_size=300)


# --- thresholds: one part in 2^64, for every oracle, in the scheme, in the client, in bulk -----------------------


def _one_part_in_2_to_the_64() -> list[Fault]:
    flips = {"SUE", "OUE"}
    # Oracle: its audit, where the scheme computes the threshold, where the client reads it, where bulk uses it.
    places: dict[str, tuple[Detector, str, str, str]] = {
        "DE": (DE, "oracles.direct:DE.keep", "Direct", "oracles.direct:DE.respond"),
        "SUE": (SUE, "oracles.unary:SUE.keep", "Unary", "core.unary:Unary.respond"),
        "OUE": (OUE, "oracles.unary:OUE.flip", "Unary", "core.unary:Unary.respond"),
        "BLH": (BLH, "core.hashing:HashedScheme.keep", "LocalHashing", "core.hashing:HashedScheme.answer"),
        "OLH": (OLH, "core.hashing:HashedScheme.keep", "LocalHashing", "core.hashing:HashedScheme.answer"),
        "FLH": (FLH, "core.hashing:HashedScheme.keep", "LocalHashing", "core.hashing:HashedScheme.answer"),
        "HM": (HM, "oracles.hadamard_mechanism:HM.keep", "HadamardMechanism", "oracles.hadamard_mechanism:HM.respond"),
        "HR": (
            HR_BLOCK,
            "oracles.hadamard_response:HR.keep",
            "HadamardResponse",
            "oracles.hadamard_response:HR.respond",
        ),
        "SS": (SS, "oracles.subset_selection:SS.keep", "SubsetSelection", "oracles.subset_selection:SS.respond"),
        "TLH": (TLH, "oracles.toeplitz_hashing:TLH.keep", "ToeplitzHashing", "oracles.toeplitz_hashing:TLH.respond"),
        "AGR": (AGR, "oracles.affine_response:AGR.keep", "AffineResponse", "oracles.affine_response:AGR.respond"),
    }
    found = []
    for name, (by, scheme, client, bulk) in places.items():
        louder, quieter = ("- 1", "+ 1") if name in flips else ("+ 1", "- 1")
        up, down = ("-1", "1") if name == "OUE" else ("1", "-1")
        threshold = "flip" if name in flips else "keep"
        computed = "WORD - keep_threshold(" if name == "OUE" else "keep_threshold("
        read, used = f'scheme.threshold("{threshold}")', f"self.{threshold}"
        # The threshold of unary bits is used twice: for their first bytes, and for the rest of those that tie.
        used = f"tails, self.keep, {used}" if name in flips else used
        found += [
            fault(
                f"{name}-scheme-threshold-up",
                "one word in 2^64 too many tells the truth: epsilon is exceeded, by nothing one could measure",
                Edit(scheme, computed, f"{up} + {computed}"),
                by=by,
                sees=THRESHOLDS,
            ),
            fault(
                f"{name}-scheme-threshold-down",
                "one word in 2^64 too few tells the truth: private, but not what other implementations compute",
                Edit(scheme, computed, f"{down} + {computed}"),
                by=detect.tight_thresholds,
                sees=f"{name}: the threshold is not the largest private one",
            ),
            *(
                fault(
                    f"{name}-client-threshold-{way}",
                    "the client samples with another threshold than the scheme states",
                    Edit(f"device:{client}.__init__", read, f"{read} {change}"),
                    by=by,
                    sees=LAW,
                )
                for way, change in (("up", louder), ("down", quieter))
            ),
            *(
                fault(
                    f"{name}-bulk-threshold-{way}",
                    "the bulk path samples with another threshold than the client",
                    Edit(bulk, used, f"{used} {change}"),
                    by=by,
                    sees=BULK,
                )
                for way, change in (("up", louder), ("down", quieter))
            ),
        ]
    return found


THRESHOLDED = [
    fault(
        f"THE-{threshold}-{way}",
        "one word in 2^64 more or less sets a bit: private, but not what other implementations compute",
        Edit("oracles.thresholded_histogram:_thresholds", rounded, f"{change} + {rounded}"),
        by=detect.tight_thresholds,
        sees="THE: a threshold is not the defined one",
    )
    for threshold, rounded in (("keep", "floor(WORD"), ("flip", "ceil(WORD"))
    for way, change in (("up", "1"), ("down", "-1"))
]


# --- randomizers, as they run on a device ------------------------------------------------------------------------

CLIENT = [
    fault(
        "scheme-threshold-from-floats",
        "e^epsilon in 53 bits: half of all settings exceed it",
        Edit(
            "oracles.direct:DE.keep",
            "keep_threshold(self.epsilon, 1, self.size - 1)",
            "int(WORD * (e := float(np.exp(float(self.epsilon)))) / (e + self.size - 1))",
        ),
        by=DE,
        sees=THRESHOLDS,
    ),
    fault(
        "lie-may-equal-truth",
        "a lie is drawn without leaving out the truth, and never is the last item",
        Edit("device:_respond", "lie + (lie >= value)", "lie"),
        by=DE,
        sees=EXCEEDS,
    ),
    fault(
        "lie-from-all-items",
        "a lie is uniform on all items: the truth is told more often than stated",
        Edit(
            "device:_respond",
            "lie = source.below(size - 1)\n    return value if kept else lie + (lie >= value)",
            "lie = source.below(size)\n    return value if kept else lie",
        ),
        by=DE,
        sees=LAW,
    ),
    fault(
        "lie-skips-the-wrong-item",
        "> for >=: a lie may equal the truth, and never its neighbour",
        Edit("device:_respond", "lie >= value", "lie > value"),
        by=DE,
        sees=EXCEEDS,
    ),
    fault(
        "lie-out-of-range",
        "below(d) for below(d-1): a lie beyond the last item",
        Edit("device:_respond", "source.below(size - 1)", "source.below(size)"),
        by=DE,
        sees=REFUSED,
    ),
    fault(
        "lie-drawn-only-when-needed",
        "the number of draws tells whether the answer is a lie",
        Edit("device:_respond", "lie = source", "lie = 0 if kept else source"),
        by=DE,
        sees=DRAWS,
    ),
    fault(
        "lie-range-depends-on-item",
        "the chance of a refused word depends on the item",
        Edit("device:_respond", "source.below(size - 1)", "source.below(size - 1 - (value == 0))"),
        by=DE,
        sees=DRAWS,
    ),
    fault(
        "truth-told-twice",
        "one of the lies is replaced by the truth",
        Edit("device:_respond", "value if kept", "value if kept or lie == 0"),
        by=DE,
        sees=EXCEEDS,
    ),
    fault(
        "record-size-tells-the-item",
        "a number takes as many bytes as it needs",
        Edit("device:_field", "field_bytes(count)", "max(1, (number.bit_length() + 7) // 8)"),
        by=DE_TWO_BYTES,
        sees=SIZE,
    ),
    fault(
        "words-not-reserved",
        "a client that reads its words at once reads too few",
        Value("device:Direct.words", 1),
        by=DE,
        sees=WORDS,
    ),
    fault(
        "true-bit-never-cleared",
        "a set bit proves that another item is not the truth: no privacy at any epsilon",
        Edit("device:Unary.perturb", "source.bernoulli", "(lambda t: source.bernoulli(t) | (i == value))"),
        by=OUE,
        sees=EXCEEDS,
    ),
    fault(
        "only-the-true-bit-is-noisy",
        "every other bit is zero",
        Edit("device:Unary.perturb", "source.bernoulli", "(lambda t: source.bernoulli(t) & (i == value))"),
        by=OUE,
        sees=EXCEEDS,
    ),
    fault(
        "keep-and-flip-swapped",
        "the ratio stays, the meaning turns round",
        Edit(
            "device:Unary.perturb", "self.keep if i == value else self.flip", "self.flip if i == value else self.keep"
        ),
        by=OUE,
        sees=LAW,
    ),
    fault(
        "bits-in-big-endian-order",
        "bit 0 is the highest of its byte",
        Edit("device:Unary.perturb", "(i & 7)", "(7 - (i & 7))"),
        by=OUE_BYTE,
        sees=LAW,
    ),
    fault(
        "true-bit-drawn-first",
        "the order of the draws depends on the item; the law is the same",
        Edit("device:Unary.perturb", "in range(self.size)", "in sorted(range(self.size), key=value.__ne__)"),
        by=OUE,
        sees=BULK,
    ),
    fault(
        "seed-leaks-the-item",
        "the public seed is altered by the value",
        Edit("device:LocalHashing.perturb", "seed.to_bytes", "(seed ^ value).to_bytes"),
        by=OLH,
        sees=EXCEEDS,
    ),
    fault(
        "item-instead-of-its-hash",
        "the value is sent modulo g under a seed that has nothing to do with it",
        Edit("device:LocalHashing.perturb", "local_hash(seed, value, self.split, self.size)", "value % self.size"),
        by=OLH,
        sees=LAW,
    ),
    fault(
        "function-leaks-the-item",
        "the index of the hash function is shifted by the value",
        Edit("device:FastLocalHashing.perturb", "_field(index,", "_field((index + value) % self.hashes,"),
        by=FLH,
        sees=EXCEEDS,
    ),
    fault(
        "rows-without-zero",
        "row 0 is left out, so that the hash is no longer uniform",
        Edit("device:HadamardMechanism.public", "source.below(self.order)", "1 + source.below(self.order - 1)"),
        by=HM,
        sees=BIAS,
    ),
    fault(
        "rows-without-repetition",
        "rows are drawn without putting back",
        Edit(
            "device:HadamardMechanism.public",
            "return tuple(source.below(self.order) for _ in range(self.coefficients))",
            "row, other = source.below(self.order), source.below(self.order)\n"
            "    return (row, other if other != row else other ^ 1)",
        ),
        by=HM,
        sees=BIAS,
    ),
    fault(
        "one-row-for-all-signs",
        "the first row is used for every sign",
        Edit("device:HadamardMechanism.perturb", "in enumerate(public)", "in enumerate(public[:1] * len(public))"),
        by=HM,
        sees=LAW,
    ),
    fault(
        "sign-flipped",
        "-1 for +1 in the first of the signs",
        Edit("device:HadamardMechanism.perturb", "answer = _respond(signs,", "answer = _respond(signs ^ 1,"),
        by=HM,
        sees=LAW,
    ),
    fault(
        "rows-in-reverse",
        "the record lists the rows in another order than the signs",
        Edit("device:HadamardMechanism.perturb", "for row in public) +", "for row in public[::-1]) +"),
        by=HM,
        sees=LAW,
    ),
    fault(
        "published-block-assignment",
        "x div (b-1) for x mod B, which leaves blocks empty",
        Edit(
            "device:HadamardResponse.perturb",
            "divmod(value, self.blocks)",
            "divmod(value, self.order - 1)[::-1]",
        ),
        by=HR_BLOCK,
        sees=LAW,
    ),
    fault(
        "pivot-on-the-wrong-bit",
        "flipping bit 0 does not change the parity under an even code",
        Edit("device:HadamardResponse.perturb", "row ^= code & -code", "row ^= 1"),
        by=HR_PURE,
        sees=LAW,
    ),
    fault(
        "too-many-half-blocks",
        "2B for 2B-1: a lie beyond the last block",
        Edit("device:HadamardResponse.perturb", "2 * self.blocks - 1", "2 * self.blocks"),
        by=HR_PURE,
        sees=REFUSED,
    ),
    fault(
        "subset-with-an-item-twice",
        "an item that was drawn stays in the urn",
        Edit("device:SubsetSelection.perturb", "moved[j] = moved.pop(i, i)", "moved[j] = pick"),
        by=SS,
        sees=REFUSED,
    ),
    fault(
        "subset-may-draw-the-truth",
        "the others are drawn without leaving out the truth, and never are the last item",
        Edit("device:SubsetSelection.perturb", "pick + (pick >= value)", "pick"),
        by=SS,
        sees=REFUSED,
    ),
    fault(
        "subset-grows-by-the-truth",
        "the truth is added and takes nobody's place: the size of the subset tells",
        Edit(
            "device:SubsetSelection.perturb",
            "    return bytes(bitmap)",
            "    bitmap[value >> 3] |= 1 << (value & 7)\n    return bytes(bitmap)",
        ),
        by=SS,
        sees=REFUSED,
    ),
    fault(
        "subset-draws-one-less-for-the-truth",
        "the number of draws tells whether the item is among them",
        Edit(
            "device:SubsetSelection.perturb",
            "i + source",
            "i if kept and i == self.subset_size - 1 else i + source",
        ),
        by=SS,
        sees=DRAWS,
    ),
    fault(
        "subset-starts-with-the-truth",
        "the truth takes the first place: the same law from other words",
        Edit("device:SubsetSelection.perturb", "i == self.subset_size - 1", "i == 0"),
        by=SS,
        sees=BULK,
    ),
    fault(
        "error-outside-the-window-may-be-inside",
        "a lie is uniform on all values: the truth is told more often than stated",
        Edit("device:_window", "window + source.below(size - window)", "source.below(size)"),
        by=TLH_WINDOW,
        sees=LAW,
    ),
    fault(
        "error-drawn-only-when-needed",
        "the number of draws tells whether the answer is a lie",
        Edit(
            "device:_window",
            "window + source.below(size - window)",
            "0 if kept else window + source.below(size - window)",
        ),
        by=TLH_WINDOW,
        sees=DRAWS,
    ),
    fault(
        "one-matrix-row-for-all-bits",
        "the hash is zero or all ones",
        Edit("device:ToeplitzHashing.perturb", "matrix >> j & item", "matrix & item"),
        by=TLH,
        sees=LAW,
    ),
    fault(
        "matrix-rows-from-the-other-end",
        "a Toeplitz matrix, but not the one that the server reads",
        Edit("device:ToeplitzHashing.perturb", "matrix >> j & item", "matrix >> self.hash_bits - 1 - j & item"),
        by=TLH,
        sees=LAW,
    ),
    fault(
        "matrix-leaks-the-item",
        "the public matrix is altered by the value",
        Edit("device:ToeplitzHashing.perturb", "return _field(matrix,", "return _field(matrix ^ item & 1,"),
        by=TLH,
        sees=EXCEEDS,
    ),
    fault(
        "matrix-never-zero",
        "one matrix is left out, so that the hash is no longer uniform",
        Edit("device:ToeplitzHashing.public", "hash_bits - 1),)", "hash_bits - 1) or 1,)"),
        by=TLH,
        sees=BIAS,
    ),
    fault(
        "matrix-one-bit-short",
        "the last row of the matrix has a zero at its end",
        Edit("device:ToeplitzHashing.public", "self.hash_bits - 1", "self.hash_bits - 2"),
        by=TLH,
        sees=BIAS,
    ),
    fault(
        "key-not-cut-to-the-matrix",
        "bits of a key beyond the matrix row reach the hash",
        Edit("device:ToeplitzHashing.perturb", "value & (1 << self.item_bits) - 1", "value"),
        by=TLH_KEYS,
        sees=LAW,
    ),
    fault(
        "line-at-infinity-forgotten",
        "the first line is never drawn: items that differ in it alone look alike",
        Edit("device:AffineResponse.public", "line = source.below(self.lines)", "line = source.below(self.lines) or 1"),
        by=AGR,
        sees=BIAS,
    ),
    fault(
        "coordinates-from-the-other-end",
        "the same lines under other numbers",
        Edit("device:projective_point", "rest >> bits * i &", "rest >> bits * (len(coordinates) - 1 - i) &"),
        by=audit("AGR", epsilon=1, domain_size=30),
        sees=BULK,
    ),
    fault(
        "stretch-never-drawn",
        "a window of several places favours some pairs of items",
        Edit("device:AffineResponse.public", "source.below(self.size - 1))", "0 * source.below(self.size - 1))"),
        by=AGR_WINDOW,
        sees=BIAS,
    ),
    fault(
        "stretch-may-be-zero",
        "such a report says nothing about its item",
        Edit("device:AffineResponse.perturb", "1 + sum(", "sum("),
        by=AGR_WINDOW,
        sees=REFUSED,
    ),
    fault(
        "field-modulo-a-product",
        "X^2 + 1 = (X + 1)^2: multiplying is no longer reversible",
        Value("device:FIELD_POLYNOMIALS", (0, 0b11, 0b101)),
        by=AGR,
        sees=BIAS,
    ),
    fault(
        "own-half-block-twice",
        "the other half of the own block is drawn for two of the parts",
        Edit("device:HadamardResponse.perturb", "part > 0", "part > 1"),
        by=HR_BLOCK,
        sees=LAW,
    ),
]


# --- from words to coins, on a device ----------------------------------------------------------------------------

COIN = [
    fault(
        "below-by-plain-modulo",
        "the first remainders come up more often",
        Edit("device:WordSource.below", "while word >= limit", "while word >= _WORD"),
        by=DE,
        sees=COINS,
    ),
    fault(
        "below-refuses-one-too-few",
        "> for >= at the limit",
        Edit("device:WordSource.below", "word >= limit", "word > limit"),
        by=DE,
        sees=COINS,
    ),
    fault(
        "bernoulli-at-most",
        "<= for <: one word in 2^64 too many",
        Edit("device:WordSource.bernoulli", "< threshold", "<= threshold"),
        by=DE,
        sees=COINS,
    ),
    fault(
        "threshold-cut-to-32-bits",
        "epsilon is off by 2^-32",
        Edit("device:WordSource.bernoulli", "self._word() < threshold", "self._word() >> 32 < threshold >> 32"),
        by=DE,
        sees=COINS,
    ),
    fault(
        "threshold-as-a-float",
        "53 bits of a probability",
        Edit("device:WordSource.bernoulli", "self._word() < threshold", "self._word() / 2**64 < threshold / 2**64"),
        by=DE,
        sees=COINS,
    ),
    fault(
        "words-in-big-endian-order",
        "random all the same, but not on a given tape",
        Edit("device:WordSource._word", '"little"', '"big"'),
        by=DE,
        sees=COINS,
    ),
    fault(
        "one-word-for-all-draws",
        "the lie is decided by the word that decided to lie",
        Edit("device:WordSource._word", "self._position - 8 : self._position", ":8"),
        by=DE,
        sees=COINS,
    ),
    fault(
        "tape-below-by-plain-modulo",
        "the scalar code of the bulk path accepts every word",
        Edit("core.randomness:TapeSource.below", "while word >= limit", "while word > 2**64"),
        by=DE,
        sees=COINS,
    ),
]


# --- the same and other mistakes in the bulk path ----------------------------------------------------------------

BULK_PATH = [
    fault(
        "bulk-lie-skips-the-wrong-item",
        "> for >=: a lie may equal the truth",
        Edit("kernels.reference:_answer", "u >= values", "u > values"),
        Twin("direct_response"),
        by=DE,
        sees=BULK,
    ),
    fault(
        "bulk-lie-may-equal-truth",
        "no item is skipped",
        Edit("kernels.reference:_answer", "u + (u >= values)", "u"),
        Twin("parity_response"),
        by=HM,
        sees=BULK,
    ),
    fault(
        "bulk-bernoulli-at-most",
        "<= for <",
        Edit("kernels.reference:_answer", "< np.uint64(keep)", "<= np.uint64(keep)"),
        Twin("direct_response"),
        by=DE,
        sees=BULK,
    ),
    fault(
        "bulk-one-word-for-both-draws",
        "the lie is decided by the word that decided to lie",
        Edit("kernels.reference:_answer", "column + 1], size - 1", "column], size - 1"),
        Twin("direct_response"),
        by=DE,
        sees=BULK,
    ),
    fault(
        "bulk-threshold-cut-to-32-bits",
        "epsilon is off by 2^-32",
        Edit("kernels.reference:_answer", "< np.uint64(keep)", ">> np.uint64(32) < np.uint64(keep >> 32)"),
        Twin("direct_response"),
        by=DE,
        sees=BULK,
    ),
    fault(
        "bulk-threshold-as-a-float",
        "53 bits of a probability",
        Edit("kernels.reference:_answer", "< np.uint64(keep)", ".astype(np.float64) < float(keep)"),
        Twin("direct_response"),
        by=DE,
        sees=BULK,
    ),
    fault(
        "bulk-below-by-plain-modulo",
        "refused words are not listed",
        kernel("direct_response", "_listed(rejected)", "_listed(rejected[:0])"),
        by=DE,
        sees=BULK,
    ),
    fault(
        "bulk-refused-words-are-not-redone",
        "the list of refused words is ignored",
        Edit("core.scheme:Scheme._respond_exactly", ".tolist()", ".tolist()[:0]"),
        by=DE,
        sees=BULK,
    ),
    fault(
        "bulk-refused-words-are-redone-at-another-address",
        "a call that starts in the middle finds the words of its beginning",
        Edit("core.scheme:Scheme._respond_exactly", "first + i", "i"),
        by=DE,
        sees=BULK,
    ),
    fault(
        "bulk-function-by-plain-modulo",
        "the choice of the hash function is not quite uniform",
        kernel("local_hash_response", "_listed(rejected | no_answer)", "_listed(no_answer)"),
        by=FLH,
        sees=BULK,
    ),
    fault(
        "bulk-head-byte-at-most",
        "<= for < on the first byte of a bit's word",
        kernel("unary_response", "rows < other_byte", "rows <= other_byte"),
        by=OUE,
        sees=BULK,
    ),
    fault(
        "bulk-true-bit-like-any-other",
        "the true bit has the others' threshold",
        kernel(
            "unary_response",
            "true_byte, other_byte = np.uint8(true_threshold >> 56)",
            "true_byte, other_byte = np.uint8(other_threshold >> 56)",
        ),
        by=OUE,
        sees=BULK,
    ),
    fault(
        "bulk-bits-in-big-endian-order",
        "bit 0 is the highest of its byte",
        kernel("unary_response", 'bitorder="little"', 'bitorder="big"'),
        by=OUE_BYTE,
        sees=BULK,
    ),
    fault(
        "bulk-ties-are-zero",
        "a threshold of eight bits",
        kernel("settle_ties", "won = tails", "won = False & tails"),
        by=OUE,
        sees=BULK,
    ),
    fault(
        "bulk-tail-shifted-wrongly",
        "the low 56 bits are taken from the other end",
        kernel("settle_ties", "tails >> np.uint64(8)", "(tails & np.uint64(2**56 - 1))"),
        by=OUE,
        sees=BULK,
    ),
    fault(
        "bulk-tail-of-another-report",
        "a call that starts in the middle reuses the low bits of its beginning",
        Edit("core.randomness:Draws.tails", "self.first + numbers", "numbers"),
        by=OUE,
        sees=BULK,
    ),
    fault(
        "bulk-tie-sets-the-wrong-bit",
        "bits counted from the other end, for one word in 256",
        kernel("settle_ties", "1 << (bit & 7)", "1 << (7 - (bit & 7))"),
        by=OUE_BYTE,
        sees=BULK,
    ),
    fault(
        "bulk-rows-never-odd",
        "a mask that is one off",
        kernel("parity_response", "np.uint64(2**bits - 1)", "np.uint64(2**bits - 2)"),
        by=HM,
        sees=BULK,
    ),
    fault(
        "bulk-parity-of-or",
        "| for & in the parity",
        kernel("parity_response", "| sign) & values", "| sign) | values"),
        by=HM,
        sees=BULK,
    ),
    fault(
        "bulk-published-block-assignment",
        "x div (b-1) for x mod B",
        kernel(
            "hadamard_response",
            "values % np.uint64(blocks), values // np.uint64(blocks)",
            "values // np.uint64(order - 1), values % np.uint64(order - 1)",
        ),
        by=HR_BLOCK,
        sees=BULK,
    ),
    fault(
        "bulk-sign-flipped",
        "the half-block where the code is -1",
        kernel("hadamard_response", "== kept)", "!= kept)"),
        by=HR_PURE,
        sees=BULK,
    ),
    fault(
        "bulk-subset-with-an-item-twice",
        "an item that was drawn stays in the urn",
        kernel("subset_response", "others[reports, place] = others[:, i]", "pass"),
        by=SS,
        sees=BULK,
    ),
    fault(
        "bulk-subset-skips-the-wrong-item",
        "> for >=: the truth may be drawn as one of the others",
        kernel("subset_response", "pick >= own", "pick > own"),
        by=SS,
        sees=BULK,
    ),
    fault(
        "bulk-subset-by-plain-modulo",
        "refused words are not listed",
        kernel("subset_response", "rejected[chunk] |= refused", "refused"),
        by=SS,
        sees=BULK,
    ),
    fault(
        "bulk-error-outside-the-window-may-be-inside",
        "the window is not added to a lie",
        Edit("kernels.reference:_error", "outside + np.uint64(window)", "outside"),
        Twin("toeplitz_response"),
        by=TLH,
        sees=BULK,
    ),
    fault(
        "bulk-error-inside-by-plain-modulo",
        "of two lists of refused words one is forgotten",
        Edit("kernels.reference:_error", "no_inside | no_outside", "no_outside"),
        Twin("toeplitz_response"),
        by=TLH_WINDOW,
        sees=BULK,
    ),
    fault(
        "bulk-key-not-cut-to-the-matrix",
        "bits of a key beyond the matrix row reach the hash",
        Edit("kernels.reference:_toeplitz_hash", "values & np.uint64(2**item_bits - 1)", "values"),
        Twin("toeplitz_response"),
        by=TLH_KEYS,
        sees=BULK,
    ),
    fault(
        "bulk-line-by-plain-modulo",
        "the choice of the line is not quite uniform",
        kernel("affine_response", "_listed(rejected | no_error)", "_listed(no_error)"),
        by=AGR,
        sees=BULK,
    ),
    fault(
        "bulk-stretch-by-plain-modulo",
        "the choice of the stretch is not quite uniform",
        kernel("affine_response", "rejected |= no_unit", "no_unit"),
        by=AGR_WINDOW,
        sees=BULK,
    ),
    fault(
        "bulk-field-modulo-nothing",
        "a product is not reduced",
        Value("kernels.reference:_double", lambda field, hash_bits: field << 1 & (1 << hash_bits) - 1),
        Twin("affine_response"),
        by=AGR,
        sees=BULK,
    ),
    fault(
        "bulk-own-block-among-the-others",
        "the own block is not skipped",
        kernel("hadamard_response", "other += other >= own", "other += other > own"),
        by=HR_BLOCK,
        sees=BULK,
    ),
]


# --- the hash family ---------------------------------------------------------------------------------------------

DEVICE_HASH, BULK_HASH = "the device hashes otherwise", "the bulk path hashes otherwise"

HASH = [
    fault(
        "seed-halves-not-swapped",
        "equal characters collide under every seed",
        Edit("device:local_hash", "_entry(high, low,", "_entry(low, high,"),
        by=detect.hash_family,
        sees=DEVICE_HASH,
    ),
    fault(
        "premix-without-its-first-step",
        "seen on keys only: characters of small domains have no high bits",
        Edit("device:_entry", "character ^ character >> 16", "character"),
        by=detect.hash_family,
        sees=DEVICE_HASH,
    ),
    fault(
        "premix-constant-off-by-one",
        "a family that nobody has tested",
        Edit("device:_entry", "j * 0x21F0AAAD", "j * 0x21F0AAAC"),
        by=detect.hash_family,
        sees=DEVICE_HASH,
    ),
    fault(
        "hash-never-reaches-its-range",
        "g-1 for g",
        Edit("device:_entry", "* size >> 24", "* (size - 1) >> 24"),
        by=detect.hash_family,
        sees=DEVICE_HASH,
    ),
    fault(
        "characters-not-premixed",
        "neighbouring items have related hashes",
        Edit("device:_entry", "t = (j ^ first)", "t = (character ^ first)"),
        by=detect.hash_family,
        sees=DEVICE_HASH,
    ),
    fault(
        "device-hash-alone",
        "a client that hashes otherwise than the server",
        Edit("device:local_hash", "_entry(high, low,", "_entry(low, high,"),
        by=OLH,
        sees=BULK,
    ),
    fault(
        "bulk-seed-halves-not-swapped",
        "equal characters collide under every seed",
        kernel("local_hash", "_entry(high, second, first, size)", "_entry(high, first, second, size)"),
        by=detect.hash_family,
        sees=BULK_HASH,
    ),
    fault(
        "bulk-characters-not-premixed",
        "neighbouring items have related hashes",
        Value("kernels.reference:_premix", lambda j: j),
        Twin("local_hash"),
        by=detect.hash_family,
        sees=BULK_HASH,
    ),
    fault(
        "bulk-hash-alone",
        "a bulk path that hashes otherwise than the client",
        Edit("kernels.reference:local_hash", "_entry(high, second, first, size)", "_entry(high, first, second, size)"),
        Twin("local_hash_response"),
        by=BLH,
        sees=BULK,
    ),
    fault(
        "fold-looks-up-another-hash",
        "h + high for h - high: supports what nobody holds",
        kernel("support_counts", "+ np.uint32(size) - _entry", "+ _entry"),
        by=detect.hash_family,
        sees="the fold does not see the support",
    ),
    fault(
        "functions-count-from-zero",
        "the same k' functions for ever, whatever hash_seed says",
        Edit("device:public_hash_seed", "return key64(", "return index or key64("),
        by=detect.fresh_functions,
        sees="another hash_seed does not give other hash functions",
    ),
    fault(
        "keys-forget-their-type",
        "5 and '5' are one key",
        Edit("device:item_key", 'b"int"', 'b"str"'),
        by=detect.keys_apart,
        sees="are not three keys",
    ),
    fault(
        "keys-forget-their-seed",
        "a collision of two keys is for ever",
        Edit("device:key64", "person=hash_seed.to_bytes", "person=bytes(1).hex() and (0).to_bytes"),
        by=detect.keys_apart,
        sees="another hash_seed does not give other keys",
    ),
]


# --- noise that is used again ------------------------------------------------------------------------------------


def _key_from_before_the_fork() -> Any:
    key, calls = os.urandom(32), itertools.count()
    return lambda self: Stream(key, next(calls))


HEAD, TAIL = "a byte of the head lane is not at its address", "a word of the tail lane is not at its address"

NOISE = [
    fault(
        "one-key-for-all-calls",
        "every call of a process has the same noise",
        Edit("core.randomness:SecureRandom.stream", "os.urandom(32)", "hashlib.sha256(b'%d' % os.getpid()).digest()"),
        by=detect.fresh_noise,
        sees="two calls have the same noise",
    ),
    fault(
        "key-from-before-the-fork",
        "a key and a counter of calls are copied into every child",
        Value("core.randomness:SecureRandom.stream", _key_from_before_the_fork()),
        by=detect.noise_after_fork,
        sees="forked processes have the same noise",
    ),
    fault(
        "seeded-calls-repeat",
        "the call number does not advance",
        Edit("core.randomness:SeededRandom.stream", "self._call += 1", "self._call += 0"),
        by=detect.fresh_noise,
        sees="two calls have the same noise",
    ),
    fault(
        "seed-cut-to-a-byte",
        "256 different simulations, and no more",
        Edit("core.randomness:SeededRandom.__init__", "str(self.seed)", "str(self.seed % 256)"),
        by=detect.fresh_noise,
        sees="two calls have the same noise",
    ),
    fault(
        "chunks-share-their-noise",
        "every chunk starts at the first address",
        Edit("core.scheme:Scheme._privatize", "first_report + first", "first_report"),
        by=detect.fresh_noise,
        sees="the chunks of a call have other noise",
    ),
    fault(
        "continued-call-starts-anew",
        "first_report is ignored",
        Edit("core.scheme:Scheme._privatize", "first_report + first", "first"),
        by=detect.fresh_noise,
        sees="a continued call has other noise",
    ),
    fault(
        "simulated-chunks-share-their-noise",
        "every chunk of a simulated crowd starts at the first address",
        Edit("core.scheme:Scheme.simulate", "stream, first, reports", "stream, 0, reports"),
        by=detect.fresh_noise,
        sees="a simulated crowd has other noise",
    ),
    fault(
        "buffer-wraps-around",
        "after 64 KB the noise starts again",
        Edit("core.randomness:Stream.head", "divmod(first_byte, _BLOCK)", "divmod(first_byte % 2**16, _BLOCK)"),
        by=detect.addresses,
        sees=HEAD,
    ),
    fault(
        "head-starts-at-a-block",
        "reports that share a block share bytes",
        Edit("core.randomness:Stream.head", "buffer[skip:size]\n", "buffer[:count]\n"),
        by=detect.addresses,
        sees=HEAD,
    ),
    fault(
        "call-number-forgotten",
        "all seeded calls have the same head lane",
        Edit("core.randomness:Stream.head", "(self.call << 96) | block", "block"),
        by=detect.addresses,
        sees=HEAD,
    ),
    fault(
        "lanes-overlap",
        "the low bits of one word are another report's words",
        Edit("core.randomness:Stream.tail", "(1 << 31)", "(0 << 31)"),
        by=detect.addresses,
        sees=TAIL,
    ),
    fault(
        "repeats-repeat-themselves",
        "a refused word is drawn again, for ever",
        Edit("core.randomness:Stream.tail", "(attempt << 24)", "(0 << 24)"),
        by=detect.addresses,
        sees=TAIL,
    ),
    fault(
        "report-number-cut-to-24-bits",
        "low bits repeat every 16 million reports",
        Edit("core.randomness:Stream.tail", "report >> np.uint64(24)", "report >> np.uint64(63)"),
        by=detect.addresses,
        sees=TAIL,
    ),
    fault(
        "tail-from-the-other-half",
        "the last 8 bytes of the block for the first",
        Edit("core.randomness:Stream.tail", "[::2]", "[1::2]"),
        by=detect.addresses,
        sees=TAIL,
    ),
]


# --- estimators --------------------------------------------------------------------------------------------------

CROWD_BIASED, CROWD_SPREAD = "estimates are biased", "the spread of estimates is not the stated one"
OLH_CROWD = detect.crowd("OLH", epsilon=2, domain_size=70)
FLH_CROWD = detect.crowd("FLH", epsilon=2, domain_size=70, hashes=30)
KEYS_CROWD = detect.crowd("OLH", epsilon=2, domain=detect.plausibly.Keys())
TLH_KEYS_CROWD = detect.crowd("TLH", epsilon=2, domain=detect.plausibly.Keys())

ESTIMATOR = [
    fault(
        "ideal-q-for-the-realised-one",
        "an estimator of the real-valued scheme, off by 2^-53",
        Edit(
            "oracles.direct:DE.estimator",
            "(1 - p) / (self.size - 1)",
            "Fraction(1 / (np.exp(float(self.epsilon)) + self.size - 1))",
        ),
        by=DE,
        sees=BIAS,
    ),
    fault(
        "ideal-flip-for-the-realised-one",
        "the same of unary encoding",
        Edit(
            "core.unary:UnaryBits.estimator",
            "pure(*self.pair, ",
            "pure(self.pair[0], Fraction(1 / (np.exp(float(self.epsilon)) + 1)), ",
        ),
        by=OUE,
        sees=BIAS,
    ),
    fault(
        "q-of-a-lie-for-q-of-a-hash",
        "1/(g-1) for 1/g in the full decoder",
        Edit("oracles.hadamard_mechanism:HM.estimator", "Fraction(1, self.g), self", "Fraction(1, self.g - 1), self"),
        by=HM,
        sees=BIAS,
    ),
    fault(
        "q-of-a-lie-for-q-of-a-local-hash",
        "1/(g-1) for 1/g in local hashing",
        Edit("oracles.local_hashing:LocalHashing.estimator", "Fraction(1, self.g)", "Fraction(1, self.g - 1)"),
        by=OLH_CROWD,
        sees=CROWD_BIASED,
    ),
    fault(
        "offset-of-one-report",
        "q for n*q",
        Edit("core.laws:Estimator.values", "n * self.offset", "self.offset"),
        by=OUE,
        sees=BIAS,
    ),
    fault(
        "holder-term-forgotten",
        "the variance of an item nobody holds, for every item",
        Edit("core.laws:pure", "(1 - p - q) / gap", "Fraction(0)", at="oracles.direct:pure"),
        by=DE,
        sees=VARIANCE,
    ),
    fault(
        "holder-term-forgotten-in-floating-point",
        "the exact law is right, the one that intervals use is not",
        Edit("core.laws:VarianceLaw.at", "f * float(self.per_holder)", "0 * f"),
        by=OUE,
        sees=VARIANCE,
    ),
    fault(
        "block-mates-forgotten",
        "a giant item spoils its block-mates, and their intervals do not say so",
        Edit("oracles.hadamard_response:_law", "per_mate=scale**2 * (near - far)", "per_mate=Fraction(0)"),
        by=HR_BLOCK,
        sees=VARIANCE,
    ),
    fault(
        "decoder-sign-flipped",
        "minus the count",
        Edit("oracles.hadamard_response:HR._scores", "= transformed[", "= -transformed["),
        by=HR_PURE,
        sees=BIAS,
    ),
    fault(
        "decoder-code-off-by-one",
        "row x for row x+1",
        Edit("oracles.hadamard_response:HR._code_of", " + 1", ""),
        by=HR_PURE,
        sees=BIAS,
    ),
    fault(
        "full-decoder-forgets-n",
        "g*[match] - 1 taken for g*[match]",
        Edit(
            "core.linear_hashing:supports", "(wanted + n * window)", "wanted", at="oracles.hadamard_mechanism:supports"
        ),
        by=HM,
        sees=BIAS,
    ),
    fault(
        "paper-decoder-half-sign",
        "1 - [minus] for 1 - 2[minus]",
        kernel("sign_sums", "- 2 * np", "- np"),
        by=HM,
        sees=BIAS,
    ),
    fault(
        "one-product-of-signs-missing",
        "the first of the 2^t - 1 products is left out",
        kernel("gray_scatter", "range(1, 1 << t)", "range(2, 1 << t)"),
        by=HM,
        sees=BIAS,
    ),
    fault(
        "transform-with-a-sign-wrong",
        "b - a for a - b in the butterfly",
        kernel("walsh_hadamard", "left - right", "right - left"),
        by=HR_PURE,
        sees=BIAS,
    ),
    fault(
        "columns-in-big-endian-order",
        "the server counts the bits of a byte from the other end",
        kernel("column_sums", 'bitorder="little"', 'bitorder="big"'),
        by=OUE_BYTE,
        sees=BIAS,
    ),
    fault(
        "support-counts-overflow",
        "512 supports added in a byte",
        Value("kernels.reference:_BYTE_ROWS", 512),
        Twin("support_counts"),
        by=OLH_CROWD,
        sees=CROWD_BIASED,
    ),
    fault(
        "keys-decoded-with-a-small-split",
        "the server cuts keys elsewhere than the client",
        Edit("oracles.local_hashing:LocalHashing._scores", "codes, self.split, self.g", "codes, 64, self.g"),
        by=KEYS_CROWD,
        sees=CROWD_BIASED,
    ),
    fault(
        "collision-term-forgotten",
        "FLH with the variance of OLH",
        Edit("oracles.fast_local_hashing:FLH.estimator", "collision=collision", "collision=Fraction(0)"),
        by=FLH_CROWD,
        sees=CROWD_SPREAD,
    ),
    fault(
        "collisions-of-a-flat-crowd",
        "F2 is taken for n",
        Edit("oracles.fast_local_hashing:FLH._context", "n + self.hashes *", "n + 0 *"),
        by=FLH_CROWD,
        sees=CROWD_SPREAD,
    ),
    fault(
        "table-read-at-another-hash",
        "the last function's cells are never read",
        Edit(
            "oracles.fast_local_hashing:FLH._scores",
            "(self._seeds, cells, codes,",
            "(self._seeds[:-9], cells[:-9], codes,",
        ),
        by=FLH_CROWD,
        sees="other estimates than in the whole domain",
    ),
    fault(
        "q-of-a-share-for-q-of-a-subset",
        "w/d for (w-p)/(d-1)",
        Edit("oracles.subset_selection:SS.estimator", "(self.w - p) / (self.size - 1)", "Fraction(self.w, self.size)"),
        by=SS,
        sees=BIAS,
    ),
    fault(
        "q-of-a-hash-for-q-of-a-line",
        "w/g, as if lines were independent hashes",
        Edit(
            "oracles.affine_response:AGR.estimator",
            "(support - p) / (points - 1)",
            "Fraction(self.w, self.g)",
        ),
        by=AGR,
        sees=BIAS,
    ),
    fault(
        "q-of-a-domain-for-q-of-a-space",
        "the number of items for the number of points",
        Edit("oracles.affine_response:AGR.estimator", "1 << self.t * self.m", "self.size"),
        by=AGR_WINDOW,
        sees=BIAS,
    ),
    fault(
        "window-forgotten-by-the-fold",
        "every report counts for one value of its window",
        Edit("oracles.toeplitz_hashing:TLH.fold", "self.t, self.w", "self.t, 1"),
        by=TLH_WINDOW,
        sees=BIAS,
    ),
    fault(
        "window-forgotten-by-the-decoder",
        "g*S - n*w taken for g*S - n",
        Edit("oracles.toeplitz_hashing:TLH._scores", "window=self.w", "window=1"),
        by=TLH_WINDOW,
        sees=BIAS,
    ),
    fault(
        "weights-in-the-order-of-gray-codes",
        "the weight of the step for that of its code",
        kernel("gray_scatter", "negated[s], weights[s]", "negated[s ^ s >> 1], weights[s ^ s >> 1]"),
        Twin("toeplitz_scatter"),
        Value("kernels.reference:gray_scatter", lambda *arguments: kernels.gray_scatter(*arguments)),
        by=TLH_WINDOW,
        sees=BIAS,
    ),
    fault(
        "matrix-row-not-cut",
        "a character of more bits than items have",
        kernel("toeplitz_scatter", "& np.uint64(2**item_bits - 1)", "& np.uint64(2**item_bits - 2)"),
        by=TLH,
        sees=BIAS,
    ),
    fault(
        "candidates-with-a-wider-window",
        "<= for < at the window",
        kernel("toeplitz_support_of", "< np.uint64(window)", "<= np.uint64(window)"),
        by=TLH_KEYS_CROWD,
        sees=CROWD_BIASED,
    ),
    fault(
        "candidates-hashed-with-too-few-bits",
        "the server cuts keys elsewhere than the client",
        Edit(
            "oracles.toeplitz_hashing:TLH._scores",
            "codes, self.t, self.item_bits, self.w",
            "codes, self.t, 32, self.w",
        ),
        by=TLH_KEYS_CROWD,
        sees=CROWD_BIASED,
    ),
    fault(
        "stretch-taken-twice",
        "the supported value is multiplied by the stretch and not divided by it",
        kernel(
            "stretched_histogram",
            "- logarithms[stretch] + len(powers) // 2]",
            "+ logarithms[stretch]]",
        ),
        by=AGR_WINDOW,
        sees=BIAS,
    ),
    fault(
        "window-of-one-in-the-fold",
        "every report counts for one value of its window",
        kernel("stretched_histogram", "range(window)", "range(1)"),
        by=AGR_WINDOW,
        sees=BIAS,
    ),
    fault(
        "lines-without-their-transform",
        "counts taken for coefficients",
        Edit("oracles.affine_response:AGR._scores", "kernels.walsh_hadamard(rows)", "pass"),
        by=AGR,
        sees=BIAS,
    ),
    fault(
        "characters-not-transposed",
        "a*s for the character that takes x to <s, a*x>",
        kernel(
            "affine_gather",
            "single[bit] |= (factor >> np.uint64(bit) & np.uint64(1)) << np.uint64(hash_bits * i + j)",
            "single[j] |= (factor >> np.uint64(bit) & np.uint64(1)) << np.uint64(hash_bits * i + bit)",
        ),
        by=audit("AGR", epsilon=2, domain_size=12, hash_bits=3),
        sees=BIAS,
    ),
    fault(
        "spare-digits-dropped",
        "characters beyond the domain are left out and not folded",
        kernel(
            "affine_gather", "rows[chunk, 1:])", "np.where(np.stack(places[1:], axis=1) > mask, 0, rows[chunk, 1:]))"
        ),
        by=AGR_WINDOW,
        sees=BIAS,
    ),
    fault(
        "one-sided-quantile",
        "90 % intervals sold as 95 %",
        Edit("core.measured:normal_interval", "missed / 2", "missed", at="core.estimates:normal_interval"),
        by=detect.intervals,
        sees="the interval is not the central 95 %",
    ),
    fault(
        "items-as-if-independent",
        "the variance of a sum over items leaves out their covariance",
        Edit("core.laws:VarianceLaw.of_total", "items * (items - 1) * shared", "0 * shared"),
        by=detect.computing,
        sees="the sum of all items of DE is not certain",
    ),
    fault(
        "shared-hashes-forgotten",
        "crowds with the same hash functions count as independent",
        Edit("core.basis:Basis.shared_error", "self.hash_seeds & other.hash_seeds", "set()"),
        by=detect.computing,
        sees="a sum with shared hash functions is more certain than the merged tally",
    ),
    fault(
        "same-reports-twice",
        "the difference of two estimates of one tally has the variance of two crowds",
        Edit("core.basis:Basis.expect_apart", "self.reports & other.reports", "False"),
        by=detect.computing,
        sees="the same reports twice is accepted",
    ),
    fault(
        "each-item-by-itself",
        "intervals for all items together are those of single items",
        Edit("core.derived:Derived.interval", "max(1, len(self)) if together else 1", "1"),
        by=detect.computing,
        sees="joint intervals are not wider",
    ),
    fault(
        "others-under-any-name",
        "a question about an unlisted text is answered with the count of all others",
        Edit("core.domain.labels:Labels.ask", "item not in self._index", "False"),
        by=detect.computing,
        sees="an unlisted item as a question is accepted",
    ),
]


# --- states, bytes, identity -------------------------------------------------------------------------------------

STATE = [
    fault(
        "merge-drops-n",
        "the cells are added, the number of reports is not",
        Edit("core.accumulator:CellAccumulator.unite", "self.n += other.n", "self.n += 0"),
        by=detect.states,
        sees="merging loses the number of reports",
    ),
    fault(
        "merge-drops-cells",
        "the number of reports is added, the cells are not",
        Edit("core.accumulator:CellAccumulator.unite", "self.state += other.state", "self.state += 0"),
        by=detect.states,
        sees="merged parts are not the whole",
    ),
    fault(
        "log-keeps-the-order-of-arrival",
        "bytes that tell who came first",
        Edit("core.accumulator:LogAccumulator.to_payload", "rows[np.lexsort(rows.T[::-1])]", "rows"),
        by=detect.states,
        sees="merged parts are not the whole",
    ),
    fault(
        "log-keeps-the-callers-array",
        "what the caller writes later changes the state",
        Edit(
            "core.scheme:Scheme.accept_parts", "copied(records[first : first + step])", "records[first : first + step]"
        ),
        by=detect.states,
        sees="merged parts are not the whole",
    ),
    fault(
        "merge-of-anything",
        "states of different schemes are added",
        Edit("core.accumulator:Accumulator.merge", "other.scheme != self.scheme", "False"),
        by=detect.refusals,
        sees="another scheme's state is accepted",
    ),
    fault(
        "reports-of-anything",
        "records that look alike are taken for one's own",
        Edit("core.scheme:Scheme.expect_records", "tag != self.fingerprint()", "False"),
        by=detect.refusals,
        sees="another scheme's reports is accepted",
    ),
    fault(
        "counters-may-overflow",
        "a sum beyond 2^63 wraps around",
        Edit("core.accumulator:Accumulator._check_room", ">= 2**63", ">= 2**80"),
        by=detect.refusals,
        sees="too many reports is accepted",
    ),
    *(
        fault(
            f"{what}-{name}",
            breaks,
            Edit(where, old, new),
            by=detect.refusals,
            sees=sees.format(what),
        )
        for what, where in (
            ("batch", "core.codec:batch_records"),
            ("state", "core.accumulator:Accumulator.from_bytes"),
        )
        for name, breaks, old, new, sees in (
            (
                "checksum-ignored",
                "flipped bits are counted",
                "if zlib.crc32(",
                "if 0 and zlib.crc32(",
                "a bit flip in a {}",
            ),
            ("magic-ignored", "any version is read as ours", "magic != _MAGIC", "False", "a {} with another magic"),
            (
                "fingerprint-ignored",
                "another scheme's bytes are read as ours",
                "fingerprint != bytes",
                "False and bytes",
                "a {} with another fingerprint",
            ),
        )
    ),
    fault(
        "batch-left-over-bytes",
        "what follows the records is dropped silently",
        Edit("core.codec:batch_records", "len(view) != expected", "len(view) < expected - 10**9"),
        by=detect.refusals,
        sees="a batch with another count is accepted",
    ),
    fault(
        "batch-ranges-unchecked",
        "forged records reach the fold",
        Edit("core.codec:decode_reports", "scheme.accept(", "("),
        by=detect.out_of_range,
        sees="DE: item out of range is accepted",
    ),
    *(
        fault(
            f"{name}-{key}-range-off-by-one",
            "the first value beyond the range is counted",
            Edit(where, old, new),
            by=detect.out_of_range,
            sees=f"{name}: {key} out of range is accepted",
        )
        for name, key, where, old, new in (
            ("DE", "item", "oracles.direct:DE.check", '"item"], self.size', '"item"], self.size + 1'),
            ("OLH", "hash", "core.hashing:HashedScheme.check", '"hash"], self.g', '"hash"], self.g + 1'),
            ("HM", "rows", "oracles.hadamard_mechanism:HM.check", '"rows"], order', '"rows"], order + 1'),
            (
                "HR",
                "position",
                "oracles.hadamard_response:HR.check",
                '"position"], positions',
                '"position"], positions + 1',
            ),
            ("TLH", "matrix", "oracles.toeplitz_hashing:TLH.check", '"], self._matrices', '"], 1 + self._matrices'),
            ("TLH", "hash", "oracles.toeplitz_hashing:TLH.check", '"hash"], self.g', '"hash"], self.g + 1'),
            ("AGR", "line", "oracles.affine_response:AGR.check", '"line"], self.lines', '"line"], self.lines + 1'),
            ("AGR", "hash", "oracles.affine_response:AGR.check", '"hash"], self.g', '"hash"], self.g + 1'),
            ("AGR", "stretch", "oracles.affine_response:AGR.check", '"stretch"], self.g', '"stretch"], self.g + 1'),
        )
    ),
    fault(
        "ranges-off-by-one",
        "the first value beyond any range is counted",
        Edit(
            "core.records:refuse_beyond",
            "largest >= count",
            "largest > count",
            at="oracles.hadamard_response:refuse_beyond",
        ),
        by=detect.out_of_range,
        sees="HR: position out of range is accepted",
    ),
    fault(
        "spare-bits-accepted",
        "bits beyond the last item carry whatever a client likes",
        Edit("core.bitmaps:refuse_spare_bits", "if size % 8", "if size % 8 == 1", at="core.unary:refuse_spare_bits"),
        by=detect.out_of_range,
        sees="OUE: bits out of range is accepted",
    ),
    fault(
        "subsets-of-any-size-accepted",
        "a report of all items, which counts for each of them",
        Edit("oracles.subset_selection:SS.check", "!= self.w", "< self.w"),
        by=detect.out_of_range,
        sees="SS: bits out of range is accepted",
    ),
    fault(
        "stretch-of-zero-accepted",
        "a report that cannot be divided by its stretch",
        Edit("oracles.affine_response:AGR.check", "least=1", "least=0"),
        by=detect.out_of_range,
        sees="AGR: stretch out of range is accepted",
    ),
    *(
        fault(
            f"{name}-counts-of-no-report-accepted",
            "cells whose sum is not that of so many reports",
            Value(where, Scheme.check_cells),
            by=detect.out_of_range,
            sees=f"{name}: a count that no report has made is accepted",
        )
        for name, where in (
            ("SS", "oracles.subset_selection:SS.check_cells"),
            ("AGR", "oracles.affine_response:AGR.check_cells"),
        )
    ),
    *(
        fault(
            f"{name}-decoder-may-overflow",
            "cells that fit 64 bits, and sums of them that do not",
            Value(f"{where}.max_increment", 1),
            by=detect.refusals,
            sees=f"so many reports of {name} that decoding them would overflow is accepted",
        )
        for name, where in (("TLH", "oracles.toeplitz_hashing:TLH"), ("AGR", "oracles.affine_response:AGR"))
    ),
    fault(
        "forged-cells-accepted",
        "three reports that count for fifty",
        Edit("core.accumulator:CellAccumulator.restore", "self.scheme.check_cells(state[0], count)", "pass"),
        by=detect.out_of_range,
        sees="DE: cells that three reports cannot make is accepted",
    ),
    fault(
        "domain-one-too-large",
        "item d is taken",
        Edit("core.domain.integers:Integers.encode", "codes >= self.size", "codes > self.size"),
        Edit("core.domain.base:Domain.encoded", ">= self.size", "> self.size"),
        by=detect.domains,
        sees="an item outside the domain, in bulk is accepted",
    ),
    fault(
        "unknown-label-becomes-the-first",
        "a value that is not there is counted as one that is",
        Edit("core.domain.labels:Labels.encode", "repeat(missing)", "repeat(0)"),
        by=detect.domains,
        sees="an unknown label, in bulk is accepted",
    ),
    fault(
        "lower-case-of-the-platform",
        "a capital with a dot becomes two characters, and newer versions of Python know more capitals",
        Edit("device:normalized", "text.translate(_LOWER)", "text.lower()"),
        by=detect.normalizing,
        sees="a text is normalized otherwise on a device",
    ),
    fault(
        "spaces-of-the-platform",
        "browsers strip a byte order mark, and Python does not",
        Edit("device:normalized", "text.strip(SPACES)", "text.strip()"),
        by=detect.normalizing,
        sees="a text is normalized otherwise on a device",
    ),
    fault(
        "nfc-of-the-platform",
        "newer versions of Python compose more characters, and a long run takes for ever",
        Edit("device:_composed", "re.sub(_RUN, _composed_run, text)", 'normalize("NFC", text)'),
        by=detect.normalizing,
        sees="a text is normalized otherwise on a device",
    ),
    fault(
        "nfc-before-lower-case-only",
        "a capital with its accent and the small letter stay two values",
        Edit("device:normalized", 'text = _composed(text) if "nfc" in steps else text', "pass"),
        by=detect.normalizing,
        sees="a text is normalized otherwise on a device",
    ),
    fault(
        "a-cut-leaves-a-space",
        "a string that a search finds cannot be asked for by its name",
        Edit("device:shortened", ".rstrip(SPACES)", ""),
        by=detect.normalizing,
        sees="a cut text ends in a space",
    ),
    fault(
        "bulk-cuts-without-stripping",
        "the gateway reports another string than a device",
        Edit("core.domain.strings:Strings._shortened", 'self.long == "refuse" or', "True or"),
        by=detect.normalizing,
        sees="a cut text has other symbols in bulk",
    ),
    fault(
        "asked-as-it-was-typed",
        "the answer carries a name that no user's report has",
        Edit("core.domain.keys:Keys.ask", "self.normalized(listed(items))", "listed(items)"),
        by=detect.normalizing,
        sees="an answer has a name that nobody reports",
    ),
    fault(
        "labels-that-nobody-can-have",
        "a device takes a label that no normalized value equals",
        Edit("device:Labels.__init__", "normalized(label, self.steps) != label", "False"),
        by=detect.normalizing,
        sees="a label with a capital on a device is accepted",
    ),
    fault(
        "steps-in-any-order",
        "one scheme has several documents and fingerprints",
        Edit("device:Fields.steps", "steps != tuple(step for step in NORMALIZING if step in steps)", "False"),
        by=detect.normalizing,
        sees="another order on a device is accepted",
    ),
    fault(
        "device-domain-one-too-large",
        "item d is taken",
        Edit("device:Integers.encode", "0 <= number < self.items", "0 <= number <= self.items"),
        Edit("device:_expect_inside", "value < items", "value <= items"),
        by=detect.domains,
        sees="an item outside the domain, on a device is accepted",
    ),
    fault(
        "fingerprint-without-hash-seed",
        "states of different hash functions merge",
        Edit(
            "oracles.fast_local_hashing:FLH.parameters", '"hash_seed": json_integer(self.hash_seed)', '"hash_seed": 0'
        ),
        by=detect.identity,
        sees="two different schemes have one fingerprint",
    ),
    fault(
        "fingerprint-without-the-order-of-labels",
        "states whose cells mean different things merge",
        Edit("core.domain.labels:Labels.to_dict", "list(self.labels)", "sorted(self.labels)"),
        by=detect.identity,
        sees="two different schemes have one fingerprint",
    ),
    fault(
        "fingerprint-without-the-size",
        "states of different domains merge",
        Edit("core.domain.integers:Integers.to_dict", '"size": self.size', '"size": 8'),
        by=detect.identity,
        sees="two different schemes have one fingerprint",
    ),
    fault(
        "json-thresholds-not-recomputed",
        "whoever edits the JSON sets the noise",
        Edit("core.scheme:Scheme.from_dict", "given[name] != value or", "False and"),
        by=detect.identity,
        sees="a scheme with another threshold than its epsilon's is accepted",
    ),
    fault(
        "device-trusts-the-server",
        "the client no longer computes the epsilon of its thresholds",
        Edit("device:_expect_within", "> _exp_lower_bound(", "> 2 * _exp_lower_bound("),
        by=detect.identity,
        sees="thresholds beyond epsilon, on a device is accepted",
    ),
]


# --- sketches ----------------------------------------------------------------------------------------------------

CM_DE, CM_OUE, CM_OLH, CS_DE = (
    detect.audit_sketch(name, oracle) for name, oracle in (("CM", "DE"), ("CM", "OUE"), ("CM", "OLH"), ("CS", "DE"))
)
CM_CROWD, CS_CROWD = (detect.sketch_crowd(name) for name in ("CM", "CS"))
# The sign is the parity of the bucket.
_TIED = "(b := total % np.uint32(size) % np.uint32(size // 2)) + b % np.uint32(2) * np.uint32(size // 2)"

SKETCH = [
    fault(
        "row-always-the-first",
        "all users hash with one function: what collides never averages out",
        Edit("device:RowSketch.public", "source.below(self.rows)", "0 * source.below(self.rows)"),
        by=detect.rows_shared_out,
        sees="a client does not take every row alike",
    ),
    fault(
        "row-never-the-last",
        "rows are not uniform, and each is taken as if it were",
        Edit("device:RowSketch.public", "source.below(self.rows)", "min(source.below(self.rows), self.rows - 2)"),
        by=detect.rows_shared_out,
        sees="a client does not take every row alike",
    ),
    fault(
        "bulk-row-always-the-first",
        "the same in the bulk path",
        Edit("core.randomness:Draws.choose", "return numbers, ", "return numbers * np.uint64(0), "),
        by=detect.rows_shared_out,
        sees="bulk reports do not take every row alike",
    ),
    fault(
        "bulk-row-by-plain-modulo",
        "the choice of the row is not quite uniform",
        Edit(
            "core.randomness:Draws.choose",
            "return numbers, refused,",
            "return numbers, refused[:0],",
        ),
        by=CM_DE,
        sees=BULK,
    ),
    fault(
        "row-leaks-the-item",
        "the public row is shifted by the value",
        Edit("device:RowSketch.perturb", "_field(row,", "_field((row + value) % self.rows,"),
        by=CM_DE,
        sees=EXCEEDS,
    ),
    fault(
        "row-drawn-last",
        "the same law from other words",
        Edit(
            "device:RowSketch.public",
            "(source.below(self.rows), *self.oracle.public(source))",
            "(*self.oracle.public(source), source.below(self.rows))[::-1]",
        ),
        by=CM_OLH,
        sees=BULK,
    ),
    fault(
        "cell-instead-of-its-hash",
        "neighbouring items share cells in every row alike",
        Edit(
            "device:RowSketch.perturb",
            "local_hash(self.seed(self.hash_seed, row), value, self.split, self.size)",
            "value % self.size",
        ),
        by=CM_DE,
        sees=LAW,
    ),
    fault(
        "cell-out-of-range",
        "the oracle is given an item that it does not have",
        Edit("device:RowSketch.perturb", "self.oracle.perturb(cell,", "self.oracle.perturb(cell + (value == 0) * 6,"),
        by=CM_OUE,
        sees="the client refuses an item of the domain",
    ),
    fault(
        "sketch-words-not-reserved",
        "the word of the row is not counted",
        Edit("device:RowSketch.__init__", "1 + self.oracle.words", "self.oracle.words"),
        by=CM_DE,
        sees=WORDS,
    ),
    fault(
        "sketch-states-no-ratio",
        "the client says nothing of its oracle's privacy",
        Edit("device:RowSketch.worst_ratio", "self.oracle.worst_ratio()", "self.oracle.worst_ratio() ** 0"),
        by=CM_DE,
        sees="exceeds the worst one that the client states",
    ),
    fault(
        "row-word-used-twice",
        "the oracle's coin is decided by the word that chose the row",
        Edit(
            "core.randomness:Draws.choose",
            "slice(column.start + 8, column.stop)",
            "slice(column.start, column.stop - 8)",
        ),
        by=CM_DE,
        sees=BULK,
    ),
    fault(
        "tail-of-another-draw",
        "the low bits of a unary coin are those of its neighbour",
        Edit("core.randomness:Draws.tails", "draws + self.drawn", "draws"),
        by=CM_OUE,
        sees=BULK,
    ),
    fault(
        "part-starts-at-the-beginning",
        "a call that starts in the middle finds the words of its beginning",
        Edit("core.randomness:Draws.choose", "replace(self, ", "replace(self, first=0, "),
        by=CM_OUE,
        sees=BULK,
    ),
    fault(
        "sign-tied-to-the-bucket",
        "items of one bucket have one sign: nothing cancels, and every item has its bucket's others on top",
        Edit("kernels.reference:local_hash", "total % np.uint32(size)", _TIED, at="kernels:local_hash"),
        Edit("kernels.reference:local_hash", "total % np.uint32(size)", _TIED),
        Twin("table_support_of"),
        by=CS_CROWD,
        sees="estimates are biased",
    ),
    fault(
        "one-function-for-all-rows",
        "every row has the same collisions",
        Edit("device:RowSketch.perturb", "self.seed(self.hash_seed, row)", "self.seed(self.hash_seed, 0)"),
        Edit(
            "sketches.rows:RowSketch.seeds",
            'public_seeds(self.hash_seed, self.rows, b"row seed")',
            'public_seeds(self.hash_seed, 1, b"row seed").repeat(self.rows)',
        ),
        by=detect.row_functions,
        sees="two rows have the same hash function",
    ),
    fault(
        "one-function-for-all-rows-spreads",
        "the same, seen in what it does",
        Edit("device:RowSketch.perturb", "self.seed(self.hash_seed, row)", "self.seed(self.hash_seed, 0)"),
        Edit(
            "sketches.rows:RowSketch.seeds",
            'public_seeds(self.hash_seed, self.rows, b"row seed")',
            'public_seeds(self.hash_seed, 1, b"row seed").repeat(self.rows)',
        ),
        by=CM_CROWD,
        sees="the spread of estimates is not the stated one",
    ),
    fault(
        "rows-without-hash-seed",
        "a fresh hash_seed gives the same collisions again",
        Edit("sketches.rows:RowSketch.seeds", "public_seeds(self.hash_seed", "public_seeds(0"),
        by=detect.row_functions,
        sees="another hash_seed does not give other hash functions",
    ),
    fault(
        "mean-without-debiasing",
        "what collides stays in the estimate",
        Edit("sketches.combining:MeanOfRows.estimate_and_unheld", "not rows.sketch.signed", "False"),
        by=CM_CROWD,
        sees="estimates are biased",
    ),
    fault(
        "mean-debiased-by-the-wrong-width",
        "c for c - 1",
        Edit("core.laws:CountMean.decoded", "scale * self.scale", "scale"),
        by=detect.sketches_as_defined,
        sees="the mean of the rows of CM is not the defined one",
    ),
    fault(
        "minimum-without-debiasing",
        "what collides stays in every row",
        Edit("sketches.combining:Rows.debiased", "n[:, None])", "0)"),
        by=detect.sketches_as_defined,
        sees="the min of the rows of CM is not the defined one",
    ),
    fault(
        "rows-not-scaled",
        "a row stands for its own users only",
        Edit("sketches.combining:_scaled", "np.maximum(n, 1)", "np.maximum(int(n.sum()), 1 + 0 * n)"),
        by=detect.sketches_as_defined,
        sees="the median of the rows of CS is not the defined one",
    ),
    fault(
        "rows-scaled-alike",
        "a row stands for as many users as the average row",
        Edit("sketches.combining:_scaled", "np.maximum(n, 1)", "np.maximum(n.mean() + 0 * n, 1)"),
        by=detect.sketches_as_defined,
        sees="the median of the rows of CM is not the defined one",
    ),
    fault(
        "median-not-centred",
        "every item has its row's collisions on top",
        Edit("sketches.combining:MedianOfRows.estimate_and_unheld", "table -= centre", "table -= 0"),
        by=detect.sketches_as_defined,
        sees="the median of the rows of CM is not the defined one",
    ),
    fault(
        "rows-without-users-count",
        "a row that nobody chose pulls the median to zero",
        Edit("sketches.combining:MedianOfRows.estimate_and_unheld", "table[n == 0] = np.nan", "table[n == 0] = 0"),
        by=detect.sketches_as_defined,
        sees="the median of the rows of CS is not the defined one",
    ),
    fault(
        "peeled-and-forgotten",
        "what was taken out of the rows is not given to anybody",
        Edit("sketches.peeling:PeelOfRows._peeled", "return credited + left", "return left"),
        by=detect.peeled_as_defined,
        sees="what is peeled from the rows of CM is not what is defined",
    ),
    fault(
        "peeled-from-every-row-alike",
        "a row loses as much as the average row, however many users it has",
        Edit("sketches.peeling:PeelOfRows.estimate", "n / n.sum()", "1 / len(n) + 0 * n"),
        by=detect.peeled_as_defined,
        sees="what is peeled from the rows of CM is not what is defined",
    ),
    fault(
        "peeled-with-one-sign",
        "items of the other sign keep what was lent to them",
        Edit("sketches.peeling:PeelOfRows._peeled", "np.add.at(", "np.add.at(0 * "),
        by=detect.peeled_as_defined,
        sees="what is peeled from the rows of CS is not what is defined",
    ),
    fault(
        "peeled-once-and-for-all",
        "what others had lent to an item that was peeled before them stays with it",
        Edit("sketches.peeling:_excess", "np.abs(left)", "left"),
        by=detect.peeled_as_defined,
        sees="what is peeled from the rows of CM is not what is defined",
    ),
    fault(
        "noise-is-peeled",
        "whatever is above zero",
        Edit("sketches.peeling:PeelOfRows._peeled", "1 - _ALARM / len(candidates)", "0.5"),
        by=detect.peeled_as_defined,
        sees="what is peeled from the rows of CM is not what is defined",
    ),
    fault(
        "opposite-cell-added",
        "+ for -: the sign of an item is lost",
        Edit("sketches.combining:Rows.of_items", "[plus - minus, minus - plus]", "[plus + minus, minus + plus]"),
        by=detect.sketches_as_defined,
        sees="the mean of the rows of CS is not the defined one",
    ),
    fault(
        "collisions-forgotten-in-the-variance",
        "intervals speak of the oracle's noise alone",
        Edit("core.laws:CountMean.law", "together * (met + law.collision)", "together * law.collision"),
        by=CM_CROWD,
        sees="the spread of estimates is not the stated one",
    ),
    fault(
        "signed-collisions-forgotten-in-the-variance",
        "the same for CS",
        Edit("sketches.count_sketch:CS.row_law", "together * (Fraction(1, c) + ", "together * (0 + "),
        by=CS_CROWD,
        sees="the spread of estimates is not the stated one",
    ),
    fault(
        "channels-mixed-up",
        "the reports of a row are counted in its neighbour",
        Edit("core.accumulator:ChannelAccumulator._fold", "cells[channel]", "cells[channel - 1]"),
        by=detect.channels,
        sees="a channel does not hold what its reports make",
    ),
    fault(
        "channels-miscounted",
        "the users of a row are counted in its neighbour",
        Edit(
            "core.accumulator:ChannelAccumulator.absorb",
            "added = np.diff(bounds)",
            "added = np.roll(np.diff(bounds), 1)",
        ),
        by=detect.channels,
        sees="a channel does not hold what its reports make",
    ),
    fault(
        "simulated-channels-miscounted",
        "the users of a row are counted in its neighbour, by simulation alone",
        Edit(
            "core.accumulator:ChannelAccumulator.absorb_single_threaded",
            "np.diff(bounds)",
            "np.roll(np.diff(bounds), 1)",
        ),
        by=detect.channels,
        sees="a simulated crowd is not shared out as an honest one",
    ),
    fault(
        "users-of-channels-not-saved",
        "a state read back knows its cells, and not whose they are",
        Edit(
            "core.accumulator:ChannelAccumulator.to_payload",
            'self.n.astype("<i8").tobytes() + super().to_payload()',
            "bytes(self.n.nbytes) + CellAccumulator.to_payload(self)",
        ),
        by=detect.channels,
        sees="a state of channels does not come back from its bytes",
    ),
    fault(
        "users-of-channels-not-checked",
        "cells of users that are said to be elsewhere",
        Edit("core.accumulator:ChannelAccumulator.restore", "self.scheme.check_cells(cells, reports)", "pass"),
        by=detect.channels,
        sees="a state whose users are not those of its cells is accepted",
    ),
    fault(
        "users-of-channels-do-not-add-up",
        "users appear from nowhere",
        Edit("core.accumulator:ChannelAccumulator.restore", "sum(n.tolist()) != count", "False"),
        by=detect.channels,
        sees="a state whose users are not those of its cells is accepted",
    ),
    fault(
        "row-out-of-range-accepted",
        "a report of a row that does not exist",
        Edit("sketches.rows:RowSketch.check", 'reports["row"], self.rows', 'reports["row"], self.rows + 1'),
        by=detect.out_of_range,
        sees="CM: row out of range is accepted",
    ),
    fault(
        "report-within-not-checked",
        "the oracle's part of a report may be anything",
        Edit("sketches.rows:RowSketch.check", 'self.oracle.check(reports["report"])', "pass"),
        by=detect.out_of_range,
        sees="CM: report out of range is accepted",
    ),
    fault(
        "fingerprint-without-the-rows-hash-seed",
        "states of different hash functions merge",
        Edit("sketches.rows:RowSketch.parameters", '"hash_seed": json_integer(self.hash_seed)', '"hash_seed": 0'),
        by=detect.identity,
        sees="two different schemes have one fingerprint",
    ),
    fault(
        "device-trusts-the-oracle",
        "the client no longer computes the epsilon of its oracle's thresholds",
        Edit("device:Oracle.made", "_expect_within(made.worst_ratio(), self.document.epsilon)", "pass"),
        by=detect.identity,
        sees="an oracle beyond its own epsilon, not the sketch's, on a device is accepted",
    ),
    fault(
        "device-takes-sketches-within-sketches",
        "a sketch of a sketch, which nobody has examined",
        Edit("device:Oracle.__init__", '("CM", "CS", "BLOOM")', "()"),
        by=detect.identity,
        sees="a sketch within a sketch, on a device is accepted",
    ),
    fault(
        "json-takes-sketches-within-sketches",
        "the same at the server",
        Edit(
            "sketches.rows:expect_oracle",
            "if not isinstance(given, Scheme):",
            "if given.channels is not None:\n        return\n    if not isinstance(given, Scheme):",
        ),
        by=detect.identity,
        sees="a sketch within a sketch, in JSON is accepted",
    ),
]


FAULTS: list[Fault] = [
    *_one_part_in_2_to_the_64(),
    *THRESHOLDED,
    *CLIENT,
    *COIN,
    *BULK_PATH,
    *HASH,
    *NOISE,
    *ESTIMATOR,
    *STATE,
    *SKETCH,
    *(Fault(*plan) for plan in searches.PLANS),
    *(Fault(*plan) for plan in special.SPECIAL),
    *(Fault(*plan) for plan in slides.PLANS),
    *(Fault(*plan) for plan in tables.PLANS),
    *(Fault(*plan) for plan in answers.PLANS),
    *(Fault(*plan) for plan in fits.PLANS),
    *(Fault(*plan) for plan in trees.PLANS),
    *(Fault(*plan) for plan in waves.PLANS),
    *(Fault(*plan) for plan in fakes.PLANS),
    *(Fault(*plan) for plan in shuffles.PLANS),
]
