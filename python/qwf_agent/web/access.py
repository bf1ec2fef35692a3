"""Who is at the page, what this person may do, and which requests are refused before that."""

from __future__ import annotations

import hmac
import ipaddress
import secrets
import time
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field

import psycopg
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from qwf_agent.web import database

COOKIE = "qwf_session"
SESSION_S = 12 * 3600
RIGHTS_S = 60  # how long known rights are used to draw buttons; each call is checked by Postgres
MOST_SESSIONS = 1000
LOCAL_HOSTS = ("127.0.0.1", "localhost", "[::1]")
# What a login may call. The page draws a button for a function of this list only; Postgres decides.
RIGHTS = """
select p.proname as function
from pg_proc p
where p.pronamespace = 'qwf'::regnamespace and has_function_privilege(p.oid, 'execute')
  and has_table_privilege('qwf.fleet', 'select')
"""


class StrangerError(Exception):
    """A login that may not read the tables of qwf."""


@dataclass(frozen=True)
class Person:
    """Somebody at the page, as the database knows them: a login, and what it may call."""

    name: str
    may: frozenset[str]
    dsn: str
    actor: str | None = None  # who it is by the word of a proxy or an application: hearsay

    @property
    def level(self) -> str:
        """The role that the rights amount to."""
        if "change_settings" in self.may:
            return "admin"
        return "operator" if "cancel_job" in self.may else "viewer"


@dataclass
class Session:
    """What the process remembers of a browser until the session ends."""

    person: Person
    csrf: str = field(default_factory=lambda: secrets.token_urlsafe(24))
    ends_at: float = field(default_factory=lambda: time.monotonic() + SESSION_S)
    rights_at: float = field(default_factory=time.monotonic)
    notices: list[tuple[str, str]] = field(default_factory=list)  # (kind, text), shown once
    streams: int = 0


class Sessions:
    """The sessions of this process, by the secret in their cookie. A restart ends all of them."""

    def __init__(self) -> None:
        self._sessions: dict[str, Session] = {}

    def open(self, person: Person) -> tuple[str, Session]:
        """A new session and the secret for its cookie."""
        now = time.monotonic()
        self._sessions = {k: s for k, s in self._sessions.items() if s.ends_at > now}
        while len(self._sessions) >= MOST_SESSIONS:
            del self._sessions[next(iter(self._sessions))]
        secret = secrets.token_urlsafe(32)
        session = self._sessions[secret] = Session(person)
        return secret, session

    def find(self, request: Request) -> Session | None:
        """The session of a request, unless it has ended."""
        session = self._sessions.get(request.cookies.get(COOKIE, ""))
        return session if session and session.ends_at > time.monotonic() else None

    def close(self, request: Request) -> None:
        """End the session of a request."""
        self._sessions.pop(request.cookies.get(COOKIE, ""), None)


class Access(ABC):
    """A way of knowing who is at the page."""

    def __init__(self) -> None:
        self.sessions = Sessions()

    @abstractmethod
    async def session(self, request: Request) -> Session | Response:
        """The session of a request, or the answer for somebody who has none."""

    def routes(self) -> Sequence[Route]:
        """Pages of its own, such as a form to sign in."""
        return ()

    def admit(self, request: Request, person: Person, to: str) -> Response:
        """Open a session, and send the browser on with its cookie."""
        secret, _ = self.sessions.open(person)
        response = RedirectResponse(to, status_code=303)
        response.set_cookie(
            COOKIE,
            secret,
            httponly=True,
            samesite="lax",  # strict would ask whoever follows a link from a chat to sign in
            secure=request.url.scheme == "https",
            path=request.scope.get("root_path") or "/",
        )
        return response


class TokenAccess(Access):
    """The page of one person on their own machine: the link that `qwf web` prints has a token."""

    def __init__(self, dsn: str, token: str, read_only: bool = False) -> None:
        super().__init__()
        self._dsn, self._token, self._read_only = dsn, token, read_only

    async def session(self, request: Request) -> Session | Response:
        """The session; a request with the token gets one."""
        session = self.sessions.find(request)
        if session is not None:
            if time.monotonic() - session.rights_at > RIGHTS_S:
                session.person, session.rights_at = await self._person(), time.monotonic()
            return session
        given = request.query_params.get("token", "")
        if request.method == "GET" and hmac.compare_digest(given.encode(), self._token.encode()):
            here = request.url.remove_query_params("token")
            to = here.path + ("?" + here.query if here.query else "")
            return self.admit(request, await self._person(), to)
        return Response(
            "This page needs the link that `qwf web` printed: it ends in ?token=…\n",
            status_code=401,
            media_type="text/plain",
        )

    async def _person(self) -> Person:
        return await person_of(self._dsn, read_only=self._read_only)


async def person_of(dsn: str, read_only: bool = False, actor: str | None = None) -> Person:
    """The person that a login of the database is. Raises psycopg.Error, StrangerError."""
    async with await database.connect(dsn) as conn:
        name = (await (await conn.execute("select current_user as name")).fetchall())[0]["name"]
        try:
            rights = await (await conn.execute(RIGHTS)).fetchall()
        except psycopg.errors.InsufficientPrivilege:
            rights = []
    if not rights:
        raise StrangerError(
            f"the login {name} may not read the tables of qwf; a superuser lets it look by:"
            f" grant qwf_viewer to {name}"
        )
    may = frozenset(row["function"] for row in rights)
    return Person(str(name), frozenset() if read_only else may, dsn, actor)


def is_loopback(host: str) -> bool:
    """Whether an address to listen on is of this machine alone."""
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return host == "localhost"


def refusal(request: Request, hosts: Sequence[str]) -> str | None:
    """Why a request is refused whoever sends it: a foreign Host, or a form of another site."""
    given = request.headers.get("host", "")
    name = given.rpartition(":")[0] if given.rpartition(":")[2].isdigit() else given
    if "*" not in hosts and name.lower() not in hosts:
        return f"this page does not answer to the host {name!r}: name it with --host-name"
    if request.method in ("GET", "HEAD"):
        return None
    site = request.headers.get("sec-fetch-site")
    origin = request.headers.get("origin", "")
    same = site == "same-origin" or (site is None and origin.partition("://")[2] == given)
    return None if same else "this form was sent by another site"


def csrf_matches(session: Session, given: object) -> bool:
    """Whether a form carries the token of its session."""
    return isinstance(given, str) and hmac.compare_digest(given.encode(), session.csrf.encode())
