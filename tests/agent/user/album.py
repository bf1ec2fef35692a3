"""Tasks of a workflow that runs for each photo, which write down what they did."""

from __future__ import annotations

import re
import time
from pathlib import Path

import psycopg

from qwf_agent import App, PermanentError
from qwf_agent.app import Job
from qwf_agent.config import find_dsn

app = App()
# What a body did counts only while it holds its job, and once.
DONE = """
insert into effects (photo, node)
select %s, %s from qwf.jobs j
where j.id = %s and j.attempt = %s and j.status = 'running' for share
on conflict do nothing
"""


def _work(job: Job, node: str, photo: str) -> dict[str, str]:
    time.sleep(0.02)
    if photo == "broken" and node == "write":
        raise PermanentError("no such photo")
    with psycopg.connect(find_dsn()) as conn:
        conn.execute(DONE, [photo, node, job.id, job.attempt])
    return {"photo": photo}


@app.task()
def crop(job: Job, photo: str) -> dict[str, str]:
    return _work(job, "crop", photo)


@app.task()
def caption(job: Job, photo: str) -> dict[str, str]:
    return _work(job, "caption", photo)


@app.task()
def write(job: Job, photo: str) -> dict[str, str]:
    return _work(job, "write", photo)


@app.task()
def frame(job: Job, photo: str, gate: str) -> dict[str, str]:
    """Takes until a file is there."""
    while not Path(gate).exists():
        time.sleep(0.05)
    return _work(job, "frame", photo)


@app.task()
def find(job: Job, photo: str, pattern: str) -> dict[str, str]:
    """Takes a second, and fails unless the pattern matches the name."""
    time.sleep(1)
    if not re.search(pattern, photo):
        raise PermanentError(f"no {pattern} in {photo}")
    return _work(job, "find", photo)
