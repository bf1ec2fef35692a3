"""Tasks of an order, which write down what they did, once for each payment."""

from __future__ import annotations

import time
from pathlib import Path

import psycopg

from qwf_agent import App, PermanentError
from qwf_agent.app import Job
from qwf_agent.config import find_dsn

app = App()
# What a body did counts only while it holds its job.
DID = """
insert into effects (what, payment)
select %s, %s from qwf.jobs j
where j.id = %s and j.attempt = %s and j.status = 'running' for share
on conflict do nothing
"""


def did(job: Job, what: str, payment: str) -> None:
    with psycopg.connect(find_dsn()) as conn:
        conn.execute(DID, [what, payment, job.id, job.attempt])


@app.task()
def charge(job: Job) -> dict[str, str]:
    payment = f"payment {job.attempt}"
    did(job, "charge", payment)
    return {"payment": payment}


@app.task()
def ship(job: Job, folder: str, payment: str) -> dict[str, str]:
    if not Path(folder, "truck").exists():
        raise PermanentError("no truck")
    did(job, "ship", payment)
    return {}


@app.task()
def refund(job: Job, payment: str) -> dict[str, str]:
    did(job, "refund", payment)
    if job.attempt == 1:
        time.sleep(600)  # it is killed before it can say that it has refunded
    return {}
