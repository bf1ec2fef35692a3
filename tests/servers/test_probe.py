"""A check of a server's health waits for nothing, and believes nothing that is no answer."""

from __future__ import annotations

import json
import selectors
import socket
import ssl
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from qwf_agent.servers import probe
from qwf_agent.servers.config import ServerConfig, Url
from qwf_agent.servers.names import Lookup
from qwf_agent.servers.probe import HealthCheck, Request, ServerHealth, ServerPlace
from support.stepped import DEADLINE_S, Clock

OPENAI = ServerConfig("one", ())
OLLAMA = ServerConfig("two", (), kind="ollama", health="/api/version")
CERTIFICATE = Path(__file__).parents[1] / "llm" / "localhost.pem"


@contextmanager
def answering(
    *answers: bytes, closes: bool = True, asked: list[bytes] | None = None,
    secure: ssl.SSLContext | None = None,
) -> Iterator[tuple[str, int]]:  # fmt: skip
    """A server that says these bytes, one to each connection, whatever it is asked; `asked` gets
    the requests."""
    kept = []
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def answer() -> None:
            for data in answers:
                connection, _ = listener.accept()
                if secure is not None:
                    try:
                        connection = secure.wrap_socket(connection, server_side=True)
                    except OSError:
                        continue
                request = b""
                while not request.endswith(b"\r\n\r\n") and b"{" not in request:
                    request += connection.recv(4096)
                if asked is not None:
                    asked.append(request)
                with suppress(ConnectionError):  # the probe hangs up on an answer that is too long
                    connection.sendall(data)
                kept.append(connection)
                if closes:
                    connection.close()

        threading.Thread(target=answer, daemon=True).start()
        yield listener.getsockname()[:2]
    for connection in kept:
        connection.close()


def check(address: tuple[str, int], config: ServerConfig, hurry: float = 1.0) -> ServerHealth:
    """The result of a check whose clock runs `hurry` times as fast."""
    clock = Clock()
    with selectors.DefaultSelector() as selector:
        place = ServerPlace(address, config.url, config.api_key)
        found = HealthCheck(selector, place, config, True, clock.now)
        while (health := found.step(clock.now)) is None:
            for key, _ in selector.select(0.01):
                key.data()
            clock.go_on(hurry)
        assert not selector.get_map(), "a socket that is still watched"
    return health


def http(body: object, status: str = "200 OK") -> bytes:
    text = json.dumps(body).encode()
    return b"HTTP/1.1 %s\r\nContent-Length: %d\r\n\r\n%s" % (status.encode(), len(text), text)


HEALTHY = http({"status": "ok"})


@pytest.mark.parametrize("closes", [True, False], ids=["closes", "keeps the connection"])
def test_a_healthy_server_names_its_models(closes: bool) -> None:
    odd = [{"id": "x" * 500}, {"id": "a\0b"}, {"id": "\ud800"}]  # no database stores such names
    models = http({"object": "list", "data": [{"id": "qwen"}, {"id": "gemma"}, *odd]})
    with answering(HEALTHY, models, closes=closes) as address:
        assert check(address, OPENAI) == ServerHealth(True, frozenset({"qwen", "gemma"}))


def test_a_model_of_ollama_has_two_names() -> None:
    models = http({"models": [{"name": "qwen:latest"}, {"name": "gemma:4b"}]})
    loaded = http({"models": [{"name": "gemma:4b", "size_vram": 1}, {"name": "qwen:latest"}]})
    version = http({"version": "0.9"})
    names = {"qwen", "qwen:latest", "gemma:4b"}
    with answering(version, models, loaded) as address:
        health = check(address, OLLAMA)
    assert health.models == names
    assert health.loaded[0] == "gemma:4b"
    assert {*health.loaded} == names
    with answering(version, models, http({}, "404 Not Found")) as address:
        assert check(address, OLLAMA) == ServerHealth(True, frozenset(names))


@pytest.mark.parametrize(
    ("answers", "why"),
    [
        ([http({}, "503 Service Unavailable")], "/health: status 503"),
        ([b"220 mail.example ESMTP\r\n\r\n"], "/health: an answer that is no HTTP"),
        ([b""], "/health: an answer that is no HTTP"),
        ([b"HTTP/1.1 200 OK\r\n\r\n" + b"x" * (2 << 20)], "an answer of more than"),
        ([HEALTHY, http({"data": [7]})], "/v1/models: not a list of models"),
        ([HEALTHY, http([])], "/v1/models: not a list of models"),
        ([HEALTHY, b"HTTP/1.1 200 OK\r\n\r\n{"], "/v1/models: not a list of models"),
        ([HEALTHY, http({}, "404 Not Found")], "/v1/models: status 404"),
    ],
    ids=["unwell", "another protocol", "nothing", "too long", "an odd model", "no object",
         "half an answer", "no list"],
)  # fmt: skip
def test_what_is_no_healthy_answer_is_said(answers: list[bytes], why: str) -> None:
    with answering(*answers) as address:
        health = check(address, OPENAI)
    assert not health.healthy
    assert health.models is None
    assert why in health.why


def test_a_server_that_does_not_answer_is_not_waited_for() -> None:
    with answering(b"HTTP/1.1 200", closes=False) as address:
        assert check(address, OPENAI, hurry=10).why == "/health: no answer within 3 s"


def test_a_port_where_nobody_listens() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        address = listener.getsockname()[:2]
    assert check(address, OPENAI).why == "/health: ECONNREFUSED"


def test_an_address_that_cannot_be_reached_is_given_up_after_half_a_second() -> None:
    """The queue of connections is full: the system drops further ones."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen(0)
        address = listener.getsockname()[:2]
        full = [socket.socket() for _ in range(3)]
        for one in full:
            one.setblocking(False)
            one.connect_ex(address)
        assert check(address, OPENAI, hurry=10).why == "/health: no connection within 0.5 s"
        for one in full:
            one.close()


def sent(request: Request, selector: selectors.BaseSelector) -> Request:
    """The request, which began at 0, when it is over."""
    clock = Clock()
    while not request.step(clock.now):
        for key, _ in selector.select(0.01):
            key.data()
        clock.go_on(1.0)
    assert not selector.get_map(), "a socket that is still watched"
    return request


def test_a_request_with_a_body_is_a_post() -> None:
    asked: list[bytes] = []
    answer = http({"done": True})
    with answering(answer, asked=asked) as address, selectors.DefaultSelector() as selector:
        body = b'{"model": "tiny"}'
        request = Request(selector, ServerPlace(address), "/api/x", 0.0, body)
        assert sent(request, selector).status == 200
    assert json.loads(request.body) == {"done": True}
    head, _, got = asked[0].partition(b"\r\n\r\n")
    assert head.startswith(b"POST /api/x HTTP/1.0\r\n")
    assert b"Content-Length: 17" in head
    assert got == body


def test_an_external_address_adds_its_prefix_its_name_and_its_key(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("OUR_KEY", "sk-1")
    asked: list[bytes] = []
    with answering(HEALTHY, http({"data": []}), asked=asked) as address:
        url = Url(False, "box.example", 8080, "/llm")
        config = ServerConfig("far", (), url=url, api_key_env="OUR_KEY")
        assert check(address, config).healthy
    lines = [request.split(b"\r\n")[:3] for request in asked]
    said = [b"Host: box.example:8080", b"Authorization: Bearer sk-1"]
    assert lines == [
        [b"GET /llm/health HTTP/1.0", *said],
        [b"GET /llm/v1/models HTTP/1.0", *said],
    ]


def test_a_server_behind_tls_is_checked_without_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(CERTIFICATE)
    models = http({"data": [{"id": "x", "more": "x" * 200_000}]})  # several records
    with answering(HEALTHY, HEALTHY, models, secure=context) as address:
        config = ServerConfig("far", (), url=Url(True, "localhost", address[1]))
        probe._tls.cache_clear()
        assert "CERTIFICATE_VERIFY_FAILED" in check(address, config).why
        monkeypatch.setenv("SSL_CERT_FILE", str(CERTIFICATE))
        probe._tls.cache_clear()
        assert check(address, config) == ServerHealth(True, frozenset({"x"}))
    probe._tls.cache_clear()


def test_a_server_that_says_nothing_in_the_handshake_is_not_waited_for() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        address = listener.getsockname()[:2]
        config = ServerConfig("far", (), url=Url(True, "localhost", address[1]))
        assert check(address, config, hurry=10).why == "/health: no answer within 3 s"


def test_an_answer_may_come_line_by_line() -> None:
    listener = socket.create_server(("127.0.0.1", 0))
    with listener, selectors.DefaultSelector() as selector:
        place = ServerPlace(listener.getsockname()[:2])
        request = Request(selector, place, "/pull", 0.0, b"{}", float("inf"))
        peer = _accepted(listener, request, selector)
        peer.sendall(b"HTTP/1.1 200 OK\r\n\r\none\ntw")
        assert _lines(request, selector, 1) == [b"one"]
        peer.sendall(b"o\nthree\nfo")
        assert _lines(request, selector, 2) == [b"two", b"three"]
        peer.close()
        assert sent(request, selector).status == 200
        assert request.lines() == []
        assert request.body == b"fo"


def test_an_answer_that_ends_too_early_is_no_answer() -> None:
    with answering(b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n12345") as address:
        assert check(address, OPENAI).why == "/health: the answer was cut off"


def _accepted(
    listener: socket.socket, request: Request, selector: selectors.BaseSelector
) -> socket.socket:
    peer, _ = listener.accept()
    peer.settimeout(0.01)
    data = b""
    while not data.endswith(b"{}"):
        request.step(0.0)
        for key, _ in selector.select(0.01):
            key.data()
        with suppress(TimeoutError):
            data += peer.recv(4096)
    peer.settimeout(None)
    return peer


def _lines(request: Request, selector: selectors.BaseSelector, count: int) -> list[bytes]:
    found: list[bytes] = []
    deadline = time.monotonic() + DEADLINE_S
    while len(found) < count:
        assert time.monotonic() < deadline, found
        for key, _ in selector.select(0.01):
            key.data()
        assert not request.step(0.0), request.why
        found += request.lines()
    return found


def test_every_address_of_a_name_is_tried() -> None:
    """localhost may be ::1 first, and the server listen on 127.0.0.1."""
    lookup = Lookup(selectors.DefaultSelector(), "127.0.0.1")
    assert (lookup.try_next(), lookup.address) == (False, "127.0.0.1")
    selector = selectors.DefaultSelector()
    lookup = Lookup(selector, "two")
    with pytest.MonkeyPatch.context() as patch:
        found = [(0, 0, 0, "", ("::1", 0)), (0, 0, 0, "", ("127.0.0.1", 0))]
        patch.setattr("qwf_agent.servers.names.socket.getaddrinfo", lambda *_, **__: found)
        lookup.step(0.0)
    while lookup.address is None:
        for key, _ in selector.select(1.0):
            key.data()
    assert lookup.address == "::1"
    assert (lookup.try_next(), lookup.address) == (True, "127.0.0.1")
    assert (lookup.try_next(), lookup.address) == (False, "::1")
