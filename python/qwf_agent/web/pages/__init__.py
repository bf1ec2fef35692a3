"""The pages, in the order of the menu."""

from __future__ import annotations

from qwf_agent.web.pages import (
    audit,
    doctor,
    events,
    failures,
    fleet,
    host,
    inputs,
    job,
    jobs,
    overview,
    preview,
    question,
    queues,
    run,
    run_map,
    runs,
    schedule,
    schedules,
    search,
    start,
    workflow,
    workflows,
)
from qwf_agent.web.site.page import Data, Page

PAGES: tuple[Page, ...] = (
    *overview.PAGES,
    *runs.PAGES,
    *run.PAGES,
    *run_map.PAGES,
    *jobs.PAGES,
    *job.PAGES,
    *failures.PAGES,
    *fleet.PAGES,
    *host.PAGES,
    *inputs.PAGES,
    *question.PAGES,
    *queues.PAGES,
    *schedules.PAGES,
    *schedule.PAGES,
    *events.PAGES,
    *workflows.PAGES,
    *preview.PAGES,
    *start.PAGES,
    *workflow.PAGES,
    *audit.PAGES,
    *doctor.PAGES,
    *search.PAGES,
)
DATA: tuple[Data, ...] = (
    *overview.DATA,
    *run.DATA,
    *run_map.DATA,
    *job.DATA,
    *host.DATA,
    *queues.DATA,
    *preview.DATA,
    *workflow.DATA,
)
