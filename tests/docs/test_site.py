"""The documentation as a site: it builds without a warning, and needs no network to be read."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

from support.browser import chromium
from support.sandbox import need_npm_packages
from support.servers import ROOT

PATIENCE_MS = 60_000


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site, with the shim that its search needs."""
    need_npm_packages()
    folder = tmp_path_factory.mktemp("site")
    done = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--quiet", "--strict", "--site-dir", str(folder)],
        cwd=ROOT,
        env={**os.environ, "NO_MKDOCS_2_WARNING": "1"},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    return folder


def resources(page: str) -> Iterator[str]:
    """Addresses that a browser fetches when it opens the page."""
    for tag in re.findall(r"<(?:script|img|iframe|source)\b[^>]*>", page):
        yield from re.findall(r'\bsrc="([^"]+)"', tag)
    for tag in re.findall(r"<link\b[^>]*>", page):
        if re.search(r'rel="(stylesheet|icon|preload|preconnect)"', tag):
            yield from re.findall(r'\bhref="([^"]+)"', tag)


def test_every_document_is_a_page_that_the_menu_leads_to(site: Path) -> None:
    pages = {p.relative_to(ROOT / "docs") for p in (ROOT / "docs").rglob("*.md")}
    pages = {p for p in pages if p.parts[0] != "adr"}
    first = (site / "index.html").read_text(encoding="utf-8")
    for page in pages:
        address = page.with_suffix(".html").as_posix()
        assert (site / address).is_file()
        assert f'href="{address}"' in first, f"{page} is not in the menu"


def test_every_link_between_pages_leads_to_a_file(site: Path) -> None:
    dead = []
    for page in site.rglob("*.html"):
        for address in re.findall(r'<a\b[^>]*\bhref="([^"]+)"', page.read_text(encoding="utf-8")):
            there = urlsplit(address)
            target = page.parent / unquote(there.path)
            if there.scheme or there.netloc or not there.path or there.path.startswith("/"):
                continue
            if "sandbox/" not in there.path and not target.is_file():  # the sandbox is built apart
                dead.append(f"{page.relative_to(site)}: {address}")
    assert dead == []


def test_a_page_fetches_nothing_from_another_server(site: Path) -> None:
    pages = sorted(site.rglob("*.html"))
    assert len(pages) > 20
    for page in pages:
        for address in resources(page.read_text(encoding="utf-8")):
            assert not urlsplit(address).netloc, f"{page.name}: {address}"


def test_the_search_works_from_a_disk_without_a_network(site: Path) -> None:
    asked: list[str] = []
    with chromium() as browser:
        page = browser.new_page()
        page.on("request", lambda request: asked.append(request.url))
        page.goto((site / "tutorial.html").as_uri())
        page.locator(".md-search__input").first.wait_for(timeout=PATIENCE_MS)
        page.keyboard.press("/")
        page.keyboard.type("lease")
        page.locator(".md-search-result__link").first.wait_for(timeout=PATIENCE_MS)
    assert [url for url in asked if not url.startswith(("file:", "data:", "blob:"))] == []
