"""CPU time: the cost of work, independent of the other load on the machine."""

from __future__ import annotations

import contextlib
import subprocess
from collections.abc import Sequence

from bench.server import BenchError, Server, of_itself, of_tree


class Cpu:
    """CPU time of the server, and of clients with all their children, since construction. With
    `split`, also of the clients alone and of their children alone."""

    def __init__(
        self, server: Server, clients: Sequence[subprocess.Popen[bytes]] = (), split: bool = False
    ) -> None:
        self._server = server
        self._clients = clients
        self._split = split
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
        if found and self._split:
            found["parents_us"] = sum(of_itself(client.pid) for client in self._clients)
            found["children_us"] = found["clients_us"] - found["parents_us"]
        return found
