"""A server that jobs of a limit with a rate call counts no more calls in any period than the limit
allows, however many agents work and however many jobs they claim at once."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from support.harness import Database, StartAgent

STARTS, PER_S, JOBS = 6, 2.0, 30
LATE_S = 0.02  # from the claim to the call


class Calls:
    """An HTTP server that notes when it is called."""

    def __init__(self) -> None:
        self.times: list[float] = []
        times = self.times

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                times.append(time.monotonic())
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


@pytest.mark.parametrize("limit", ["api", "host:api"])
def test_a_server_counts_no_more_calls_in_any_period_than_the_limit_allows(
    base: Database, start: StartAgent, calls: Calls, limit: str
) -> None:
    base.conn.execute(
        "select qwf.create_limit(%s, starts => %s, per => %s, keyed => %s)",
        (limit.split(":")[0], STARTS, f"{PER_S} s", limit != "api"),
    )
    for host in ("box-a", "box-b"):
        start("--app", "bodies", "--host", host, "--slots", "4", "--batch", "10")
    warm = [
        base.enqueue("call", {"url": calls.url}) for _ in range(40)
    ]  # short bodies are claimed ahead
    for job in warm:
        base.ended(job)
    calls.times.clear()
    jobs = [base.enqueue("call", {"url": calls.url}, limit_by=limit) for _ in range(JOBS)]
    for job in jobs:
        assert base.ended(job)["status"] == "completed"
    assert len(calls.times) == JOBS
    assert calls.most_in(PER_S - LATE_S) <= STARTS
    times = sorted(calls.times)
    late = [b - a - PER_S for a, b in zip(times, times[STARTS:], strict=False)]
    print("late", [round(one * 1000) for one in late])
    assert sum(late) / len(late) < 0.25 * PER_S  # it uses what it may
