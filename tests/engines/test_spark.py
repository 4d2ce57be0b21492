"""Spark as an engine: the bytes of the tally are those of a local collection, whatever is lost on the way."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from engines.making import one_task_each, same_answer
from files.making import small_file
from plausibly import Keys, make
from plausibly.engines import ask, collect
from plausibly.engines.spark import Spark

pytestmark = [pytest.mark.full, pytest.mark.xdist_group("spark")]

SCHEMES = {
    "TLH": make("TLH", epsilon=1, domain_size=100),
    "OUE": make("OUE", epsilon=1, domain_size=100),
}


def both_ways(engine: Any, folder: Path) -> tuple[bytes, bytes]:
    """The bytes of the tally of a folder, collected here and by an engine."""
    for name, options in (("here", {}), ("there", {"engine": engine})):
        collect([folder], folder / name, **options)
    return (folder / "here").read_bytes(), (folder / "there").read_bytes()


@pytest.mark.parametrize("session", ["spark", "connected"])
@pytest.mark.parametrize("scheme", SCHEMES.values(), ids=SCHEMES)
def test_the_tally_has_the_bytes_of_a_local_collection(
    session: str, scheme: Any, tmp_path: Path, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    one_task_each(monkeypatch)
    for seed in range(3):
        small_file(tmp_path / f"{seed}.parquet", 40, scheme=scheme, seed=seed)
    here, there = both_ways(Spark(request.getfixturevalue(session), wave=7), tmp_path)
    assert here == there


@pytest.mark.parametrize("session", ["spark", "connected"])
def test_the_answer_is_that_of_threads(
    session: str, tmp_path: Path, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    one_task_each(monkeypatch)
    scheme, items = make("OLH", epsilon=1, domain=Keys()), [f"item {number}" for number in range(100)]
    for seed in range(3):
        small_file(tmp_path / f"{seed}.parquet", 40, scheme=scheme, seed=seed)
    wanted = ask([tmp_path], items)
    assert same_answer(ask([tmp_path], items, engine=Spark(request.getfixturevalue(session), wave=7)), wanted)
