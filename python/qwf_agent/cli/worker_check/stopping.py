"""Checks: how the worker stops."""

from __future__ import annotations

import time

from qwf_agent.cli.worker_check.check import check
from qwf_agent.cli.worker_check.kit import Kit
from qwf_agent.cli.worker_check.process import Process

SOON_S = 5.0  # more than it takes to report, to deregister and to end


@check(
    "stop-idle",
    about="After SIGTERM without a body it deregisters and ends.",
    hint="on SIGTERM claim nothing more, and call deregister_worker(worker) as the last call",
    section="Stop",
)
def stop_idle(kit: Kit) -> str:
    """Send SIGTERM to a worker that has nothing to do."""
    process = kit.worker()
    time.sleep(0.5)
    asked = time.monotonic()
    process.terminate()
    return f"{gone(kit, process, SOON_S)} after {time.monotonic() - asked:.1f} s."


@check(
    "stop-drain",
    about="After SIGTERM it finishes a short body, claims nothing more, and ends.",
    hint="let bodies finish for stop_grace, and renew their leases meanwhile",
    section="Stop",
)
def stop_drain(kit: Kit) -> str:
    """Send SIGTERM in the middle of a short body."""
    process = kit.worker()
    beat = kit.new_file()
    job = kit.enqueue("check.sleep", {"seconds": 1.5, "beat": str(beat)})
    kit.starts(job)
    kit.until(lambda: beat.stat().st_size, bool, SOON_S)  # a job without a body yet may go back
    process.terminate()
    time.sleep(0.3)
    later = kit.enqueue("check.echo")
    row = kit.ends(job)
    kit.expect((row["status"], row["attempt"]) == ("completed", 1),
               f"The body did not finish; {kit.told(row)}.")  # fmt: skip
    seen = gone(kit, process, SOON_S)
    row = kit.job(later)
    kit.expect(row["status"] == "queued", f"It took a job after SIGTERM; {kit.told(row)}.")
    kit.retire()
    return f"The body finished, no other was started. {seen}."


@check(
    "stop-long",
    about="After SIGTERM it gives a long body's job back when stop_grace is over, and ends.",
    hint="after stop_grace stop the bodies, report released, deregister, end",
    section="Stop",
)
def stop_long(kit: Kit) -> str:
    """Send SIGTERM in the middle of a long body."""
    grace = kit.times["stop_grace"] + kit.times["cancel_grace"] + SOON_S
    return given_back(kit, grace, signals=1)


@check(
    "stop-twice",
    about="After a second SIGTERM it gives its jobs back at once.",
    hint="do at the second SIGTERM what you do when stop_grace is over",
    section="Stop",
)
def stop_twice(kit: Kit) -> str:
    """Send SIGTERM twice in the middle of a long body."""
    return given_back(kit, kit.times["cancel_grace"] + 2, signals=2)


def given_back(kit: Kit, within: float, *, signals: int) -> str:
    """Stop the worker in the middle of a long body; expect its job back within this time."""
    process = kit.worker()
    beat = kit.new_file()
    args = {"seconds": within + 20, "beat": str(beat)}
    job = kit.enqueue("check.sleep", args)
    kit.starts(job)
    time.sleep(0.5)
    asked = time.monotonic()
    for _ in range(signals):
        process.terminate()
        time.sleep(0.3)
    row = kit.until(lambda: kit.job(job), lambda one: one["status"] != "running", within)
    took = time.monotonic() - asked
    kit.expect(row["status"] == "queued", f"Not given back in {within:.0f} s; {kit.told(row)}.")
    kit.expect(row["failures"] + row["losses"] == 0, f"It counts against the job; {kit.told(row)}.")
    seen = gone(kit, process, SOON_S)
    kit.expect(kit.falls_silent(beat, 3), "The job was given back, but its body went on.")
    kit.retire()
    return f"The job was given back after {took:.1f} s. {seen}."


def gone(kit: Kit, process: Process, within: float) -> str:
    """Expect that the process ends within this time, deregistered."""
    ended = process.wait(within)
    kit.expect(ended, f"It still ran {within:.0f} s later.")
    kit.expect(kit.stopped(process), "It ended without deregistering.")
    return f"It deregistered and ended with exit code {process.code}"


CHECKS = (stop_idle, stop_drain, stop_long, stop_twice)
