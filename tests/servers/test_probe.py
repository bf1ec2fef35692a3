"""A check of a server's health waits for nothing, and believes nothing that is no answer."""

from __future__ import annotations

import json
import selectors
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from qwf_agent.servers.config import ServerConfig
from qwf_agent.servers.probe import Health, HealthCheck

OPENAI = ServerConfig("one", ())
OLLAMA = ServerConfig("two", (), kind="ollama", health="/api/version")


@contextmanager
def answering(*answers: bytes, closes: bool = True) -> Iterator[tuple[str, int]]:
    """A server that says these bytes, one to each connection, whatever it is asked."""
    kept = []
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def answer() -> None:
            for data in answers:
                connection, _ = listener.accept()
                connection.recv(4096)
                connection.sendall(data)
                kept.append(connection)
                if closes:
                    connection.close()

        threading.Thread(target=answer, daemon=True).start()
        yield listener.getsockname()[:2]
    for connection in kept:
        connection.close()


def check(address: tuple[str, int], config: ServerConfig, hurry: float = 1.0) -> Health:
    """The result of a check whose clock runs `hurry` times as fast."""
    start = time.monotonic()

    def now() -> float:
        return (time.monotonic() - start) * hurry

    with selectors.DefaultSelector() as selector:
        found = HealthCheck(selector, address, config, True, now())
        while (health := found.step(now())) is None:
            for key, _ in selector.select(0.01):
                key.data()
        assert not selector.get_map(), "a socket that is still watched"
    return health


def http(body: object, status: str = "200 OK") -> bytes:
    text = json.dumps(body).encode()
    return b"HTTP/1.1 %s\r\nContent-Length: %d\r\n\r\n%s" % (status.encode(), len(text), text)


HEALTHY = http({"status": "ok"})


@pytest.mark.parametrize("closes", [True, False], ids=["closes", "keeps the connection"])
def test_a_healthy_server_names_its_models(closes: bool) -> None:
    models = http({"object": "list", "data": [{"id": "qwen"}, {"id": "gemma"}]})
    with answering(HEALTHY, models, closes=closes) as address:
        assert check(address, OPENAI) == Health(True, frozenset({"qwen", "gemma"}))


def test_a_model_of_ollama_has_two_names() -> None:
    models = http({"models": [{"name": "qwen:latest"}, {"name": "gemma:4b"}]})
    with answering(http({"version": "0.9"}), models) as address:
        assert check(address, OLLAMA).models == {"qwen", "qwen:latest", "gemma:4b"}


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
    ids=str,
)
def test_what_is_no_healthy_answer_is_said(answers: list[bytes], why: str) -> None:
    with answering(*answers) as address:
        health = check(address, OPENAI)
    assert not health.healthy
    assert health.models is None
    assert why in health.why


def test_a_server_that_does_not_answer_is_not_waited_for() -> None:
    with answering(b"HTTP/1.1 200", closes=False) as address:
        assert check(address, OPENAI, hurry=100).why == "/health: no answer within 3 s"


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
        assert check(address, OPENAI, hurry=100).why == "/health: no connection within 0.5 s"
        for one in full:
            one.close()
