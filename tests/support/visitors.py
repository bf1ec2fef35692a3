"""Visitors of the page without a browser: they follow links and send forms, as each level."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any
from unittest import mock

import httpx2 as httpx
import psycopg
from psycopg import sql
from psycopg.conninfo import make_conninfo
from starlette.testclient import TestClient

from qwf_agent.web.app import build
from qwf_agent.web.reads import servers
from qwf_agent.web.site import access

LEVELS: dict[str, tuple[str, ...]] = {
    "stranger": (),
    "viewer": ("qwf_viewer",),
    "operator": ("qwf_viewer", "qwf_producer"),
    "admin": ("qwf_admin",),
}
MAY = """
select p.proname from pg_proc p
where p.pronamespace = 'qwf'::regnamespace and has_function_privilege(%s, p.oid, 'execute')
"""
TOKEN = "the-token-of-this-test"
FORM = {"Sec-Fetch-Site": "same-origin"}


class Visitor:
    """A browser without scripts: it follows links and sends the forms of pages."""

    def __init__(
        self, client: TestClient, sessions: access.Sessions, rights: frozenset[str]
    ) -> None:
        self.client = client
        self._sessions = sessions
        self._rights = rights

    def may(self, action: str) -> bool:
        """Return True if the role of this visitor may call the function, by Postgres."""
        return action in self._rights

    def get(self, path: str, **options: Any) -> httpx.Response:
        """A page."""
        return self.client.get(path, **options)

    def text(self, path: str) -> str:
        """The HTML of a page, which must be there."""
        answer = self.get(path)
        assert answer.status_code == 200, (path, answer.status_code, answer.text[:500])
        return answer.text

    def csrf(self) -> str:
        """The token of this session, as forms carry it; also for those who see no form."""
        cookies = self.client.cookies.items()
        secret = next((value for name, value in cookies if access.COOKIE in name), "")
        found = session(self._sessions, secret)
        return found.csrf if found else ""

    def do(self, action: str, /, **fields: Any) -> httpx.Response:
        """Send the form of an action, also one that no page shows to this visitor."""
        return self.client.post(
            f"/do/{action}", data={"csrf": self.csrf(), **fields},
            headers={**FORM, "HX-Request": "true"},
        )  # fmt: skip


Visit = Callable[..., Visitor]


def entrance(address: str, path: str) -> str:
    """Address of a page that a browser without a session may open: it gets one there."""
    return f"{address}{path}{'&' if '?' in path else '?'}token={TOKEN}"


def session(sessions: access.Sessions, secret: str) -> access.Session | None:
    """The session of a browser whose cookie has this secret."""
    found = sessions._sessions.get(secret)
    return None if found is None or found.over else found


def login(db: psycopg.Connection[Any], dsn: str, level: str) -> str:
    """Address of the database as a role with the rights of this level alone."""
    role = f"web_test_{level}"
    if not db.execute("select from pg_roles where rolname = %s", (role,)).fetchone():
        with contextlib.suppress(psycopg.errors.DuplicateObject, psycopg.errors.UniqueViolation):
            db.execute(sql.SQL("create role {}").format(sql.Identifier(role)))
        for granted in LEVELS[level]:
            db.execute(
                sql.SQL("grant {} to {}").format(sql.Identifier(granted), sql.Identifier(role))
            )
    return make_conninfo(dsn, options=f"-c role={role}")


@contextlib.contextmanager
def visitor(db: psycopg.Connection[Any], dsn: str, level: str, **options: Any) -> Iterator[Visitor]:
    """A visitor of that level, on any database; keywords go to build. The page has one connection:
    each more would compile the same views again."""
    where = login(db, dsn, level)
    who = access.TokenAccess(where, TOKEN)
    app = build(where, who, access.LOCAL_HOSTS, **options)
    one_connection = mock.patch.object(servers, "MOST_CONNECTIONS", 1)
    with one_connection, TestClient(app, base_url="http://127.0.0.1") as client:
        client.get("/", params={"token": TOKEN}, follow_redirects=False)  # draws no page
        rights = db.execute(MAY, (f"web_test_{level}",)).fetchall()
        yield Visitor(client, who.sessions, frozenset(name for (name,) in rights))
