"""The first page: how the fleet is now."""

from __future__ import annotations

from typing import Any

from starlette.requests import Request

from qwf_agent.cli.top import fleet
from qwf_agent.web import snapshot
from qwf_agent.web.database import Look
from qwf_agent.web.page import Page


async def read(request: Request, look: Look) -> dict[str, Any]:
    """The fleet at one moment."""
    return {
        "queues": await look.rows(snapshot.QUEUES),
        "running": await look.rows(fleet.RUNNING),
        "questions": await look.rows(fleet.QUESTIONS),
    }


PAGES = (
    Page("/", "overview.html", read, topics=("queues", "fleet", "running", "failed", "questions")),
)
