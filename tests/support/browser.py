"""Pages in a real browser, which fail their test if they do what no page may do."""

from __future__ import annotations

import asyncio
import atexit
import contextlib
import functools
import os
import re
import shutil
import socket
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import pytest
import uvicorn
from playwright.sync_api import Browser, Page, expect, sync_playwright
from starlette.applications import Starlette

from support import sandbox

expect.set_options(timeout=60_000)  # a busy machine makes a page late, not wrong
PROGRAMS = ("chromium-headless-shell", "chromium")
# What a page must never do becomes an error in its console.
WATCHED = """
  addEventListener("securitypolicyviolation", (event) =>
    console.error(`policy broken: ${event.violatedDirective} by ${event.blockedURI}`));
  Object.defineProperty(window, "pwned", {
    set() { console.error("a foreign script ran"); },
    configurable: false,
  });
"""


@dataclass
class Pages:
    """Opens pages and collects what they did wrong."""

    browser: Browser
    problems: list[str] = field(default_factory=list)
    expected: list[str] = field(default_factory=list)  # patterns of problems that a test causes
    _contexts: list[Any] = field(default_factory=list)

    def open(self, address: str, *, width: int = 1280, height: int = 800, **options: Any) -> Page:
        """A page in a browser window of its own; `options` are those of Browser.new_context()."""
        viewport = {"width": width, "height": height}
        context = self.browser.new_context(viewport=viewport, **options)
        self._contexts.append(context)
        context.add_init_script(WATCHED)
        page = context.new_page()
        page.set_default_timeout(60_000)
        page.on("pageerror", lambda error: self.problems.append(f"page error: {error}"))
        page.on("console", self._logged)
        page.on("dialog", self._asked)
        page.goto(address)
        return page

    def close(self) -> list[str]:
        """Closes all windows; returns what pages did wrong."""
        for context in self._contexts:
            context.close()
        return [
            text
            for text in self.problems
            if not any(re.search(pattern, text) for pattern in self.expected)
        ]

    def _logged(self, message: Any) -> None:
        if message.type == "error":
            self.problems.append(f"console: {message.text} at {message.location.get('url')}")

    def _asked(self, dialog: Any) -> None:
        self.problems.append(f"dialog: {dialog.message}")
        dialog.dismiss()


@contextlib.contextmanager
def chromium() -> Iterator[Browser]:
    """The browser of the system. Without one the test is skipped, or fails if it is required.

    Each process starts it once, and needs half a second for that. Playwright leaves its event loop
    as the running one of this thread, where no other could run then, so that is undone between the
    contexts."""
    browser, loop = started()
    asyncio._set_running_loop(loop)
    try:
        yield browser
        for context in browser.contexts:
            context.close()
    finally:
        asyncio._set_running_loop(None)


@functools.cache
def started() -> tuple[Browser, asyncio.AbstractEventLoop]:
    """The browser of this process, and the event loop of Playwright."""
    program = next(filter(None, map(shutil.which, PROGRAMS)), None)
    if program is None:
        reason = f"no browser: none of {', '.join(PROGRAMS)} is installed"
        if os.environ.get("QWF_BROWSER") == "required":
            pytest.fail(reason)
        pytest.skip(reason)
    playwright = sync_playwright().start()
    browser = playwright.chromium.launch(
        executable_path=program, args=["--no-sandbox", f"--js-flags={sandbox.QUICK}"],
        timeout=120_000,
    )  # fmt: skip
    loop = asyncio.get_running_loop()

    mine = os.getpid()

    def end() -> None:
        if os.getpid() != mine:  # in a fork
            return
        asyncio._set_running_loop(loop)
        browser.close()
        playwright.stop()
        asyncio._set_running_loop(None)

    atexit.register(end)
    return browser, loop


@contextlib.contextmanager
def served(app: Starlette) -> Iterator[str]:
    """Serves an application on a free port of this machine; gives its address."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        options = {"log_level": "warning", "timeout_graceful_shutdown": 1}
        server = uvicorn.Server(uvicorn.Config(app, **options))
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
        thread.start()
        try:
            yield f"http://127.0.0.1:{listener.getsockname()[1]}"
        finally:
            server.should_exit = True
            thread.join(timeout=60)
        assert not thread.is_alive()
