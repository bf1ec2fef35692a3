"""Signing in with a login of Postgres: for a page that other machines reach."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Sequence
from dataclasses import replace

import psycopg
from psycopg.conninfo import conninfo_to_dict, make_conninfo
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.routing import Route

from qwf_agent.config import ConfigError
from qwf_agent.web import render
from qwf_agent.web.access import Access, Person, Session, StrangerError, person_of

TRIES, PER_S = 5, 60.0  # of a name, and of an address
MOST_TRIED = 10_000
WRONG = "the login or the password is wrong"


class Tries:
    """Counts failed tries. Invariant: nobody gets more than TRIES in PER_S seconds."""

    def __init__(self) -> None:
        self._failed: dict[str, deque[float]] = {}

    def too_many(self, who: str) -> bool:
        """Whether `who` has to wait."""
        failed = self._failed.get(who, deque())
        while failed and time.monotonic() - failed[0] > PER_S:
            failed.popleft()
        return len(failed) >= TRIES

    def count(self, who: str) -> None:
        """One more that failed."""
        if len(self._failed) >= MOST_TRIED:
            self._failed = {name: at for name, at in self._failed.items() if self.too_many(name)}
        self._failed.setdefault(who, deque()).append(time.monotonic())


class SignIn(Access):
    """A person is a login of Postgres. The password stays in memory until the session ends.

    The login is checked over TCP and by SCRAM alone, so that no line of pg_hba.conf that trusts a
    socket or an address lets anybody in.
    """

    signs_out = True

    def __init__(self, dsn: str, read_only: bool = False) -> None:
        super().__init__()
        host = conninfo_to_dict(dsn).get("hostaddr") or conninfo_to_dict(dsn).get("host") or ""
        if not host or any(str(one).startswith(("/", "@")) for one in str(host).split(",")):
            raise ConfigError(
                "--sign-in checks passwords over TCP: give a --dsn with a host, such as"
                " postgresql://page@127.0.0.1/qwf"
            )
        if psycopg.pq.version() < 160000:
            raise ConfigError("--sign-in needs libpq 16 or newer: pip install -U 'psycopg[binary]'")
        self._dsn, self._read_only = dsn, read_only
        self._tries = Tries()

    def routes(self) -> Sequence[Route]:
        """The form, and the way out."""
        return (
            Route("/sign-in", self._sign_in, methods=["GET", "POST"]),
            Route("/sign-out", self._sign_out, methods=["POST"]),
        )

    async def session(self, request: Request) -> Session | Response:
        """The session, or the form."""
        session = self.sessions.find(request)
        if session is None:
            if request.method != "GET" or "hx-request" in request.headers:
                return Response("sign in first\n", 401, media_type="text/plain")
            to = render.url(request, "/sign-in", to=render.address(request))
            return RedirectResponse(to, status_code=303)
        try:
            await session.renew(lambda: person_of(session.person.dsn, self._read_only))
        except (StrangerError, psycopg.OperationalError) as error:
            if isinstance(error, StrangerError) or _is_wrong(error):  # dropped, or a new password
                self.sessions.close(request)
            raise
        return session

    async def bearer(self, actor: str) -> Person:
        """The login of the page, not that of who made the link, whose password is not kept."""
        return replace(await person_of(self._dsn, self._read_only), actor=actor)

    async def _sign_in(self, request: Request) -> Response:
        form = await request.form(max_part_size=10_000) if request.method == "POST" else None
        to = render.own_path(request, str((form or request.query_params).get("to", "")))
        if form is None:
            return _form(request, to)
        name, password = str(form.get("login", "")), str(form.get("password", ""))
        address = request.client.host if request.client else "-"
        if self._tries.too_many("login " + name) or self._tries.too_many("from " + address):
            return _form(request, to, "too many tries: wait a minute", 429)
        try:
            person = await self._check(name, password)
        except StrangerError as error:
            return _form(request, to, str(error), 403)
        except psycopg.OperationalError as error:
            if not _is_wrong(error):
                return _form(request, to, "the database does not answer", 503)
            self._tries.count("login " + name)
            self._tries.count("from " + address)
            return _form(request, to, WRONG, 401)
        self.sessions.close(request)
        return self.admit(request, person, to)

    async def _check(self, name: str, password: str) -> Person:
        if not name or not password or "\0" in name + password:  # libpq would look for others
            raise psycopg.errors.InvalidPassword(WRONG)
        options = {"user": name, "password": password, "require_auth": "scram-sha-256"}
        return await person_of(make_conninfo(self._dsn, **options), self._read_only)

    async def _sign_out(self, request: Request) -> Response:
        self.sessions.close(request)
        return RedirectResponse(render.url(request, "/sign-in"), status_code=303)


def _is_wrong(error: psycopg.OperationalError) -> bool:
    """Whether the server refused the login, rather than did not answer."""
    text = str(error)
    return isinstance(error, psycopg.errors.InvalidPassword) or any(
        words in text
        for words in (
            "password authentication failed", "no password", "pg_hba.conf", "authentication method",
            "is not permitted to log in", "does not exist", "not complete authentication",
        )
    )  # fmt: skip


def _form(request: Request, to: str, wrong: str = "", status: int = 200) -> Response:
    html = render.standing("sign_in.html", request, to=to, wrong=wrong)
    headers = {"Cache-Control": "no-store"} | ({"Retry-After": "60"} if status == 429 else {})
    return HTMLResponse(html, status, headers)
