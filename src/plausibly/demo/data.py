"""Made-up visits to 1,000 fictitious sites: data for trying things out, the same on every machine."""

from __future__ import annotations

import csv
from itertools import product
from pathlib import Path

import numpy as np
import numpy.typing as npt

from ..core.arguments import whole_number
from ..core.atomic import replacing

Counts = npt.NDArray[np.int64]

SITES = 1000
SKEW = 1.1
"""Zipf's law: the site of rank r has a share proportional to r^−1.1."""
ALPHABET = "a-z.-/"
"""Alphabet of the addresses, as ``plausibly plan --alphabet`` takes it."""
LENGTH = 30
"""Maximum length of an address, with some room."""
MOST_USERS = 100_000_000
_FIRST = """amber birch cedar delta ember fjord grove harbor iris jade
    kelp lunar maple north olive pearl quartz river sable tidal"""
_SECOND = """atlas books cinema daily events forum garden health images jobs
    kitchen letters maps news outdoor photos quiz radio shop travel"""
_TOPICS = ("", "/archive", "/mobile")
_STRIDE = 387
"""Mixes the names, so that neighbours in the alphabet are not neighbours in rank."""
_ORDER = 7_368_787
"""A prime: its multiples go through all users in no particular order."""


def sites() -> list[str]:
    """All made-up site addresses of the demo data, the most popular first."""
    names = [f"{a}-{b}.example{t}" for t, b, a in product(_TOPICS, _SECOND.split(), _FIRST.split())][:SITES]
    return [names[i * _STRIDE % SITES] for i in range(SITES)]


def counts(users: int) -> Counts:
    """Number of made-up users of each site in the demo data, the most popular first."""
    whole_number("users", users, 1000, MOST_USERS)
    share = np.arange(1, SITES + 1) ** -SKEW
    found: Counts = np.floor(share / share.sum() * users).astype(np.int64)
    found[0] += users - found.sum()
    return found


def visits(users: int) -> Counts:
    """The demo data: the site of each made-up user, as its rank from 0, in no particular order."""
    ranks = np.repeat(np.arange(SITES), counts(users))
    step = _ORDER if users % _ORDER else _ORDER + 2
    return ranks[np.arange(users) * step % users]


def write_visits(path: str | Path, users: int) -> None:
    """Write the demo data as a CSV file with the columns user and site, one line for each user."""
    names = sites()
    with replacing(Path(path)) as unfinished, unfinished.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["user", "site"])
        writer.writerows((user, names[rank]) for user, rank in enumerate(visits(users).tolist(), 1))


def write_sites(path: str | Path) -> None:
    """Write all sites of the demo data in alphabetical order, which does not reveal their popularity."""
    with replacing(Path(path)) as unfinished:
        unfinished.write_text("".join(f"{site}\n" for site in sorted(sites())), encoding="utf-8")
