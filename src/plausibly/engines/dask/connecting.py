"""Clients of a Dask cluster."""

from __future__ import annotations

import asyncio
from typing import Any

from ...core.errors import StateError
from ..masters import answer_of, expect_reachable, without_secrets

_ANSWER = 10
"""Number of seconds to wait for the scheduler, and for the first worker."""


def connect(master: str) -> Any:
    """A client of the Dask cluster whose scheduler is at an address such as ``tcp://host:8786``."""
    try:
        import distributed
    except ImportError as error:
        raise ImportError("Dask needs distributed: pip install distributed") from error
    expect_reachable(master, 8786)
    name = without_secrets(master)
    library: Any = distributed  # some of its functions have no types
    try:
        answer_of(lambda: asyncio.run(_identity(library, master)), master)
    except StateError:
        raise
    except TypeError:  # tls:// without certificates
        raise StateError(
            f"{name}: expected Dask's settings for TLS on this machine, got none; see distributed.comm.tls in its "
            "configuration"
        ) from None
    except (OSError, ValueError):  # their texts may show the address
        raise StateError(f"{name}: expected a Dask scheduler there, got another server; correct the address") from None
    client = library.Client(master, timeout=_ANSWER, set_as_default=False)
    try:
        client.wait_for_workers(1, timeout=_ANSWER)
    except TimeoutError as error:
        client.close()
        raise StateError(f"{name}: the cluster has no workers; start some: dask worker {name}") from error
    return client


async def _identity(library: Any, master: str) -> None:
    # Before there is a client, because one that fails to connect is left half made, and hangs the next one if the
    # garbage collector finds it while that one starts: both need a lock that a thread cannot take twice.
    async with library.rpc(master, timeout=_ANSWER) as scheduler:
        await asyncio.wait_for(scheduler.identity(), _ANSWER)
