"""A log of one's own: only clicked addresses are read of it, and what cannot be read is counted and never shown."""

from __future__ import annotations

import gzip
import os
import subprocess
import sys
import tracemalloc
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from plausibly.experiments import aol
from plausibly.experiments.cells import PLAIN, Cell, view
from plausibly.experiments.figure import wanted
from plausibly.experiments.item_crowds import crowd, strings
from plausibly.experiments.measures import measure
from plausibly.experiments.planning import on_log
from reproduction.figures import FIGURES

HEADER = "AnonID\tQuery\tQueryTime\tItemRank\tClickURL\n"
SECRET = "my secret question"
SITES = {"http://www.example.com": 150, "https://search.example/": 90, "http://shop-24.example/Path/": 40}


def row(url: str, user: int = 142) -> str:
    return f"{user}\t{SECRET}\t2006-03-01 07:17:12\t1\t{url}\n"


def invented() -> list[str]:
    """A few hundred rows: the sites, as many others as they have clicks, and queries without a click."""
    rows = [row(url, user) for url, times in SITES.items() for user in range(times)]
    rows += [row(f"http://www.site{number}.example") for number in range(100)]
    rows += [f"7\t{SECRET}\t2006-03-01 07:17:12\t\t\n", f"7\t{SECRET}\t2006-03-01 07:17:12\n"] * 30
    return [rows[place] for place in np.random.default_rng(0).permutation(len(rows))]


@pytest.fixture
def path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv(aol.VARIABLE, "")  # whatever a test sets is taken back
    file = tmp_path / "clicks.txt"
    file.write_text(HEADER + "".join(invented()), encoding="utf-8")
    return file


def test_addresses_are_counted_and_stripped(path: Path) -> None:
    log = aol.use(path)
    assert log.addresses[:3] == ("example.com", "search.example", "shop-24.example/Path")
    assert log.counts[:4].tolist() == [150, 90, 40, 1]
    assert (log.n, log.d, log.malformed) == (380, 103, 0)
    assert aol.log() is log


@pytest.mark.parametrize(
    ("url", "address"),
    [
        ("http://www.google.com", "google.com"),
        ("https://www.ebay.co.uk/", "ebay.co.uk"),
        ("ftp://files.example//", "files.example"),
        ("www.www.example", "www.example"),
        ("mail.example/www.folder", "mail.example/www.folder"),
    ],
)
def test_only_what_stands_around_an_address_is_taken_off(url: str, address: str) -> None:
    assert aol.stripped(url) == address


def test_files_compressed_ones_and_folders_are_the_same_log(path: Path, tmp_path: Path) -> None:
    plain = aol.use(path)
    folder = tmp_path / "log"
    folder.mkdir()
    rows = invented()
    (folder / "one.txt").write_text(HEADER + "".join(rows[:200]), encoding="utf-8")
    for name in ("one.txt.gz", "two.txt.gz"):  # the first beside the file that it was made from
        with gzip.open(folder / name, "wt", encoding="utf-8") as file:
            file.write(HEADER + "".join(rows[:200] if name == "one.txt.gz" else rows[200:]))
    (folder / "notes.md").write_text("not a log\n")
    several = aol.use(folder)
    assert several.addresses == plain.addresses
    assert (several.counts == plain.counts).all()
    assert several.seed == plain.seed


def test_malformed_rows_are_counted_by_place_and_never_shown(path: Path) -> None:
    bad = [f"1\t{SECRET}\t2\t3\n", f"{SECRET}\n", row("http://"), f"1\t{SECRET}\ta\tb\tc\td\n"]
    with path.open("a", encoding="utf-8") as file:
        file.writelines([*bad, "\n", row("http://www.last.example").rstrip("\n")])
    before = 1 + len(invented())
    log = aol.use(path)
    assert log.malformed == len(bad)
    assert log.places == tuple(f"clicks.txt, line {before + number}" for number in range(1, 5))
    assert "last.example" in log.addresses
    assert not any(SECRET in text for text in (*log.addresses, *log.places, repr(log)))


def test_what_is_no_log_is_refused_without_its_text(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(aol.VARIABLE, raising=False)
    wrong = tmp_path / "wrong.csv"
    wrong.write_text(f"{SECRET},{SECRET}\n" * 3)
    torn = tmp_path / "torn.gz"
    torn.write_bytes(gzip.compress(row("http://a.example").encode() * 100)[:-20])
    for path in (wrong, torn, tmp_path / "nothing"):
        with pytest.raises(ValueError, match=path.name) as caught:
            aol.use(path)
        assert SECRET not in str(caught.value)
        assert aol.VARIABLE not in os.environ


def test_bytes_that_are_no_text_stay_one_address(path: Path) -> None:
    path.write_bytes(row("http://caf\u00e9.example").encode("latin-1") * 3)
    assert aol.use(path).counts.tolist() == [3]


def test_a_line_without_end_takes_no_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(aol.VARIABLE, "")
    path = tmp_path / "endless.txt"
    with path.open("wb") as file:
        file.writelines([b"x" * 10**6] * 20)
        file.write(b"\n" + row("http://a.example").encode())
    tracemalloc.start()
    log = aol.use(path)
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert (log.n, log.malformed, log.places) == (1, 1, ("endless.txt, line 1",))
    assert most < 2**20


def test_the_log_is_a_crowd_of_counts(path: Path) -> None:
    log = aol.use(path)
    assert (crowd("aol", log.n, log.d, 0) == log.counts).all()
    assert crowd("aol", log.n, 200, 0)[: log.d].tolist() == log.counts.tolist()
    assert crowd("aol", 1000, 50, 0).sum() == 1000
    assert crowd("aol", 1000, 50, 0).argmax() == 0


def test_the_log_is_a_crowd_of_strings(path: Path) -> None:
    log = aol.use(path)
    cut = strings("aol/6", log.n, 0)
    expected = Counter({"exampl": 150, "search": 90, "shop-2".replace("-2", "\ufffd\ufffd"): 40})
    # One symbol stands for all that is neither a letter nor a point: all ten first digits are one.
    expected.update({"site\ufffd.": 10, "site\ufffd\ufffd": 90})
    assert dict(zip(cut.strings.tolist(), cut.counts.tolist(), strict=True)) == expected
    assert strings("aol/6", 10_000, 0).n == 10_000


def test_without_a_log_there_is_no_such_crowd(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(aol.VARIABLE, raising=False)
    with pytest.raises(ValueError, match="PLAUSIBLY_AOL"):
        crowd("aol", 10, 4, 0)


def test_figures_on_clicks_move_to_the_log_and_others_stay(path: Path) -> None:
    log = aol.use(path)
    for name in ("fig7", "fig10", "table2", "extra4"):
        (place,) = {(cell.n, cell.d, cell.data, cell.data_seed) for cell in wanted([on_log(FIGURES[name])])}
        items = (0, "aol/6") if name == "table2" else (log.d, "aol")
        assert place == (log.n, *items, log.seed)
    assert on_log(FIGURES["fig9"]) == FIGURES["fig9"]


def test_another_log_is_measured_anew(path: Path) -> None:
    first = aol.use(path).seed
    other = path.with_name("other.txt")
    other.write_text(path.read_text().replace("search.example", "sought.example"))
    assert aol.use(other).seed != first


def test_cells_are_measured_on_the_log(path: Path) -> None:
    log = aol.use(path)
    _, views = measure(Cell("OUE", data="aol", n=log.n, d=log.d), [PLAIN])
    assert views["plain"]["mse"] > 0
    read = view(keep=10, oracle={"combine": "mean"})
    parameters = {"oracle": {"scheme": "DE"}, "rows": 1, "width": 2**16}
    _, views = measure(Cell("PEM", parameters, data="aol/6", n=log.n, d=0, epsilon=30), [read])
    # Without noise, and with a cell for each candidate, nearly: found are the three strings that most users hold.
    assert views[str(read)]["recall"] >= 0.6


@pytest.mark.full
def test_processes_that_are_started_know_the_log(path: Path) -> None:
    log = aol.use(path)
    code = "from plausibly.experiments import aol; print(aol.log().n)"
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert int(said.stdout) == log.n
