"""The application: its routes, and the guard in front of them."""

from __future__ import annotations

import asyncio
import contextlib
import re
import time
from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import Any

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, PlainTextResponse, Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from qwf_agent.web.pages import DATA, PAGES
from qwf_agent.web.reads import database
from qwf_agent.web.reads.snapshot import Snapshot
from qwf_agent.web.site import access, answering, listed_file, render, uploading
from qwf_agent.web.site.access import Access
from qwf_agent.web.site.files import Root
from qwf_agent.web.site.handlers import MOST_FORM, Site
from qwf_agent.web.site.health import PageHealth
from qwf_agent.web.site.trusted import Says, Trusted

STATIC = Path(__file__).with_name("static")
MOST_BODY = 3 * MOST_FORM  # as browsers send it, with characters as %XX
BODY_S = 120.0  # in which it has to come
CSP = (
    "default-src 'none'; script-src 'self'; worker-src 'self'; style-src 'self'; "
    "img-src 'self' data:; connect-src 'self'; form-action 'self'; frame-ancestors 'none'; "
    "base-uri 'none'"
)
SANDBOX_CSP = CSP.replace("script-src 'self'", "script-src 'self' 'wasm-unsafe-eval'")
HEADERS = {
    "Content-Security-Policy": CSP,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
}
ANY_HOST = ("*",)
PREFIX = re.compile(r"(/[A-Za-z0-9._~-]+)+")


def create_app(
    dsn: str, person: Says, read_only: bool = False, listen_dsn: str | None = None,
    files: Sequence[Root] = (), link_secret: bytes | None = None,
) -> ASGIApp:  # fmt: skip
    """The page as an ASGI application, to mount in one of your own.

    `person(request)` returns the name and the level (viewer, operator or admin) of who sent a
    request, or None for somebody who may not see the page; it may be a coroutine function. For
    each call, the login of `dsn` takes on the roles of that level, so it must be a member of
    qwf_viewer, qwf_producer and qwf_admin. Your application checks the Host of requests. If `dsn`
    leads through a transaction pooler, `listen_dsn` is an address without one, for LISTEN. Files
    of jobs are shown if they are below one of `files`. With a `link_secret` of at least 32 bytes,
    people can make links by which somebody without a session answers one question.
    """
    who = Trusted(dsn, person, read_only)
    return build(dsn, who, ANY_HOST, False, listen_dsn, files, link_secret)


def build(
    dsn: str, who: Access, hosts: Sequence[str], trust_proxy: bool = False,
    listen_dsn: str | None = None, files: Sequence[Root] = (), link_secret: bytes | None = None,
    sandbox: Path | None = None, inbox: Path | None = None,
) -> Guard:  # fmt: skip
    """The page for people whom `who` knows, at `hosts`: the names browsers may reach it by.

    With `trust_proxy`, X-Forwarded-Prefix and X-Forwarded-Proto say how browsers reach it. Without
    a `link_secret` there are no signed links. `sandbox` is the folder of a built sandbox, or None.
    `inbox` is the folder that takes the files of answers, or None.
    """
    data = database.Database(dsn)
    snapshot = Snapshot(data, listen_dsn)
    site = Site(data, snapshot, who, files, link_secret)
    routes = [
        *(Route(page.path, site.show(page)) for page in PAGES),
        *(Route(page.path, site.take(page), methods=["POST"]) for page in PAGES if page.take),
        *(Route(given.path, site.send(given)) for given in DATA),
        *answering.routes(site),
        *listed_file.routes(site),
        *uploading.routes(site),
        Route("/do/{action}", site.person(site.do), methods=["POST"]),
        Route("/stream", site.person(site.stream)),
        Route("/healthz", alive),
        Route("/readyz", site.ready),
        Mount("/static", StaticFiles(directory=STATIC), name="static"),
        *([Mount("/sandbox", Sandbox(directory=sandbox, html=True))] if sandbox else []),
        *who.routes(),
    ]

    @contextlib.asynccontextmanager
    async def living(app: Starlette) -> AsyncIterator[None]:
        """Ends what runs beside the requests: a task that is cancelled with the loop may hang."""
        yield
        await snapshot.close()
        await data.close()

    handlers: dict[Any, Any] = {404: absent, Exception: _failed}
    app = Starlette(routes=routes, exception_handlers=handlers, lifespan=living)
    app.state.listener = snapshot.listener
    app.state.end_streams = snapshot.end_streams
    app.state.health = PageHealth(data, snapshot.tell)
    app.state.files, app.state.makes_links = files, link_secret is not None
    app.state.sandbox = sandbox is not None
    app.state.inbox = inbox
    return Guard(app, hosts, trust_proxy)


class Sandbox(StaticFiles):
    """The files of the sandbox, with a policy that lets Postgres run: it is WebAssembly."""

    def file_response(self, *args: Any, **options: Any) -> Response:
        """As for any file, with the policy of the sandbox."""
        answer = super().file_response(*args, **options)
        answer.headers["Content-Security-Policy"] = SANDBOX_CSP
        return answer


class Guard:
    """Refuses what no person sends, and puts the headers on every answer."""

    def __init__(self, app: Starlette, hosts: Sequence[str], trust_proxy: bool) -> None:
        self.app, self._trust_proxy = app, trust_proxy
        self._hosts = tuple(host.lower() for host in hosts)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return

        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                known = {name.lower() for name, _ in message["headers"]}
                ours = [(n.lower().encode(), value.encode()) for n, value in HEADERS.items()]
                message["headers"] += [pair for pair in ours if pair[0] not in known]
            await send(message)

        if self._trust_proxy:
            scope = _as_browsers_see_it(scope)
        refused = access.refusal(Request(scope), self._hosts)
        if refused is not None:
            why, status = refused
            await PlainTextResponse(why + "\n", status)(scope, receive, with_headers)
            return
        path = scope["path"].removeprefix(scope.get("root_path", "").rstrip("/"))
        bound = (MOST_BODY, BODY_S)
        if uploading.PATH.fullmatch(path):  # written to the disk while it comes
            bound = (uploading.MOST_BODY, uploading.LONGEST_S)
        await self.app(scope, _bounded(receive, *bound), with_headers)


def _bounded(receive: Receive, most: int, longest_s: float) -> Receive:
    """Receives a body of at most `most` bytes within `longest_s`; a longer one is answered with
    413, a slower one with 408."""
    received, whole, until = 0, False, time.monotonic() + longest_s

    async def receive_some() -> Message:
        nonlocal received, whole
        if whole:  # what comes now is that the browser leaves
            return await receive()
        try:
            message = await asyncio.wait_for(receive(), max(0.0, until - time.monotonic()))
        except asyncio.TimeoutError:
            raise HTTPException(408, f"the request was not whole after {longest_s:.0f} s") from None
        whole = not message.get("more_body", False)
        received += len(message.get("body", b""))
        if received > most:
            raise HTTPException(413, f"at most {most} bytes")
        return message

    return receive_some


def _as_browsers_see_it(scope: Scope) -> Scope:
    """The request with the prefix, the protocol and the address that a proxy in front says."""
    headers = Request(scope).headers
    prefix = headers.get("x-forwarded-prefix", "").rstrip("/")
    seen = dict(scope)
    if PREFIX.fullmatch(prefix):
        seen["root_path"] = prefix
        if not scope["path"].startswith(prefix + "/"):  # the proxy has taken it off
            seen["path"] = prefix + scope["path"]
    if headers.get("x-forwarded-proto") in ("http", "https"):
        seen["scheme"] = headers["x-forwarded-proto"]
    passed_on = ",".join(headers.getlist("x-forwarded-for")).split(",")
    seen["qwf_address"] = passed_on[-1].strip()[:100]  # what is before it, anybody may have written
    return seen


async def absent(request: Request, error: Exception) -> Response:
    """The answer for an address that no page has."""
    return HTMLResponse(render.failure(request, "absent"), 404)


async def _failed(request: Request, error: Exception) -> Response:
    """The answer for what we did not expect; the server writes it into the log."""
    return HTMLResponse(render.failure(request, "wrong"), 500)


async def alive(request: Request) -> Response:
    """The answer that says that this process lives."""
    return PlainTextResponse("ok\n")
