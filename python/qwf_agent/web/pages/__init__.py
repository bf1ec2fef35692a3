"""The pages, in the order of the menu."""

from __future__ import annotations

from qwf_agent.web.page import Data, Page
from qwf_agent.web.pages import doctor, fleet, host, overview, queues, schedules
from qwf_agent.web.pages import doctor, overview, queues, schedules

PAGES: tuple[Page, ...] = (
    *overview.PAGES,
    *fleet.PAGES,
    *host.PAGES,
    *queues.PAGES,
    *schedules.PAGES,
    *doctor.PAGES,
)
DATA: tuple[Data, ...] = (*host.DATA,)
DATA: tuple[Data, ...] = ()
