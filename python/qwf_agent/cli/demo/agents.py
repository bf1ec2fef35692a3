"""The demo's own agents: started, watched, and stopped however the demo ends."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import time
from pathlib import Path
from types import TracebackType

QUEUES = {"cpu": (), "gpu": ("--gpu", "none")}
STOP_WITHIN = 20.0  # seconds


class AgentDied(Exception):
    """An agent exited by itself. The message holds the end of its log."""


class Agents:
    """One agent for each queue, serving the nodes of an example."""

    def __init__(self, dsn: str, example: Path, logs: Path) -> None:
        self.logs = logs
        self._example = example
        self._dsn = dsn
        self._running: dict[str, subprocess.Popen[bytes]] = {}

    def __enter__(self) -> Agents:
        self.logs.mkdir(parents=True, exist_ok=True)
        folders = [str(self._example.parent), os.environ.get("PYTHONPATH", "")]
        search_path = os.pathsep.join(filter(None, folders))
        environ = {name: value for name, value in os.environ.items() if not _is_option(name)}
        environ |= {"QWF_DSN": self._dsn, "QWF_CONFIG": os.devnull, "PYTHONPATH": search_path}
        for queue, options in QUEUES.items():
            nodes = f"{self._example.name}.nodes"
            command = [sys.executable, "-m", "qwf_agent", "--queue", queue, "--nodes", nodes]
            with self._log(queue).open("wb") as log:
                self._running[queue] = subprocess.Popen(
                    [*command, *options],
                    stdin=subprocess.DEVNULL,
                    stdout=log,
                    stderr=log,
                    env=environ,
                    start_new_session=True,  # Ctrl-C goes to the demo, which stops them
                )
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        for agent in self._running.values():
            agent.terminate()
        deadline = time.monotonic() + STOP_WITHIN
        try:
            for agent in self._running.values():
                with contextlib.suppress(subprocess.TimeoutExpired):
                    agent.wait(max(0.1, deadline - time.monotonic()))
        finally:  # even after a second Ctrl-C
            for agent in self._running.values():
                agent.kill()
                agent.wait()

    def check(self) -> None:
        """Raise AgentDied if one has exited."""
        for queue, agent in self._running.items():
            if agent.poll() is not None:
                log = self._log(queue)
                end = log.read_text(encoding="utf-8", errors="replace").splitlines()[-15:]
                message = (
                    f"the {queue} agent exited with code {agent.returncode}; the end of {log}:"
                )
                raise AgentDied("\n  ".join([message, *end]))

    def _log(self, queue: str) -> Path:
        return self.logs / f"demo-{queue}.log"


def _is_option(name: str) -> bool:
    """True for a variable that configures agents; the demo sets its own."""
    return name.startswith("QWF_") and name != "QWF_HOME"
