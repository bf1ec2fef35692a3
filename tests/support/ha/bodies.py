"""A task that writes down, outside the database, when it begins and when it ends."""

from __future__ import annotations

import json
import os
import time

from qwf_agent import FROM_AGENT, App, Job

app = App()


@app.task()
def noted(seconds: float, job: Job = FROM_AGENT) -> dict[str, float]:
    note(job, "begins")
    time.sleep(seconds)
    note(job, "ends")
    return {"seconds": seconds}


def note(job: Job, what: str) -> None:
    """One write of a short line, so that lines of several processes do not mix."""
    one = {"job": job.id, "attempt": job.attempt, "what": what, "at": time.time()}
    with open(os.environ["HA_NOTES"], "a") as notes:
        notes.write(json.dumps({**one, "pid": os.getpid()}) + "\n")
