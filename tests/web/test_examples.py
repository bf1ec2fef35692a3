"""The page inside an application, and behind a real proxy."""

from __future__ import annotations

import contextlib
import importlib.util
import shutil
import socket
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx2 as httpx
import psycopg
import pytest
from psycopg import sql
from psycopg.conninfo import make_conninfo
from starlette.applications import Starlette
from starlette.testclient import TestClient

from qwf_agent.web.app import build
from qwf_agent.web.site.trusted import Header, Trusted
from support.servers import ROOT
from support.visitors import FORM

FOLDER = ROOT / "examples" / "web_in_fastapi"
PAUSED = "select paused from qwf.queues where name = 'default'"
Db = psycopg.Connection[Any]


@pytest.fixture
def login(db: Db, dsn: str) -> Iterator[str]:
    """Address of the database as a login with the roles of all levels, and no more."""
    name = f"page_{db.info.dbname}"[:60]
    db.execute(sql.SQL("create role {}").format(sql.Identifier(name)))
    db.execute(
        sql.SQL("grant qwf_viewer, qwf_producer, qwf_admin to {}").format(sql.Identifier(name))
    )
    yield make_conninfo(dsn, options=f"-c role={name}")
    db.execute(sql.SQL("drop role {}").format(sql.Identifier(name)))


# In an application --------------------------------------------------------------------------------


@pytest.fixture
def visit(login: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[str], TestClient]]:
    """A browser of somebody who has signed in to the example, or of nobody."""
    monkeypatch.setenv("QWF_DSN", login)
    spec = importlib.util.spec_from_file_location("web_in_fastapi", FOLDER / "main.py")
    assert spec is not None
    assert spec.loader is not None
    main = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(main)
    with contextlib.ExitStack() as stack:

        def start(name: str) -> TestClient:
            client = stack.enter_context(TestClient(main.app, base_url="http://127.0.0.1"))
            if name:
                client.post("/sign-in", data={"name": name, "password": name})
            return client

        yield start


def test_people_of_the_application_have_their_levels(
    visit: Callable[[str], TestClient], db: Db
) -> None:
    for name, level in (("ada", "admin"), ("bob", "operator"), ("cyd", "viewer")):
        page = visit(name).get("/queues/")
        assert page.status_code == 200
        assert f"<summary>{name}</summary>" in page.text
        assert f"<p>{level} " in page.text
        assert 'href="/queues/runs"' in page.text
        assert 'href="/runs"' not in page.text
    for name in ("", "dan"):
        assert visit(name).get("/queues/").status_code == 403


def test_only_an_admin_of_the_application_pauses_a_queue(
    visit: Callable[[str], TestClient], db: Db
) -> None:
    for name, status, paused in (("cyd", 403, False), ("bob", 403, False), ("ada", 200, True)):
        client = visit(name)
        page = client.get("/queues/")
        token = page.text.partition('name="csrf" value="')[2].partition('"')[0]
        assert ("pause_queue" in page.text) == paused
        answer = client.post(
            "/queues/do/pause_queue", data={"csrf": token, "name": "default"},
            headers={**FORM, "HX-Request": "true"},
        )  # fmt: skip
        assert (answer.status_code, db.execute(PAUSED).fetchone()) == (status, (paused,)), name


def test_a_wrong_password_and_a_foreign_host_are_refused(
    visit: Callable[[str], TestClient]
) -> None:  # fmt: skip
    client = visit("")
    assert client.post("/sign-in", data={"name": "ada", "password": "bob"}).status_code == 401
    assert client.get("/queues/").status_code == 403
    assert visit("ada").get("/queues/", headers={"Host": "evil.example"}).status_code == 400


# Behind a proxy -----------------------------------------------------------------------------------


@pytest.fixture
def proxy(login: str, serve: Callable[[Starlette], str], tmp_path: Path) -> Iterator[str]:
    """Address of the page, below /qwf behind HAProxy with the configuration of the example."""
    program = shutil.which("haproxy") or shutil.which("haproxy", path="/usr/sbin")
    if program is None:
        pytest.skip("haproxy is not installed")
    people = {"ada": "admin", "cyd": "viewer"}
    who = Trusted(login, Header("X-Remote-User", ["127.0.0.1"], people))
    page = serve(build(login, who, ["qwf.example.org"], trust_proxy=True))  # type: ignore[arg-type]
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    text = (FOLDER / "haproxy.cfg").read_text()
    for old, new in (
        ("bind :443 ssl crt /etc/haproxy/qwf.pem", f"bind 127.0.0.1:{port}"),
        ("127.0.0.1:5688\n", page.removeprefix("http://") + "\n"),
        ("X-Forwarded-Proto https", "X-Forwarded-Proto http"),
        (next(line for line in text.splitlines() if "user ada" in line),
         "\n".join(f"    user {name} insecure-password {name}" for name in ("ada", "cyd", "eve"))),
    ):  # fmt: skip
        assert text.count(old) == 1, old
        text = text.replace(old, new)
    (tmp_path / "haproxy.cfg").write_text(text)
    with subprocess.Popen([program, "-f", str(tmp_path / "haproxy.cfg"), "-db"]) as process:
        try:
            _wait_until_it_listens(port)
            yield f"http://127.0.0.1:{port}"
        finally:
            process.terminate()


def _wait_until_it_listens(port: int) -> None:
    deadline = time.monotonic() + 60
    while True:
        try:
            socket.create_connection(("127.0.0.1", port)).close()
        except OSError:
            assert time.monotonic() < deadline
            time.sleep(0.05)
        else:
            return


def browser(address: str, name: str) -> httpx.Client:
    """A browser whose user has given HAProxy name and password."""
    auth = (name, name) if name else None
    return httpx.Client(
        base_url=address, auth=auth, headers={"Host": "qwf.example.org"}, follow_redirects=True,
        timeout=60,
    )  # fmt: skip


def test_the_proxy_says_who_it_is_and_where_the_page_is(proxy: str, db: Db) -> None:
    with browser(proxy, "") as nobody:
        assert nobody.get("/qwf/").status_code == 401
        assert nobody.get("/").status_code == 503  # the page is nowhere else
    with browser(proxy, "eve") as eve:
        forged = {"X-Remote-User": "ada", "X-Forwarded-Prefix": "/evil"}
        assert eve.get("/qwf/", headers=forged).status_code == 403
    with browser(proxy, "ada") as ada:
        page = ada.get("/qwf/", headers={"X-Forwarded-Prefix": "/evil"})
        assert page.status_code == 200
        assert 'href="/qwf/runs"' in page.text
        assert "/evil" not in page.text
        assert ada.get("/qwf/static/app.css").status_code == 200
        token = page.text.partition('name="csrf" value="')[2].partition('"')[0]
        done = ada.post("/qwf/do/pause_queue", data={"csrf": token, "name": "default"},
                        headers={**FORM, "HX-Request": "true"})  # fmt: skip
        assert done.status_code == 200, done.text
        assert db.execute(PAUSED).fetchone() == (True,)


def test_the_stream_comes_through_the_proxy_while_it_is_open(proxy: str, db: Db) -> None:
    with browser(proxy, "cyd") as cyd:
        assert cyd.get("/qwf/").status_code == 200
        with cyd.stream("GET", "/qwf/stream") as events:
            assert events.headers["content-type"].startswith("text/event-stream")
            for line in events.iter_lines():
                if line.startswith("data: ") and "queues" in line:
                    break
