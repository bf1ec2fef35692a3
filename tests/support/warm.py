"""Agents that are forked from a process which has imported the agent, and no more.

Python takes longer to import an agent than a test takes to use it. A forked one runs
`python -m qwf_agent` from its first statement on. With QWF_TEST_ALL=1 each is a new Python, and so
is each that says fresh=True, has another Python's settings, or would import something else.
"""

from __future__ import annotations

import atexit
import contextlib
import gc
import json
import os
import runpy
import select
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

READ_BY_PYTHON = ("PYTHON", "LD_", "LC_", "LANG", "MALLOC_")
BYTES = 1 << 20  # of a message
GIVEN = 3  # standard input, output and error


class Forked:
    """A process that another one has forked: as much of subprocess.Popen as tests need."""

    def __init__(self, nursery: Nursery, pid: int) -> None:
        self.pid = pid
        self.returncode: int | None = None
        self._nursery = nursery

    def poll(self) -> int | None:
        if self.returncode is None:
            self.returncode = self._nursery.code_of(self.pid)
        return self.returncode

    def wait(self, timeout: float | None = None) -> int:
        until = None if timeout is None else time.monotonic() + timeout
        while (code := self.poll()) is None:
            if timeout is not None and until is not None and time.monotonic() > until:
                raise subprocess.TimeoutExpired(["qwf_agent"], timeout)
            self._nursery.look(0.05)
        return code

    def send_signal(self, number: int) -> None:
        if self.poll() is None:
            with contextlib.suppress(ProcessLookupError):
                os.kill(self.pid, number)

    def terminate(self) -> None:
        self.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)


class Nursery:
    """The process that forks agents, until this one ends."""

    def __init__(self, environment: Mapping[str, str], package: Path) -> None:
        self._package = package
        self._python = python_settings(environment)
        self._codes: dict[int, int] = {}
        self._lock = threading.RLock()
        self._socket, other = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with other:
            self._process = subprocess.Popen(
                [sys.executable, __file__, str(other.fileno())], cwd="/", pass_fds=[other.fileno()],
                env={**environment, "PYTHONPATH": str(package)}, stdin=subprocess.DEVNULL,
            )  # fmt: skip
        self._imported = set(json.loads(self._socket.recv(BYTES)))

    def fits(self, environment: Mapping[str, str], folder: Path) -> bool:
        """Return True if a fork is what a new Python would be."""
        if python_settings(environment) != self._python:
            return False
        paths = environment["PYTHONPATH"].split(os.pathsep)
        others = {folder, *map(Path, paths)} - {self._package}
        return str(self._package) in paths and not any(
            path.name.partition(".")[0] in self._imported
            for other in others
            if other.is_dir()
            for path in other.iterdir()
        )

    def start(
        self, options: Sequence[str], folder: Path, environment: Mapping[str, str], error: int
    ) -> Forked:
        """Fork an agent whose standard error is this file."""
        message = {"options": options, "folder": str(folder), "environment": dict(environment)}
        with self._lock, open(os.devnull, "rb") as nothing:
            socket.send_fds(
                self._socket, [json.dumps(message).encode()], [nothing.fileno(), 1, error]
            )
            while True:
                said = json.loads(self._socket.recv(BYTES))
                if "forked" in said:
                    self._codes.pop(said["forked"], None)  # of an earlier process of this number
                    return Forked(self, said["forked"])
                self._note(said)

    def code_of(self, pid: int) -> int | None:
        """The exit code of a process, as Popen has it; None while it runs."""
        with self._lock:
            self.look(0)
            return self._codes.get(pid)

    def look(self, seconds: float) -> None:
        """Wait until something has ended, but no longer than this."""
        if not select.select([self._socket], [], [], seconds)[0]:
            return
        with self._lock:
            while select.select([self._socket], [], [], 0)[0]:
                said = self._socket.recv(BYTES)
                assert said, "the process that forks agents has ended"
                self._note(json.loads(said))

    def _note(self, said: dict[str, Any]) -> None:
        self._codes[said["ended"]] = said["code"]


def python_settings(environment: Mapping[str, str]) -> dict[str, str]:
    """Variables that a Python reads before its first statement."""
    return {
        name: value
        for name, value in environment.items()
        if name.startswith(READ_BY_PYTHON) and name != "PYTHONPATH"
    }


# The process that forks ---------------------------------------------------------------------------


def fork_agents(server: socket.socket) -> list[str]:
    """Fork an agent for each message. Returns the options in the agent; never in this process."""
    woken, wake = os.pipe()
    for descriptor in (woken, wake):
        os.set_blocking(descriptor, False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    signal.set_wakeup_fd(wake)
    while True:
        ready = select.select([server, woken], [], [])[0]
        if woken in ready:
            os.read(woken, 4096)
            tell_who_ended(server)
        if server in ready:
            said, given, _, _ = socket.recv_fds(server, BYTES, GIVEN)
            if not said:
                os._exit(0)
            pid = os.fork()
            if pid == 0:
                signal.set_wakeup_fd(-1)
                signal.signal(signal.SIGCHLD, signal.SIG_DFL)
                return become_agent(json.loads(said), given)
            for descriptor in given:
                os.close(descriptor)
            server.send(json.dumps({"forked": pid}).encode())


def tell_who_ended(server: socket.socket) -> None:
    with contextlib.suppress(ChildProcessError):
        while (found := os.waitpid(-1, os.WNOHANG))[0]:
            code = os.waitstatus_to_exitcode(found[1])
            server.send(json.dumps({"ended": found[0], "code": code}).encode())


def become_agent(message: dict[str, Any], given: list[int]) -> list[str]:
    """Take folder, environment and files as a new process has them."""
    for number, descriptor in enumerate(given):
        os.dup2(descriptor, number)
    os.closerange(GIVEN, max(given) + 100)
    os.chdir(message["folder"])
    os.environ.clear()
    os.environ.update(message["environment"])
    time.tzset()
    own = [message["folder"], *os.environ["PYTHONPATH"].split(os.pathsep)]
    sys.path[:] = [*own, *sys.path[2:]]  # without the folder of this script, and PYTHONPATH
    options: list[str] = message["options"]
    return options


def leave_out_of_searches() -> None:
    """Let no fork look for garbage among what was imported: it would copy all of that."""
    gc.collect()
    gc.freeze()


@contextlib.contextmanager
def ending_soon() -> Iterator[None]:
    """End a fork without freeing, one by one, the objects that were imported."""
    try:
        yield
    except SystemExit as ended:
        if not isinstance(ended.code, int):
            raise
        threading._shutdown()  # type: ignore[attr-defined]
        atexit._run_exitfuncs()
        os._exit(ended.code)


def main() -> None:
    channel = socket.socket(fileno=int(sys.argv[1]))
    with channel:
        import qwf_agent.__main__

        assert threading.active_count() == 1
        del sys.modules["qwf_agent.__main__"]  # `python -m` makes it anew
        imported = {name.partition(".")[0] for name in sys.modules}
        channel.send(json.dumps(sorted(imported)).encode())
        leave_out_of_searches()
        options = fork_agents(channel)
        channel.detach()  # closed with all others
    sys.argv = [qwf_agent.__main__.__file__ or "", *options]
    with ending_soon():
        runpy.run_module("qwf_agent", run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    main()
