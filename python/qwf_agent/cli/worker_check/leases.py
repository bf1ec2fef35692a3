"""Checks: leases, and what happens to a job whose worker is gone, frozen or cut off."""

from __future__ import annotations

import time

from qwf_agent.cli.worker_check.check import check
from qwf_agent.cli.worker_check.kit import ME, Kit
from qwf_agent.cli.worker_check.process import Process
from qwf_agent.cli.worker_check.starting import timed_starts
from qwf_agent.look import connection

CLAIM = """
select job_id, token from qwf.claim(%s, %s, lease => '1 min')
"""
FINISH = """
select qwf.finish(%s, %s, 'completed', '{"by": "the kit"}') as verdict
"""


@check(
    "heartbeat",
    about="It renews its leases while a body runs for longer than a lease.",
    hint="call heartbeat(worker, tokens) every heartbeat seconds; no body may delay it",
    section="Renew",
)
def heartbeat(kit: Kit) -> str:
    """Run a body for two leases."""
    kit.worker()
    seconds = 2 * kit.times["lease"]
    row = kit.completes(kit.enqueue("check.sleep", {"seconds": seconds}), seconds + 15)
    kit.expect(row["attempt"] == 1, f"The lease lapsed; {kit.told(row)}.")
    return f"A body of {seconds:.0f} s completed under a lease of {kit.times['lease']:.0f} s."


@check(
    "takeover",
    about="When a worker is killed, another one runs its job.",
    hint="claim as soon as you are woken; call tick(), which takes lapsed jobs back",
    section="Tick",
)
def takeover(kit: Kit) -> str:
    """Kill one of two workers in the middle of a body."""
    job, first, second = _of_two(kit, seconds=2)
    first.kill()
    killed = time.monotonic()
    row = kit.completes(job, kit.times["lease"] + 20)
    ends = [one["outcome"] for one in kit.attempts(job)]
    kit.expect(ends == ["lost", "completed"], f"Not lost, then completed; {kit.told(row)}.")
    kit.expect(row["claimed_by"] == second.worker, f"Another worker has it: {row['claimed_by']}.")
    return f"The second worker completed the job {time.monotonic() - killed:.1f} s after the loss."


@check(
    "frozen",
    about="A worker that was frozen for longer than a lease loses its job, and works on.",
    hint="when a heartbeat or a report answers lost, kill the body, free the slot, report nothing",
    section="Renew",
)
def frozen(kit: Kit) -> str:
    """Stop one of two workers (SIGSTOP) until the other has its job; let it go on (SIGCONT)."""
    job, first, second = _of_two(kit, seconds=4)
    first.freeze()
    try:
        kit.until(lambda: kit.attempts(job), bool, kit.times["lease"] + 10)
        row = kit.starts(job)
    finally:
        first.thaw()
    kit.expect(row["claimed_by"] == second.worker, f"The job was not taken over; {kit.told(row)}.")
    row = kit.completes(job)
    ends = [(one["outcome"], one["worker"]) for one in kit.attempts(job)]
    right = [("lost", first.worker), ("completed", second.worker)]
    kit.expect(ends == right, f"Its stale report counted; {kit.told(row)}.")
    kit.expect(first.code is None, f"The frozen worker ended with exit code {first.code}.")
    second.end()
    connection.call(kit.conn, "deregister_worker", worker=second.worker)
    kit.completes(kit.enqueue("check.echo"))
    return "The other worker completed the job; the frozen one went on with the next."


@check(
    "fenced",
    about="When its job is given to another, it stops the body and its report changes nothing.",
    hint="kill the body at once when a heartbeat answers lost, and report nothing",
    section="Renew",
)
def fenced(kit: Kit) -> str:
    """Take the job away by an order, claim it, and complete it in the worker's place."""
    process = kit.worker()
    beat = kit.new_file()
    job = kit.enqueue("check.sleep", {"seconds": 20, "beat": str(beat)})
    kit.starts(job)
    kit.switch(process.host, "off", "hard")
    kit.until(lambda: kit.job(job)["status"], lambda status: status == "queued", _told_within(kit))
    claimed = connection.many(kit.conn, CLAIM, [kit.queue, ME])
    kit.expect(claimed, f"The job was not given back; {kit.told(kit.job(job))}.")
    kit.switch(process.host, "on")
    kit.expect(kit.falls_silent(beat, _told_within(kit)), "It lost the job, but its body went on.")
    done = connection.many(kit.conn, FINISH, [job, claimed[0]["token"]])
    kit.expect(done[0]["verdict"] == "ok", f"Its stale report counted; {kit.told(kit.job(job))}.")
    kit.completes(kit.enqueue("check.echo"))
    row = kit.job(job)
    kit.expect(row["output"] == {"by": "the kit"}, f"The output is {row['output']!r}.")
    return "It stopped the body, its report did not count, and it went on with the next job."


def _of_two(kit: Kit, seconds: float) -> tuple[int, Process, Process]:
    """A job whose body runs for so long, the worker that has it, and another one, which was there
    before: it may take longer to start than the body runs."""
    one, other = kit.worker(), kit.start()
    job = kit.enqueue("check.sleep", {"seconds": seconds})
    holds_it = kit.starts(job)["claimed_by"] == one.worker
    return (job, one, other) if holds_it else (job, other, one)


def _told_within(kit: Kit) -> float:
    """How long it may take until the worker knows, in seconds."""
    return float(kit.times["heartbeat"] + kit.times["cancel_grace"] + 4)


@check(
    "cut",
    about="When its connections are cut, the body goes on and completes.",
    hint="connect again, and repeat calls that failed; a lease is still valid for a while",
    section="Renew",
)
def cut(kit: Kit) -> str:
    """End all sessions of the worker in the middle of a body."""
    process = kit.worker()
    job = kit.enqueue("check.sleep", {"seconds": 2.5})
    kit.starts(job)
    time.sleep(0.5)
    count = kit.cut()
    row = kit.completes(job)
    kit.expect(row["attempt"] == 1, f"It took more than one attempt; {kit.told(row)}.")
    kit.expect(process.code is None, f"The worker ended with exit code {process.code}.")
    kit.completes(kit.enqueue("check.echo"))
    return f"{count} sessions were cut; the job completed in one attempt, and the next one, too."


@check(
    "listens-again",
    about="After its connections were cut, it is woken as fast as before.",
    hint="open the connection for LISTEN again when it ends, and LISTEN again",
    section="Sleep",
)
def listens_again(kit: Kit) -> str:
    """End all sessions of the sleeping worker, and time the next starts."""
    kit.worker()
    kit.cut()
    time.sleep(3)
    kit.completes(kit.enqueue("check.echo"))
    return timed_starts(kit, 5)


CHECKS = (heartbeat, takeover, frozen, fenced, cut, listens_again)
