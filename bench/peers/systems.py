"""qwf and its peers behind one interface, so that each can be given the same work."""

from __future__ import annotations

import os
import shutil
import subprocess
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path

from psycopg.conninfo import conninfo_to_dict

from bench import sessions
from bench.measure import LEFT, fill
from bench.peers import install
from bench.processes import agents, forked, spawned
from bench.scenarios.snapshot import ENDS
from bench.server import BenchError, Database
from qwf_agent import migrate

PLACES = {"host": "PGHOST", "port": "PGPORT", "user": "PGUSER", "password": "PGPASSWORD",
          "dbname": "PGDATABASE"}  # fmt: skip
VERB_S = 300


@dataclass(frozen=True)
class System:
    """A job queue: the SQL that counts its jobs, and the commands that start its processes."""

    name: str
    left: str  # SQL: jobs that have not ended
    produced: str  # SQL: jobs ever enqueued
    ends: str | None  # SQL: jobs that ended between two times; None if it keeps no history
    share: float  # share of the usual number of jobs: slow systems get fewer
    script: tuple[str, ...] = ()  # the command of a peer, without its verb
    kind: str = ""  # the installer to use
    at_once: int | None = None  # jobs that one worker process runs at once, if it has no batches

    def install(self) -> None:
        """Install the system if it is missing. Raises install.CannotInstall."""
        if self.kind:
            install.INSTALLERS[self.kind]()

    def deploy(self, dsn: str) -> None:
        """Create its schema in a database."""
        if self.name == "qwf":
            migrate.deploy(dsn)
        elif self.name == "pgqueuer":
            for verb in ("install", "autovac"):
                call([str(install.VENV / "bin" / "pgq"), verb], dsn)
        else:
            call([*self.script, "install"], dsn)

    def fill(self, base: Database, jobs: int) -> None:
        """Enqueue `jobs` no-op jobs."""
        if self.script:
            call([*self.script, "fill", str(jobs)], base.dsn)
        else:
            fill(base, jobs)

    def probe(self, base: Database, number: int) -> None:
        """Enqueue, one by one, jobs that record when they start."""
        call([*self.script, "probe", str(number)], base.dsn)

    def producer(self, base: Database, batch: int, behind: int) -> AbstractContextManager[object]:
        """A process that keeps the queue filled."""
        if not self.script:
            return forked(1, sessions.produce, base.dsn, batch, behind)
        return spawned([[*self.script, "produce", str(batch), str(behind)]], b"", places(base.dsn))

    def workers(
        self, base: Database, number: int, batch: int, file: Path = Path(os.devnull)
    ) -> AbstractContextManager[list[subprocess.Popen[bytes]]]:
        """Start `number` worker processes; stamp jobs write their delays to the file."""
        if not self.script:
            return agents(base.dsn, number, "--batch", str(batch))
        command = [*self.script, "work", str(batch), str(file)]
        return spawned([command] * number, b"ready", places(base.dsn))


def places(dsn: str) -> dict[str, str]:
    """The PG* variables of a database."""
    found = conninfo_to_dict(dsn)
    return {PLACES[key]: str(value) for key, value in found.items() if key in PLACES}


def call(command: list[str], dsn: str, **environment: str) -> None:
    """Run a peer's command and wait for its end. Raises BenchError."""
    said(command, **places(dsn), **environment)


def said(command: list[str], **environment: str) -> str:
    """The output of a peer's command. Raises BenchError."""
    done = subprocess.run(
        command, capture_output=True, text=True, timeout=VERB_S, cwd=install.HERE,
        env={**os.environ, **environment},
    )  # fmt: skip
    if done.returncode:
        problem = (done.stderr or done.stdout).strip()[-1000:]
        raise BenchError(f"{' '.join(command[-3:])}: {problem}")
    return done.stdout


def script(name: str) -> str:
    return str(install.HERE / name)


QWF = System("qwf", LEFT, "select count(*) from qwf.jobs", ENDS, 1.0)
PGQUEUER = System(
    "pgqueuer",
    "select count(*) from pgqueuer",
    "select count(*) from pgqueuer_log where status = 'queued'",
    "select count(*) from pgqueuer_log where status = 'successful' "
    "and created >= to_timestamp(%s) and created < to_timestamp(%s)",
    1.0,
    (str(install.PYTHON), script("pgqueuer_peer.py")),
    "python",
)
GRAPHILE = System(
    "graphile-worker",
    "select count(*) from graphile_worker._private_jobs",
    "select coalesce(pg_sequence_last_value("
    "pg_get_serial_sequence('graphile_worker._private_jobs', 'id')::regclass), 0)",
    None,
    1.0,
    (shutil.which("node") or "node", script("graphile_peer.js")),
    "node",
)
PROCRASTINATE = System(
    "procrastinate",
    "select count(*) from procrastinate_jobs where status in ('todo', 'doing')",
    "select count(*) from procrastinate_jobs",
    None,
    0.1,
    (str(install.PYTHON), script("procrastinate_peer.py")),
    "python",
    at_once=20,
)
ALL = (QWF, PGQUEUER, GRAPHILE, PROCRASTINATE)
