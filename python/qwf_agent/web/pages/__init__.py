"""The pages, in the order of the menu."""

from __future__ import annotations

from qwf_agent.web.page import Page
from qwf_agent.web.pages import doctor, overview, queues, schedules

PAGES: tuple[Page, ...] = (
    *overview.PAGES,
    *queues.PAGES,
    *schedules.PAGES,
    *doctor.PAGES,
)
