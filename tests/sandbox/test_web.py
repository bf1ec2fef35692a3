"""`qwf web --sandbox` serves the sandbox and links to it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import psycopg
from click.testing import CliRunner
from playwright.sync_api import expect

from qwf_agent.cli import qwf
from qwf_agent.web.app import build
from qwf_agent.web.site import access
from support.browser import Pages, served
from support.visitors import TOKEN, visitor


def test_the_page_leads_to_the_sandbox_which_opens_under_its_policy(
    pages: Pages, dsn: str, built: Path
) -> None:
    app = build(dsn, access.TokenAccess(dsn, TOKEN), access.LOCAL_HOSTS, sandbox=built)
    with served(app) as address:  # type: ignore[arg-type]
        page = pages.open(f"{address}/?token={TOKEN}")
        page.click(".me summary")
        page.click("text=Sandbox: crash workers in your browser")
        expect(page.locator("#ready")).to_be_visible(timeout=60_000)


def test_without_a_sandbox_there_is_no_link(db: psycopg.Connection[Any], dsn: str) -> None:
    with visitor(db, dsn, "viewer") as one:
        assert "Sandbox" not in one.get("/").text
        assert one.get("/sandbox/").status_code == 404


def test_a_folder_without_a_sandbox_is_refused(tmp_path: Path, dsn: str) -> None:
    done = CliRunner().invoke(qwf, ["web", "--dsn", dsn, "--sandbox", str(tmp_path)])
    assert "no sandbox was built" in done.output
    assert done.exit_code != 0
