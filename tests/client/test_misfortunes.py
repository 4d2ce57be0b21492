"""Random sequences of crashes and failures: the total is never exceeded, and no collection counts a device twice."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from client.proxying import FAULTS, Proxy, proxying
from client.steps import Steps
from drawn import drawn
from plausibly import make
from plausibly.client import Collector, Outcome, SpentError, UntrustedError
from plausibly.service.collections import Collection
from serving import Serving, serving

pytestmark = pytest.mark.full

EPSILON, TOTAL = Fraction(2, 5), Fraction(1)
SCHEME = make("DE", epsilon=EPSILON, domain_size=5)
STEPS = 40
"""More steps than a report has."""


class CrashError(BaseException):
    """The process ends here."""


def crash() -> None:
    raise CrashError


Call = tuple[int, int, str, str, bool]
CALLS = st.tuples(
    st.integers(0, 4),  # which collection; 3 and 4 are slots of a series
    st.integers(0, STEPS),  # the step at which the process ends; 0 and those that are not reached: it does not
    st.sampled_from(FAULTS),  # of the first request
    st.sampled_from(FAULTS),  # of the second
    st.booleans(),  # report or resend
)


@pytest.fixture(scope="module")
def both(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Serving, Proxy]]:
    with serving(tmp_path_factory.mktemp("shared") / "collector") as server, proxying(server.port) as proxy:
        yield server, proxy


def asked(server: Serving) -> list[Collection]:
    run = os.urandom(8).hex()
    slots = [{}, {}, {}, {"series": "weekly", "slot": 0}, {"series": "weekly", "slot": 1}]
    made = [Collection(name=f"{run} {number}", scheme=SCHEME, **each) for number, each in enumerate(slots)]  # type: ignore[arg-type]
    for each in made:
        assert server.request("POST", "/v1/collections", each.document, "admin").status == 201
    return made


def counts(server: Serving, collections: list[Collection]) -> list[int]:
    listed = server.request("GET", "/v1/collections", role="read").json["collections"]
    found = {each["id"]: each["reports"] for each in listed}
    return [found[each.id] for each in collections]


# A process that crashes closes no connection.
@pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning")
def test_the_total_holds_and_each_collection_counts_a_device_once(both: tuple[Serving, Proxy]) -> None:
    crashes: list[int] = []

    @drawn(100)
    @given(calls=st.lists(CALLS, max_size=12))
    def holds(calls: list[Call]) -> None:
        survive(*both, calls, crashes)

    holds()
    assert len(set(crashes)) >= 5
    assert {fault for _, _, fault in both[1].seen} == set(FAULTS)


def survive(server: Serving, proxy: Proxy, calls: list[Call], crashes: list[int]) -> None:
    """Make these calls, and check the promises after each of them."""
    collections = asked(server)
    with tempfile.TemporaryDirectory() as folder:
        ledger = Path(folder) / "ledger"

        def device(number: int) -> Collector:
            url = proxy.url(collections[number].id)
            return Collector(url, max_epsilon=TOTAL, ledger=ledger, patience=0, question="pets", total=False)

        for number, step, first, second, again in calls:
            proxy.faults.clear()
            proxy.faults.extend([first, second])
            collector = device(number)
            try:
                with Steps(step, crash):
                    _ = collector.resend() if again else collector.report(3)
            except CrashError:
                crashes.append(step)
            except (SpentError, UntrustedError):
                pass  # a document that is not the collection's is among the faults
            proxy.faults.clear()
            sent = device(0).sent()
            spent = sum((Fraction(each["epsilon"]) for each in sent["reports"]), Fraction(0))
            assert spent == Fraction(sent["spent"]) <= TOTAL
            found = counts(server, collections)
            assert max(found) <= 1
            assert found[3] + found[4] <= 1
            assert sum(found) <= len(sent["reports"]), "nothing is counted that the ledger does not have"
        # At the end everything that waits arrives, unless something refused it for good.
        assert set(device(0).resend().values()) <= {Outcome.COUNTED}
        refused = [each for each in device(0).sent()["reports"] if each["outcome"] != "counted"]
        assert {each["outcome"] for each in refused} <= {"refused"}
        assert sum(counts(server, collections)) >= len(device(0).sent()["reports"]) - len(refused)
