"""The device path: one file that needs nothing, tells nothing, and refuses what would harm its user."""

from __future__ import annotations

import ast
import json
import shutil
import subprocess
import sys
import traceback
from enum import Enum
from fractions import Fraction
from hashlib import shake_256
from math import sqrt
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import browsing
import naive_client as naive
import plausibly
import trusting
from cases import in_turn
from drawn import thinned
from plausibly import device
from vectors import tables as records

FILE = Path(device.__file__)
NAMES = sorted(plausibly.CATALOG)
INTEGERS = {"type": "integers", "size": 9}
LABELS = {"type": "labels", "labels": ["yes", "no"], "other": False}
KEYS = {"type": "keys", "hash_seed": 0}
CELLS = {"type": "integers", "size": 6}
STRINGS = {"type": "strings", "alphabet": "ab", "length": 2, "long": "truncate", "other": False}
LISTED = [name for name in NAMES if name not in (*naive.SEARCHES, *naive.TABLES)]
VALUES: dict[str, list[Any]] = {name: ["", "a", "b", "aa", "ab", "ba", "bb"] for name in naive.SEARCHES}
VALUES |= {name: list(range(9)) for name in LISTED} | dict.fromkeys(naive.TABLES, records.values_of(records.SMALL))


def fields(name: str, epsilon: str = "1", domain: dict[str, Any] = INTEGERS, **own: Any) -> dict[str, Any]:
    if name == "TRELLIS":
        parts = {"letters": 18, "first": 18, "folded": 16}
        tables = {part: naive.scheme_of("DE", epsilon, {"type": "integers", "size": parts[part]}) for part in parts}
        own = {**tables, "start": 1, "step": 1, "weights": [1, 2, 3, 4, 5], **own}
    elif name == "ROUND":
        part = naive.scheme_of("DE", epsilon, {"type": "integers", "size": 18})
        own = {"oracle": part, "prefixes": ["a", ""], "stem": 1, "reach": 2, **own}
    elif name in naive.SEARCHES:
        # Where both are sent each has a half.
        both = name in ("TH", "SFP")
        part = naive.scheme_of("DE", str(Fraction(epsilon) / (1 + both)), {"type": "integers", "size": 18})
        own = {"oracle": part, **({} if name == "PEM" else {"word_oracle": part}), **own}
        own = {**({"start": 1, "step": 1} if name in ("PEM", "TH") else {"hash_bits": 1}), **own}
        own = {**({"fragment": 1} if name == "SFP" else {}), **own}
    if name in naive.SEARCHES:
        domain = STRINGS if domain is INTEGERS else domain
    if name in naive.TABLES:
        domain = records.SMALL if domain is INTEGERS else domain
    if name in naive.SKETCHES:
        own = {"oracle": naive.scheme_of("DE", epsilon, CELLS), "rows": 5, **own}
    if name == "BLOOM":
        own = {"bits": 12, "cohorts": 5, **own}
    return naive.scheme_of(name, epsilon, domain, **own)


def private(written: dict[str, Any]) -> dict[str, Any]:
    """The part of a scheme that has the thresholds."""
    return written.get("oracle", written.get("letters", written.get("oracles", [written])[0]))


def threshold_of(name: str) -> str:
    """The field of a scheme's first threshold."""
    return "first" if name == "MEAN" else "keep"


def altered(written: dict[str, Any], **changes: Any) -> dict[str, Any]:
    """The scheme with other thresholds, wherever it has them."""
    for part in ("oracle", "letters"):
        if part in written:
            return {**written, part: {**written[part], **changes}}
    if "oracles" in written:
        first, *others = written["oracles"]
        return {**written, "oracles": [{**first, **changes}, *others]}
    return {**written, **changes}


def client(name: str, epsilon: str = "1", domain: dict[str, Any] = INTEGERS, **own: Any) -> device.Client:
    return trusting.load(json.dumps(fields(name, epsilon, domain, **own)))


class Shake:
    """Bytes of SHAKE-256: as good as the operating system's, and the same in every run. Counts what is read."""

    def __init__(self, seed: str) -> None:
        self.seed = seed
        self.reads: list[int] = []

    def __call__(self, count: int) -> bytes:
        self.reads.append(count)
        return shake_256(f"{self.seed}/{len(self.reads)}".encode()).digest(count)


# --- it needs nothing -------------------------------------------------------------------------------------------


def run(*arguments: str) -> list[str]:
    done = subprocess.run([sys.executable, *arguments], capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


def test_importing_the_device_path_loads_neither_numpy_nor_the_package() -> None:
    source = f"import sys; sys.path.insert(0, {str(FILE.parents[1])!r}); import plausibly.device; print(*sys.modules)"
    loaded = run("-I", "-c", source)
    assert sorted(m for m in loaded if m.split(".")[0] == "plausibly") == ["plausibly", "plausibly.device"]
    assert "numpy" not in loaded
    assert "cryptography" not in loaded


def test_the_copied_file_works_alone_without_any_installed_package(tmp_path: Path) -> None:
    shutil.copy(FILE, tmp_path / "device.py")
    (tmp_path / "scheme.json").write_text(json.dumps(fields("OLH", domain=KEYS)))
    source = (
        f"import sys; sys.path.insert(0, {str(tmp_path)!r}); import device;"
        f"client = device.load(open({str(tmp_path / 'scheme.json')!r}).read());"
        "print(client.privatize('example.org').hex(), *sys.modules)"
    )
    # -S: without site-packages there is nothing to import but the standard library.
    record, *loaded = run("-I", "-S", "-c", source)
    assert len(bytes.fromhex(record)) == 9
    assert "plausibly" not in loaded
    assert {m.split(".")[0] for m in loaded} <= {*sys.stdlib_module_names, "device", "__main__"}


def test_the_file_imports_only_the_standard_library_and_no_weak_generator() -> None:
    imported = set()
    for node in ast.walk(ast.parse(FILE.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            imported |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "a relative import needs the package"
            imported.add(str(node.module))
    assert {name.split(".")[0] for name in imported} <= sys.stdlib_module_names
    assert "secrets" in imported
    assert "random" not in imported


def test_the_file_computes_nothing_in_floats() -> None:
    tree = ast.parse(FILE.read_text(encoding="utf-8"))
    assert not [node for node in ast.walk(tree) if isinstance(node, ast.Constant) and type(node.value) is float]
    assert not [node for node in ast.walk(tree) if isinstance(node, ast.Name) and node.id in ("float", "round")]
    # The one true division is that of fractions, in a ratio that is checked before any value is seen.
    divisions = [node for node in ast.walk(tree) if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div)]
    assert [ast.unparse(node) for node in divisions] == ["1 / ratio"]


# --- it tells nothing -------------------------------------------------------------------------------------------


SECRETS: list[tuple[dict[str, Any], object, str]] = [
    (INTEGERS, 7_654_321, "7654321"),
    (INTEGERS, -7_654_321, "7654321"),
    (INTEGERS, 7654.321, "7654.321"),
    (INTEGERS, "my secret", "secret"),
    (INTEGERS, ["my secret"], "secret"),
    (LABELS, "my secret", "secret"),
    (LABELS, b"my secret", "secret"),
    (LABELS, 7_654_321, "7654321"),
    (KEYS, ["my secret"], "secret"),
    (KEYS, "my secret \ud800", "secret"),
    (KEYS, 7654.321, "7654.321"),
    (KEYS, 10**5000 + 7_654_321, "7654321"),
    (STRINGS, "my secret", "secret"),
    (STRINGS, b"my secret", "secret"),
    (STRINGS, ["my secret"], "secret"),
    ({**STRINGS, "long": "refuse", "other": True}, "my secret", "secret"),
    (STRINGS, 7_654_321, "7654321"),
]


def test_an_error_never_repeats_the_value() -> None:
    for domain, value, secret in SECRETS:
        with pytest.raises(device.DeviceError) as caught:
            client("PEM" if domain["type"] == "strings" else "OLH", domain=domain).privatize(value)
        assert secret not in "".join(traceback.format_exception(caught.value))
        assert secret not in repr(caught.value)


def test_nothing_is_read_from_the_source_for_a_value_that_is_refused() -> None:
    for bad in (9, -1, None):
        with pytest.raises(device.DeviceError):
            client("DE").privatize(bad, source=Untouchable())


class Untouchable:
    """A source that must not be asked."""

    def bernoulli(self, threshold: int) -> bool:
        raise AssertionError

    def below(self, size: int) -> int:
        raise AssertionError


@pytest.mark.parametrize("name", NAMES)
def test_all_words_are_read_at_once_and_their_number_depends_on_nothing(name: str) -> None:
    chosen = client(name)
    sizes = set()
    for value in VALUES[name]:
        for coin in range(8):
            source = Shake(f"words/{coin}")
            record = chosen.privatize(value, device.WordSource(chosen.randomizer.words, read=source))
            assert source.reads == [8 * chosen.randomizer.words]
            sizes.add(len(record))
    assert len(sizes) == 1


@pytest.mark.parametrize("name", NAMES)
def test_every_word_that_is_read_is_used(name: str) -> None:
    scheme = plausibly.from_json(json.dumps(fields(name)))
    chosen = client(name)
    for value in VALUES[name]:
        tape = naive.Tape(int.from_bytes(Shake(f"used/{value}/{i}")(8), "little") for i in range(100))
        chosen.privatize(value, tape)
        assert len(tape.draws) == chosen.randomizer.words == scheme.layout.words


@pytest.mark.parametrize("name", NAMES)
def test_records_have_one_size_whatever_the_words(name: str) -> None:
    scheme = plausibly.from_json(json.dumps(fields(name)))
    chosen = client(name)
    for word in (0, 1, 2**63, 2**64 - 1000, int(private(fields(name))[threshold_of(name)])):
        for value in VALUES[name]:
            record = chosen.privatize(value, naive.Tape([word] * 100))
            assert len(record) == scheme.report_dtype.itemsize


@pytest.mark.parametrize("served", [b"", b"\0" * 7, b"\0" * 8, b"\0" * 23, b"\0" * 25])
def test_a_source_that_gives_too_little_or_too_much_is_refused(served: bytes) -> None:
    with pytest.raises(device.DeviceError, match="random source"):
        device.WordSource(3, read=lambda count: served)


def test_a_repeat_that_cannot_be_read_is_refused() -> None:
    reads = iter([b"\xff" * 16, b""])
    source = device.WordSource(2, read=lambda count: next(reads))
    with pytest.raises(device.DeviceError, match="random source"):
        client("DE", domain={"type": "integers", "size": 4}).privatize(0, source)


# --- it refuses what would harm its user ------------------------------------------------------------------------


@in_turn("epsilon", thinned(["1/10", "1/2", "1", "2", "3", "5", "8", "20"]))
@pytest.mark.parametrize("name", NAMES)
def test_a_scheme_one_step_beyond_its_epsilon_is_refused(name: str, epsilon: str) -> None:
    honest = fields(name, epsilon)
    trusting.client(honest)
    # One bit has a step for all its thresholds, rounded down: two more are more than any of them may be.
    field, more = ("step", 2) if name == "MEAN" else ("keep", 1)
    beyond = {field: int(private(honest)[field]) + more}
    if "flip" in private(honest):
        # Two thresholds, either of which may leave some of epsilon to the other.
        most, least = naive.private_bits(private(honest))
        trusting.client(altered(honest, keep=str(most)))
        trusting.client(altered(honest, flip=str(least)))
        beyond = {"keep": most + 1, "flip": least - 1}
    for field, number in beyond.items():
        with pytest.raises(device.DeviceError, match="exceed its own epsilon"):
            trusting.client(altered(honest, **{field: str(number)}))


@pytest.mark.parametrize("name", NAMES)
def test_a_scheme_whose_epsilon_was_edited_is_refused(name: str) -> None:
    # By a millionth of a millionth; a higher one promises less than the thresholds keep, which harms nobody.
    scheme = plausibly.from_json(json.dumps(fields(name)))
    delivered = scheme.privacy_loss() if scheme.spends_less else scheme.epsilon
    with pytest.raises(device.DeviceError, match="exceed its own epsilon"):
        trusting.client({**fields(name), "epsilon": str(delivered * Fraction("0.999999999999"))})
    assert trusting.client({**fields(name), "epsilon": "2"}).privatize(VALUES[name][0])


@pytest.mark.parametrize("name", NAMES)
def test_a_scheme_that_lies_more_often_than_it_may_is_refused(name: str) -> None:
    # Below the uniform probability it is the lies that tell.
    with pytest.raises(device.DeviceError, match="exceed its own epsilon"):
        trusting.client(altered(fields(name), **{threshold_of(name): "12345"}))


def test_hadamard_response_refuses_an_order_whose_records_would_give_the_item_away() -> None:
    # Of order 8, the code of item 8 flips a bit that no row has: its lies would be records of nobody else.
    honest = fields("HR", "1/2")
    assert (honest["blocks"], honest["order"]) == (1, 16)
    for order in (2, 8, 12, 31):
        with pytest.raises(device.DeviceError, match=r"^order: "):
            trusting.client({**honest, "order": order})


def test_affine_response_refuses_a_space_in_which_two_items_would_be_one_point() -> None:
    honest = fields("AGR", "1/2", hash_bits=3, dimension=2)
    trusting.client(honest)
    with pytest.raises(device.DeviceError, match=r"^dimension: expected a space with a point for every item"):
        trusting.client({**honest, "dimension": 1})


@pytest.mark.parametrize("name", ["SS", "TLH", "AGR"])
def test_a_smaller_window_or_subset_with_the_same_threshold_is_refused(name: str) -> None:
    # The probability is then shared by fewer answers, each of which tells more.
    field = "subset_size" if name == "SS" else "window"
    own = {} if name == "SS" else {"hash_bits": 4}
    honest = fields(name, "1/2", {"type": "integers", "size": 12}, **own)
    assert honest[field] > 1
    with pytest.raises(device.DeviceError, match="exceed its own epsilon"):
        trusting.client({**honest, field: honest[field] - 1})


@pytest.mark.parametrize("name", naive.SKETCHES)
def test_a_sketch_promises_no_less_epsilon_than_its_oracle_takes(name: str) -> None:
    # Each of the two is sound on its own.
    louder = naive.scheme_of("DE", "1000000000001/1000000000000", CELLS)
    trusting.client(louder)
    with pytest.raises(device.DeviceError, match="exceed its own epsilon"):
        trusting.client({**fields(name), "oracle": louder})
    # The oracle's own promise counts, too, whatever the sketch says.
    with pytest.raises(device.DeviceError, match="exceed its own epsilon"):
        trusting.client({**altered(fields(name), epsilon="999999999999/1000000000000"), "epsilon": "5"})


@pytest.mark.parametrize("name", naive.SKETCHES)
def test_a_sketch_takes_an_oracle_with_at_most_so_many_cells_and_of_this_version(name: str) -> None:
    honest = fields(name)
    for sketch in naive.SKETCHES:
        with pytest.raises(device.DeviceError, match="expected an oracle, got a sketch"):
            trusting.client({**honest, "oracle": fields(sketch)})
    for wrong in (
        naive.scheme_of("DE", "1", {"type": "integers", "size": 2**24 + 1}),
        naive.scheme_of("DE", "1", LABELS),
        naive.scheme_of("OLH", "1", KEYS),
        {**honest["oracle"], "version": 2},
        {**honest["oracle"], "scheme": "XX"},
        None,
        [],
    ):
        with pytest.raises(device.DeviceError):
            trusting.client({**honest, "oracle": wrong})
    widest = naive.scheme_of("DE", "1", {"type": "integers", "size": 2**24})
    assert len(trusting.client({**honest, "oracle": widest, "rows": 2**16}).privatize(0)) == 6
    for rows in (0, -1, 2**16 + 1, None, "rows"):
        with pytest.raises(device.DeviceError):
            trusting.client({**honest, "rows": rows})


@pytest.mark.parametrize("name", naive.SEARCHES)
def test_a_search_promises_no_less_epsilon_than_its_parts_take_together(name: str) -> None:
    honest = fields(name)
    # Each part is sound on its own, and so is their maximum; but what is sent together adds up.
    parts = {field: honest[field]["domain"] for field in naive.PARTS if field in honest}
    both = {field: naive.scheme_of("DE", "1", domain) for field, domain in parts.items() if field != "deep"}
    if name in ("TH", "SFP"):
        with pytest.raises(device.DeviceError, match="exceed its own epsilon"):
            trusting.client({**honest, **both})
        assert trusting.client({**honest, **both, "epsilon": "2"}).privatize("ab")
    else:
        assert trusting.client({**honest, **both}).privatize("ab")
    for field in both:
        louder = naive.scheme_of("DE", "1000000000001/1000000000000", parts[field])
        with pytest.raises(device.DeviceError, match="exceed its own epsilon"):
            trusting.client({**honest, field: louder})


@pytest.mark.parametrize(("name", "split"), [("TH", "users"), ("SFP", "users"), ("SFP", "none")])
def test_a_search_that_splits_its_users_takes_the_whole_epsilon_for_every_part(name: str, split: str) -> None:
    part = naive.scheme_of("DE", "1", {"type": "integers", "size": 18})
    own: dict[str, Any] = {"fragment": 1, "hash_bits": 1} if name == "SFP" else {"start": 1, "step": 1}
    own |= {"oracle": part, "split": split} | ({} if split == "none" else {"word_oracle": part})
    honest = naive.scheme_of(name, "1", STRINGS, **own)
    assert trusting.client(honest).privatize("ab")
    # Without its split the same document promises less than it takes, or lacks a part.
    with pytest.raises(device.DeviceError, match=r"exceed its own epsilon|word_oracle"):
        trusting.client({field: value for field, value in honest.items() if field != "split"})
    louder = naive.scheme_of("DE", "1000000000001/1000000000000", {"type": "integers", "size": 18})
    for field in {"oracle", "word_oracle"} & honest.keys():
        with pytest.raises(device.DeviceError, match="exceed its own epsilon"):
            trusting.client({**honest, field: louder})


@pytest.mark.parametrize("name", naive.KEYED_SEARCHES)
def test_a_search_over_long_strings_of_many_characters_works(name: str) -> None:
    domain = {**STRINGS, "alphabet": "".join(chr(0x4E00 + i) for i in range(20_000)), "length": 64, "other": True}
    oracle = naive.scheme_of("OLH", "1", KEYS)
    parts = {"oracle": oracle} | ({} if name == "PEM" else {"word_oracle": oracle})
    total = "2" if name in ("TH", "SFP") else "1"
    written = fields(name, total, domain, **parts)
    scheme, chosen = plausibly.from_json(json.dumps(written)), trusting.client(written)
    texts = ["", "a", "\u4e00" * 64, "\u4e01\U0001f989" * 50]
    records = b"".join(chosen.privatize(text) for text in texts for _ in range(3))
    tally = scheme.accumulator()
    tally.add(np.frombuffer(records, dtype=scheme.report_dtype))
    assert len(tally) == 12


def test_text_that_is_no_scheme_is_refused() -> None:
    for text in ("", "{", "[]", "7", "null", '"DE"', "{}", "[" * 100_000, None, {}, b"\xff"):
        with pytest.raises(device.DeviceError):
            device.load(text)  # type: ignore[arg-type]


# --- it works ---------------------------------------------------------------------------------------------------


@pytest.mark.full
def test_a_domain_of_a_million_labels_works() -> None:
    labels = {"type": "labels", "labels": [f"label {i}" for i in range(10**6)], "other": True}
    chosen = client("DE", "20", labels)
    # A word of zeros keeps the value.
    assert int.from_bytes(chosen.privatize("label 999999", naive.Tape([0, 0])), "little") == 999_999
    assert int.from_bytes(chosen.privatize("anything else", naive.Tape([0, 0])), "little") == 10**6
    assert len(chosen.privatize("label 0")) == 4


@pytest.mark.full
@pytest.mark.parametrize("name", LISTED)
def test_a_domain_of_seventy_thousand_items_works(name: str) -> None:
    domain = {"type": "integers", "size": 70_000}
    scheme = plausibly.from_json(json.dumps(fields(name, domain=domain)))
    chosen = client(name, domain=domain)
    records = b"".join(chosen.privatize(value) for value in (0, 69_999))
    tally = scheme.accumulator()
    tally.add(np.frombuffer(records, dtype=scheme.report_dtype))
    assert len(tally) == 2


def test_the_source_of_the_operating_system_never_repeats_a_report() -> None:
    chosen = client("OLH")
    assert len({chosen.privatize(4) for _ in range(1000)}) == 1000


# Runs of one value; 21 clients x 2 probabilities, each to within 5 standard deviations of its law: a correct client
# with fresh words fails with probability below 42 * 6e-7 = 3e-5, and the words are the same in every run.
RUNS = 3000


@pytest.mark.full
@pytest.mark.parametrize(
    ("name", "own"), [*((name, {}) for name in LISTED), ("AGR", {"hash_bits": 3, "dimension": 2, "window": 3})], ids=str
)
def test_a_client_follows_the_law_of_its_scheme(name: str, own: dict[str, int]) -> None:
    domain = {"type": "integers", "size": 6}
    written = fields(name, "3/2", domain, **own)
    chosen = client(name, "3/2", domain, **own)
    read = Shake(f"law/{name}")
    records = [chosen.privatize(2, device.WordSource(chosen.randomizer.words, read=read)) for _ in range(RUNS)]
    # In every scheme, "keep" is the probability that the report supports the item its user holds.
    keep = int(private(written)[threshold_of(name)]) / 2**64
    keep += 2 * int(written["step"]) / 2**64 if name == "MEAN" else 0
    held = support_of_block(written, 2) if "oracles" in written else memoised_keep(written) or keep
    for item, probability in ((2, held), (5, support_of_others(written, keep))):
        share = sum(supports(written, record, item) for record in records) / RUNS
        assert abs(share - probability) < 5 * sqrt(probability * (1 - probability) / RUNS)


def memoised_keep(written: dict[str, Any], threshold: str = "memo_keep") -> float:
    """The probability that a first report shows what the memo has with this threshold; 0 without a memo."""
    memo, keep = (int(written.get(name, 0)) / 2**64 for name in (threshold, "keep"))
    others = 2 ** written.get("hash_bits", 1) - 1
    return memo * keep + (1 - memo) * (1 - keep) / others if threshold in written else 0.0


def support_of_block(written: dict[str, Any], item: int) -> float:
    """The probability that a report of item 2 supports the block of an item, over all widths and offsets."""
    found = 0.0
    for group, weight in zip(naive.groups_of(written), written["weights"], strict=True):
        if written["scheme"] == "HAAR":
            found += weight / sum(written["weights"]) * support_of_half(group[0], item)
            continue
        width = group[0].get("width") or group[0]["oracle"]["width"]
        oracle = group[0]["oracle"].get("oracle", group[0]["oracle"])
        keep, offsets = int(oracle["keep"]) / 2**64, naive.offsets_of(width) if written["scheme"] == "SLIDE" else [0]
        apart = (oracle["subset_size"] - keep) / (oracle["domain"]["size"] - 1)
        same = [(2 + offset) // width == (item + offset) // width for offset in offsets]
        found += weight / sum(written["weights"]) * sum(keep if one else apart for one in same) / len(offsets)
    return found


def support_of_half(part: dict[str, Any], item: int) -> float:
    """The probability that a sign of item 2 is that of an item: in the same half, in the other one, or elsewhere."""
    keep, own, other = int(part["oracle"]["keep"]) / 2**64, naive.item_of({}, part, 2), naive.item_of({}, part, item)
    return keep if own == other else 1 - keep if own == -1 - other else 0.5


def support_of_others(written: dict[str, Any], keep: float) -> float:
    """The probability that a report supports item 5 although its user holds item 2."""
    name = written["scheme"]
    if "oracles" in written:
        return support_of_block(written, 5)
    if name in naive.SKETCHES:
        # The rows are fixed, and so is in which of them the two items share a cell.
        rows = range(written["rows"])
        apart = support_of_others(written["oracle"], keep)
        alike = [naive.cell_of(written, row, 2) == naive.cell_of(written, row, 5) for row in rows]
        return sum(keep if same else apart for same in alike) / len(rows)
    if name == "BLOOM":
        cohorts = range(written["cohorts"])
        shared = [naive.filter_of(written, c, 5)[0] in naive.filter_of(written, c, 2) for c in cohorts]
        return sum(keep if one else 1 - keep for one in shared) / len(cohorts)
    if name in naive.MEMOISED:
        return memoised_keep(written, "memo_flip") or 1 / 2 ** written["hash_bits"]
    if name == "DE":
        return (1 - keep) / 5
    if name == "MEAN":
        return 1 - keep
    if name == "SW":
        # Places that are near both items, and those near item 5 alone.
        width = 2 * written["reach"] + 1
        both = max(0, width - 3)
        return both * keep / width + (width - both) * (1 - keep) / 5
    if "flip" in written:
        return int(written["flip"]) / 2**64
    if name == "FLH":
        # The functions are fixed, and so is how often the two items share a hash.
        g, hashes = written["hash_range"], written["hashes"]
        seeds = [naive.function_seed(written, i) for i in range(hashes)]
        agree = sum(same_hash(seed, written, 2, 5) for seed in seeds) / hashes
        return agree * keep + (1 - agree) * (1 - keep) / (g - 1)
    if name == "HR":
        # One block: half of the rows. Several: an even number of them, so that items 2 and 5 live apart.
        return 0.5 if written["blocks"] == 1 else (1 - keep) / (2 * written["blocks"] - 1)
    if name == "SS":
        return (written["subset_size"] - keep) / 5
    if name == "TLH":
        return written["window"] / 2 ** written["hash_bits"]
    if name == "AGR":
        # One report supports equally many points, of which its user's is one with probability keep.
        points, values = 2 ** (written["hash_bits"] * written["dimension"]), 2 ** written["hash_bits"]
        return (written["window"] * points / values - keep) / (points - 1)
    return 1 / (2 ** written["coefficients"] if name == "HM" else written["hash_range"])


def supports(written: dict[str, Any], record: bytes, item: int) -> bool:
    """Whether a record speaks for an item."""
    name = written["scheme"]
    number = int.from_bytes(record, "little")
    if name == "SLIDE":
        width, oracle = written["widths"][record[0]], written["oracles"][record[0]]
        block = (item + naive.offsets_of(width)[record[1]]) // width
        return supports(oracle, record[2 : 2 + naive.shape_of(oracle)[2]], block)
    if name == "HH":
        part, oracle = naive.groups_of(written)[record[0]][0], written["oracles"][record[0]]
        return supports(oracle, record[1 : 1 + naive.shape_of(oracle)[2]], naive.item_of(written, part, item))
    if name == "HAAR":
        own = naive.item_of(written, naive.groups_of(written)[record[0]][0], item)
        return record[2] == naive.sign(record[1], max(own, -1 - own)) ^ (own < 0)
    if name in naive.SKETCHES:
        return supports(written["oracle"], record[1:], naive.cell_of(written, record[0], item))
    if name == "BLOOM":
        # By the first of its bits.
        bit = naive.filter_of(written, record[0], item)[0]
        return bool(int.from_bytes(record[1:], "little") >> bit & 1)
    if name == "DE":
        return number == item
    if name == "MEAN":  # a 1 speaks for item 2, a 0 for item 5
        return (number == 1) == (item == 2)
    if name == "SW":
        return item <= number <= item + 2 * written["reach"]
    if "flip" in written or name in ("SS", *naive.MEMO_BITS):
        return bool(number >> item & 1)
    if name == "TLH":
        hashed = naive.toeplitz_hash(record[0], item, written["hash_bits"], written["item_bits"])
        return hashed ^ record[-1] < written["window"]
    if name == "AGR":
        t, stretch = written["hash_bits"], record[1] if written["window"] > 1 else 1
        place = naive.product(stretch, naive.affine_hash(record[0], item, t, written["dimension"]), t)
        return place ^ record[-1] < written["window"]
    if name == "HR":
        block, row = divmod(number, written["order"])
        return block == item % written["blocks"] and not naive.sign(row, 1 + item // written["blocks"])
    if name in ("HM", "LOLOHA"):
        return record[-1] == sum(naive.sign(row, item) << j for j, row in enumerate(record[:-1]))
    seed = int.from_bytes(record[:8], "little")
    if name == "FLH":
        seed = naive.function_seed(written, int.from_bytes(record[:-1], "little"))
    return record[-1] == naive.local_hash(seed, item, written["split"], written["hash_range"])


def same_hash(seed: int, written: dict[str, Any], x: int, y: int) -> bool:
    first, second = (naive.local_hash(seed, item, written["split"], written["hash_range"]) for item in (x, y))
    return first == second


# --- it has a policy --------------------------------------------------------------------------------------------


def test_without_a_limit_or_a_fingerprint_epsilon_is_at_most_eight() -> None:
    assert device.load(json.dumps(fields("DE", "8"))).epsilon == device.MAX_EPSILON
    with pytest.raises(device.DeviceError, match="expected epsilon at most 8"):
        device.load(json.dumps(fields("DE", "8000000001/1000000000")))


@pytest.mark.parametrize("limit", ["1/2", "0.5", 0.5, Fraction(1, 2)])
def test_a_limit_on_epsilon_holds_to_the_last_digit(limit: object) -> None:
    assert device.load(json.dumps(fields("OLH", "1/2")), max_epsilon=limit).epsilon == Fraction(1, 2)
    with pytest.raises(device.DeviceError, match="expected epsilon at most 1/2"):
        device.load(json.dumps(fields("OLH", "500000000001/1000000000000")), max_epsilon=limit)


def test_a_larger_limit_takes_a_larger_epsilon() -> None:
    assert device.load(json.dumps(fields("DE", "20")), max_epsilon=20).epsilon == 20
    for limit in ("", "much", None.__class__, float("nan"), float("inf"), True, 0, -1, [], b"1"):
        with pytest.raises(device.DeviceError, match="max_epsilon: expected a number"):
            device.load(json.dumps(fields("DE")), max_epsilon=limit)


def test_the_fingerprint_is_the_scheme_s_however_the_text_is_laid_out() -> None:
    scheme = plausibly.make("OLH", epsilon=1, domain=["naïve", "東"], other=True)
    spread = json.dumps(json.loads(scheme.to_json()), indent=3)
    for text in (scheme.to_json(), spread):
        loaded = device.load(text, fingerprint=scheme.fingerprint())
        assert loaded.fingerprint == scheme.fingerprint()


def test_another_fingerprint_is_refused_and_the_right_one_needs_no_limit() -> None:
    scheme = plausibly.make("DE", epsilon=20, domain_size=9)
    assert device.load(scheme.to_json(), fingerprint=scheme.fingerprint()).epsilon == 20
    with pytest.raises(device.DeviceError, match="is not the one that the application knows"):
        device.load(scheme.to_json(), fingerprint=plausibly.make("DE", epsilon=19, domain_size=9).fingerprint())
    known = scheme.fingerprint()
    for wrong in ("", known[:12], known.upper(), known + "\n", known.encode(), [known]):
        with pytest.raises(device.DeviceError, match="fingerprint: expected 64 lower-case hexadecimal digits"):
            device.load(scheme.to_json(), fingerprint=wrong)  # type: ignore[arg-type]
    with pytest.raises(device.DeviceError, match="expected epsilon at most 8"):
        device.load(scheme.to_json(), fingerprint=scheme.fingerprint(), max_epsilon=8)


PARTIAL: dict[str, dict[str, Any]] = {
    "labels without another one": {"domain": ["hiv", "none of these two"]},
    "characters of an alphabet": {"domain": plausibly.Strings("ab", 2)},
    "strings that may be too long": {"domain": plausibly.Strings("ab", 2, other=True, long="refuse")},
    "some bytes": {"domain": plausibly.Strings(bytes(range(255)), 2)},
}
TOTAL: dict[str, dict[str, Any]] = {
    "integers": {"domain_size": 4},
    "keys": {"domain": plausibly.Keys()},
    "labels and others": {"domain": ["hiv", "none of these two"], "other": True},
    "any character": {"domain": plausibly.Strings("ab", 2, other=True)},
    "all bytes": {"domain": plausibly.Strings(bytes(range(256)), 2)},
}


def over(domain: dict[str, Any]) -> str:
    if isinstance(domain.get("domain"), plausibly.Strings):
        return plausibly.make(
            "PEM", oracle=plausibly.make("OLH", epsilon=1, domain=plausibly.Keys()), **domain
        ).to_json()
    return plausibly.make("OLH", epsilon=1, **domain).to_json()


@pytest.mark.parametrize("kind", PARTIAL)
def test_a_domain_that_refuses_values_is_refused_unless_that_is_accepted(kind: str) -> None:
    with pytest.raises(device.DeviceError, match=r"load\(..., total=False\)"):
        device.load(over(PARTIAL[kind]))
    assert device.load(over(PARTIAL[kind]), total=False).epsilon == 1


@pytest.mark.parametrize("kind", TOTAL)
def test_a_domain_that_takes_every_value_is_accepted(kind: str) -> None:
    assert device.load(over(TOTAL[kind])).epsilon == 1


def oversized() -> dict[str, dict[str, Any]]:
    table = {"type": "integers", "size": 2**32}
    unary = json.loads(plausibly.make("OUE", epsilon=1, domain_size=2**32).to_json())
    subset = {"scheme": "SS", "version": 1, "epsilon": "1", "domain": table, "subset_size": 1, "keep": str(2**33)}
    return {
        "a bitmap of 2^32 bits": unary,
        "a subset of 2^32 items": subset,
        "a search through such a bitmap": {**fields("PEM"), "oracle": unary},
        "a bitmap just above the limit": {**unary, "domain": {"type": "integers", "size": 2**21 + 1}},
    }


@pytest.mark.parametrize("kind", oversized())
def test_sizes_are_bounded_before_any_work_begins(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def work(*given: object) -> None:
        raise AssertionError("a report was begun")

    for randomizer in (device.Unary, device.SubsetSelection):
        monkeypatch.setattr(randomizer, "perturb", work)
    with pytest.raises(device.DeviceError, match="expected reports of at most"):
        trusting.client(oversized()[kind])


def test_a_document_of_too_many_characters_is_refused_unread() -> None:
    with pytest.raises(device.DeviceError, match="expected a scheme of at most"):
        device.load(" " * (2**25 + 1))


@pytest.mark.parametrize("name", NAMES)
def test_no_randomizer_takes_a_value_that_it_was_not_made_for(name: str) -> None:
    made = client(name).randomizer
    public = made.public(naive.Tape([0] * 100))
    for value in (-1, 2**64, 2**70) if name in LISTED else (-1, 2**64):
        with pytest.raises(device.DeviceError, match="does not fit the scheme"):
            made.perturb(value, public, Untouchable())


@pytest.mark.parametrize("total", [None, 0, 1, "False"])
def test_what_is_neither_true_nor_false_does_not_switch_a_check_off(total: object) -> None:
    with pytest.raises(device.DeviceError, match="total: expected True or False"):
        device.load(over(PARTIAL["some bytes"]), total=total)  # type: ignore[arg-type]


def test_a_name_or_an_object_in_place_of_the_text_is_told_so() -> None:
    with pytest.raises(device.DeviceError, match="load takes the text of a file, not its name"):
        device.load("scheme.json")
    for wrong in (b"{}", {}, FILE, None):
        with pytest.raises(device.DeviceError, match=r"expected the JSON text of a scheme \(str\), got "):
            device.load(wrong)  # type: ignore[arg-type]


def test_a_scheme_that_is_not_wanted_costs_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    def made(*given: object) -> None:
        raise AssertionError("a randomizer was made")

    loud, partial = json.dumps(fields("DE", "20")), over(PARTIAL["some bytes"])
    monkeypatch.setattr(device, "_made", made)
    for text, limits in ((loud, {}), (loud, {"fingerprint": "0" * 64}), (partial, {})):
        with pytest.raises(device.DeviceError):
            device.load(text, **limits)  # type: ignore[arg-type]


def costly() -> dict[str, dict[str, Any]]:
    """Documents of every kind that took long to load, at their largest sizes."""
    domain = {**STRINGS, "length": 256, "other": True}
    cells = {"type": "integers", "size": 16}
    filtered = naive.scheme_of("BLOOM", "1", cells, bits=2**16, hashes=256, cohorts=2**16)
    tables = dict.fromkeys(("letters", "pairs", "first", "folded", "deep"), filtered)
    count = 256 + 255 + 1 + 255 * 16
    trellis = {**tables, "weights": [1] * count, "start": 1, "step": 1, "cohorts": 16, "hash_seed": 0}
    letters = "".join(chr(0x4E00 + i) for i in range(256))
    prefixes = sorted(a + b for a in letters for b in letters)
    oracle = naive.scheme_of("DE", "1", {"type": "integers", "size": 2**32})
    round_ = {"oracle": oracle, "prefixes": prefixes, "stem": 255, "reach": 256}
    head = {"version": 1, "epsilon": "1"}
    return {
        "TRELLIS": {"scheme": "TRELLIS", **head, "domain": domain, **trellis},
        "ROUND": {"scheme": "ROUND", **head, "domain": {**domain, "alphabet": letters}, **round_},
    }


@pytest.mark.full
def test_the_largest_documents_take_few_steps_to_load() -> None:
    # Steps are lines of device.py: counted, not timed. A document has some tens of them for each part and prefix.
    for name, document in costly().items():
        steps = 0

        def count(frame: Any, event: str, _: Any) -> Any:
            nonlocal steps
            steps += event == "line" and frame.f_code.co_filename == device.__file__
            return count

        before = sys.gettrace()
        sys.settrace(count)
        try:
            trusting.client(document)
        finally:
            sys.settrace(before)
        assert steps < 1_500_000, (name, steps)


def loads(text: str, **limits: Any) -> bool:
    try:
        device.load(text, **limits)
    except device.DeviceError:
        return False
    return True


def test_the_javascript_client_has_the_same_policy() -> None:
    texts = [json.dumps(fields("DE", epsilon)) for epsilon in ("1/3", "1/2", "8", "8000000001/1000000000", "20")]
    texts += [over(domain) for domain in (*PARTIAL.values(), *TOTAL.values())]
    policies: list[dict[str, Any]] = [
        {},
        {"total": False},
        *({"max_epsilon": m} for m in ("1/3", "0.5", 0.5, 8, "20", 0)),
    ]
    cases = [(text, policy) for text in texts for policy in policies]
    named = [{"maxEpsilon" if name == "max_epsilon" else name: value for name, value in p.items()} for _, p in cases]
    asked = [{"scheme": text, "policy": policy} for (text, _), policy in zip(cases, named, strict=True)]
    lines = "".join(json.dumps(question) + "\n" for question in asked)
    answers = [not answer.startswith("refused") for answer in browsing.ask_node(lines)]
    expected = [loads(text, **policy) for text, policy in cases]
    assert answers == expected
    assert 20 < sum(expected) < len(expected) - 20


class Sly(str):
    """A text that says that it is another."""

    def __str__(self) -> str:
        raise AssertionError("my secret")

    def __hash__(self) -> int:
        return hash("no")


class Large(int):
    """A number that claims to be small."""

    def __lt__(self, other: object) -> bool:
        return True

    def __ge__(self, other: object) -> bool:
        return True


Colour = Enum("Colour", {"RED": "red"}, type=str)


def test_a_value_of_a_subclass_is_the_text_or_number_that_it_is() -> None:
    with pytest.raises(device.DeviceError, match="outside the domain"):
        client("DE").privatize(Large(77))
    for domain in (KEYS, {**LABELS, "labels": ["yes", "red"]}):
        encode = client("OLH", domain=domain).encode
        assert encode(Colour.RED) == encode("red")
        assert encode(Sly("yes")) == encode("yes")
    assert plausibly.Keys().encode([Colour.RED]).tolist() == plausibly.Keys().encode(["red"]).tolist()
    encode = client("PEM", domain=STRINGS).encode
    assert encode(Sly("ab")) == encode("ab")


def test_brackets_are_bounded_before_they_take_memory() -> None:
    with pytest.raises(device.DeviceError, match="opening brackets"):
        device.load('{"a":[' + "[]," * 2**20 + "[]]}")
