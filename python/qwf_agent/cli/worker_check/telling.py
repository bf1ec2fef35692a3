"""Checks: what a body tells while it runs: its progress, its checkpoint, and what it prints."""

from __future__ import annotations

import time

from qwf_agent.cli.worker_check.check import check
from qwf_agent.cli.worker_check.kit import Kit
from qwf_agent.look import connection

FOLLOW = "select f.end_offset, f.tail from qwf.follow_log(%s) f"
FIRST = "line 1"
SOON_S = 3.0


@check(
    "progress",
    about="What a body reports of its progress is shown while it runs.",
    hint="give bodies a way to report, and call progress(job_id, token, fraction, message)",
    section="Renew",
)
def progress(kit: Kit) -> str:
    """Run a body that reports half, and look at its job."""
    kit.worker()
    job = kit.enqueue("check.progress", {"seconds": 2})
    kit.starts(job)
    row = kit.until(
        lambda: kit.job(job), lambda one: one["progress"] or one["status"] != "running", 3
    )
    seen = f"Progress {row['progress']}, message {row['progress_message']!r}"
    kit.expect((row["progress"], row["progress_message"]) == (0.5, "half"),
               f"{seen}; 0.5 and 'half' were reported.")  # fmt: skip
    kit.expect(row["status"] == "running", f"{seen}, but only at the end.")
    kit.completes(job)
    return f"{seen}, while the body ran."


@check(
    "checkpoint",
    about="What a body saves is there when the next attempt begins.",
    hint="give bodies the column checkpoint of claim, and a way to save: progress(job_id, token, "
    "checkpoint => value); save in a transaction that has committed before the report",
    section="Renew",
)
def checkpoint(kit: Kit) -> str:
    """Run a body that saves twice and fails, and then returns what it finds."""
    kit.worker()
    job = kit.enqueue("check.checkpoint", max_attempts=2, backoff=[0.1])
    row = kit.completes(job)
    kit.expect(row["attempt"] == 2, "The first attempt completed; it should have failed.")
    kit.expect(row["checkpoint"] == {"step": 2},
               f"The checkpoint is {row['checkpoint']}; the body saved step 2 last.")  # fmt: skip
    kit.expect(row["output"] == {"found": {"step": 2}},
               f"The second attempt returned {row['output']}; step 2 was saved.")  # fmt: skip
    return "The second attempt found what the first one saved last."


@check(
    "at-most-once",
    about="It is stored that a body begins which runs at most once.",
    hint="call progress(job_id, token, begun => true) before the body, and begin after ok; or leave"
    " writes_begun out of info",
    section="Renew",
)
def at_most_once(kit: Kit) -> str:
    """Run a body that runs at most once."""
    kit.worker()
    row = kit.completes(kit.enqueue("check.echo", {}, at_most_once=True))
    kit.expect(row["begun"], "The job has completed, but it is not stored that it began.")
    return "It was stored that the body began."


@check(
    "live-log",
    about="Who follows a running job sees what it prints.",
    hint="at the payload log ask followed_logs(worker), and call report_log once a second",
    section="Logs",
)
def live_log(kit: Kit) -> str:
    """Follow the log of a running body."""
    kit.worker()
    job = kit.enqueue("check.sleep", {"seconds": 20})
    kit.starts(job)
    asked = time.monotonic()
    within = kit.times["heartbeat"] + SOON_S

    def follow() -> tuple[int, str]:
        (row,) = connection.many(kit.conn, FOLLOW, [job])
        return row["end_offset"] or 0, row["tail"] or ""

    offset, tail = kit.until(follow, lambda one: FIRST in one[1], within)
    took = time.monotonic() - asked
    kit.expect(FIRST in tail, f"Nothing came within {within:.0f} s; the body prints all the time.")
    later, _ = kit.until(follow, lambda one: one[0] > offset, within)
    kit.expect(later > offset, f"Nothing new came within {within:.0f} s.")
    connection.call(kit.conn, "cancel_job", job_id=job)
    kit.ends(job)
    return f"The first lines came after {took:.1f} s, and more after them."


@check(
    "kept-log",
    about="What a body printed is kept with its attempt.",
    hint="put the end of what the body printed into detail.log_tail of the report",
    section="Logs",
)
def kept_log(kit: Kit) -> str:
    """Run a body that prints."""
    kit.worker()
    job = kit.enqueue("check.sleep", {"seconds": 0.5})
    kit.completes(job)
    log = connection.call(kit.conn, "read_log", job_id=job)
    kit.expect(log is not None, "No log was sent.")
    kit.expect(FIRST in log, f"The log is {log[:100]!r}; the body printed {FIRST!r}.")
    return f"The log has {len(log.splitlines())} lines."


@check(
    "empty-log",
    about="The log of a body that printed nothing is empty, and not missing.",
    hint="send an empty log_tail if the body printed nothing",
    section="Logs",
)
def empty_log(kit: Kit) -> str:
    """Run a body that does not print."""
    kit.worker()
    job = kit.enqueue("check.echo")
    kit.completes(job)
    log = connection.call(kit.conn, "read_log", job_id=job)
    kit.expect(log is not None, "No log was sent, so people read that this worker sends none.")
    kit.expect(log == "", f"The log is {log!r}; the body printed nothing.")
    return "The log is empty."


CHECKS = (progress, checkpoint, at_most_once, live_log, kept_log, empty_log)
