"""The page that the demo starts, and leaves running for who looks around until `qwf down`.

The page holds a lock on the file `page` below the home for as long as it lives: it inherits the
descriptor. So a file that is not locked belongs to a page that has ended, and the process that a
locked file names is the page, not another one with its old number.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import hashlib
import os
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from qwf_agent import __version__

PORTS = range(5688, 5698)
START_S = 30.0
STOP_S = 5.0
LINK = re.compile(r"^https?://\S+$", re.MULTILINE)


class PageFailed(Exception):
    """The page did not start. The message says why."""


class _PortTaken(PageFailed):
    """Another process took the port between the look for a free one and the page's start."""


def start(home: Path, dsn: str, files: Path) -> str:
    """The link of a page for this database, which shows the files below a folder.

    It is the page that runs, or a new one. A page for something else, or of another version, is
    stopped first. Several processes may call this at once. Raises PageFailed.
    """
    try:
        return _start(home, dsn, files, _free_port())
    except _PortTaken:
        return _start(home, dsn, files, 0)


def _start(home: Path, dsn: str, files: Path, port: int) -> str:
    wanted = hashlib.sha256(f"{__version__}\n{dsn}\n{files}".encode()).hexdigest()
    log = home / "logs" / "demo-web.log"
    deadline = time.monotonic() + START_S
    with _record(home) as record:
        while not _is_free(record):
            named = _read(record)
            if named is not None and named[1] == wanted:
                if link := _link(log):
                    return link
            elif named is not None:
                _signal(named[0], signal.SIGTERM)
            if time.monotonic() > deadline:
                raise PageFailed("another page neither starts nor stops: qwf down stops it")
            time.sleep(0.1)
        os.ftruncate(record, 0)
        process = _spawn(record, log, dsn, files, wanted, port)
    while (link := _link(log)) is None:
        if process.poll() is not None:
            said = _last_line(log)
            raise _PortTaken(said) if os.strerror(errno.EADDRINUSE) in said else PageFailed(said)
        if time.monotonic() > deadline:
            process.kill()
            raise PageFailed(f"it says nothing; see {log}")
        time.sleep(0.05)
    return link


def stop(home: Path) -> bool:
    """Stop the page, if one runs; False if none does. Raises PageFailed if it does not stop."""
    if not (home / "page").exists():
        return False
    began = time.monotonic()
    found = False
    with _record(home) as record:
        while not _is_free(record):
            waited = time.monotonic() - began
            if waited > 2 * STOP_S:
                raise PageFailed(f"the page does not stop; {home / 'page'} has its process number")
            named = _read(record)  # None in the instant before a new page has written it
            if named is not None:
                found = True
                _signal(named[0], signal.SIGTERM if waited < STOP_S else signal.SIGKILL)
            time.sleep(0.1)
    return found


def _signal(process: int, number: signal.Signals) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.kill(process, number)


@contextlib.contextmanager
def _record(home: Path) -> Iterator[int]:
    home.mkdir(mode=0o700, parents=True, exist_ok=True)
    flags = os.O_CREAT | os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW
    record = os.open(home / "page", flags, 0o600)
    try:
        yield record
    finally:
        os.close(record)


def _is_free(record: int) -> bool:
    """Return True if no page runs; then the lock is ours, and nobody else's until this one is
    closed."""
    try:
        fcntl.flock(record, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _read(record: int) -> tuple[int, str] | None:
    """The process of the page, and what it was started for."""
    pid, _, what = os.pread(record, 200, 0).decode("ascii", "replace").partition(" ")
    return (int(pid), what) if pid.isdecimal() else None


def _spawn(
    record: int, log: Path, dsn: str, files: Path, what: str, port: int
) -> subprocess.Popen[bytes]:
    """Start the page, which writes its process number into the record before anything else."""
    command = ["-c", "from qwf_agent.cli import main; main()", "web", "--port", str(port)]
    command += ["--files", str(files)]
    environ = {name: value for name, value in os.environ.items() if not name.startswith("QWF_")}
    environ |= {"QWF_DSN": dsn, "QWF_CONFIG": os.devnull, "QWF_HOME": str(log.parents[1])}
    paths = filter(None, os.environ.get("PYTHONPATH", "").split(os.pathsep))
    environ["PYTHONPATH"] = os.pathsep.join(map(os.path.abspath, paths))
    log.parent.mkdir(parents=True, exist_ok=True)
    log.unlink(missing_ok=True)
    # The link in the log lets everybody in who reads it.
    flags = os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_CLOEXEC
    with open(os.open(log, flags, 0o600), "wb") as out:
        return subprocess.Popen(
            [sys.executable, *command],
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=out,
            env=environ,
            cwd=log.parent,  # Python imports from here: not a folder that others can write
            start_new_session=True,
            pass_fds=(record,),
            preexec_fn=lambda: os.pwrite(record, f"{os.getpid()} {what}".encode(), 0),
        )


def _free_port() -> int:
    """The first free port of PORTS; 0, which is any, if there is none."""
    for port in PORTS:
        with socket.socket() as tried, contextlib.suppress(OSError):
            tried.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            tried.bind(("127.0.0.1", port))
            return port
    return 0


def _link(log: Path) -> str | None:
    with contextlib.suppress(FileNotFoundError):
        if found := LINK.search(log.read_text(encoding="utf-8", errors="replace")):
            return found[0]
    return None


def _last_line(log: Path) -> str:
    lines = log.read_text(encoding="utf-8", errors="replace").strip().splitlines()
    return lines[-1].removeprefix("error: ") if lines else f"it has ended; see {log}"
