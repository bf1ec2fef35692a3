"""Signing in with a login of Postgres: for a page that other machines reach."""

from __future__ import annotations

import asyncio
import contextlib
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
from qwf_agent.web.site import access, render
from qwf_agent.web.site.access import Access, Person, Session, StrangerError, person_of

PER_S = 60.0
# Failed tries within PER_S: of a name from one address; from an address; of a name from anywhere.
# The last two are larger, so that one stranger locks out neither a person nor all behind a proxy.
MOST_OF_PAIR, MOST_OF_ADDRESS, MOST_OF_NAME = 5, 30, 20
MOST_TRIED = 30_000  # names and addresses that are counted: strangers may give any number of them
NAME_BYTES = 63  # Postgres looks at no more of the name of a login
MOST_CHECKS = 2  # at once: each takes a connection of the server
MOST_WAITING = 20
WRONG = "the login or the password is wrong"


class Tries:
    """Counts tries that may fail. Invariant: nobody gets more than allowed in PER_S seconds, also
    if all come at once: a try counts from before its check, and is taken back if it succeeds.
    While MOST_TRIED names and addresses have tried within PER_S, nobody else may."""

    def __init__(self) -> None:
        self._at: dict[str, deque[float]] = {}
        self._swept_at = 0.0

    def begin(self, name: str, address: str) -> float | None:
        """Count one more try; returns its time, or None if there were too many."""
        most = self._most(name, address)
        if any(self._count(who) >= allowed for who, allowed in most.items()):
            return None
        now = time.monotonic()
        if len(self._at) >= MOST_TRIED and now - self._swept_at > 1:
            self._swept_at = now
            self._at = {who: at for who, at in self._at.items() if self._count(who)}
        if len(self._at) >= MOST_TRIED:
            return None
        for who in most:
            self._at.setdefault(who, deque()).append(now)
        return now

    def take_back(self, name: str, address: str, at: float) -> None:
        """That try was no failure."""
        for who in self._most(name, address):
            with contextlib.suppress(KeyError, ValueError):
                self._at[who].remove(at)

    def _most(self, name: str, address: str) -> dict[str, int]:
        name = name.encode(errors="replace")[:NAME_BYTES].decode(errors="replace")
        return {
            f"login {name} from {address}": MOST_OF_PAIR,
            f"from {address}": MOST_OF_ADDRESS,
            f"login {name}": MOST_OF_NAME,
        }

    def _count(self, who: str) -> int:
        at = self._at.get(who, deque())
        while at and time.monotonic() - at[0] > PER_S:
            at.popleft()
        return len(at)


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
        self._checks: asyncio.Semaphore | None = None  # made by the loop that uses it
        self._waiting = 0

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

    async def bearer(self, acting_for: str) -> Person:
        """The login of the page, not that of who made the link, whose password is not kept."""
        return replace(await person_of(self._dsn, self._read_only), acting_for=acting_for)

    async def _sign_in(self, request: Request) -> Response:
        form = await request.form(max_part_size=10_000) if request.method == "POST" else None
        to = render.own_path(request, str((form or request.query_params).get("to", "")))
        if form is None:
            return _form(request, to)
        name, password = str(form.get("login", "")), str(form.get("password", ""))
        if not name or not password or "\0" in name + password:  # libpq would look for others
            return _form(request, to, WRONG, 401)
        address = access.address_of(request)
        busy = self._waiting >= MOST_WAITING  # then it is not checked, and does not count
        at = None if busy else self._tries.begin(name, address)
        if at is None:
            return _form(request, to, "too many tries: wait a minute", 429)
        try:
            person = await self._check(name, password)
        except psycopg.OperationalError as error:
            if _is_wrong(error):
                return _form(request, to, WRONG, 401)
            self._tries.take_back(name, address, at)
            return _form(request, to, "the database does not answer", 503)
        except StrangerError as error:
            self._tries.take_back(name, address, at)
            return _form(request, to, str(error), 403)
        self._tries.take_back(name, address, at)
        self.sessions.close(request)
        return self.admit(request, person, to)

    async def _check(self, name: str, password: str) -> Person:
        options = {"user": name, "password": password, "require_auth": "scram-sha-256"}
        self._checks = self._checks or asyncio.Semaphore(MOST_CHECKS)
        self._waiting += 1
        try:
            async with self._checks:
                return await person_of(make_conninfo(self._dsn, **options), self._read_only)
        finally:
            self._waiting -= 1

    async def _sign_out(self, request: Request) -> Response:
        self.sessions.close(request)
        return RedirectResponse(render.url(request, "/sign-in"), status_code=303)


def _is_wrong(error: psycopg.OperationalError) -> bool:
    """Return True if the server refused the login, rather than did not answer."""
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
