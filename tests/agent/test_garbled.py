"""A body that writes to the socket of its child harms no job but its own."""

from __future__ import annotations

import marshal
import os
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from qwf_agent.child.messages import pack_answer, pack_message
from support.harness import Database, agents, alive, until


class Fleet:
    """An agent with two slots, and a body that runs in one of them all the time."""

    def __init__(self, base: Database, home: Path) -> None:
        self.base = base
        file = home / "pid"
        self.sibling = base.enqueue("telling", {"file": str(file), "seconds": 600})
        self.pid = int(until(lambda: file.exists() and file.read_text(), "the other body"))

    def survives(self, data: bytes) -> None:
        """The body that sends this is lost, and nothing else is."""
        job = self.base.enqueue("writing_to_its_agent", {"data": data.hex()})
        attempt = self.base.attempted(job)
        assert (attempt["outcome"], attempt["reason"]) == ("lost", "garbled")
        assert attempt["error"].startswith("the process sent nonsense while the body ran: ")
        assert self.base.ended(job)["status"] == "failed"
        assert self.base.ended(self.base.enqueue("noop"))["status"] == "completed"
        sibling = self.base.job(self.sibling)
        assert (sibling["status"], sibling["attempt"], alive(self.pid)) == ("running", 1, True)


@pytest.fixture(scope="module")
def fleet(server: Any, template: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Fleet]:
    home = tmp_path_factory.mktemp("agent")
    with server.database(server.new_name(), template) as janitor:
        dsn = server.dsn(janitor.dbname)
        with agents(dsn, home) as start:
            base = Database(dsn)
            with base.conn:
                start("--app", "bodies", "--slots", "2")
                yield Fleet(base, home)


def framed(data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + data


FORGED = pack_answer(1 << 40, "completed", None, 0.0, False, b"{}")
NONSENSE = {
    "zeros": bytes(8),
    "a large length": b"hello",
    "the largest length": b"\xff" * 4,
    "another encoding": framed(marshal.dumps(("ready", [], {}, {}, {}))),
    "a list of 2^31 elements for marshal": framed(b"[\xff\xff\xff\x7f"),
    "no message": framed(b"42"),
    "a message without its values": framed(b'["ready"]'),
    "wrong values": pack_message(("ready", 7, 8, 9, 10)),
    "an unknown kind": pack_message(("nope", 1)),
    "an unknown order": pack_message(("order_done", 12345, None)),
    "an unknown ticket": FORGED,
    "an answer cut short": framed(FORGED[4:12]),
    "an unknown outcome": framed(FORGED[4:21] + b"\xff\x00{}"),
    "deep": framed(b"[" * 100_000),
    "a long number": framed(b'["model", null, ' + b"9" * 10_000 + b"]"),
    "options that are no texts": pack_message(("ready", [], {}, {"t": {"timeout": 5}}, {})),
    "a body of no shape": pack_message(("ready", [], {}, {}, {"t": [True, 0, 0.0, False]})),
    "progress of an unknown ticket": pack_message(("progress", 1 << 40, 0.5, "")),
    "ready once more": pack_message(("ready", [], {}, {}, {})),
    "a model that takes for ever": pack_message(("model", "flux", float("inf"))),
    "a model that takes less than nothing": pack_message(("model", "flux", -1)),
    "a model that Postgres cannot store": pack_message(("model", "flux\0", 1.0)),
    "a model that is half a character": pack_message(("model", "flux\ud800", 1.0)),
    "a model with a name that fills a heartbeat": pack_message(("model", "x" * 40_000, 1.0)),
    "two loads that take for ever together": 2 * pack_message(("model", "flux", 1e308)),
    "not UTF-8": framed(b'["reused", "\xff"]'),
}


@pytest.mark.parametrize("kind", NONSENSE)
def test_nonsense_is_the_end_of_its_body_alone(fleet: Fleet, kind: str) -> None:
    fleet.survives(NONSENSE[kind])


def test_a_message_without_its_end_does_not_hold_the_slot(fleet: Fleet) -> None:
    fleet.survives((100_000).to_bytes(4, "big"))


@settings(
    max_examples=int(os.environ.get("QWF_GARBLED", "8")), database=None,
    phases=[Phase.generate], suppress_health_check=[HealthCheck.function_scoped_fixture],
)  # fmt: skip
@given(data=st.binary(min_size=1, max_size=60))
def test_random_bytes_are_the_end_of_their_body_alone(fleet: Fleet, data: bytes) -> None:
    fleet.survives(framed(data))


def test_a_report_that_is_no_text_fails_its_job_alone(fleet: Fleet) -> None:
    """The answer is a message, but the database cannot store its report."""
    base = fleet.base
    job = base.ended(base.enqueue("answering_itself", {"report": b"\xff\x00}".hex()}))
    assert job["status"] == "failed"
    assert job["last_error"].startswith("the output cannot be stored: ")
    assert base.ended(base.enqueue("noop"))["status"] == "completed"


def test_a_body_that_replaces_a_builtin_harms_itself_alone(fleet: Fleet) -> None:
    attempt = fleet.base.attempted(fleet.base.enqueue("replacing_len"))
    assert (attempt["outcome"], attempt["reason"]) == ("lost", "garbled")
    assert fleet.base.job(fleet.sibling)["attempt"] == 1
