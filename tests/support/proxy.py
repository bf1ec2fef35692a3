"""A TCP proxy to a Unix socket that can cut, stop or slow its connections, like a bad network."""

from __future__ import annotations

import contextlib
import socket
import struct
import threading
import time
from collections.abc import Iterator

AT_ONCE = struct.pack("ii", 1, 0)  # of SO_LINGER: close with a reset, and drop what is unsent


class Proxy:
    """Forwards bytes both ways. `freeze` stops the current connections without an error; new ones
    work, unless `dark` is set. Every piece waits `delay_s` before it is sent."""

    def __init__(self, target: str) -> None:
        self._target = target
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listener.getsockname()[1]
        self.dark = False
        self.delay_s = 0.0
        self._pairs: list[_Pair] = []
        threading.Thread(target=self._accept, daemon=True).start()

    def freeze(self) -> int:
        """Stop forwarding on the current connections; returns how many."""
        stopped = [pair for pair in self._open() if not pair.silent.is_set()]
        for pair in stopped:
            pair.silent.set()
        return len(stopped)

    def cut(self, *, frozen_only: bool = False) -> int:
        """Reset the current connections, or those that are stopped; returns how many."""
        cut = [pair for pair in self._open() if pair.silent.is_set() or not frozen_only]
        for pair in cut:
            pair.close()
        return len(cut)

    def close(self) -> None:
        self._listener.close()
        self.cut()

    def _open(self) -> list[_Pair]:
        self._pairs = [pair for pair in self._pairs if not pair.closed.is_set()]
        return list(self._pairs)

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                client, _ = self._listener.accept()
                server = socket.socket(socket.AF_UNIX)
                try:
                    server.connect(self._target)
                except OSError:  # the server is down
                    client.close()
                    server.close()
                    continue
                pair = _Pair(client, server)
                if self.dark:
                    pair.silent.set()
                self._pairs.append(pair)
                for source, sink in ((client, server), (server, client)):
                    threading.Thread(
                        target=self._pump, args=(pair, source, sink), daemon=True
                    ).start()

    def _pump(self, pair: _Pair, source: socket.socket, sink: socket.socket) -> None:
        """Forward until this direction ends. An end, or an error, of one side is passed on to the
        other unless the pair is stopped: then nobody is told."""
        try:
            while data := source.recv(65536):
                if pair.silent.is_set():
                    break
                time.sleep(self.delay_s)
                sink.sendall(data)
        except OSError:
            if not pair.silent.is_set():
                pair.close()
                return
        if pair.silent.is_set():
            pair.closed.wait()  # with both ends open
            return
        with contextlib.suppress(OSError):
            sink.shutdown(socket.SHUT_WR)
        pair.half_done()


class _Pair:
    """A connection: both its ends."""

    def __init__(self, client: socket.socket, server: socket.socket) -> None:
        self.silent, self.closed = threading.Event(), threading.Event()
        self._ends = (client, server)
        self._lock = threading.Lock()
        self._done = 0

    def close(self) -> None:
        """Reset it; a thread that waits for bytes sees an end."""
        self.closed.set()
        for end in self._ends:
            with contextlib.suppress(OSError):
                end.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, AT_ONCE)
            with contextlib.suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
            end.close()

    def half_done(self) -> None:
        """One direction has ended; both ends close after the other."""
        with self._lock:
            self._done += 1
        if self._done == 2:
            self.close()


@contextlib.contextmanager
def proxy_to(target: str) -> Iterator[Proxy]:
    proxy = Proxy(target)
    try:
        yield proxy
    finally:
        proxy.close()
