"""Checks: how the worker registers, and how jobs reach it."""

from __future__ import annotations

import statistics
import time
from datetime import timedelta

from qwf_agent.cli.worker_check.check import check
from qwf_agent.cli.worker_check.errors import Skipped
from qwf_agent.cli.worker_check.kit import STARTS_WITHIN_S, Kit
from qwf_agent.look import connection

TASKS = {
    "check.checkpoint", "check.echo", "check.fail", "check.output", "check.progress", "check.sleep",
    "check.stubborn",
}  # fmt: skip
WAKES_WITHIN_MS = 50
WAKES = 9
MANY = 20
MISSING = ("check.missing", "../check.echo", "constructor", "toString", "__proto__")


@check(
    "registers",
    about="It registers with its tasks and its slots.",
    hint="call register_worker(host, queue, info) with tasks, slots, pid and version in info",
    section="Register",
)
def registers(kit: Kit) -> str:
    """Compare what the worker has announced with the tasks of the checks."""
    process = kit.worker()
    rows = connection.many(
        kit.conn, "select * from qwf.worker_overview where worker = %s", [process.worker]
    )
    row = rows[0]
    kit.expect(row["tasks"], "It announced no tasks, so it is offered jobs that it cannot run.")
    missing = sorted(TASKS - set(row["tasks"]))
    kit.expect(not missing, f"It did not announce the tasks {', '.join(missing)}.")
    kit.expect(row["pid"], "It did not announce its pid, so nobody can find its process.")
    return f"It announced {len(row['tasks'])} tasks and {row['slots']} slots."


@check(
    "wakes",
    about=f"While it sleeps, it starts a job within {WAKES_WITHIN_MS} ms.",
    hint="LISTEN on wake_channel(worker), call sleep(worker, queue) after an empty claim",
    section="Sleep",
)
def wakes(kit: Kit) -> str:
    """Time the starts of single jobs."""
    return timed_starts(kit, WAKES)


def timed_starts(kit: Kit, times: int) -> str:
    """Enqueue jobs for the sleeping worker, one after the other; say how fast they start."""
    process = kit.worker()
    found = []
    for _ in range(times):
        asleep = kit.sleeps(process, 5 + 2 * kit.times["poll"])
        kit.expect(asleep, "It never called sleep, so jobs start up to a poll late.")
        row = kit.completes(kit.enqueue("check.echo"))
        found.append((row["claimed_at"] - row["created_at"]).total_seconds() * 1000)
    seen = f"Of {times} jobs, the median started after {statistics.median(found):.0f} ms"
    seen += f", the slowest after {max(found):.0f} ms."
    kit.expect(statistics.median(found) < WAKES_WITHIN_MS, seen)
    return seen


@check(
    "many",
    about=f"It runs {MANY} jobs that come at once, each in one attempt.",
    hint="claim again as soon as a slot is free, and report every attempt once",
    section="Claim",
)
def many(kit: Kit) -> str:
    """Enqueue many short jobs at once."""
    kit.worker()
    jobs = [kit.enqueue("check.echo", {"number": number}) for number in range(MANY)]
    rows = [kit.completes(job, 30) for job in jobs]
    again = [row["id"] for row in rows if row["attempt"] != 1]
    kit.expect(not again, f"{len(again)} of {MANY} jobs took more than one attempt.")
    wrong = sum(row["output"] != {"number": number} for number, row in enumerate(rows))
    kit.expect(not wrong, f"{wrong} of {MANY} jobs have the output of another.")
    seconds = (
        max(r["finished_at"] for r in rows) - min(r["created_at"] for r in rows)
    ).total_seconds()
    return f"{MANY} jobs completed in {seconds:.1f} s, each in one attempt."


@check(
    "slots",
    about="It runs as many bodies at once as it has slots.",
    hint="pass the number of free slots to claim as max_jobs, and the number of all in info.slots",
    section="Claim",
)
def slots(kit: Kit) -> str:
    """Enqueue more jobs than there are slots, and see which bodies run at the same time."""
    process = kit.worker()
    (row,) = connection.many(
        kit.conn, "select slots from qwf.worker_overview where worker = %s", [process.worker]
    )
    wanted = int(row["slots"])
    jobs = {}
    for _ in range(wanted + 2):
        beat = kit.new_file()
        jobs[kit.enqueue("check.sleep", {"seconds": 1.5, "beat": str(beat)})] = beat
    begun: dict[int, float] = {}

    def look() -> int:
        now = time.time()
        for job, beat in jobs.items():
            if beat.stat().st_size:
                begun.setdefault(job, now)
        return len(kit.unended())

    kit.until(look, lambda unended: not unended, STARTS_WITHIN_S + 10)
    for job in jobs:
        kit.completes(job)
    ran = [(begun[job], jobs[job].stat().st_mtime) for job in begun]
    most = max(sum(start <= at <= end for start, end in ran) for at, _ in ran)
    seen = f"It announced {wanted} slots, and ran {most} of {len(jobs)} bodies at once."
    kit.expect(most == wanted, seen)
    return seen


@check(
    "ticks",
    about="A job that is due later starts, though nobody else calls tick().",
    hint="call tick('0.7 s') every tick seconds, with jitter, also while bodies run",
    section="Tick",
)
def ticks(kit: Kit) -> str:
    """Enqueue a job that is due in a second."""
    if not kit.is_alone():
        raise Skipped("Other workers are alive, and one of them may have called tick().")
    kit.worker()
    (row,) = connection.many(kit.conn, "select qwf.now() as now")
    due = row["now"] + timedelta(seconds=1)
    job = kit.completes(kit.enqueue("check.echo", run_at=due), 5 + 3 * kit.times["tick"])
    late = (job["claimed_at"] - due).total_seconds()
    return f"It started {late:.1f} s after it was due."


@check(
    "unknown-task",
    about="It refuses tasks that are not its own, and works on.",
    hint="look the task up among your own names only, and report fatal if it is none of them",
    section="Report",
)
def unknown_task(kit: Kit) -> str:
    """Announce tasks for the worker that it has not, and enqueue them."""
    process = kit.worker()
    connection.call(
        kit.conn, "update_worker", worker=process.worker, info={"tasks": [*TASKS, *MISSING]}
    )
    for task in MISSING:
        job = kit.enqueue(task)
        row = kit.ends(job)
        ends = [one["outcome"] for one in kit.attempts(job)]
        kit.expect(
            ends in (["fatal"], ["error"]), f"The task {task} should be refused; {kit.told(row)}."
        )
        kit.completes(kit.enqueue("check.echo"))
    return f"It refused {', '.join(MISSING)}."


CHECKS = (registers, wakes, many, slots, ticks, unknown_task)
