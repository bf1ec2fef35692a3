"""A TCP proxy to a Unix socket that can stop forwarding, like a network that drops packets."""

from __future__ import annotations

import contextlib
import socket
import threading
from collections.abc import Iterator


class Proxy:
    """Forwards bytes both ways. `freeze` stops the current connections without an error; new ones
    work."""

    def __init__(self, target: str) -> None:
        self._target = target
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listener.getsockname()[1]
        self._silent: list[threading.Event] = []
        self._sockets: list[socket.socket] = []
        threading.Thread(target=self._accept, daemon=True).start()

    def freeze(self) -> int:
        """Stop forwarding on the current connections; returns how many."""
        frozen, self._silent = self._silent, []
        for silent in frozen:
            silent.set()
        return len(frozen)

    def close(self) -> None:
        self._listener.close()
        for end in self._sockets:
            end.close()

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                client, _ = self._listener.accept()
                server = socket.socket(socket.AF_UNIX)
                server.connect(self._target)
                silent = threading.Event()
                self._silent.append(silent)
                self._sockets += [client, server]
                for source, sink in ((client, server), (server, client)):
                    threading.Thread(target=_pump, args=(source, sink, silent), daemon=True).start()


def _pump(source: socket.socket, sink: socket.socket, silent: threading.Event) -> None:
    with contextlib.suppress(OSError):
        while data := source.recv(65536):
            if silent.is_set():
                threading.Event().wait()  # for ever, with both ends open
            sink.sendall(data)
        sink.shutdown(socket.SHUT_WR)


@contextlib.contextmanager
def proxy_to(target: str) -> Iterator[Proxy]:
    proxy = Proxy(target)
    try:
        yield proxy
    finally:
        proxy.close()
