"""The pages of several cells, each below its name, and a first page that shows all of them."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator, Mapping, Sequence

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from qwf_agent.web import app
from qwf_agent.web.site import access, render


def join(
    cells: Mapping[str, app.Guard], hosts: Sequence[str], trust_proxy: bool, token: str | None
) -> app.Guard:
    """One application for the pages of all cells, by name. The first page needs no database: the
    browser asks each cell. `token` opens all of them; without one, each cell asks who comes."""

    async def first(request: Request) -> Response:
        """The page with all cells. A browser that comes with the token keeps it for all of them."""
        if token is not None and not access.has_token(request, token):
            return access.needs_token()
        if "token" in request.query_params:
            return access.keep_token(request)
        html = render.standing(
            "all_cells.html", request, cells={name: render.cell_path(name) for name in cells}
        )
        return HTMLResponse(html, headers={"Cache-Control": "no-store"})

    @contextlib.asynccontextmanager
    async def alive(_: Starlette) -> AsyncIterator[None]:
        """Run the background work of each cell until this application ends."""
        async with contextlib.AsyncExitStack() as stack:
            for page in cells.values():
                await stack.enter_async_context(page.app.router.lifespan_context(page.app))
            yield

    routes = [
        Route("/", first),
        Route("/healthz", app.alive),
        Mount("/static", StaticFiles(directory=app.STATIC), name="static"),
        *(Mount(render.cell_path(name), page) for name, page in cells.items()),
    ]

    async def end_streams() -> None:
        """End the streams of all cells."""
        for page in cells.values():
            await page.app.state.end_streams()

    joined = Starlette(routes=routes, exception_handlers={404: app.absent}, lifespan=alive)
    joined.state.end_streams = end_streams
    return app.Guard(joined, hosts, trust_proxy)
