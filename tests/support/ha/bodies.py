"""A task that writes down, outside the database, when it begins and when it ends."""

from __future__ import annotations

import os
import time

from qwf_agent import FROM_AGENT, App, Job
from support.notes import note

app = App()


@app.task()
def noted(seconds: float, job: Job = FROM_AGENT) -> dict[str, float]:
    tell(job, "begins")
    time.sleep(seconds)
    tell(job, "ends")
    return {"seconds": seconds}


def tell(job: Job, what: str) -> None:
    one = {"job": job.id, "attempt": job.attempt, "what": what, "at": time.time()}
    note(os.environ["HA_NOTES"], {**one, "pid": os.getpid()})
