"""One file that a job has listed: sent if it is here, or a page that says where it is."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from qwf_agent.web.reads.database import Look
from qwf_agent.web.site import files, listed_table, send_file
from qwf_agent.web.site.access import Session
from qwf_agent.web.site.handlers import Site
from qwf_agent.web.site.page import NotFoundError, Page

FILE = "select * from qwf.file_overview f where f.job_id = %(job)s and f.file_no = %(number)s"


def routes(site: Site) -> tuple[Route, ...]:
    """The address of each file."""
    return (
        Route(PAGE.path, site.person(partial(_send, site))),
        Route(TABLE.path, site.person(partial(_show_table, site))),
    )


async def read(request: Request, look: Look) -> dict[str, Any]:
    """The row of the file of this address."""
    found = await _find(look, request.path_params["job"], request.path_params["number"])
    return {"file": found, "served": bool(request.app.state.files)}


async def picture(
    roots: Sequence[files.Root], look: Look, request: Request, job: int, number: int
) -> Response:
    """The file, or one line that says why not."""
    try:
        return await _served(roots, request, await _find(look, job, number))
    except files.FileRefused as error:
        return PlainTextResponse(f"{error}\n", error.status)
    except NotFoundError as error:
        return PlainTextResponse(f"{error}\n", 404)


async def _find(look: Look, job: int, number: int) -> dict[str, Any]:
    row = await look.row(FILE, job=job, number=number)
    if row is None:
        raise NotFoundError(
            f"Job {job} has no file number {number}: it has listed fewer, or it was deleted."
        )
    return row


async def _served(roots: Sequence[files.Root], request: Request, row: dict[str, Any]) -> Response:
    return await send_file.serve(
        roots,
        row,
        method=request.method,
        headers=request.headers,
        download="download" in request.query_params,
    )


async def _send(site: Site, request: Request, session: Session) -> Response:
    """The file, or the page that says why it is not sent."""
    look = Look(site.database)
    template, status = PAGE.template, 404
    try:
        found = await read(request, look)
        return await _served(site.files, request, found["file"])
    except NotFoundError as error:
        template, found = "not_found.html", {"why": str(error)}
    except files.FileRefused as error:
        found |= {"why": str(error), "scp": error.scp}
        status = error.status
    return await site.page(template, request, session, look, found, PAGE, status)


async def _show_table(site: Site, request: Request, session: Session) -> Response:
    """The first rows of a CSV file, or the page that says why not."""
    look = Look(site.database)
    page, status = TABLE, 200
    template = TABLE.template
    try:
        found = await read(request, look)
        found |= {"table": await listed_table.read(site.files, found["file"])}
    except NotFoundError as error:
        template, found, status = "not_found.html", {"why": str(error)}, 404
    except files.FileRefused as error:
        template, page = PAGE.template, PAGE
        found |= {"why": str(error), "scp": error.scp}
        status = error.status
    return await site.page(template, request, session, look, found, page, status)


TABLE = Page("/files/{job:int}/{number:int}/table", "listed_table.html", read)
PAGE = Page("/files/{job:int}/{number:int}", "listed_file.html", read)
