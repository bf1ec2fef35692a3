"""Asks a model server whether it is healthy and what it serves, without ever waiting for it."""

from __future__ import annotations

import errno
import json
import selectors
import socket
from contextlib import suppress
from typing import Any, NamedTuple

from qwf_agent.servers.config import ServerConfig

CONNECT_S, ANSWER_S = 0.5, 3.0
MOST_BYTES = 1 << 20  # of an answer
READ_BYTES = 1 << 16
OK = 200
# By the kind of a server: where it lists its models, and the names of the list and of its entries.
LISTS = {"openai": ("/v1/models", "data", "id"), "ollama": ("/api/tags", "models", "name")}
Address = tuple[str, int]


class Health(NamedTuple):
    """What a check found: whether the server is healthy, the names of its models if they were asked
    for, and if it is not healthy, why."""

    healthy: bool
    models: frozenset[str] | None = None
    why: str = ""


class Get:
    """One GET. The loop's selector moves it on; `step` says what came of it.

    Invariant: the socket is registered exactly while `status` and `why` are unset.
    """

    def __init__(
        self, selector: selectors.BaseSelector, address: Address, path: str, now: float
    ) -> None:
        self.status = 0  # of the answer
        self.body = b""
        self.why = ""  # why there is no answer
        self._selector = selector
        self._data = bytearray()
        self._connect_by, self._answer_by = now + CONNECT_S, now + CONNECT_S + ANSWER_S
        host = f"[{address[0]}]" if ":" in address[0] else address[0]
        # An answer to HTTP/1.0 has no chunks and ends with the connection.
        self._request = f"GET {path} HTTP/1.0\r\nHost: {host}:{address[1]}\r\n\r\n".encode("ascii")
        self._socket = socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET)
        self._socket.setblocking(False)
        selector.register(self._socket, selectors.EVENT_WRITE, self._on_connected)
        code = self._socket.connect_ex(address)
        if code not in (0, errno.EINPROGRESS):
            self._give_up(errno.errorcode.get(code, str(code)))

    def step(self, now: float) -> bool:
        """Whether it is over: it has an answer, or `why` says that there is none."""
        if not self._over():
            if self._request and now >= self._connect_by:
                self._give_up(f"no connection within {CONNECT_S:g} s")
            elif now >= self._answer_by:
                self._give_up(f"no answer within {ANSWER_S:g} s")
        return self._over()

    def close(self) -> None:
        """Forget the request."""
        if not self._over():
            self._give_up("not wanted any more")

    def _over(self) -> bool:
        return bool(self.status or self.why)

    def _on_connected(self) -> None:
        code = self._socket.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR)
        if code:
            self._give_up(errno.errorcode.get(code, str(code)))
            return
        try:
            sent = self._socket.send(self._request)
        except OSError as error:
            self._give_up(str(error))
            return
        self._request = self._request[sent:]
        if not self._request:
            self._selector.modify(self._socket, selectors.EVENT_READ, self._on_data)

    def _on_data(self) -> None:
        try:
            data = self._socket.recv(READ_BYTES)
        except BlockingIOError:
            return
        except OSError as error:
            self._give_up(str(error))
            return
        self._data += data
        if len(self._data) > MOST_BYTES:
            self._give_up(f"an answer of more than {MOST_BYTES} bytes")
        elif not data or self._is_whole():
            self._read()

    def _is_whole(self) -> bool:
        """Whether all bytes that the answer announces are here: some servers keep connections."""
        head, end, body = self._data.partition(b"\r\n\r\n")
        for line in head.lower().split(b"\r\n"):
            name, _, value = line.partition(b":")
            if end and name == b"content-length" and value.strip().isdigit():
                return len(body) >= int(value)
        return False

    def _read(self) -> None:
        head, end, body = self._data.partition(b"\r\n\r\n")
        words = head.split(None, 2)
        if not end or len(words) < 2 or words[0][:5] != b"HTTP/" or not words[1].isdigit():
            self._give_up("an answer that is no HTTP")
            return
        self._close()
        self.status, self.body = int(words[1]) or 1, bytes(body)

    def _give_up(self, why: str) -> None:
        self._close()
        self.why = why

    def _close(self) -> None:
        with suppress(KeyError, ValueError):
            self._selector.unregister(self._socket)
        self._socket.close()


class HealthCheck:
    """Asks for the health path, then, if wanted, for the list of models."""

    def __init__(
        self, selector: selectors.BaseSelector, address: Address, config: ServerConfig,
        with_models: bool, now: float,
    ) -> None:  # fmt: skip
        """Raises OSError if the system is out of descriptors."""
        self._selector = selector
        self._address = address
        self._kind = config.kind
        self._with_models = with_models
        self._path = config.health
        self._get = Get(selector, address, config.health, now)

    def step(self, now: float) -> Health | None:
        """What the check found, or None while it is under way. Raises OSError."""
        if not self._get.step(now):
            return None
        if self._get.status != OK:
            what = self._get.why or f"status {self._get.status}"
            return Health(False, why=f"{self._path}: {what}")
        list_path, list_name, entry_name = LISTS[self._kind]
        if not self._with_models:
            return Health(True)
        if self._path != list_path:
            self._path = list_path
            self._get = Get(self._selector, self._address, list_path, now)
            return self.step(now)
        models = _names(self._get.body, list_name, entry_name)
        if models is None:
            return Health(False, why=f"{list_path}: not a list of models")
        return Health(True, models)

    def close(self) -> None:
        """Forget the check."""
        self._get.close()


def _names(body: bytes, list_name: str, entry_name: str) -> frozenset[str] | None:
    """The names in a list of models. Ollama's `qwen3:latest` is also `qwen3`."""
    try:
        answer: Any = json.loads(body)
        names = {str(entry[entry_name]) for entry in answer[list_name]}
    except (ValueError, KeyError, TypeError, RecursionError):
        return None
    return frozenset(names | {name.removesuffix(":latest") for name in names})
