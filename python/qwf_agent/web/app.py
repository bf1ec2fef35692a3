"""The application: its routes, and what every answer has in common."""

from __future__ import annotations

import hashlib
import logging
import re
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import psycopg
from psycopg_pool import PoolTimeout
from starlette.applications import Starlette
from starlette.datastructures import FormData
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import (
    HTMLResponse,
    JSONResponse,
    PlainTextResponse,
    RedirectResponse,
    Response,
)
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from qwf_agent.web import access, actions, database, render, stream
from qwf_agent.web.access import Access, Person, Session
from qwf_agent.web.database import Look
from qwf_agent.web.health import Health
from qwf_agent.web.page import Data, ElsewhereError, NotFoundError, Outcome, Page
from qwf_agent.web.pages import DATA, PAGES
from qwf_agent.web.snapshot import BADGES, Snapshot
from qwf_agent.web.trusted import Says, Trusted

log = logging.getLogger("qwf_agent.web")
STATIC = Path(__file__).with_name("static")
YEAR_S = 365 * 86400
MOST_FORM = 2_100_000  # bytes of a field: the longest text that the database takes
MOST_BODY = 3 * MOST_FORM  # as browsers send it, with characters as %XX
MOST_FIELDS = 2000  # of a form: a list of 200 elements has several for each
CSP = (
    "default-src 'none'; script-src 'self'; worker-src 'self'; style-src 'self'; "
    "img-src 'self' data:; connect-src 'self'; form-action 'self'; frame-ancestors 'none'; "
    "base-uri 'none'"
)
HEADERS = {
    "Content-Security-Policy": CSP,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
}
ANY_HOST = ("*",)
PREFIX = re.compile(r"(/[A-Za-z0-9._~-]+)+")
OLD_SCHEMA = (
    psycopg.errors.UndefinedTable, psycopg.errors.UndefinedColumn,
    psycopg.errors.UndefinedFunction, psycopg.errors.InvalidSchemaName,
)  # fmt: skip
OUT_OF_DATE = "this form is out of date: load the page again\n"
Handler = Callable[[Request], Awaitable[Response]]


@dataclass
class Site:
    """What the handlers share."""

    database: database.Database
    snapshot: Snapshot
    access: Access

    def person(self, handler: Callable[[Request, Session], Awaitable[Response]]) -> Handler:
        """A handler that only a person with a session reaches."""

        async def admitted(request: Request) -> Response:
            try:
                session = await self.access.session(request)
                if isinstance(session, Response):
                    return session
                return await handler(request, session)
            except access.StrangerError as error:
                return PlainTextResponse(f"{error}\n", 403)
            except (psycopg.Error, PoolTimeout) as error:
                return _unavailable(request, error)

        return admitted

    def show(self, page: Page) -> Handler:
        """The handler of a page."""

        async def shown(request: Request, session: Session) -> Response:
            look = Look(self.database)
            return await self._answer(request, session, page, look, page.read(request, look))

        return self.person(shown)

    def take(self, page: Page) -> Handler:
        """The handler of a form that is sent to the page that shows it."""

        async def taken(request: Request, session: Session) -> Response:
            assert page.take is not None  # noqa: S101 - only such pages have this route
            form = await request.form(max_fields=MOST_FIELDS, max_part_size=MOST_FORM)
            if not access.csrf_matches(session, form.get("csrf")):
                return PlainTextResponse(OUT_OF_DATE, 403)
            look, call = Look(self.database), partial(self._told, request, session)
            found = page.take(request, look, form, call)
            return await self._answer(request, session, page, look, found)

        return self.person(taken)

    async def _answer(
        self, request: Request, session: Session, page: Page, look: Look,
        reading: Awaitable[dict[str, Any]],
    ) -> Response:  # fmt: skip
        """The page with what was found."""
        try:
            found, status, template = await reading, 200, page.template
        except NotFoundError as error:
            found, status, template = {"why": str(error)}, 404, "not_found.html"
        except ElsewhereError as error:
            return RedirectResponse(render.url(request, str(error)), status_code=303)
        leaves = self.access.signs_out
        (badges,), _ = await self.database.rows(BADGES, {})
        html = render.page(template, request, session, look, found, page, leaves, badges)
        times = ", ".join(f"sql;dur={s.took_s * 1000:.1f}" for s in look.statements[:20])
        response = _tagged(request, html, status, times)
        for name, value in found.get("cookies", {}).items():
            _remember(request, response, name, value)
        return response

    def send(self, data: Data) -> Handler:
        """The handler of what a script fetches."""

        async def sent(request: Request, session: Session) -> Response:
            try:
                found = await data.read(request, Look(self.database))
            except NotFoundError as error:
                return JSONResponse({"why": str(error)}, 404)
            headers = {"Cache-Control": f"private, max-age={data.fresh_s}", "Vary": "Cookie"}
            return JSONResponse(found, headers=headers)

        return self.person(sent)

    async def do(self, request: Request, session: Session) -> Response:
        """Call the function that a form names, and show the page of the form again."""
        action = request.path_params["action"]
        form = await request.form(max_fields=MOST_FIELDS, max_part_size=MOST_FORM)
        back = render.own_path(request, str(form.get("back", "")))
        if not access.csrf_matches(session, form.get("csrf")):
            return PlainTextResponse(OUT_OF_DATE, 403)
        if action not in actions.ACTIONS:
            return PlainTextResponse("there is no such action\n", 404)
        if (why := _forbidden(session.person, action)) is not None:
            return HTMLResponse(render.notice("refused", why), 403)
        outcome = await self._call(request, session, action, form)
        kind = "done" if outcome.done else "refused"
        if "hx-request" in request.headers:
            return HTMLResponse(render.notice(kind, outcome.said), outcome.status)
        session.notices.append((kind, outcome.said))
        return RedirectResponse(back, status_code=303)

    async def _call(
        self, request: Request, session: Session, action: str, form: FormData
    ) -> Outcome:
        """Call the function of an action as the person, and write it into the log."""
        began, code = time.monotonic(), "ok"
        try:
            rows = await actions.perform(action, form, session.person)
            value = next(iter(rows[0].values())) if rows else None
            outcome = Outcome(actions.told(action, form, rows), value=value)
        except actions.UnknownFieldError as error:
            code, outcome = "-", Outcome(f"the action has no field {error}", 422)
        except psycopg.Error as error:
            code = error.sqlstate or type(error).__name__
            said, status = actions.refused(error)
            outcome = Outcome(said, status, detail=error.diag.message_detail)
            if status == 500:
                log.warning("%s: %s", action, error)
        client = request.client.host if request.client else "-"
        who = session.person.actor or session.person.name
        log.info("%s by %s from %s: %s, %.0f ms", action, who, client, code,
                 (time.monotonic() - began) * 1000)  # fmt: skip
        self.database.forget()
        self.snapshot.hurry()
        return outcome

    async def _told(
        self, request: Request, session: Session, action: str, values: Mapping[str, str]
    ) -> Outcome:
        """As _call; the page that is shown next says that it is done."""
        if (why := _forbidden(session.person, action)) is not None:
            return Outcome(why, 403)
        outcome = await self._call(request, session, action, FormData(values))
        if outcome.done:
            session.notices.append(("done", outcome.said))
        return outcome

    async def ready(self, request: Request) -> Response:
        """Whether the database answers and has the schema: for a load balancer."""
        try:
            await self.database.rows("select qwf.version()", {})
        except (psycopg.Error, PoolTimeout) as error:
            log.warning("not ready: %s", error)
            return PlainTextResponse("the database does not answer, or has no qwf\n", 503)
        return PlainTextResponse("ok\n")

    async def stream(self, request: Request, session: Session) -> Response:
        """The stream of a tab."""
        return await stream.stream(self.snapshot, session)


def create_app(
    dsn: str, person: Says, read_only: bool = False, listen_dsn: str | None = None
) -> ASGIApp:
    """The page as an ASGI application, to mount in one of your own.

    `person(request)` returns the name and the level (viewer, operator or admin) of who sent a
    request, or None for somebody who may not see the page; it may be a coroutine function. For
    each call, the login of `dsn` takes on the roles of that level, so it must be a member of
    qwf_viewer, qwf_producer and qwf_admin. Your application checks the Host of requests. If `dsn`
    leads through a transaction pooler, `listen_dsn` is an address without one, for LISTEN.
    """
    return build(dsn, Trusted(dsn, person, read_only), ANY_HOST, listen_dsn=listen_dsn)


def build(
    dsn: str, who: Access, hosts: Sequence[str], trust_proxy: bool = False,
    listen_dsn: str | None = None,
) -> ASGIApp:  # fmt: skip
    """The page for people whom `who` knows, at `hosts`: the names browsers may reach it by.

    With `trust_proxy`, X-Forwarded-Prefix and X-Forwarded-Proto say how browsers reach it.
    """
    data = database.Database(dsn)
    snapshot = Snapshot(data, listen_dsn)
    site = Site(data, snapshot, who)
    routes = [
        *(Route(page.path, site.show(page)) for page in PAGES),
        *(Route(page.path, site.take(page), methods=["POST"]) for page in PAGES if page.take),
        *(Route(given.path, site.send(given)) for given in DATA),
        Route("/do/{action}", site.person(site.do), methods=["POST"]),
        Route("/stream", site.person(site.stream)),
        Route("/healthz", _alive),
        Route("/readyz", site.ready),
        Mount("/static", StaticFiles(directory=STATIC), name="static"),
        *who.routes(),
    ]
    app = Starlette(routes=routes)
    app.state.listener = snapshot.listener
    app.state.health = Health(data, snapshot.tell)
    return Guard(app, hosts, trust_proxy)


class Guard:
    """Refuses what no person sends, and puts the headers on every answer."""

    def __init__(self, app: ASGIApp, hosts: Sequence[str], trust_proxy: bool) -> None:
        self._app, self._trust_proxy = app, trust_proxy
        self._hosts = tuple(host.lower() for host in hosts)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
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
        await self._app(scope, _bounded(receive), with_headers)


def _bounded(receive: Receive) -> Receive:
    """Receives a body of at most MOST_BODY bytes; a longer one is answered with 413."""
    received = 0

    async def receive_some() -> Message:
        nonlocal received
        message = await receive()
        received += len(message.get("body", b""))
        if received > MOST_BODY:
            raise HTTPException(413, f"at most {MOST_BODY} bytes")
        return message

    return receive_some


def _forbidden(person: Person, action: str) -> str | None:
    """Why a person is not even tried; what a login may do, Postgres decides."""
    if not person.may:
        return "this page is read-only"
    if person.actor is not None and action not in person.may:
        return "your level may not do this"
    return None


def _as_browsers_see_it(scope: Scope) -> Scope:
    """The request with the prefix and the protocol that a proxy in front says."""
    headers = Request(scope).headers
    prefix = headers.get("x-forwarded-prefix", "").rstrip("/")
    seen = dict(scope)
    if PREFIX.fullmatch(prefix):
        seen["root_path"] = prefix
        if not scope["path"].startswith(prefix + "/"):  # the proxy has taken it off
            seen["path"] = prefix + scope["path"]
    if headers.get("x-forwarded-proto") in ("http", "https"):
        seen["scheme"] = headers["x-forwarded-proto"]
    return seen


def _tagged(request: Request, html: str, status: int, times: str) -> Response:
    """A page, or its live part; 304 if the browser has it already."""
    partial = "hx-request" in request.headers
    body = render.live_part(html) if partial else html
    tag = '"' + hashlib.sha256(body.encode()).hexdigest()[:24] + '"'
    headers = {
        "Cache-Control": "private, no-cache" if partial else "no-store",
        "Vary": "HX-Request, Cookie",
        "Server-Timing": times,
        "ETag": tag,
    }
    if partial and request.headers.get("if-none-match") == tag:
        return Response(status_code=304, headers=headers)
    return HTMLResponse(body, status, headers)


def _remember(request: Request, response: Response, name: str, value: str) -> None:
    root = str(request.scope.get("root_path", ""))
    response.set_cookie(
        name, value, max_age=YEAR_S, path=root or "/", samesite="lax", httponly=True,
        secure=request.url.scheme == "https",
    )  # fmt: skip


def _unavailable(request: Request, error: Exception) -> Response:
    """What somebody sees whose page cannot be read."""
    log.warning("%s: %s", request.url.path, error)
    if isinstance(error, psycopg.errors.QueryCanceled):
        why = "slow"
    elif isinstance(error, OLD_SCHEMA):
        why = "old"
    elif isinstance(error, psycopg.OperationalError | PoolTimeout):
        why = "lost"
    else:
        return HTMLResponse(render.failure(request, "wrong"), 500)
    return HTMLResponse(render.failure(request, why), 503)


async def _alive(request: Request) -> Response:
    return PlainTextResponse("ok\n")
