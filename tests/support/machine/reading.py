"""Views for people, compared with what the model holds."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from support.machine.engine_model import Model
from support.machine.state import Job, require
from support.machine.workflows import ENGINE, expand

SILENT = """
select j.id from qwf.jobs j
where not exists (select from qwf.why_not(j.id) w where w !~ '^nothing it waits for')"""

Rows = Callable[..., list[Any]]  # of a statement and its arguments


def compare(rows: Rows, model: Model) -> None:
    """Assert that views and functions for people say what the model says."""
    jobs = list(model.jobs.values())
    silent = rows(SILENT)
    require(not silent, "why_not knows something about every job", silent)
    same("pending_inputs", rows("select job_id from qwf.pending_inputs"), asked(model))
    same("unassignable_jobs", rows("select id from qwf.unassignable_jobs"), unassignable(model))
    depth = "select queue, queued, scheduled, running, workers from qwf.queue_overview"
    wanted = []
    for queue in ("cpu", "default", "gpu", "llm"):
        held = [job for job in jobs if is_held(model, job) and not job.run_next]
        states = [job.status for job in jobs if job.queue == queue and job not in held]
        counts = [states.count(status) for status in ("queued", "scheduled", "running")]
        wanted.append((queue, *counts, len(model.live_workers(queue))))
    same("queue_overview", rows(depth), wanted)
    found = "select id, status::text from qwf.find_jobs(max_rows => 10000)"
    same("find_jobs", rows(found), [(job.id, job.status) for job in jobs])
    overview = "select id, done, total, failed, running, waiting from qwf.run_overview"
    same("run_overview", rows(overview), [progress_of(model, run_id) for run_id in model.runs])
    for run in model.runs.values():
        ((said,),) = rows("select qwf.run_status(%s)", run.id)
        require(said["run"]["status"] == run.status, "run_status says", said["run"], run)
        nodes = [(n["job_id"], n["status"]) for n in said["nodes"]]
        own = [job for job in jobs if job.run == run.id and job.parent is None]
        same("run_status", nodes, [(job.id, job.status) for job in own])
    for job in jobs:
        ((said,),) = rows("select qwf.result(%s)", job.id)
        found = (said["status"], said["output"])
        require(found == (job.status, job.output), "result says", said, job)


def same(what: str, found: list[Any], wanted: list[Any]) -> None:
    require(sorted(found) == sorted(wanted), f"{what} says, is to say", found, wanted)


def asked(model: Model) -> list[Any]:
    return [(job.id,) for job in model.jobs.values() if job.status == "awaiting_input"]


def unassignable(model: Model) -> list[Any]:
    """Queued jobs that no live worker could run."""
    return [
        (job.id,)
        for job in model.jobs.values()
        if job.status == "queued"
        and job.queue != ENGINE
        and not any(w.suits(job) for w in model.live_workers(job.queue))
    ]


def is_held(model: Model, job: Job) -> bool:
    return job.status == "queued" and model.is_held((str(job.queue), job.task))


def progress_of(model: Model, run_id: int) -> tuple[int, ...]:
    """Id of the run; of its nodes how many are done, there are, have failed; of its jobs, with the
    elements of maps, how many run or wait for a person."""
    jobs = [model.jobs[job_id] for job_id in model.runs[run_id].nodes.values()]
    nodes = [job.status for job in jobs if job.parent is None]
    states = [job.status for job in jobs]
    done = nodes.count("completed") + nodes.count("skipped")
    waiting = states.count("awaiting_input")
    of = len(nodes) or len(expand(model.runs[run_id].workflow))  # it waits in line
    return (run_id, done, of, nodes.count("failed"), states.count("running"), waiting)
