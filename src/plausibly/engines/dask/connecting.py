"""Clients of a Dask cluster."""

from __future__ import annotations

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
        # Dask's own time-out does not end the wait for a server that takes the connection and says nothing.
        client = answer_of(lambda: library.Client(master, timeout=_ANSWER, set_as_default=False), master)
    except StateError:
        raise
    except TypeError:  # tls:// without certificates
        raise StateError(
            f"{name}: expected Dask's settings for TLS on this machine, got none; see distributed.comm.tls in its "
            "configuration"
        ) from None
    except (OSError, ValueError):  # their texts may show the address
        raise StateError(f"{name}: expected a Dask scheduler there, got another server; correct the address") from None
    try:
        client.wait_for_workers(1, timeout=_ANSWER)
    except TimeoutError as error:
        client.close()
        raise StateError(f"{name}: the cluster has no workers; start some: dask worker {name}") from error
    return client
