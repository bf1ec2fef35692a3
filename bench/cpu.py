"""CPU time: the cost of work, independent of the other load on the machine."""

from __future__ import annotations

import contextlib
import subprocess
from collections.abc import Sequence

from bench.server import BenchError, Server, of_tree


class Cpu:
    """CPU time of the server, and of clients with all their children, since construction."""

    def __init__(self, server: Server, clients: Sequence[subprocess.Popen[bytes]] = ()) -> None:
        self._server = server
        self._clients = clients
        self._before = self._read()

    def per_job(self, jobs: int) -> dict[str, float]:
        """Microseconds per job; empty if the server runs on another machine."""
        return {
            name: 1e6 * (seconds - self._before[name]) / jobs
            for name, seconds in self._read().items()
        }

    def _read(self) -> dict[str, float]:
        found = {}
        with contextlib.suppress(BenchError):
            found["server_us"] = self._server.cpu_seconds()
        if found and self._clients:
            found["clients_us"] = sum(of_tree(client.pid) for client in self._clients)
        return found
