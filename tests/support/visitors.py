"""Visitors of the page without a browser: they follow links and send forms, as each level."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Callable
from typing import Any

import httpx2 as httpx
import psycopg
from psycopg import sql
from psycopg.conninfo import make_conninfo
from starlette.testclient import TestClient

LEVELS: dict[str, tuple[str, ...]] = {
    "stranger": (),
    "viewer": ("qwf_viewer",),
    "operator": ("qwf_viewer", "qwf_producer"),
    "admin": ("qwf_admin",),
}
TOKEN = "the-token-of-this-test"
FORM = {"Sec-Fetch-Site": "same-origin"}


class Visitor:
    """A browser without scripts: it follows links and sends the forms of pages."""

    def __init__(self, client: TestClient) -> None:
        self.client = client

    def get(self, path: str, **options: Any) -> httpx.Response:
        """A page."""
        return self.client.get(path, **options)

    def text(self, path: str) -> str:
        """The HTML of a page, which must be there."""
        answer = self.get(path)
        assert answer.status_code == 200, (path, answer.status_code, answer.text[:500])
        return answer.text

    def csrf(self) -> str:
        """The token of this session, as forms carry it."""
        found = re.search(r'name="csrf" value="([^"]+)"', self.get("/").text)
        return found[1] if found else ""

    def do(self, action: str, /, **fields: Any) -> httpx.Response:
        """Send the form of an action, also one that no page shows to this visitor."""
        return self.client.post(
            f"/do/{action}", data={"csrf": self.csrf(), **fields},
            headers={**FORM, "HX-Request": "true"},
        )  # fmt: skip


Visit = Callable[..., Visitor]


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
