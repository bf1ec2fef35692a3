"""The answers of short bodies lie in memory that the child shares with its parent."""

from __future__ import annotations

import os
import random
import signal
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from qwf_agent.child.answers import ALL, BYTES, MOST_BYTES, AnswerRing
from support.harness import Database, StartAgent, until
from support.one_child import one_child


@pytest.fixture
def ring() -> Iterator[AnswerRing]:
    found = AnswerRing()
    yield found
    found.close()


def other_end(ring: AnswerRing) -> AnswerRing:
    """The same memory, as the parent has it that has read nothing yet."""
    parent = AnswerRing()
    parent._page.close()
    parent._page = ring._page
    return parent


def test_answers_are_taken_once_and_in_order(ring: AnswerRing) -> None:
    parent = other_end(ring)
    assert parent.take(ALL) == []
    for number in (1, 2, 3):
        assert ring.put(b"answer %d" % number, number)
    assert parent.take(ALL) == [(1, b"answer 1"), (2, b"answer 2"), (3, b"answer 3")]
    assert parent.take(ALL) == []


def test_an_answer_waits_for_the_messages_before_it(ring: AnswerRing) -> None:
    parent = other_end(ring)
    ring.put(b"first", 1)
    ring.put(b"second", 2)
    assert parent.take(0) == []
    assert parent.take(1) == [(1, b"first")]
    assert parent.take(2) == [(2, b"second")]


def test_a_full_ring_takes_no_more_and_loses_nothing(ring: AnswerRing) -> None:
    parent, put, taken = other_end(ring), 0, 0
    while ring.put(b"%d" % put * 50, 0):
        put += 1
    assert put > 100
    for _ in range(3):  # several rounds
        found = parent.take(ALL)
        assert [one.answer for one in found] == [b"%d" % n * 50 for n in range(taken, put)]
        taken = put
        while ring.put(b"%d" % put * 50, 0):
            put += 1
        assert put > taken
    assert not ring.put(b"x" * MOST_BYTES, 0), "that goes over the socket"


def test_an_answer_is_taken_whole_however_much_of_it_is_written(ring: AnswerRing) -> None:
    """A child may be killed at any byte, and another processor may see the bytes in any order."""
    dice, parent = random.Random(7), other_end(ring)
    while ring._end < 3 * BYTES:  # what is left of earlier rounds looks like answers
        ring.put(b"x" * dice.randrange(1, 400), 0)
        parent.take(ALL)
    for size in (1, 30, 200):
        before = bytes(ring._page)
        ring.put(bytes(dice.randrange(256) for _ in range(size)), 0)
        after = bytes(ring._page)
        changed = [at for at in range(len(after)) if before[at] != after[at]]
        for _ in range(100):
            page = bytearray(before)
            for at in dice.sample(changed, dice.randrange(len(changed))):
                page[at] = after[at]
            ring._page[:] = bytes(page)
            assert parent.take(ALL) == []
        ring._page[:] = after
        assert len(parent.take(ALL)) == 1


def test_a_parent_that_reads_while_its_child_writes_gets_every_answer(ring: AnswerRing) -> None:
    parent, total = other_end(ring), 20_000
    pid = os.fork()
    if pid == 0:
        for number in range(total):
            while not ring.put(b"%d" % number * (1 + number % 60), 0):
                pass
        os._exit(0)
    try:
        taken = 0
        deadline = time.monotonic() + 60
        while taken < total:
            assert time.monotonic() < deadline
            for one in parent.take(ALL):
                assert one.answer == b"%d" % taken * (1 + taken % 60)
                taken += 1
    finally:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGSEGV])
def test_a_job_that_has_ended_is_not_lost_with_its_child(
    base: Database, start: StartAgent, number: int
) -> None:
    """The child dies in the body after short ones, before its parent has read their answers: the
    parent is stopped meanwhile."""
    agent = start("--app", "bodies")
    for _ in range(3):  # short bodies: the agent takes many at a time
        base.ended([base.enqueue("short") for _ in range(60)][-1])
    (child,) = agent.children()
    with base.conn.transaction():  # one batch
        ended = [base.enqueue("short", {"stop": agent.pid})]
        ended += [base.enqueue("short") for _ in range(20)]
        dying = base.enqueue("short", {"kill": number}, max_attempts=1, max_losses=1)
        behind = base.enqueue("short")
    until(lambda: state(child) in "ZX", "the child to die")
    os.kill(agent.pid, signal.SIGCONT)
    for job in [*ended, behind]:
        assert base.ended(job)["status"] == "completed"
        assert [one["outcome"] for one in base.attempts(job)] == ["completed"]
    assert base.attempted(dying)["outcome"] == "lost"
    assert base.job(behind)["losses"] == 0


def test_the_answers_of_a_dead_child_are_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The child dies right after its short bodies, and nobody has looked meanwhile."""
    monkeypatch.syspath_prepend(str(Path(__file__).parent / "user"))
    with one_child("bodies", tmp_path) as child:
        claims = [child.begin("short", {}, None) for _ in range(20)]
        claims.append(child.begin("short", {"kill": signal.SIGKILL}, None))
        claims.append(child.begin("short", {}, None))
        assert child.slot.process is not None
        os.waitid(os.P_PID, child.slot.process.pid, os.WEXITED | os.WNOWAIT)
        death = child.slot.reap()
        assert death is not None
        assert [answer.claim for answer in death.answers] == claims[:20]
        assert {answer.outcome for answer in death.answers} == {"completed"}
        assert (death.running, death.unstarted) == ([claims[20]], [claims[21]])


def state(pid: int) -> str:
    """The letter of the state of a process; X if there is none."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(") ")[2][0]
    except FileNotFoundError:
        return "X"
