"""One question: what is asked, the form for the answer, and what came of it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from starlette.requests import Request

from qwf_agent.web.forms import questions
from qwf_agent.web.forms.questions import AskedQuestion
from qwf_agent.web.reads.database import Look
from qwf_agent.web.site import inbox, render
from qwf_agent.web.site.page import Page

RUN = "select * from qwf.run_overview where id = %(run)s"
# What moves in the run: elements of maps only if they run or failed.
NODES = """
select j.id, j.node_id, j.status, j.progress, left(j.progress_message, 200) as message,
  j.queue, j.claimed_by, left(j.last_error, 2000) as error,
  extract(epoch from coalesce(j.finished_at, qwf.now()) - j.claimed_at)::float8 as seconds
from qwf.job_details j
where j.run_id = %(run)s and (j.node_idx is not null or j.status in ('running', 'failed'))
order by array_position(
    array['failed', 'awaiting_input', 'running', 'queued', 'scheduled', 'blocked']::text[],
    j.status::text) nulls last, j.finished_at desc, j.id
limit 15
"""
NEXT = """
select p.job_id, left(p.prompt, 200) as prompt, p.node_id, p.task, p.run_id
from qwf.pending_inputs p
where p.job_id <> %(job)s
order by (p.run_id = %(run)s) desc nulls last, p.since
limit 1
"""


async def read(request: Request, look: Look) -> dict[str, Any]:
    """The question of a job, and its run."""
    if "asked" in request.query_params:  # it was answered just now
        look.fresh_s = 0.0
    return await facts(request, look)


async def facts(request: Request, look: Look) -> dict[str, Any]:
    """Data of the template, before anybody has sent the form."""
    reader = questions.Reader(look, request.app.state.files, render.url(request, "/files"))
    question = await reader.read(request.path_params["job"])
    answered = request.query_params.get("asked", "")
    uploaded = _uploaded(request)
    form = question.form
    if form is not None and uploaded and form.kind in ("file", "files"):
        paths = list(uploaded.values())
        text = "\n".join(paths if form.kind == "files" else paths[-1:])
        form = replace(form, entered=text, chosen=frozenset())
    chosen = request.query_params.get("choose", "")
    if form is not None and form.kind == "choice" and chosen in {one.key for one in form.options}:
        form = replace(form, chosen=frozenset([chosen]))
    return {
        "question": question,
        "form": form,
        "filled": bool(uploaded) or (form is not None and form is not question.form),
        "takes_upload": request.app.state.inbox is not None
        and form is not None
        and form.kind in ("file", "files"),
        "uploaded": list(uploaded),
        "sent": False,
        "said": "",
        "unsent": "",
        "made": None,
        "makes_links": request.app.state.makes_links,
        "answered": questions.draft_of(question.job["job_id"], answered) if answered else "",
        **await progress(look, question),
    }


def _uploaded(request: Request) -> dict[str, str]:
    """The files that were uploaded just now, which the address names: their names and paths."""
    folder = request.app.state.inbox
    names = request.query_params.getlist("uploaded")[:21] if folder is not None else []
    found = {name: inbox.path_of(folder, name) for name in names}
    return {name: path for name, path in found.items() if path is not None}


async def progress(look: Look, question: AskedQuestion) -> dict[str, Any]:
    """Where the run of a question is, and the question to answer next. Only the run's own state
    while the question waits."""
    run = question.job["run_id"]
    following = None
    if not question.waits:
        following = await look.row(NEXT, job=question.job["job_id"], run=run)
    return {
        "run": None if run is None else await look.row(RUN, run=run),
        "nodes": [] if run is None or question.waits else await look.rows(NODES, run=run),
        "following": following,
    }


PAGES = (Page("/inputs/{job:int}", "question.html", read, topics=("questions", "runs"), every_s=2),)
