"""Real agents and producers in front of a cluster, and what they wrote down outside it."""

from __future__ import annotations

import contextlib
import functools
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from support.ha.cluster import LOGINS, PATIENCE_S, Cluster, secret, until
from support.ha.network import FRONT
from support.harness import PACKAGE, TESTS, Agent, clean_environment
from support.notes import read

POOLED = "postgresql://app@127.0.0.1:6432/qwf"
AGENTS = 3
SLOTS = 6
PRODUCERS = 3
PAUSE_S = 0.25  # of a producer, so that agents have no backlog
PYTHONPATH = os.pathsep.join(map(str, (PACKAGE, TESTS)))


class Fleet:
    """Agents by qwf.toml of the examples, and producers through PgBouncer."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self._folder = cluster.path(FRONT, "")
        self.bodies = self._folder / "bodies"
        self._producers: list[subprocess.Popen[bytes]] = []
        self.agents: list[Agent] = []
        passwords = self._folder / "pgpass"
        passwords.write_text("".join(f"*:*:*:{name}:{secret(name)}\n" for name in LOGINS))
        passwords.chmod(0o600)
        self._environment = {
            **clean_environment(self._folder),
            "PYTHONPATH": PYTHONPATH,
            "PGPASSFILE": str(passwords),
            "HA_NOTES": str(self.bodies),
        }

    def start(self) -> None:
        for number in range(AGENTS):
            self.agents.append(self._agent(f"box-{number}"))
        for agent in self.agents:
            until(functools.partial(_serves, agent), "an agent")
        for number in range(PRODUCERS):
            self._producers.append(self.produce(FRONT, POOLED, f"p{number}"))

    def produce(self, box: str, dsn: str, name: str) -> subprocess.Popen[bytes]:
        """Start a producer in a box."""
        words = ["-m", "support.ha.produce", dsn, str(self.notes(name)), name, str(PAUSE_S)]
        return self._python(box, self._folder / f"{name}.log", words)

    def notes(self, name: str) -> Path:
        return self._folder / f"acknowledged-{name}"

    def acknowledged(self) -> list[dict[str, Any]]:
        """The enqueues of all producers that were acknowledged."""
        files = self._folder.glob("acknowledged-*")
        return [one for file in sorted(files) for one in read(file)]

    def stop_producers(self) -> None:
        for process in self._producers:
            process.kill()
            process.wait()

    def stop(self) -> None:
        """Stop the agents as a service manager does; their bodies may end."""
        for agent in self.agents:
            agent.signal(signal.SIGTERM)
        for agent in self.agents:
            agent.process.wait(PATIENCE_S)

    def kill(self) -> None:
        """End what is left."""
        self.stop_producers()
        for agent in self.agents:
            with contextlib.suppress(ProcessLookupError):
                agent.process.kill()
            agent.process.wait()

    def _agent(self, host: str) -> Agent:
        log = self._folder / f"{host}.log"
        words = ["-m", "qwf_agent", "--app", "support.ha.bodies", "--host", host,
                 "--slots", str(SLOTS), "--out-root", str(self._folder / "out")]  # fmt: skip
        config = self._cluster.path(FRONT, "etc/qwf.toml")
        return Agent(self._python(FRONT, log, words, QWF_CONFIG=str(config)), log)

    def _python(
        self, box: str, log: Path, words: list[str], **environment: str
    ) -> subprocess.Popen[bytes]:
        with log.open("ab") as output:
            return subprocess.Popen(
                [*self._cluster.network.inside(box), sys.executable, *words],
                stdin=subprocess.DEVNULL, stdout=output, stderr=output, cwd=self._folder,
                env={**self._environment, **environment}, start_new_session=True,
            )  # fmt: skip


@contextlib.contextmanager
def fleet(cluster: Cluster) -> Iterator[Fleet]:
    """A fleet that lives as long as the context."""
    running = Fleet(cluster)
    try:
        running.start()
        yield running
    finally:
        running.kill()


def _serves(agent: Agent) -> bool:
    assert agent.process.poll() is None, agent.said()
    return "serving" in agent.said()
