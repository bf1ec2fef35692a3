"""Faults of every kind against a small fleet, and an oracle that can tell that something did not
hold. The long run is `make chaos`."""

from __future__ import annotations

import contextlib
import copy
import itertools
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from support.chaos.faults import KINDS
from support.chaos.oracle import CHECKS, REFUND, Evidence
from support.chaos.place import BOXES, DURABLE, place
from support.chaos.plan import OFTEN, plan
from support.chaos.report import lines
from support.chaos.run import Result, possible, run
from support.disks import small_disk
from support.planted_bugs import BUGS, put_in

PATIENCE_S = 120.0  # until the faults of a short run have struck
GAP_S = (0.05, 0.3)


@contextlib.contextmanager
def struck(
    server: Any, dsn: str, home: Path, kinds: Sequence[str] = (), most: int | None = None,
    gap_s: tuple[float, float] = GAP_S,
) -> Iterator[Result]:  # fmt: skip
    """A short run: each kind once, or so many faults. Its files live as long as the context."""
    with small_disk(home / "out", "24m") as disk, place(server, dsn, home, out_disk=disk) as at:
        chosen = kinds or possible(at)
        yield run(
            at, seconds=PATIENCE_S, seed=5, say=print, kinds=chosen, most=most or len(chosen),
            gap_s=gap_s,
        )  # fmt: skip


def test_everything_holds_and_each_check_would_notice(
    server: Any, dsn: str, tmp_path: Path
) -> None:
    """Each kind of fault that a server of the tests can stand; then each check, with the evidence
    of this run in which one thing is changed."""
    with struck(server, dsn, tmp_path) as result:
        assert {name: wrong for name, wrong in result.broken.items() if wrong} == {}
        assert result.struck.total() == len(KINDS) - 1  # the disk of this server cannot be filled
        said = "\n".join(lines(result, tmp_path / "faults.log"))
        assert said.count(" held ") == len(CHECKS)
        for check in CHECKS:
            for change in CHANGED[check]:
                evidence = copy.deepcopy(result.evidence)
                change(evidence)
                assert list(CHECKS[check](evidence)) != [], (check, change)


def test_the_oracle_notices_a_finish_that_does_not_check_its_token(
    server: Any, dsn: str, tmp_path: Path
) -> None:
    put_in(dsn, *BUGS["the token is not checked"])
    with struck(server, dsn, tmp_path, ["late report"], most=4) as found:
        assert not found.held
        assert found.broken["an output is what one body of the completed attempt returned"]
        said = "\n".join(lines(found, tmp_path / "faults.log"))
    assert "forged" in said
    assert f"seed {found.seed}" in said


def test_a_task_that_kills_its_process_is_held_and_nobody_else(
    server: Any, dsn: str, tmp_path: Path
) -> None:
    """The first fault lasts until the second."""
    with struck(server, dsn, tmp_path, ["task deadly"], 2, gap_s=(6.0, 6.5)) as result:
        assert {name: wrong for name, wrong in result.broken.items() if wrong} == {}
        assert result.evidence.held > 0
        logs = [(tmp_path / f"{box}.log").read_text() for box in BOXES]
        assert not any("for five minutes" in log for log in logs)  # neither a box nor a task


def test_a_seed_gives_the_same_plan() -> None:
    first, again, other = (
        [(p.kind, p.gap_s, p.dice.random()) for p in itertools.islice(plan(seed, list(KINDS)), 200)]
        for seed in (1, 1, 2)
    )
    assert first == again
    assert first != other
    assert {kind for kind, *_ in first[: len(KINDS) + len(OFTEN)]} == set(KINDS)


# Each check, with evidence that one thing is changed in -------------------------------------------


def job(evidence: Evidence, task: str = "work", **wanted: Any) -> dict[str, Any]:
    """A completed job with a body that nobody tried to cancel or retried."""
    tried = evidence.tried("job")
    return next(
        row for row in evidence.jobs.values()
        if row["task"] == task and row["status"] == "completed" and row["id"] not in tried
        and not row["retries"] and not row["asked"] and row["elements"] is None
        and all(row[name] == value for name, value in wanted.items())
    )  # fmt: skip


def body(evidence: Evidence, row: dict[str, Any]) -> dict[str, Any]:
    """The note that the body which completed the job wrote when it began."""
    return next(one for one in evidence.begun() if one["mark"] == row["output"]["mark"])


def lose_a_job(evidence: Evidence) -> None:
    del evidence.jobs[next(o["id"] for o in evidence.acknowledged if o["kind"] == "job")]


def answer_a_key_twice(evidence: Evidence) -> None:
    one = next(one for one in evidence.acknowledged if one["key"] is not None)
    evidence.acknowledged.append({**one, "id": one["id"] + 1_000_000})


def paid(evidence: Evidence) -> dict[str, Any]:
    """A step that a signal has answered."""
    return next(
        row for row in evidence.jobs.values()
        if row["node_id"] == "paid" and row["status"] == "completed"
    )  # fmt: skip


def answer_with_another_signal(evidence: Evidence) -> None:
    paid(evidence)["output"] = {"value": 7}


def ignore_a_signal(evidence: Evidence) -> None:
    paid(evidence)["status"] = "awaiting_input"


def forget_a_checkpoint(evidence: Evidence) -> None:
    one = next(one for one in evidence.saves if one["what"] == "saved")
    evidence.saves.append({**one, "what": "goes on", "attempt": one["attempt"] + 1, "step": 0})


def fail_a_job(evidence: Evidence) -> None:
    job(evidence)["status"] = "failed"


def swap_an_output(evidence: Evidence) -> None:
    job(evidence)["output"] = {"mark": "somebody else's"}


def complete_twice(evidence: Evidence) -> None:
    row = job(evidence)
    evidence.attempts.append({"job_id": row["id"], "attempt": 99, "outcome": "completed"})


def send_twice(evidence: Evidence) -> None:
    one = next(one for one in evidence.begun() if one["task"] == "mail")
    evidence.bodies.append({**one, "attempt": one["attempt"] + 1, "mark": "another"})


def forget_an_attempt(evidence: Evidence) -> None:
    one = body(evidence, job(evidence))
    evidence.crashes.clear()
    evidence.attempts.remove(evidence.by_claim()[one["job"], one["attempt"]])


def forget_a_durable_claim(evidence: Evidence) -> None:
    one = body(evidence, job(evidence))
    one["box"] = DURABLE
    evidence.crashes.append((one["at"], one["at"] + 1))
    evidence.bodies.append({**one, "at": one["at"] + 2, "box": "box-a", "mark": "another"})


def begin_while_it_runs(evidence: Evidence) -> None:
    one = body(evidence, job(evidence))
    evidence.crashes.clear()
    later = {**one, "attempt": one["attempt"] + 1, "mark": "another", "at": one["at"] + 0.001}
    evidence.bodies.append(later)


def lose_once_more(evidence: Evidence) -> None:
    job(evidence)["losses"] += 1


def run_three_of_a_limit(evidence: Evidence) -> None:
    now = time.monotonic()
    for number in range(3):
        row = {**job(evidence), "id": -number - 1, "limit_by": "narrow"}
        row["output"] = {"mark": f"limited {number}"}
        evidence.jobs[row["id"]] = row
        for what, at in (("begins", now), ("ends", now + 1)):
            one = {"job": row["id"], "mark": f"limited {number}", "what": what, "at": at}
            evidence.bodies.append(one)


def read_too_early(evidence: Evidence) -> None:
    one = next(one for one in evidence.begun() if one["read"])
    evidence.ended()[one["read"][0]]["at"] = one["at"] + 1


def drop_an_answer(evidence: Evidence) -> None:
    row = next(r for r in evidence.jobs.values() if r["asked"] and r["status"] == "completed")
    one = {"run": row["run_id"], "node": row["node_id"], "value": "left", "what": "done"}
    evidence.answers.append(one)
    row["output"] = {"side": "neither"}


def complete_what_was_cancelled(evidence: Evidence) -> None:
    one = {"what": "done", "kind": "job", "id": job(evidence)["id"], "answer": "cancelled"}
    evidence.cancels.append(one)


def remove_a_file(evidence: Evidence) -> None:
    job(evidence, "write")["output"]["file"] = "/nowhere"


def fire_unseen(evidence: Evidence) -> None:
    evidence.schedules[0]["fired"] += 1


def read_twice(evidence: Evidence) -> None:
    evidence.read.insert(1, evidence.read[0])


def skip_a_number(evidence: Evidence) -> None:
    del evidence.events[0], evidence.read[0]


def forget_an_end(evidence: Evidence) -> None:
    evidence.events = [row for row in evidence.events if row["kind"] != "run_ended"]


def leave_a_process(evidence: Evidence) -> None:
    evidence.wrong.append("processes are left: {1: 'init'}")


def forget_the_last_edit(evidence: Evidence) -> None:
    evidence.edits.append({"document": "left", "number": 1 << 30, "job": 1})


def begin_from_the_start(evidence: Evidence) -> None:
    one = next(body for body in evidence.begun() if "saved" in body)
    evidence.bodies.append({**one, "what": "saves", "step": one["saved"] + 1, "at": one["at"] - 1})


def refund_twice(evidence: Evidence) -> None:
    job = next(one for one in evidence.jobs.values() if one["node_id"] == REFUND)
    evidence.attempts.append({"job_id": job["id"], "outcome": "completed"})


def forget_a_turn(evidence: Evidence) -> None:
    del evidence.effects[next(n for n, one in enumerate(evidence.effects) if one["turn"] == 1)]


def overtake_a_turn(evidence: Evidence) -> None:
    next(one for one in evidence.effects if one["turn"] == 1)["id"] = 0


def begin_with_another_turn(evidence: Evidence) -> None:
    next(one for one in evidence.effects if one["turn"] == 2)["before"] = 0


def stop_too_many(evidence: Evidence) -> None:
    row = next(
        row for row in evidence.jobs.values()
        if row["node_id"] == "enough" and row["status"] == "completed"
    )  # fmt: skip
    row["output"] = [None] * len(row["output"])


def never_hold(evidence: Evidence) -> None:
    evidence.held = 0
    for box in ("box-a", "box-b"):
        row = {"job_id": evidence.deadly[0]["jobs"][0], "worker": f"{box}:default:1"}
        evidence.attempts.append({**row, "attempt": 99, "outcome": "lost", "reason": "crashed"})


CHANGED: dict[str, list[Callable[[Evidence], None]]] = {
    "no body that runs at most once began twice": [send_twice],
    "every acknowledged job and run is there": [lose_a_job],
    "a key is one job, and everybody who gave it got its id": [answer_a_key_twice],
    "everything completed, or was cancelled by request": [fail_a_job],
    "an output is what one body of the completed attempt returned": [swap_an_output],
    "a job completed once": [complete_twice],
    "each charge that a run does not stand on was refunded once": [refund_twice],
    "each turn has its effect once, after the one before it": [
        forget_a_turn,
        overtake_a_turn,
        begin_with_another_turn,
    ],
    "enough elements are enough": [stop_too_many],
    "a body is a recorded attempt, unless a crash lost its claim": [
        forget_an_attempt,
        forget_a_durable_claim,
    ],
    "bodies of a job overlap only after its lease lapsed": [begin_while_it_runs],
    "losses and failures are those of the attempts": [lose_once_more],
    "a task that kills its process on two boxes is held": [never_hold],
    "a limit holds": [run_three_of_a_limit],
    "the last acknowledged edit of a document has run": [forget_the_last_edit],
    "a body that saved goes on from there": [begin_from_the_start],
    "a node reads only what has ended": [read_too_early],
    "an acknowledged answer stays": [drop_an_answer],
    "an acknowledged signal answers its step": [answer_with_another_signal, ignore_a_signal],
    "a body goes on from the last checkpoint": [forget_a_checkpoint],
    "an acknowledged cancel stays": [complete_what_was_cancelled],
    "the files of completed jobs are there": [remove_a_file],
    "a schedule counts what it enqueued": [fire_unseen],
    "events are read once and in order": [read_twice, skip_a_number],
    "each end of a run is an event": [forget_an_end],
    "invariants held, agents lived, no late report was taken": [leave_a_process],
}
