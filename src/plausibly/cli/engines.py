"""The engines that ``--engine`` names, and the clusters that ``--master`` names."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..core.errors import ParameterError
from ..core.wording import nearest, shown
from ..engines import dask, spark
from ..engines.masters import without_secrets
from ..engines.processes import Processes
from ..engines.running import Engine, State, Task, Threads


@dataclass(frozen=True)
class Cluster:
    """A kind of cluster that a command can use."""

    engine: Callable[[Any], Engine]
    """Makes an engine of a connection."""
    connect: Callable[[str], Any]
    end: Callable[[Any], None]
    """Ends a connection."""
    addresses: str
    """A regular expression of the addresses that its library understands."""
    example: str


@dataclass(frozen=True)
class Elsewhere:
    """The engine on the cluster at an address.

    It connects when there are tasks: mistakes in the files are reported first, and need no cluster.
    """

    cluster: Cluster
    master: str

    def reduce(
        self, work: Callable[[Task], State], merge: Callable[[State, State], State], tasks: Sequence[Task]
    ) -> Iterator[State]:
        """Run the tasks of a command on the cluster; the connection ends with the iteration."""
        if not tasks:
            return
        # pyspark warns about the version of pandas, which the engine does not need.
        warnings.filterwarnings("ignore", category=FutureWarning, module="pyspark")
        connection = self.cluster.connect(self.master)
        try:
            yield from self.cluster.engine(connection).reduce(work, merge, tasks)
        finally:
            self.cluster.end(connection)


HERE: Mapping[str, Callable[[], Engine]] = {"threads": Threads, "processes": Processes}
"""Makers of engines on this machine, by the name that a command knows them by."""

CLUSTERS: Mapping[str, Cluster] = {
    "spark": Cluster(
        spark.Spark,
        spark.connect,
        lambda session: session.stop(),
        r"(sc|spark|k8s)://.+|yarn|local(-cluster)?(\[.+\])?",
        "sc://host:15002",
    ),
    "dask": Cluster(
        dask.Dask, dask.connect, lambda client: client.close(), r"(tcp|tls|ws|wss|ucx)://.+", "tcp://host:8786"
    ),
}
"""Engines on clusters, by name."""


def engine_of(name: str, master: str | None) -> Engine:
    """The engine that a user names with ``--engine`` and ``--master``."""
    if name in CLUSTERS:
        if not master:
            raise ParameterError(f"--engine {name} needs --master, such as --master {CLUSTERS[name].example}")
        if not re.fullmatch(CLUSTERS[name].addresses, master):
            given = shown(without_secrets(master))
            raise ParameterError(f"--master: expected an address such as {CLUSTERS[name].example}, got {given}")
        return Elsewhere(CLUSTERS[name], master)
    if name not in HERE:
        raise ParameterError(f"--engine: unknown {shown(name)}; {nearest(name, [*HERE, *CLUSTERS])}")
    if master is not None:
        clusters = " or ".join(f"--engine {each}" for each in CLUSTERS)
        raise ParameterError(f"--master is for clusters; name one with {clusters}, or leave --master out")
    return HERE[name]()
