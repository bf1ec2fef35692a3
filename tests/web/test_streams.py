"""When the stream of a tab ends: with its session, and with the rights of its person."""

from __future__ import annotations

import contextlib
import socket
import threading
from collections.abc import Callable, Iterator
from typing import Any

import httpx2 as httpx
import psycopg
import pytest
import uvicorn
from psycopg import sql
from starlette.applications import Starlette
from starlette.routing import Mount

from qwf_agent.web.app import build, create_app
from qwf_agent.web.site import access, stream
from qwf_agent.web.site.sign_in import SignIn
from support.logins import names
from support.visitors import FORM

Db = psycopg.Connection[Any]
Serve = Callable[[Starlette], str]


@pytest.fixture
def signed_in(
    passwords: str, db: Db, serve: Serve, monkeypatch: pytest.MonkeyPatch
) -> Iterator[httpx.Client]:
    """The browser of ada, who has signed in. Rights are looked at after each tick."""
    monkeypatch.setattr(stream, "TICK_S", 0.1)
    monkeypatch.setattr(access, "RIGHTS_S", 0.0)
    app: Any = build(passwords, SignIn(passwords), access.LOCAL_HOSTS)
    with httpx.Client(base_url=serve(app), timeout=60) as client:
        form = {"login": names(db)[0], "password": "right", "to": "/"}
        assert client.post("/sign-in", data=form, headers=FORM).status_code == 303
        yield client


@contextlib.contextmanager
def opened(client: httpx.Client) -> Iterator[Iterator[str]]:
    """The lines of a stream whose first tick has come."""
    with client.stream("GET", "/stream") as answer:
        assert answer.status_code == 200
        lines = answer.iter_lines()
        next(line for line in lines if line == "event: tick")
        yield lines


def leave(client: httpx.Client, db: Db) -> None:
    client.post("/sign-out", headers=FORM)


def change_password(client: httpx.Client, db: Db) -> None:
    db.execute(sql.SQL("alter role {} password 'new'").format(sql.Identifier(names(db)[0])))


def revoke(client: httpx.Client, db: Db) -> None:
    db.execute(sql.SQL("revoke qwf_admin from {}").format(sql.Identifier(names(db)[0])))


@pytest.mark.parametrize("end", [leave, change_password, revoke])
def test_a_stream_ends_with_its_session_and_with_the_rights(
    signed_in: httpx.Client, db: Db, end: Callable[[httpx.Client, Db], None]
) -> None:
    with opened(signed_in) as lines:
        end(signed_in, db)
        list(lines)  # returns only when the stream has ended
    assert signed_in.get("/stream").status_code == 303  # to the form


def test_a_stream_ends_by_itself_and_may_be_opened_again(
    signed_in: httpx.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stream, "LONGEST_S", 0.5)
    for _ in range(stream.MOST_STREAMS + 1):
        with opened(signed_in) as lines:
            list(lines)  # returns only when the stream has ended


def test_an_application_around_the_page_stops_while_a_tab_is_open(
    db: Db, dsn: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without --timeout-graceful-shutdown, uvicorn waits for all streams."""
    monkeypatch.setattr(stream, "TICK_S", 0.1)
    monkeypatch.setattr(stream, "LONGEST_S", 2.0)
    page = create_app(dsn, person=lambda request: ("ada", "admin"))
    app = Starlette(routes=[Mount("/queues", page)])
    with socket.create_server(("127.0.0.1", 0)) as listener:
        server = uvicorn.Server(uvicorn.Config(app, log_level="warning"))
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, daemon=True)
        thread.start()
        address = f"http://127.0.0.1:{listener.getsockname()[1]}/queues"
        with (
            httpx.Client(timeout=60, follow_redirects=True) as client,
            client.stream("GET", address + "/stream") as answer,
        ):
            assert answer.status_code == 200
            next(line for line in answer.iter_lines() if line == "event: tick")
            server.should_exit = True
            thread.join(timeout=60)
    assert not thread.is_alive()
