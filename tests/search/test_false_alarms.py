"""p-values hold in whole searches: 1,000 in crowds without heavy strings, and 1,000 where strings are nearly heavy.

Finished runs are kept in pytest's cache, so an interrupted test resumes where it stopped. The name of the file has a
digest of the package: any change to the code begins anew.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from pathlib import Path

import pytest
from bench import false_alarms
from bench.coverage_tables import Share

import plausibly
from plausibly.experiments import PLAIN, Cell, Results, held
from plausibly.search.base import Search

ROOT = Path(__file__).resolve().parents[2]


def measured_code() -> Iterator[Path]:
    for kind in ("*.py", "*.c", "*.h"):
        yield from (ROOT / "src").rglob(kind)
    yield Path(false_alarms.__file__)


def rows_file(folder: Path, crowd: str) -> Path:
    """The file of rows measured with this very code; rows of other code are removed."""
    digest = hashlib.sha256(b"".join(path.read_bytes() for path in sorted(measured_code()))).hexdigest()[:12]
    for other in folder.glob(f"{crowd}-*.jsonl"):
        if digest not in other.name:
            other.unlink()
    return folder / f"{crowd}-{digest}.jsonl"


# Three standard errors above the level: at a true level of exactly 5 % (or 1 %), one set of seeds in 430 (300) fails.
@pytest.mark.slow
@pytest.mark.parametrize("crowd", false_alarms.CROWDS)
def test_strings_without_holders_are_as_seldom_significant_as_the_level_says(
    crowd: str, pytestconfig: pytest.Config
) -> None:
    assert pytestconfig.cache is not None
    folder = pytestconfig.cache.mkdir("false-alarms")
    with held(rows_file(folder, crowd)) as results:
        # One process: the other crowd has its own.
        false_alarms.measure_alarms([crowd], results, jobs=1)
        for level in false_alarms.LEVELS:
            found = false_alarms.alarms(crowd, results, false_alarms.RUNS, level)
            assert found.hits <= level * found.cases + 3 * (level * (1 - level) * found.cases) ** 0.5
        if crowd == "near-heavy":
            # Otherwise the runs would show nothing: some strings can be told, and most cannot.
            assert 0.1 < false_alarms.detections(results, false_alarms.RUNS, 0.05).value < 0.9


def test_rows_of_other_code_are_removed(tmp_path: Path) -> None:
    mine = rows_file(tmp_path, "nothing")
    for path in (mine, tmp_path / "nothing-0.jsonl", tmp_path / "near-heavy-0.jsonl"):
        path.touch()
    assert rows_file(tmp_path, "nothing") == mine
    assert sorted(path.name for path in tmp_path.iterdir()) == ["near-heavy-0.jsonl", mine.name]


@pytest.mark.parametrize("number", range(len(false_alarms.SETTINGS)))
def test_near_heavy_crowds_have_six_common_strings_and_common_beginnings(number: int) -> None:
    cell = false_alarms.cells_of("near-heavy", number + 1)[number]
    length = int(cell.data.partition("/")[2])
    strings = plausibly.Strings(false_alarms.LETTERS, length)
    scheme = plausibly.TRELLIS(cell.epsilon, domain=strings, users=cell.n)
    assert isinstance(scheme, Search)
    people = false_alarms.near_heavy(cell, scheme)
    assert people.total() == cell.n
    assert {len(string) for string in people} == {length}
    common = [string for string, _ in people.most_common(6)]
    assert people[common[5]] > 20 * people.most_common(7)[6][1]
    assert len({string[:4] for string in common}) == 3


def test_alarms_count_any_string_where_there_is_nothing_and_only_false_ones_elsewhere() -> None:
    results = Results()
    rows = [{"least_held": 0.001, "least_false": 0.5}, {"least_held": 1.0, "least_false": 0.03}]
    for crowd in false_alarms.CROWDS:
        for cell, row in zip(false_alarms.cells_of(crowd, 2), rows, strict=True):
            results.add(cell, {}, {PLAIN.key: row})
    assert false_alarms.alarms("nothing", results, 2, 0.05) == Share(2, 2)
    assert false_alarms.alarms("nothing", results, 2, 0.01) == Share(1, 2)
    assert false_alarms.alarms("near-heavy", results, 2, 0.05) == Share(1, 2)
    assert false_alarms.detections(results, 2, 0.05) == Share(1, 2)


@pytest.mark.full
def test_every_run_has_its_own_crowd() -> None:
    first, second = false_alarms.cells_of("nothing", 2)
    assert false_alarms.nothing(first) != false_alarms.nothing(second)
    assert false_alarms.nothing(first) == false_alarms.nothing(Cell(**first.to_dict()))
