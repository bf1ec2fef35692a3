"""Requests that never become whole: how long their connections are held."""

from __future__ import annotations

import contextlib
import resource
import socket
import threading
from collections.abc import Iterator

import pytest
import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.routing import Route

from qwf_agent.web import app
from qwf_agent.web.site import patience
from support.visitors import Visit

SHORT_S = 0.3


async def length(request: Request) -> PlainTextResponse:
    """How long the body is."""
    return PlainTextResponse(str(len(await request.body())))


@pytest.fixture
def address(monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[str, int]]:
    """Where an application listens as `qwf web` does."""
    monkeypatch.setattr(patience, "HEAD_S", SHORT_S)
    config = uvicorn.Config(
        Starlette(routes=[Route("/", length, methods=["POST"])]), log_level="warning",
        http=patience.PatientProtocol, timeout_graceful_shutdown=1, timeout_keep_alive=60,
    )  # fmt: skip
    with socket.create_server(("127.0.0.1", 0)) as listener:
        server = uvicorn.Server(config)
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
        thread.start()
        yield listener.getsockname()[:2]
        server.should_exit = True
        thread.join(timeout=60)
    assert not thread.is_alive()


def rest(connection: socket.socket) -> bytes:
    """All that the server sends until it closes the connection."""
    connection.settimeout(60)
    found = b""
    with contextlib.suppress(ConnectionResetError):
        while part := connection.recv(65536):
            found += part
    return found


@pytest.mark.parametrize("sent", [b"", b"GET / HT", b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nX: "])
def test_a_connection_without_a_whole_head_is_closed(address: tuple[str, int], sent: bytes) -> None:
    with socket.create_connection(address) as connection:
        connection.sendall(sent)
        assert rest(connection) == b""


def test_the_next_request_of_a_connection_must_come_whole_too(address: tuple[str, int]) -> None:
    with socket.create_connection(address) as connection:
        connection.sendall(b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n")
        connection.settimeout(60)
        answered = b""
        while not answered.endswith(b"0"):
            answered += connection.recv(65536)
        connection.sendall(b"GET / HT")
        assert rest(connection) == b""


def test_a_body_may_take_longer_than_a_head(address: tuple[str, int]) -> None:
    with socket.create_connection(address) as connection:
        connection.sendall(
            b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\nConnection: close\r\n\r\n"
        )
        threading.Timer(3 * SHORT_S, connection.sendall, [b"a=bc"]).start()
        assert rest(connection).endswith(b"4")


def test_a_form_that_never_comes_is_answered(visit: Visit, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(app, "BODY_S", -1.0)
    answer = visit("admin").do("pause_queue", name="default")
    assert answer.status_code == 408
    assert "not whole" in answer.text


def test_the_limit_of_open_files_is_raised_as_far_as_it_may_be() -> None:
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    try:
        resource.setrlimit(resource.RLIMIT_NOFILE, (min(512, before[1]), before[1]))
        patience.raise_descriptors()
        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        assert soft == min(hard, patience.MOST_DESCRIPTORS)
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, before)
