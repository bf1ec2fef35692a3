"""Tabs of browsers, as far as a server notices them: a stream, and fetches of what has changed.

A tab does what live.js does: it fetches its page once, follows the stream, and fetches the live
part when a topic of the page has changed and each time its interval has passed.
"""

from __future__ import annotations

import contextlib
import http.client
import re
import socket
import threading
import time
from collections.abc import Iterator, Sequence
from typing import NamedTuple
from urllib.parse import urlsplit

from bench.server import BenchError

TABS_OF_A_BROWSER = 3  # more do not get a stream
TIMEOUT_S = 60.0
TOPICS = re.compile(r'data-topics="([^"]*)"')
EVERY = re.compile(r'data-every="([^"]*)"')


class Answer(NamedTuple):
    """The answer, and its time."""

    seconds: float
    status: int
    body: bytes
    headers: http.client.HTTPMessage


class Browser:
    """One session, entered by the link that `qwf web` prints."""

    def __init__(self, link: str) -> None:
        where = urlsplit(link)
        self.address = (where.hostname or "", where.port or 80)
        self.cookie = ""
        answer = self.get(f"/?{where.query}")
        self.cookie = (answer.headers["set-cookie"] or "").partition(";")[0]
        if answer.status != 303 or not self.cookie:
            raise BenchError(f"the page does not let us in: {answer.status}")

    def connect(self) -> http.client.HTTPConnection:
        """A connection of its own, as browsers keep several."""
        return http.client.HTTPConnection(*self.address, timeout=TIMEOUT_S)

    def get(
        self, path: str, conn: http.client.HTTPConnection | None = None, **headers: str
    ) -> Answer:
        """Fetch something; without a connection, over a new one."""
        used = conn or self.connect()
        try:
            began = time.perf_counter()
            used.request("GET", path, headers={"Cookie": self.cookie, **headers})
            answer = used.getresponse()
            body = answer.read()
            return Answer(time.perf_counter() - began, answer.status, body, answer.headers)
        finally:
            if conn is None:
                used.close()


class Tab:
    """A page that is looked at, until the tab is closed."""

    def __init__(self, browser: Browser, path: str) -> None:
        self.fetches = 0
        self._browser, self._path = browser, path
        self._fetching, self._closed = threading.Lock(), threading.Event()
        self._conn = browser.connect()
        self._tag = ""
        page = browser.get(path, self._conn).body.decode()
        if (topics := TOPICS.search(page)) is None:
            raise BenchError(f"{path} is no page")
        self._topics = set(topics[1].split())
        self._every_s = self._interval(page)
        self._stream = browser.connect()
        works = [self._follow] if self._topics else []
        if self._every_s:
            works.append(self._poll)
        self._threads = [threading.Thread(target=work, daemon=True) for work in works]
        for thread in self._threads:
            thread.start()

    def close(self) -> None:
        """Close the tab."""
        self._closed.set()
        if self._stream.sock is not None:
            with contextlib.suppress(OSError):
                self._stream.sock.shutdown(socket.SHUT_RDWR)
        for thread in self._threads:
            thread.join()
        self._conn.close()
        self._stream.close()

    def _follow(self) -> None:
        with contextlib.suppress(OSError, http.client.HTTPException):
            self._stream.request("GET", "/stream", headers={"Cookie": self._browser.cookie})
            events = self._stream.getresponse()
            if events.status != 200:
                raise BenchError(f"a tab got no stream: {events.status}")
            kind = ""
            while line := events.readline():
                name, _, value = line.decode().rstrip().partition(": ")
                if name == "event":
                    kind = value
                elif name == "data" and kind == "changed" and self._topics & set(value.split()):
                    self._fetch()

    def _poll(self) -> None:
        with contextlib.suppress(OSError, http.client.HTTPException):
            while not self._closed.wait(self._every_s):
                self._fetch()

    def _fetch(self) -> None:
        with self._fetching:
            headers = {"HX-Request": "true"} | ({"If-None-Match": self._tag} if self._tag else {})
            try:
                answer = self._browser.get(self._path, self._conn, **headers)
            except (OSError, http.client.HTTPException):  # the server closes what rests for 5 s
                self._conn.close()
                answer = self._browser.get(self._path, self._conn, **headers)
            self._tag = answer.headers["etag"] or ""
            self._every_s = self._interval(answer.body.decode()) or self._every_s
            self.fetches += 1

    def _interval(self, text: str) -> float:
        """When a page, or the live part of one, wants to be fetched again; 0: it does not say."""
        every = EVERY.search(text)
        return float(every[1]) if every else 0.0


@contextlib.contextmanager
def opened(link: str, paths: Sequence[str]) -> Iterator[list[Tab]]:
    """A tab on each of these pages, three to a browser."""
    tabs: list[Tab] = []
    try:
        browser = None
        for number, path in enumerate(paths):
            if number % TABS_OF_A_BROWSER == 0 or browser is None:
                browser = Browser(link)
            tabs.append(Tab(browser, path))
        yield tabs
    finally:
        for tab in tabs:
            tab.close()
