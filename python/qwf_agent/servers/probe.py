"""Asks a model server whether it is healthy and what it serves, without ever waiting for it."""

from __future__ import annotations

import errno
import functools
import json
import re
import selectors
import socket
import ssl
from contextlib import suppress
from typing import Any, NamedTuple

from qwf_agent.servers.config import LONGEST_MODEL, ServerConfig, Url

CONNECT_S, ANSWER_S = 0.5, 3.0
MOST_BYTES = 1 << 20  # of an answer
READ_BYTES = 1 << 16
OK = 200
HEAD = re.compile(rb"HTTP/\S+ +(\d{1,9})\b.*?\r\n\r\n", re.DOTALL)
LENGTH = re.compile(rb"\ncontent-length:[ \t]*(\d{1,18})[ \t]*\r", re.IGNORECASE)
Address = tuple[str, int]


class ServerHealth(NamedTuple):
    """The result of a check: whether the server is healthy, the names of its models if they were
    asked for, those that are loaded if it says so, and if it is not healthy, why."""

    healthy: bool
    models: frozenset[str] | None = None
    loaded: tuple[str, ...] = ()
    why: str = ""
    late: bool = False  # it has not answered in time


class ModelListing(NamedTuple):
    """Where a server lists models, and how the list and the name in an entry are called."""

    path: str
    entries: str
    name: str


LISTS = {
    "openai": ModelListing("/v1/models", "data", "id"),
    "ollama": ModelListing("/api/tags", "models", "name"),
}  # by the kind of a server
LOADED = ModelListing("/api/ps", "models", "name")


class ServerPlace(NamedTuple):
    """Where requests go: the address of a socket, and for an external server what its requests
    have to say. A key is sent to no other place."""

    address: Address
    url: Url | None = None
    api_key: str | None = None


class Request:
    """One request: a GET, or with a body a POST. The loop's selector moves it on; `step` says what
    came of it. `lines` hands out an answer that is a stream.

    Invariant: the socket is registered exactly while `status` and `why` are unset.
    """

    def __init__(
        self, selector: selectors.BaseSelector, place: ServerPlace, path: str, now: float,
        body: bytes | None = None, answer_s: float = ANSWER_S,
    ) -> None:  # fmt: skip
        """Raises OSError if the system is out of descriptors."""
        self.status = 0  # of the answer, once it is whole
        self.body = b""
        self.why = ""  # why there is no answer
        self.late = False  # there is none in time
        self._selector = selector
        self._place = place
        self._connect_by, self._answer_by = now + CONNECT_S, now + CONNECT_S + answer_s
        self._connecting = True
        self._unsent = _request(place, path, body)
        self._data = bytearray()
        self._code = 0  # the status of the head; then `_data` is of the body
        self._left = float("inf")  # bytes that are still to come; inf: until the connection ends
        family = socket.AF_INET6 if ":" in place.address[0] else socket.AF_INET
        self._socket = socket.socket(family)
        self._socket.setblocking(False)
        selector.register(self._socket, selectors.EVENT_WRITE, self._on_ready)
        code = self._socket.connect_ex(place.address)
        if code not in (0, errno.EINPROGRESS):
            self._give_up(errno.errorcode.get(code, str(code)))

    def step(self, now: float) -> bool:
        """Return True if it is over: it has an answer, or `why` says that there is none."""
        if not self._over():
            self.late = now >= (self._connect_by if self._connecting else self._answer_by)
            if self._connecting and now >= self._connect_by:
                self._give_up(f"no connection within {CONNECT_S:g} s")
            elif now >= self._answer_by:
                self._give_up(f"no answer within {self._answer_by - self._connect_by:g} s")
        return self._over()

    def lines(self) -> list[bytes]:
        """The whole lines of an answer with status 200 that have come since the last call. At the
        end `body` has what comes after the last of them."""
        if self._code != OK:
            return []
        data = self.body if self.status else bytes(self._data)
        whole, end, rest = data.rpartition(b"\n")
        self._data, self.body = bytearray(rest), rest if self.status else b""
        return [line for line in whole.split(b"\n") if line] if end else []

    def close(self) -> None:
        """Forget the request."""
        if not self._over():
            self._give_up("not wanted any more")

    def _over(self) -> bool:
        return bool(self.status or self.why)

    def _on_ready(self) -> None:
        """Go on as far as it goes without waiting."""
        try:
            event = self._go_on()
        except ssl.SSLWantReadError:
            event = selectors.EVENT_READ
        except ssl.SSLWantWriteError:
            event = selectors.EVENT_WRITE
        except BlockingIOError:
            return
        except (OSError, ValueError) as error:  # a name that TLS does not take is a ValueError
            code = None if isinstance(error, (ssl.SSLError, ValueError)) else error.errno
            self._give_up(errno.errorcode.get(code or 0, str(error)))
            return
        if not self._over():
            self._selector.modify(self._socket, event, self._on_ready)

    def _go_on(self) -> int:
        """Connect, send, or receive; returns what to wait for next. Raises OSError."""
        if self._connecting:
            self._connect()
        if isinstance(self._socket, ssl.SSLSocket) and self._unsent:
            self._socket.do_handshake()  # nothing if it is done
        if self._unsent:
            self._unsent = self._unsent[self._socket.send(self._unsent) :]
            return selectors.EVENT_WRITE if self._unsent else selectors.EVENT_READ
        data = self._socket.recv(READ_BYTES)
        while isinstance(self._socket, ssl.SSLSocket) and self._socket.pending():
            data += self._socket.recv(READ_BYTES)  # no event says that this is there
        self._take(data)
        return selectors.EVENT_READ

    def _connect(self) -> None:
        code = self._socket.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR)
        if code:
            raise OSError(code, errno.errorcode.get(code, ""))
        self._connecting = False
        if self._place.url is not None and self._place.url.secure:
            self._selector.unregister(self._socket)
            self._socket = _tls().wrap_socket(
                self._socket, server_hostname=self._place.url.host, do_handshake_on_connect=False
            )
            self._selector.register(self._socket, selectors.EVENT_WRITE, self._on_ready)

    def _take(self, data: bytes) -> None:
        """Take in what has come; nothing is the end of the connection."""
        self._data += data
        self._left -= len(data)
        if not self._code and (found := HEAD.match(bytes(self._data))) is not None:
            del self._data[: found.end()]
            self._code = int(found[1]) or 1
            # Some servers keep the connection: then they say how many bytes there are.
            length = LENGTH.search(found[0])
            self._left = int(length[1]) - len(self._data) if length else float("inf")
        if len(self._data) > MOST_BYTES:
            self._give_up(f"an answer of more than {MOST_BYTES} bytes")
        elif self._code and (self._left <= 0 or (not data and self._left == float("inf"))):
            self._close()
            self.status, self.body = self._code, bytes(self._data)
        elif not data:
            self._give_up("the answer was cut off" if self._code else "an answer that is no HTTP")
        elif not self._code and not b"HTTP/".startswith(bytes(self._data[:5])):
            self._give_up("an answer that is no HTTP")

    def _give_up(self, why: str) -> None:
        self._close()
        self.why = why

    def _close(self) -> None:
        with suppress(KeyError, ValueError):
            self._selector.unregister(self._socket)
        self._socket.close()


def _request(place: ServerPlace, path: str, body: bytes | None) -> bytes:
    """The bytes of a request. An answer to HTTP/1.0 has no chunks and ends with the connection."""
    url = place.url or Url(False, *place.address)
    lines = [f"{'GET' if body is None else 'POST'} {url.prefix}{path} HTTP/1.0",
             f"Host: {url.authority}"]  # fmt: skip
    if place.api_key is not None:
        lines.append(f"Authorization: Bearer {place.api_key}")
    if body is not None:
        lines += ["Content-Type: application/json", f"Content-Length: {len(body)}"]
    return "\r\n".join([*lines, "", ""]).encode("ascii") + (body or b"")


@functools.cache
def _tls() -> ssl.SSLContext:
    """Made once: it reads all certificates that the system trusts."""
    return ssl.create_default_context()


class HealthCheck:
    """Asks for the health path, then, if wanted, for the list of models, and an ollama server for
    those that are loaded."""

    def __init__(
        self, selector: selectors.BaseSelector, place: ServerPlace, config: ServerConfig,
        with_models: bool, now: float,
    ) -> None:  # fmt: skip
        """Raises OSError if the system is out of descriptors."""
        self._selector = selector
        self._place = place
        self._list = LISTS[config.kind]
        self._models: list[str] | None = None
        lists = [self._list.path] + [LOADED.path] * (config.kind == "ollama")
        self._rest = [path for path in lists if with_models and path != config.health]
        self._with_models = with_models
        self._ask(config.health, now)

    def step(self, now: float) -> ServerHealth | None:
        """The result of the check, or None while it is under way. Raises OSError."""
        while self._get.step(now):
            if self._path == LOADED.path:  # older ones have no such list
                loaded = _names(self._get.body, LOADED) if self._get.status == OK else []
                return ServerHealth(True, _known(self._models), tuple(loaded or []))
            if self._get.status != OK:
                what = self._get.why or f"status {self._get.status}"
                return ServerHealth(False, why=f"{self._path}: {what}", late=self._get.late)
            if self._with_models and self._path == self._list.path:
                self._models = _names(self._get.body, self._list)
                if self._models is None:
                    return ServerHealth(False, why=f"{self._path}: not a list of models")
            if not self._rest:
                return ServerHealth(True, _known(self._models))
            self._ask(self._rest.pop(0), now)
        return None

    def close(self) -> None:
        """Forget the check."""
        self._get.close()

    def _ask(self, path: str, now: float) -> None:
        self._path, self._get = path, Request(self._selector, self._place, path, now)


def _known(models: list[str] | None) -> frozenset[str] | None:
    return None if models is None else frozenset(models)


def _names(body: bytes, found_in: ModelListing) -> list[str] | None:
    """The names in a list of models, in its order. Ollama's `qwen3:latest` is also `qwen3`."""
    try:
        answer: Any = json.loads(body)
        names = [str(entry[found_in.name]) for entry in answer[found_in.entries]]
        names = [name for name in names if len(name) <= LONGEST_MODEL and name.isprintable()]
    except (ValueError, KeyError, TypeError, RecursionError):
        return None
    return [alias for name in names for alias in (name, name.removesuffix(":latest"))]
