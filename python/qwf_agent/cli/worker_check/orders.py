"""Checks: what people order: cancel, and switch off."""

from __future__ import annotations

import time

from qwf_agent.cli.worker_check.check import check
from qwf_agent.cli.worker_check.kit import Kit
from qwf_agent.cli.worker_check.process import Process
from qwf_agent.look import connection

SOON_S = 4.0  # more than it takes to send a heartbeat and a report


@check(
    "cancel",
    about="A cancelled job is stopped with the next heartbeat, and reported as cancelled.",
    hint="when a heartbeat or progress answers cancel, stop the body and report cancelled",
    section="Renew",
)
def cancel(kit: Kit) -> str:
    """Cancel a body that ends when it is asked to."""
    beat = kit.new_file()
    seen = cancelled(kit, "check.sleep", {"seconds": 20, "beat": str(beat)}, 0)
    kit.expect(
        kit.falls_silent(beat, SOON_S), "It was reported as cancelled, but its body went on."
    )
    return seen


@check(
    "cancel-stubborn",
    about="A body that does not stop when it is asked to is killed after cancel_grace.",
    hint="kill the body after cancel_grace; if nothing can kill it, report and keep its slot",
    section="A body that cannot be killed",
)
def cancel_stubborn(kit: Kit) -> str:
    """Cancel a body that does not end when it is asked to."""
    seconds = kit.times["heartbeat"] + kit.times["cancel_grace"] + SOON_S + 4
    seen = cancelled(kit, "check.stubborn", {"seconds": seconds}, kit.times["cancel_grace"])
    kit.retire()
    return seen


def cancelled(kit: Kit, task: str, args: dict[str, object], grace: float) -> str:
    """Cancel a job of this task; say how long it took."""
    kit.worker()
    job = kit.enqueue(task, args)
    kit.starts(job)
    time.sleep(0.5)
    asked = time.monotonic()
    connection.call(kit.conn, "cancel_job", job_id=job)
    within = kit.times["heartbeat"] + grace + SOON_S
    row = kit.ends(job, within)
    took = time.monotonic() - asked
    ends = [one["outcome"] for one in kit.attempts(job)]
    kit.expect(ends == ["cancelled"],
               f"Not cancelled within {within:.0f} s; {kit.told(row)}.")  # fmt: skip
    return f"It was cancelled after {took:.1f} s."


@check(
    "off-hard",
    about="Switched off hard, it stops its bodies and gives their jobs back.",
    hint="send a heartbeat when the payload cancel comes, and obey its answer lost",
    section="Orders",
)
def off_hard(kit: Kit) -> str:
    """Switch the worker off in the middle of a body, then on."""
    process = kit.worker()
    beat = kit.new_file()
    job = kit.enqueue("check.sleep", {"seconds": 20, "beat": str(beat)})
    kit.starts(job)
    asked = time.monotonic()
    kit.switch(process.host, "off", "hard")
    within = kit.times["heartbeat"] + kit.times["cancel_grace"] + SOON_S
    row = kit.until(lambda: kit.job(job), lambda one: one["status"] != "running", within)
    took = time.monotonic() - asked
    kit.expect(row["status"] == "queued", f"Not given back in {within:.0f} s; {kit.told(row)}.")
    kit.expect(row["failures"] + row["losses"] == 0, f"It counts against the job; {kit.told(row)}.")
    kit.expect(kit.falls_silent(beat, within), "The job was given back, but its body went on.")
    connection.call(kit.conn, "cancel_job", job_id=job)
    seen = stays_off(kit, process)
    return f"The job was given back after {took:.1f} s. {seen}"


@check(
    "off-drain",
    about="Switched off with drain, it finishes its bodies and starts no others.",
    hint="claim answers nothing while the worker is off; let the bodies finish",
    section="Orders",
)
def off_drain(kit: Kit) -> str:
    """Switch the worker off softly in the middle of a body, then on."""
    process = kit.worker()
    job = kit.enqueue("check.sleep", {"seconds": 2})
    kit.starts(job)
    kit.switch(process.host, "off", "drain")
    row = kit.completes(job)
    kit.expect(row["attempt"] == 1, f"It did not finish its body; {kit.told(row)}.")
    return f"The body completed. {stays_off(kit, process)}"


def stays_off(kit: Kit, process: Process) -> str:
    """Expect that the worker, which is off, starts nothing until it is switched on."""
    job = kit.enqueue("check.echo")
    time.sleep(1.5)
    row = kit.job(job)
    kit.expect(row["status"] == "queued", f"It started a job while it was off; {kit.told(row)}.")
    kit.switch(process.host, "on")
    kit.completes(job, kit.times["poll"] + SOON_S)
    return "It started nothing while it was off, and the next job when it was on."


CHECKS = (cancel, cancel_stubborn, off_hard, off_drain)
