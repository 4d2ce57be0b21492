"""Crowds of records whose attributes depend on each other through classes of users, as surveys have them."""

from __future__ import annotations

from typing import Any

import numpy as np

from plausibly import Table

YES_OR_NO = (2,) * 8
MIXED = (2, 2, 5, 7, 9, 16)
FOURS = (4,) * 10


def table(*sizes: int) -> Table:
    """Attributes q0, q1, … of these sizes, without cells for missing values."""
    return Table({f"q{i}": size for i, size in enumerate(sizes)}, missing=False)


def latent(sizes: tuple[int, ...], users: int, seed: int, classes: int = 4) -> Any:
    """Records [user, attribute]: every class of users has its own distribution of each attribute."""
    random = np.random.default_rng(seed)
    of_user = random.choice(classes, users, p=random.dirichlet(np.full(classes, 2.0)))
    columns = []
    for size in sizes:
        ends = random.dirichlet(np.full(size, 0.8), size=classes).cumsum(axis=1)
        columns.append((random.random(users)[:, None] > ends[of_user]).sum(axis=1).clip(max=size - 1))
    return np.array(columns).T


def counted(records: Any, sizes: tuple[int, ...], *places: int) -> Any:
    """The true table of some attributes."""
    found = np.zeros([sizes[j] for j in places])
    np.add.at(found, tuple(records[:, j] for j in places), 1)
    return found


def drawn_into(groups: int, users: int, seed: int) -> Any:
    """The public group of each user, all equally likely."""
    return np.random.default_rng(seed).integers(0, groups, users)
