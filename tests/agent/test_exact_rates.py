"""A server that jobs of a limit with a rate call counts no more calls in any period than the limit
allows, however many agents work and however many jobs they claim at once."""

from __future__ import annotations

import statistics
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from support.harness import Database, StartAgent, until
from support.thorough import thorough

STARTS, PER_S, JOBS = 6, 2.0, 30
LATE_S = 0.1  # from a claim to the call on a busy machine; 20 ms are the promise
BODY_S = 0.4


class Calls:
    """An HTTP server that notes when it is called."""

    def __init__(self) -> None:
        self.times: list[float] = []
        times = self.times

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                times.append(time.time())
                self.send_response(204)
                self.end_headers()

            def log_message(self, *_args: object) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_port}/"
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,))
        self._thread.start()

    def close(self) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()

    def most_in(self, seconds: float) -> int:
        """The most calls within a period, wherever it begins."""
        times = sorted(self.times)
        return max(sum(at <= other < at + seconds for other in times) for at in times)


@pytest.fixture
def calls() -> Iterator[Calls]:
    """A server that notes when it is called."""
    server = Calls()
    yield server
    server.close()


def prepare(base: Database, start: StartAgent, calls: Calls, limit: str, *hosts: str) -> None:
    """Create the limit, and start agents that have learned to claim ten jobs at once."""
    base.conn.execute(
        "select qwf.create_limit(%s, starts => %s, per => %s, keyed => %s)",
        (limit.split(":")[0], STARTS, f"{PER_S} s", limit != "api"),
    )
    for host in hosts:
        start("--app", "bodies", "--host", host, "--slots", "4", "--batch", "10")
    for job in [base.enqueue("call", {"url": calls.url}) for _ in range(60)]:
        base.ended(job)
    calls.times.clear()


def claims(base: Database, jobs: list[int]) -> list[float]:
    """When these jobs were claimed, in order."""
    query = "select extract(epoch from claimed_at)::float as at from qwf.jobs where id = any (%s)"
    return sorted(row["at"] for row in base.conn.execute(query, (jobs,)))


@pytest.mark.parametrize("limit", ["api", "host:api"])
def test_a_server_counts_no_more_calls_in_any_period_than_the_limit_allows(
    base: Database, start: StartAgent, calls: Calls, limit: str
) -> None:
    prepare(base, start, calls, limit, "box-a", "box-b")
    jobs = [base.enqueue("call", {"url": calls.url}, limit_by=limit) for _ in range(JOBS)]
    assert {base.ended(job)["status"] for job in jobs} == {"completed"}
    assert len(calls.times) == JOBS
    claimed = claims(base, jobs)
    assert all(b - a > PER_S for a, b in zip(claimed, claimed[STARTS:], strict=False))
    late = [call - claim for claim, call in zip(claimed, sorted(calls.times), strict=True)]
    assert calls.most_in(PER_S - max(LATE_S, *late)) <= STARTS
    times = sorted(calls.times)
    pauses = [b - a - PER_S for a, b in zip(times, times[STARTS:], strict=False)]
    assert sum(pauses) / len(pauses) < PER_S / 4  # what the limit allows is used


@pytest.mark.parametrize("limit", ["api", "host:api"])
def test_a_job_of_a_rate_begins_when_it_is_claimed(
    base: Database, start: StartAgent, calls: Calls, limit: str
) -> None:
    """Six may start, and four children are free: none is claimed to wait behind another, though the
    agent claims jobs ahead."""
    prepare(base, start, calls, limit, "box-a")
    args = {"url": calls.url, "seconds": BODY_S}
    jobs = [base.enqueue("call", args, limit_by=limit) for _ in range(2 * STARTS)]
    for job in jobs:
        base.ended(job)
    claimed = claims(base, jobs)
    late = [call - claim for claim, call in zip(claimed, sorted(calls.times), strict=True)]
    assert max(late) < BODY_S / 2


@thorough
def test_sixty_calls_a_minute(base: Database, start: StartAgent, calls: Calls) -> None:
    """No 60 seconds have more than 60 starts of 300 jobs, and a body begins soon after its start;
    the server counts no more than 60 in a minute less the longest time between the two."""
    base.conn.execute("select qwf.create_limit('api', starts => 60, per => '1 min')")
    for host in ("box-a", "box-b"):
        start("--app", "bodies", "--host", host, "--slots", "4", "--batch", "10")
    args = {"url": calls.url, "seconds": 0.005}
    jobs = [base.enqueue("call", args, limit_by="api") for _ in range(300)]
    until(lambda: len(calls.times) == len(jobs), "the calls", seconds=330)
    assert {base.ended(job)["status"] for job in jobs} == {"completed"}
    claimed = claims(base, jobs)
    assert all(b - a > 60 for a, b in zip(claimed, claimed[60:], strict=False))
    late = [call - claim for claim, call in zip(claimed, sorted(calls.times), strict=True)]
    assert statistics.median(late) < LATE_S
    assert calls.most_in(60 - max(late)) <= 60
    first = min(calls.times)
    assert sum(60 <= at - first < 120 for at in calls.times) >= 58
