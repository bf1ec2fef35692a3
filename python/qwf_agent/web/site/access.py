"""Who is at the page, what this person may do, and which requests are refused before that."""

from __future__ import annotations

import hashlib
import hmac
import ipaddress
import math
import secrets
import time
from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import psycopg
from starlette.requests import Request
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.routing import Route

from qwf_agent.web.reads import connections
from qwf_agent.web.site.page import Undo

if TYPE_CHECKING:
    from typing_extensions import LiteralString

COOKIE = "qwf_session"  # _cookie_name() makes the whole name
HOST_ONLY = "__Host-"  # browsers want the path / and TLS with it
SESSION_S = 12 * 3600
RIGHTS_S = 60  # how long known rights are used to draw buttons; each call is checked by Postgres
MOST_SESSIONS = 1000
LOCAL_HOSTS = ("127.0.0.1", "localhost", "[::1]")
LEVELS = {
    "viewer": ("qwf_viewer",),
    "operator": ("qwf_viewer", "qwf_producer"),
    "admin": ("qwf_admin",),
}
# What may be called, and as which of the roles. The page draws a button for a function of this list
# only; Postgres decides when it is called.
RIGHTS = """
select p.proname as function, r.role
from pg_proc p
cross join lateral (
  select given.role from unnest(%(roles)s::text[]) with ordinality given (role, place)
  where has_function_privilege(given.role, p.oid, 'execute')
  order by given.place limit 1
) r
where p.pronamespace = 'qwf'::regnamespace::oid
  and has_table_privilege(current_user, 'qwf.worker_overview', 'select')
"""
LACKING = """
select r.role from unnest(%(roles)s::text[]) r (role)
where not pg_has_role(current_user, r.role, 'member')
"""


class StrangerError(Exception):
    """A login that may not read the tables of qwf."""


@dataclass(frozen=True)
class Person:
    """Somebody at the page, as the database knows them: a login, and what it may call.

    `may` maps each function to the role that calls it, or to None: the login itself. `acting_for`
    is who it is by the word of a proxy or an application; the database records it beside the login.
    """

    name: str
    may: Mapping[str, str | None]
    dsn: str
    acting_for: str | None = None

    @property
    def level(self) -> str:
        """The level that the rights amount to."""
        if "change_settings" in self.may:
            return "admin"
        return "operator" if "cancel_job" in self.may else "viewer"


@dataclass
class Session:
    """Memory of the process about a browser until the session ends."""

    person: Person
    csrf: str = field(default_factory=lambda: secrets.token_urlsafe(24))
    ends_at: float = field(default_factory=lambda: time.monotonic() + SESSION_S)
    rights_at: float = field(default_factory=time.monotonic)
    notices: list[tuple[str, str, Undo | None]] = field(default_factory=list)  # shown once
    streams: int = 0
    said: tuple[str, str] | None = None  # name and level that a proxy or an application said

    @property
    def over(self) -> bool:
        """True once the session has ended."""
        return time.monotonic() >= self.ends_at

    def end(self) -> None:
        """End the session: its streams end, too."""
        self.ends_at = 0.0

    @property
    def rights_are_old(self) -> bool:
        """True if the rights were read more than a minute ago."""
        return time.monotonic() - self.rights_at > RIGHTS_S

    async def renew(self, ask: Callable[[], Awaitable[Person]]) -> None:
        """Ask again for the rights of the person, once a minute. Raises StrangerError and asks
        again the next time if there are none any more."""
        if self.rights_are_old:
            self.rights_at = time.monotonic()
            try:
                self.person = await ask()
            except StrangerError:
                self.rights_at = -math.inf
                raise


class Sessions:
    """The sessions of this process, by the secret in their cookie. A restart ends all of them."""

    def __init__(self) -> None:
        self._sessions: dict[str, Session] = {}

    def open(self, person: Person, said: tuple[str, str] | None) -> str:
        """Begin a session; returns the secret for its cookie."""
        now = time.monotonic()
        self._sessions = {k: s for k, s in self._sessions.items() if s.ends_at > now}
        while len(self._sessions) >= MOST_SESSIONS:
            self._sessions.pop(next(iter(self._sessions))).end()
        secret = secrets.token_urlsafe(32)
        self._sessions[secret] = Session(person, said=said)
        return secret

    def find(self, request: Request) -> Session | None:
        """The session of a request, unless it has ended."""
        session = self._sessions.get(request.cookies.get(_session_cookie(request), ""))
        return None if session is None or session.over else session

    def close(self, request: Request) -> None:
        """End the session of a request."""
        session = self._sessions.pop(request.cookies.get(_session_cookie(request), ""), None)
        if session is not None:
            session.end()


class Access(ABC):
    """A way of knowing who is at the page."""

    signs_out = False  # whether a person can leave

    def __init__(self) -> None:
        self.sessions = Sessions()

    @abstractmethod
    async def session(self, request: Request) -> Session | Response:
        """The session of a request, or the answer for somebody who has none."""

    @abstractmethod
    async def bearer(self, acting_for: str) -> Person:
        """Return the person for a signed link: the login of the page, acting for `acting_for`."""

    def routes(self) -> Sequence[Route]:
        """Pages of its own, such as a form to sign in."""
        return ()

    def admit(
        self, request: Request, person: Person, to: str, said: tuple[str, str] | None = None
    ) -> Response:
        """Begin a session, and send the browser on with its cookie."""
        secret = self.sessions.open(person, said)
        response = RedirectResponse(to, status_code=303, headers={"Cache-Control": "no-store"})
        _set_cookie(request, response, _session_cookie(request), secret)
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
            await session.renew(lambda: person_of(self._dsn, self._read_only))
            return session
        if request.method == "GET" and has_token(request, self._token):
            person = await person_of(self._dsn, self._read_only)
            return self.admit(request, person, _without_token(request))
        return needs_token()

    async def bearer(self, acting_for: str) -> Person:
        """The login of the page."""
        return replace(await person_of(self._dsn, self._read_only), acting_for=acting_for)


def has_token(request: Request, token: str) -> bool:
    """Return True if the address of a request has the token."""
    return hmac.compare_digest(request.query_params.get("token", "").encode(), token.encode())


def needs_token() -> Response:
    """The answer for somebody without the token."""
    return PlainTextResponse(
        "This page needs the link that `qwf web` printed: it ends in ?token=…\n", 401
    )


def _without_token(request: Request) -> str:
    here = request.url.remove_query_params("token")
    return here.path + ("?" + here.query if here.query else "")


def _session_cookie(request: Request) -> str:
    return _cookie_name(request, COOKIE, request.scope.get("root_path", ""))


def _cookie_name(request: Request, kind: str, path: str) -> str:
    """The name of a cookie of this page alone. Browsers send a cookie to all ports of a host, so
    the name depends on host, port and path. With TLS, the prefix makes browsers refuse a cookie of
    this name from other hosts and without TLS."""
    place = request.headers.get("host", "").lower() + path
    digest = hashlib.sha256(place.encode()).hexdigest()[:12]
    return f"{HOST_ONLY if _is_tls(request) else ''}{kind}_{digest}"


def _set_cookie(request: Request, response: Response, name: str, value: str) -> None:
    response.set_cookie(
        name,
        value,
        httponly=True,
        samesite="lax",  # strict: a link from a chat would ask people to sign in
        secure=_is_tls(request),
        path="/" if _is_tls(request) else request.scope.get("root_path") or "/",
    )


def _is_tls(request: Request) -> bool:
    return request.url.scheme == "https"


async def person_of(dsn: str, read_only: bool = False) -> Person:
    """The person that a login of the database is. Raises psycopg.Error, StrangerError."""
    async with connections.connect(dsn) as conn:
        name = await _login(conn)
        rights = await _rights(conn, name, (name,))
    may: dict[str, str | None] = {} if read_only else dict.fromkeys(rights)
    return Person(name, may, dsn)


async def person_at(dsn: str, level: str, acting_for: str, read_only: bool = False) -> Person:
    """The person of whom somebody we trust says this name and level (a key of LEVELS).

    The login of `dsn` takes on the roles of the level for each call, so it must be a member of
    them. Raises psycopg.Error, StrangerError.
    """
    roles = LEVELS[level]
    async with connections.connect(dsn) as conn:
        name = await _login(conn)
        lacking = [r["role"] for r in await _all(conn, LACKING, roles)]
        if lacking:
            raise StrangerError(
                f"the login {name} may not act for a person of the level {level};"
                f" a superuser lets it by: grant {', '.join(lacking)} to {name}"
            )
        rights = await _rights(conn, name, roles)
        return Person(name, {} if read_only else rights, dsn, acting_for)


async def _login(conn: connections.Connection) -> str:
    cursor = await conn.execute("select current_user::text as name")
    return str((await cursor.fetchall())[0]["name"])


async def _rights(
    conn: connections.Connection, name: str, roles: Sequence[str]
) -> dict[str, str | None]:
    try:
        rights = await _all(conn, RIGHTS, roles)
    except (psycopg.errors.InsufficientPrivilege, psycopg.errors.UndefinedTable):
        rights = []
    if not rights:
        raise StrangerError(
            f"the login {name} may not read the tables of qwf; a superuser lets it look by:"
            f" grant qwf_viewer to {name}"
        )
    return {row["function"]: row["role"] for row in rights}


async def _all(
    conn: connections.Connection, query: LiteralString, roles: Sequence[str]
) -> connections.Rows:
    return await (await conn.execute(query, {"roles": list(roles)})).fetchall()


def address_of(request: Request) -> str:
    """The address that a request came from: by the word of a proxy, if that is believed."""
    said = request.scope.get("qwf_address")
    return str(said) if said else request.client.host if request.client else "-"


def is_loopback(host: str) -> bool:
    """Return True if an address to listen on is of this machine alone."""
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return host == "localhost"


def refusal(request: Request, hosts: Sequence[str]) -> tuple[str, int] | None:
    """Why a request is refused from anybody, and the status.

    A foreign Host, the form of another site, or an address with a character that no text of
    Postgres holds.
    """
    given = request.headers.get("host", "")
    name = given.rpartition(":")[0] if given.rpartition(":")[2].isdigit() else given
    if "*" not in hosts and name.lower() not in hosts:
        return f"this page does not answer to the host {name!r}: see qwf web --name", 421
    if "\0" in request.scope["path"]:
        return "no address holds the character 0", 400
    if request.method in ("GET", "HEAD"):
        return None
    site = request.headers.get("sec-fetch-site")
    origin = request.headers.get("origin", "")
    same = site == "same-origin" or (site is None and origin.partition("://")[2] == given)
    return None if same else ("this form was sent by another site", 403)


def csrf_matches(session: Session, given: object) -> bool:
    """Return True if a form carries the token of its session."""
    return isinstance(given, str) and hmac.compare_digest(given.encode(), session.csrf.encode())
