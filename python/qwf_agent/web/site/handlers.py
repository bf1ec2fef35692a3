"""The handlers of the pages: what each answer has in common."""

from __future__ import annotations

import hashlib
import logging
import time
from collections import deque
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import psycopg
from psycopg_pool import PoolTimeout
from starlette.datastructures import FormData
from starlette.requests import Request
from starlette.responses import (
    HTMLResponse,
    JSONResponse,
    PlainTextResponse,
    RedirectResponse,
    Response,
)

from qwf_agent.look import masking
from qwf_agent.web.reads import database
from qwf_agent.web.reads.database import FRESH_S, Look
from qwf_agent.web.reads.snapshot import BADGES, Snapshot
from qwf_agent.web.site import access, actions, render, stream
from qwf_agent.web.site.access import Access, Person, Session
from qwf_agent.web.site.files import Root
from qwf_agent.web.site.page import (
    ActionResult,
    Data,
    ElsewhereError,
    IncompleteError,
    NotFoundError,
    Page,
)

log = logging.getLogger("qwf_agent.web")
YEAR_S = 365 * 86400
MOST_FORM = 2_100_000  # bytes of a field: the longest text that the database takes
MOST_FIELDS = 5000  # of a form: a list of 200 elements has several for each
OLD_SCHEMA = (
    psycopg.errors.UndefinedTable, psycopg.errors.UndefinedColumn,
    psycopg.errors.UndefinedFunction, psycopg.errors.InvalidSchemaName,
)  # fmt: skip
MOST_PER_S, COUNTED_S = 2.0, 5.0  # refreshes whose answers are FRESH_S old; how long they count
MOST_SENT = 500  # live parts of which it is known what they were made of
OLDEST_S = 10.0  # of an answer that a refresh gets, however many tabs there are
WORDS = "select qwf.secret_keys() as words"
NOT_ARRIVED = "the database does not answer: nothing was changed as far as is known"
OUT_OF_DATE = "this form is out of date: load the page again\n"
Handler = Callable[[Request], Awaitable[Response]]


class Refreshes:
    """Counts how often open tabs ask again.

    Invariant: however many tabs are open, their statements cost about what MOST_PER_S refreshes a
    second cost: the more tabs ask, the longer an answer serves.
    """

    def __init__(self) -> None:
        self._asked: deque[float] = deque()

    def fresh_s(self, request: Request) -> float:
        """How old the answers to this request may be. Who opens a page gets new ones."""
        if "hx-request" not in request.headers:
            return database.FRESH_S
        now = time.monotonic()
        self._asked.append(now)
        while now - self._asked[0] > COUNTED_S:
            self._asked.popleft()
        per_s = len(self._asked) / COUNTED_S
        return min(OLDEST_S, max(database.FRESH_S, per_s / MOST_PER_S))


class SentParts:
    """The live parts that browsers have, and which answers each was made of.

    Invariant: a part is sent again once one of its answers is another, or the rights of the person
    were read again. Whatever else a page shows is as old as its answers: at most OLDEST_S.
    """

    def __init__(self) -> None:
        self._sent: dict[tuple[str, str], tuple[str, list[int], Person]] = {}

    def has(self, request: Request, person: Person, used: list[int]) -> bool:
        """Return True if the browser has the part that these answers make."""
        tag, *made_of = self._sent.get(_place(request), ("",))
        return made_of == [used, person] and request.headers.get("if-none-match") == tag

    def note(self, request: Request, person: Person, used: list[int], tag: str) -> None:
        """Keep in mind what is sent now."""
        self._sent.pop(_place(request), None)
        self._sent[_place(request)] = (tag, used, person)
        if len(self._sent) > MOST_SENT:
            del self._sent[next(iter(self._sent))]


def _place(request: Request) -> tuple[str, str]:
    """The browser, with its choices, and the address."""
    return request.headers.get("cookie", ""), str(request.url)


@dataclass
class Site:
    """The state that the handlers share."""

    database: database.Database
    snapshot: Snapshot
    access: Access
    files: Sequence[Root]
    link_secret: bytes | None
    refreshes: Refreshes = field(default_factory=Refreshes)
    parts: SentParts = field(default_factory=SentParts)

    def anybody(self, handler: Handler) -> Handler:
        """A handler that needs no session."""

        async def answered(request: Request) -> Response:
            try:
                return await handler(request)
            except access.StrangerError as error:
                return PlainTextResponse(f"{error}\n", 403)
            except (psycopg.Error, PoolTimeout) as error:
                return await _unavailable(request, error)

        return answered

    def person(self, handler: Callable[[Request, Session], Awaitable[Response]]) -> Handler:
        """A handler that only a person with a session reaches."""

        async def admitted(request: Request) -> Response:
            session = await self.access.session(request)
            if isinstance(session, Response):
                return session
            return await handler(request, session)

        return self.anybody(admitted)

    def show(self, page: Page) -> Handler:
        """The handler of a page."""

        async def shown(request: Request, session: Session) -> Response:
            look = Look(self.database, self.refreshes.fresh_s(request))
            self.database.expect(BADGES, look.fresh_s)
            await self.hide_secrets()
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
            await self.hide_secrets()
            found = page.take(request, look, form, call)
            return await self._answer(request, session, page, look, found)

        return self.person(taken)

    async def hide_secrets(self) -> None:
        """Show nothing in this answer that the settings call a secret."""
        rows, _ = await self.database.rows(WORDS, {}, OLDEST_S)
        masking.hide(rows[0]["words"])

    async def _answer(
        self, request: Request, session: Session, page: Page, look: Look,
        reading: Awaitable[dict[str, Any]],
    ) -> Response:  # fmt: skip
        """The page with what was found."""
        try:
            found, status, template = await reading, 200, page.template
        except (NotFoundError, IncompleteError) as error:
            status = 404 if isinstance(error, NotFoundError) else 400
            found, template = {"why": str(error), "status": status}, "not_found.html"
            page = replace(page, topics=(), every_s=None)  # it is not asked for again
        except ElsewhereError as error:
            return RedirectResponse(render.url(request, str(error)), status_code=303)
        return await self.page(template, request, session, look, found, page, status)

    async def page(
        self, template: str, request: Request, session: Session, look: Look,
        found: dict[str, Any], page: Page, status: int,
    ) -> Response:  # fmt: skip
        """The answer with a page, from what was read for it."""
        leaves = self.access.signs_out
        await self.hide_secrets()
        counts = await self.database.answer(BADGES, {}, look.fresh_s or FRESH_S)
        times = ", ".join(f"sql;dur={one.took_s * 1000:.1f}" for one in look.statements[:20])
        used = sorted([*look.used, counts.number])
        again = "hx-request" in request.headers and status == 200 and not page.topics
        again = again and "cookies" not in found
        if again and self.parts.has(request, session.person, used):
            tag = request.headers["if-none-match"]
            return Response(status_code=304, headers=_headers(True, times, tag))
        (badges,) = counts.rows
        html = render.page(template, request, session, look, found, page, leaves, badges)
        response = _tagged(request, html, status, times)
        if again:
            self.parts.note(request, session.person, used, response.headers["etag"])
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
            if isinstance(found, str):
                return PlainTextResponse(
                    found, headers=headers | {"Content-Disposition": "attachment"}
                )
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
        outcome = await self.call(request, action, form, session.person)
        kind = "done" if outcome.done else "refused"
        undo = outcome.undo
        if undo is not None:
            undo = (undo[0], [("csrf", session.csrf), ("back", back), *undo[1]])
        if "hx-request" in request.headers:
            return HTMLResponse(render.notice(request, kind, outcome.said, undo), outcome.status)
        session.notices.append((kind, outcome.said, undo))
        return RedirectResponse(back, status_code=303)

    async def _told(
        self, request: Request, session: Session, action: str, values: Mapping[str, str]
    ) -> ActionResult:
        """As `call`; the page that is shown next says that it is done."""
        outcome = await self.call(request, action, FormData(values), session.person)
        if outcome.done:
            session.notices.append(("done", outcome.said, None))
        return outcome

    async def call(
        self, request: Request, action: str, form: FormData, person: Person
    ) -> ActionResult:
        """Call a function as this person, and write a line about it into the log."""
        began = time.monotonic()
        outcome = await actions.outcome(action, form, person)
        if outcome.status == 500:
            log.warning("%s: %s", action, outcome.error)
        client = request.client.host if request.client else "-"
        log.info("%s by %s from %s: %s, %.0f ms", action, person.acting_for or person.name, client,
                 outcome.code, (time.monotonic() - began) * 1000)  # fmt: skip
        self.database.forget()
        self.snapshot.hurry()
        return outcome

    async def ready(self, request: Request) -> Response:
        """Return True if the database answers and has the schema: for a load balancer."""
        try:
            await self.database.rows("select qwf.version()", {})
        except (psycopg.Error, PoolTimeout) as error:
            log.warning("not ready: %s", error)
            return PlainTextResponse("the database does not answer, or has no qwf\n", 503)
        return PlainTextResponse("ok\n")

    async def stream(self, request: Request, session: Session) -> Response:
        """The stream of a tab."""

        async def may_look() -> bool:
            try:
                return await self.access.session(request) is session
            except access.StrangerError:
                return False
            except (psycopg.Error, PoolTimeout):
                return not session.over

        return await stream.stream(self.snapshot, session, may_look)


def _tagged(request: Request, html: str, status: int, times: str) -> Response:
    """A page, or its live part; 304 if the browser has it already."""
    partial = "hx-request" in request.headers
    body = render.live_part(html) if partial else html
    tag = '"' + hashlib.sha256(body.encode()).hexdigest()[:24] + '"'
    headers = _headers(partial, times, tag)
    if partial and request.headers.get("if-none-match") == tag:
        return Response(status_code=304, headers=headers)
    return HTMLResponse(body, status, headers)


def _headers(partial: bool, times: str, tag: str) -> dict[str, str]:
    return {
        "Cache-Control": "private, no-cache" if partial else "no-store",
        "Vary": "HX-Request, Cookie",
        "Server-Timing": times,
        "ETag": tag,
    }


def _remember(request: Request, response: Response, name: str, value: str) -> None:
    root = str(request.scope.get("root_path", ""))
    response.set_cookie(
        name, value, max_age=YEAR_S, path=root or "/", samesite="lax", httponly=True,
        secure=request.url.scheme == "https",
    )  # fmt: skip


async def _unavailable(request: Request, error: Exception) -> Response:
    """The answer to somebody whose page cannot be read, or whose form may not have arrived."""
    log.warning("%s: %s", render.address(request), error)
    if isinstance(error, psycopg.errors.QueryCanceled):
        why = "slow"
    elif isinstance(error, OLD_SCHEMA):
        why = "old"
    elif isinstance(error, psycopg.OperationalError | PoolTimeout):
        why = "lost"
    else:
        return HTMLResponse(render.failure(request, "wrong"), 500)
    if request.method == "POST" and "hx-request" in request.headers:  # its page is still there
        return HTMLResponse(render.notice(request, "refused", NOT_ARRIVED), 503)
    sent = await _sent(request) if request.method == "POST" else None
    return HTMLResponse(render.failure(request, why, sent), 503, {"Cache-Control": "no-store"})


async def _sent(request: Request) -> list[tuple[str, str]]:
    """The fields of a form, to be sent again."""
    form = await request.form(max_fields=MOST_FIELDS, max_part_size=MOST_FORM)
    return [(name, value) for name, value in form.multi_items() if isinstance(value, str)]
