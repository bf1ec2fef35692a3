"""One HTTP request to a model server. The parts of the answer are handed on as they come, and
every wait for the server ends when the job is cancelled."""

from __future__ import annotations

import http.client
import io
import select
import socket
import ssl
from collections.abc import Callable, Generator
from contextlib import closing, suppress
from typing import Any, NamedTuple, Protocol, TypeVar
from urllib.parse import urlsplit

from qwf_agent.app.http_replies import LastReply
from qwf_agent.llm.errors import Cancelled, ServerLost, of_status

CONNECT_S = 10.0
PART_BYTES = 1 << 16
MAX_ERROR_BYTES = 1 << 16  # read of an answer that is an error
T = TypeVar("T")


class CancelSignal(Protocol):
    """An event that a poll can wait for, such as the `cancel_event` of a body."""

    def is_set(self) -> bool:
        """Return True if the job was cancelled."""

    def fileno(self) -> int:
        """A descriptor that is readable when the job was cancelled."""


class Endpoint(NamedTuple):
    """Where a server is: `url` ends in its version, such as `/v1`. The name is for messages."""

    url: str
    api_key: str | None
    name: str


def post(
    server: Endpoint, path: str, body: bytes, cancel: CancelSignal | None
) -> Generator[bytes, None, None]:
    """Send a request to a server; yields its answer in parts, as they come. Raises ServerLost,
    Cancelled, and the error that the status of the answer means."""
    try:
        with closing(_connect(server.url)) as connected:
            response = _ask(Wire(connected, cancel), server, path, body)
            if response.status != http.client.OK:
                text = response.read(MAX_ERROR_BYTES).decode(errors="replace")
                retry_after = response.getheader("Retry-After")
                raise of_status(response.status, text, retry_after, server.name)
            while part := response.read1(PART_BYTES):
                yield part
    except (OSError, http.client.HTTPException) as error:
        raise ServerLost(f"{server.name} is gone: {type(error).__name__}: {error}") from error


class Wire:
    """A connection as http.client uses it. It does not block in the system, but waits for the
    server and for the cancelling of the job, whatever comes first."""

    def __init__(self, connected: socket.socket, cancel: CancelSignal | None) -> None:
        connected.setblocking(False)
        self._socket = connected
        self._cancel = cancel
        self._poll = select.poll()
        if cancel is not None:
            self._poll.register(cancel.fileno(), select.POLLIN)

    def sendall(self, data: bytes) -> None:
        """Send all of `data`."""
        rest = memoryview(data)
        while rest:
            rest = rest[self._when_ready(self._socket.send, rest, select.POLLOUT) :]

    def receive_into(self, buffer: Any) -> int:
        """Fill the buffer with what has come, at least one byte; 0 at the end."""
        return self._when_ready(self._socket.recv_into, buffer, select.POLLIN)

    def makefile(self, *_: object) -> io.BufferedReader:
        """The answers, as a file."""
        return io.BufferedReader(_Source(self))

    def close(self) -> None:
        """Nothing: the answer is still read when http.client closes its connection."""

    def _when_ready(self, call: Callable[[T], int], argument: T, event: int) -> int:
        while True:
            if self._cancel is not None and self._cancel.is_set():
                raise Cancelled("the job was cancelled")
            try:
                return call(argument)
            except (BlockingIOError, ssl.SSLWantReadError):
                wanted = event
            except ssl.SSLWantWriteError:
                wanted = select.POLLOUT
            self._poll.register(self._socket, wanted)
            self._poll.poll()


class _Source(io.RawIOBase):
    """The bytes that a Wire receives, for a BufferedReader."""

    def __init__(self, wire: Wire) -> None:
        self._wire = wire

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        return self._wire.receive_into(buffer)


def _connect(url: str) -> socket.socket:
    parts = urlsplit(url)
    host = parts.hostname or ""
    secure = parts.scheme == "https"
    connected = socket.create_connection((host, parts.port or (443 if secure else 80)), CONNECT_S)
    try:
        connected.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        if not secure:
            return connected
        return ssl.create_default_context().wrap_socket(connected, server_hostname=host)
    except BaseException:
        connected.close()
        raise


def _ask(wire: Wire, server: Endpoint, path: str, body: bytes) -> http.client.HTTPResponse:
    parts = urlsplit(server.url)
    connection = http.client.HTTPConnection(parts.netloc.rpartition("@")[2])
    connection.response_class = LastReply
    connection.sock = wire
    headers = {"Content-Type": "application/json", "Connection": "close"}
    if server.api_key is not None:
        headers["Authorization"] = f"Bearer {server.api_key}"
    # A server may refuse a request, and close, before it has read all of it.
    with suppress(BrokenPipeError, ConnectionResetError):
        connection.request("POST", f"{parts.path}{path}", body, headers)
    return connection.getresponse()
