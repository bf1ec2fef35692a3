"""The worker under test: a program that the kit starts, signals and ends."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

import psutil
from psycopg.conninfo import conninfo_to_dict

SHOWN_LINES = 5
PG = {
    "host": "PGHOST", "hostaddr": "PGHOSTADDR", "port": "PGPORT", "dbname": "PGDATABASE",
    "user": "PGUSER", "password": "PGPASSWORD", "sslmode": "PGSSLMODE",
}  # fmt: skip


class Process:
    """A running worker. `worker` and `host` are its id and its box, once it has registered."""

    worker = ""
    host = ""

    def __init__(self, argv: Sequence[str], environ: Mapping[str, str], log: Path) -> None:
        self._log = log
        queue, dsn = environ["QWF_QUEUE"], environ["QWF_DSN"]
        filled = [word.replace("{queue}", queue).replace("{dsn}", dsn) for word in argv]
        with log.open("ab") as out:
            self._process = subprocess.Popen(
                filled,
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=out,
                env=environ,
                start_new_session=True,  # so that the whole group can be killed
            )
        self._known: dict[int, psutil.Process] = {}

    @property
    def code(self) -> int | None:
        """The exit code; None while it runs."""
        return self._process.poll()

    def terminate(self) -> None:
        """Send SIGTERM, to the first process only, as service managers do."""
        self._process.terminate()

    def kill(self) -> None:
        """Kill the worker as a machine that loses its power does; its bodies may go on."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()

    def freeze(self) -> None:
        """Stop the worker and its bodies in the middle of what they do."""
        for process in self._everything():
            _send(process, signal.SIGSTOP)

    def thaw(self) -> None:
        """Let them go on."""
        for process in self._everything():
            _send(process, signal.SIGCONT)

    def end(self) -> None:
        """Kill the worker, and every process that it has started as far as it can be found."""
        for process in self._everything():
            _send(process, signal.SIGKILL)
        self.kill()

    def wait(self, seconds: float) -> bool:
        """Wait until it has ended; return False if it has not."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(seconds)
        return self.code is not None

    def last_lines(self) -> str:
        """The end of what it printed, in one line."""
        lines = self._log.read_text(encoding="utf-8", errors="replace").splitlines()
        return " | ".join(line.strip() for line in lines[-SHOWN_LINES:] if line.strip())

    def look(self) -> None:
        """Remember the processes that it has now, so that they are found once it has ended."""
        with contextlib.suppress(psutil.Error):
            first = psutil.Process(self._process.pid)
            for process in (first, *first.children(recursive=True)):
                self._known[process.pid] = process

    def _everything(self) -> list[psutil.Process]:
        self.look()
        return list(self._known.values())


def environment(queue: str, dsn: str, *, other_server: bool) -> dict[str, str]:
    """The variables of the worker: ours, and where its queue and its database are. What ours say
    about LISTEN is left out on a server that they do not know, and so is the project: the jobs of
    the checks have none."""
    hidden = {
        *PG.values(),
        "PGSERVICE",
        "DATABASE_URL",
        "QWF_PROJECT",
        *(["QWF_LISTEN_DSN"] if other_server else ()),
    }
    ours = {name: value for name, value in os.environ.items() if name not in hidden}
    given = conninfo_to_dict(dsn)
    places = {PG[key]: str(value) for key, value in given.items() if key in PG and value}
    return {**ours, **places, "QWF_DSN": dsn, "QWF_QUEUE": queue, "QWF_CONFIG": os.devnull}


def _send(process: psutil.Process, number: signal.Signals) -> None:
    with contextlib.suppress(psutil.Error):
        process.send_signal(number)
