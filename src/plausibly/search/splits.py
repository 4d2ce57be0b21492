"""How a search that asks for a piece and for the whole string divides each user's budget, or the users."""

from __future__ import annotations

from ..core.errors import ParameterError
from ..core.wording import shown

BUDGET, USERS, NONE = "budget", "users", "none"


def expect_split(split: object, *choices: str) -> None:
    """Raise unless ``split`` is one of the ways in which the search can divide its users or their budget."""
    if not isinstance(split, str) or split not in choices:
        raise ParameterError(f"split: expected {' or '.join(map(repr, choices))}, got {shown(split)}")


def split_groups(split: str, pieces: int) -> tuple[tuple[int, ...], ...]:
    """Parts of each group of users, if a search divides them: the pieces, then whole strings as part ``pieces``.

    By budget, all users report a piece and the whole string. By users, each reports one of the two. With no split, all
    report a piece.
    """
    if split == BUDGET:
        return tuple((piece, pieces) for piece in range(pieces))
    return tuple((part,) for part in range(pieces + (split == USERS)))


def split_weights(split: str, pieces: int) -> tuple[int, ...]:
    """Relative sizes of the groups of users of a divided search: half of the users report whole strings."""
    return (1,) * pieces + ((pieces,) if split == USERS else ())


def split_fields(split: str) -> dict[str, str]:
    """JSON field of the division among a search's users; the published one, by budget, is not written."""
    return {} if split == BUDGET else {"split": split}
