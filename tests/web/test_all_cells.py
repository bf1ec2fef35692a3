"""The page of several cells: each below its name, and the first page with all of them."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx2 as httpx
import psycopg
import pytest
from playwright.sync_api import Page, expect
from psycopg.conninfo import make_conninfo
from starlette.applications import Starlette
from starlette.testclient import TestClient

from qwf_agent import migrate
from qwf_agent.web import all_cells
from qwf_agent.web.app import build
from qwf_agent.web.site import access
from support.browser import Pages
from support.servers import ROOT, Server
from support.visitors import FORM

AXE = Path(__file__).with_name("vendor") / "axe.min.js"
TOKEN = "the-token-of-all-cells"
BASE = "http://127.0.0.1"


@pytest.fixture(scope="module")
def cells(server: Server, template: str) -> Iterator[dict[str, str]]:
    """Two databases, cell 0 and cell 1 of two; the second one has a queue with two jobs."""
    with (
        server.database(server.new_name(), template) as north,
        server.database(server.new_name(), template) as south,
    ):
        found = {"north": server.dsn(north.dbname), "south": server.dsn(south.dbname)}
        for number, dsn in enumerate(found.values()):
            with psycopg.connect(dsn, autocommit=True) as conn:
                conn.execute(migrate.Cell(number, 2).script().read().encode())
        with psycopg.connect(found["south"], autocommit=True) as conn:
            conn.execute("select qwf.create_queue('mail')")
            conn.execute("select qwf.enqueue('send', queue => 'mail') from generate_series(1, 2)")
        yield found


def joined(cells: dict[str, str], trust_proxy: bool = False) -> Starlette:
    """The application of these cells, for who has the token."""
    hosts = access.LOCAL_HOSTS
    pages = {
        name: build(dsn, access.TokenAccess(dsn, TOKEN), hosts, cell=name)
        for name, dsn in cells.items()
    }
    app: Any = all_cells.join(pages, hosts, trust_proxy, TOKEN)
    return app


@pytest.fixture
def client(cells: dict[str, str]) -> Iterator[TestClient]:
    with TestClient(joined(cells), base_url=BASE) as client:
        yield client


def test_the_token_opens_all_cells_and_nothing_opens_without_it(client: TestClient) -> None:
    for path in ("/", "/cell/north/", "/cell/south/glance"):
        assert client.get(path).status_code == 401, path
    first = client.get("/", params={"token": TOKEN})
    assert first.url == f"{BASE}/"
    assert "/cell/north/" in first.text
    assert "<title>Overview · north · qwf" in client.get("/cell/north/").text
    assert client.get("/cell/west/").status_code == 404
    assert client.get("/healthz").text == "ok\n"


def test_each_cell_says_its_own_figures(client: TestClient) -> None:
    client.get("/", params={"token": TOKEN})
    north, south = (client.get(f"/cell/{name}/glance").json() for name in ("north", "south"))
    assert (north["cell"], north["cells"], north["queued"]) == (0, 2, 0)
    assert (south["cell"], south["cells"], south["queued"]) == (1, 2, 2)
    assert south["held"] == ["mail"]


def test_a_form_of_one_cell_changes_that_cell(client: TestClient, cells: dict[str, str]) -> None:
    client.get("/", params={"token": TOKEN})
    client.get("/cell/north/")
    queue = client.get("/cell/south/queues/mail").text
    csrf = queue.partition('name="csrf" value="')[2].partition('"')[0]
    for name, status in (("south", 200), ("north", 403)):  # each cell has a session of its own
        answer = client.post(
            f"/cell/{name}/do/pause_queue", data={"csrf": csrf, "name": "mail"},
            headers={**FORM, "HX-Request": "true"},
        )  # fmt: skip
        assert answer.status_code == status, answer.text
    with psycopg.connect(cells["south"], autocommit=True) as conn:
        assert conn.execute("select paused from qwf.queues where name = 'mail'").fetchone() == (
            True,
        )
        conn.execute("select qwf.resume_queue('mail')")


def test_a_proxy_may_put_all_cells_below_a_prefix(cells: dict[str, str]) -> None:
    with TestClient(joined(cells, trust_proxy=True), base_url=BASE) as client:
        client.headers["X-Forwarded-Prefix"] = "/qwf"
        first = client.get("/qwf/", params={"token": TOKEN})
        assert 'href="/qwf/cell/north/"' in first.text
        page = client.get("/qwf/cell/north/jobs").text
        assert 'class="brand" href="/qwf/"' in page
        assert 'href="/qwf/cell/north/runs"' in page


@pytest.mark.parametrize(("width", "scheme"), [(1280, "light"), (390, "dark")])
def test_a_cell_that_does_not_answer_is_named_and_the_others_go_on(
    pages: Pages, serve: Callable[[Starlette], str], cells: dict[str, str], width: int, scheme: str
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        nobody = taken.getsockname()[1]
    away = make_conninfo(cells["north"], host="127.0.0.1", port=nobody, connect_timeout=2)
    pages.expected.append(r"50[03] .*cell/away/glance")
    page = pages.open(
        f"{serve(joined({'away': away, **cells}))}/?token={TOKEN}",
        width=width, color_scheme=scheme,
    )  # fmt: skip
    expect(state(page, "away")).to_have_text("✗ it does not answer")
    expect(state(page, "south")).to_have_text("✗ no tick yet; jobs that cannot start in mail")
    expect(page.locator("[data-cell$=south] [data-figure=queued] strong")).to_have_text("2")
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    page.evaluate(AXE.read_text())
    assert page.evaluate("axe.run().then((found) => found.violations.map((one) => one.id))") == []
    page.click("[data-cell$=south] [data-figure=queued] a")
    expect(page.locator("h1")).to_have_text("Jobs")
    page.click(".brand")
    expect(page.locator("h1")).to_have_text("Cells")


def state(page: Page, cell: str) -> Any:
    """The line about a cell."""
    return page.locator(f"[data-cell$={cell}] [data-state]")


def test_the_command_shows_all_cells_or_one(cells: dict[str, str], tmp_path: Path) -> None:
    known = {name: value for name, value in os.environ.items() if not name.startswith("QWF_")}
    environment = {
        **known, "PYTHONPATH": str(ROOT / "python"), "QWF_HOME": str(tmp_path),
        "QWF_CELLS": " ".join(f"{name}='{dsn}'" for name, dsn in cells.items()),
    }  # fmt: skip
    call = [sys.executable, "-c", "from qwf_agent.cli import main; main()", "web", "--port", "0"]
    for options, title in (([], "Cells"), (["--cell", "south"], "Overview")):
        process = subprocess.Popen(
            [*call, *options], env=environment, cwd=tmp_path, text=True, stdout=subprocess.PIPE,
        )  # fmt: skip
        try:
            assert process.stdout is not None
            link = process.stdout.readline().strip()
            with httpx.Client(follow_redirects=True, timeout=60) as browser:
                assert f"<title>{title} · qwf" in browser.get(link).text
        finally:
            process.send_signal(signal.SIGINT)
            process.communicate(timeout=60)
    refused = subprocess.run(
        [*call, "--listen-dsn", cells["north"]], env=environment, cwd=tmp_path, text=True,
        capture_output=True, timeout=60, check=False,
    )  # fmt: skip
    assert (refused.returncode, "--listen-dsn is for one database" in refused.stderr) == (2, True)
