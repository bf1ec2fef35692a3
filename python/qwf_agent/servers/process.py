"""The process of a model server: how it is started, what it prints, how its whole tree is ended."""

from __future__ import annotations

import os
import re
import selectors
import shutil
import signal
import socket
import traceback
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple, NoReturn

from qwf_agent.system.cgroup import ControlGroup
from qwf_agent.system.fork import die_with_parent
from qwf_agent.system.gpu import visible_devices
from qwf_agent.system.guardian import MARK, Guardian, Stop
from qwf_agent.system.log_pipe import MARK_BYTES, LogPipe
from qwf_agent.system.processes import end_tree, is_exiting, kill_group, kill_tree

LOG_BYTES, SENT_BYTES = 1 << 16, 4096  # kept of each process; sent with a heartbeat
# What is not a text, one character a byte: a bad byte of UTF-8, or a control character.
NO_TEXT = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\udc80-\udcff]")
CANNOT_START = 127  # exit code, as of a shell
# A model server needs no database: it does not get the addresses and passwords of one.
SECRET = ("QWF_", "PG", "DATABASE_URL")
RESET = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGCHLD, signal.SIGUSR1,
         signal.SIGPIPE)  # fmt: skip


def free_port() -> int:
    """A port of this machine that nobody listens on. Another process may take it before the server
    does; then the server is started with another one."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def environment_for(card: str) -> dict[str, str]:
    """The environment of a server that uses this card, "all" or "none"."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(SECRET)}
    return {"HF_HUB_OFFLINE": "1", **kept, **visible_devices(card)}


class ServerOutput(NamedTuple):
    """Output of a server since its agent started, over all its processes: the end of it, and
    how many bytes it is."""

    end: bytes = b""
    length: int = 0

    def then(self, log: LogPipe) -> ServerOutput:
        """The same with what the next process has printed."""
        end = self.end + log.end(SENT_BYTES)
        return ServerOutput(end[-SENT_BYTES:], self.length + log.printed)

    def text(self, max_bytes: int) -> str:
        """The end of it as text that has as many bytes: a byte that is not a text becomes "?"."""
        return NO_TEXT.sub("?", self.end[-max_bytes:].decode(errors="surrogateescape"))


class ServerProcess:
    """A process from fork to exit, in a session of its own. Nothing here blocks."""

    def __init__(
        self,
        selector: selectors.BaseSelector,
        guardian: Guardian,
        group: ControlGroup | None,
        argv: list[str],
        environment: dict[str, str],
        stop: list[str],
    ) -> None:
        """Fork. The guardian runs the argv `stop`, if there is one, should the agent be killed
        before this process has ended. Raises OSError if the system is out of processes or
        descriptors."""
        self._selector = selector
        self._guardian = guardian
        self._group = group
        out, into = os.pipe()
        self.log = LogPipe(out, os.urandom(MARK_BYTES), LOG_BYTES)
        try:
            parent = os.getpid()
            self.pid = os.fork()
            if self.pid == 0:
                _run(argv, {**environment, MARK: f"{guardian.mark}.{os.getpid()}"},
                     into, parent, group)  # fmt: skip
        except OSError:
            os.close(out)
            raise
        finally:  # the new process never gets here
            os.close(into)
        guardian.add(self.pid, Stop(stop, environment) if stop else None)
        selector.register(out, selectors.EVENT_READ, self._on_log)

    def end(self) -> None:
        """Ask every process of its tree to end."""
        end_tree(self.pid)

    def kill(self) -> None:
        """Kill every process of its tree."""
        if self._group is not None:
            self._group.kill()
        kill_tree(self.pid)

    def has_ended(self) -> bool:
        """Return True if it has ended, or is ending: its connections are closed a moment before it
        can be waited for. `wait` still has to be called."""
        flags = os.WEXITED | os.WNOHANG | os.WNOWAIT
        return os.waitid(os.P_PID, self.pid, flags) is not None or is_exiting(self.pid)

    def wait(self) -> int | None:
        """Its exit code once it has ended, negative for a signal; None while it runs. What is left
        of its tree is killed then: the rest of its group, and by its mark what is in a session of
        its own."""
        pid, status = os.waitpid(self.pid, os.WNOHANG)
        if pid == 0:
            return None
        if self._group is not None:
            self._group.kill()
        kill_group(self.pid)
        self._guardian.remove(self.pid, sweep=True)
        self.log.read()
        if self.log.fd in self._selector.get_map():
            self._selector.unregister(self.log.fd)
        os.close(self.log.fd)
        return os.waitstatus_to_exitcode(status)

    def tail(self, max_bytes: int) -> str:
        """The end of what it has printed."""
        return self.log.tail(max_bytes).strip()

    def _on_log(self) -> None:
        if not self.log.read():
            self._selector.unregister(self.log.fd)


def _why_no_start(program: str, environment: dict[str, str], error: OSError) -> str:
    """Message about a program that the system cannot start."""
    found = shutil.which(program, os.F_OK, environment.get("PATH", os.defpath))
    if isinstance(error, FileNotFoundError) and found is None:
        where = "" if os.sep in program else " in the PATH of the agent"
        return f"there is no program {program}{where}"
    return f"cannot start {program}: {os.strerror(error.errno or 0)}"


def _run(
    argv: list[str], environment: dict[str, str], output: int, parent: int,
    group: ControlGroup | None,
) -> NoReturn:  # fmt: skip
    """Become the program, in the new process. It gets no descriptor but the standard ones, because
    all others are closed by exec."""
    try:
        signal.set_wakeup_fd(-1)
        for number in RESET:
            signal.signal(number, signal.SIG_DFL)
        os.setsid()
        die_with_parent(parent)
        if group is not None:
            group.enter()
        with suppress(OSError):  # Linux only: if memory runs out, kill this process, not the agent
            Path("/proc/self/oom_score_adj").write_text("500")
        null = os.open(os.devnull, os.O_RDONLY)
        for target, source in ((0, null), (1, output), (2, output)):
            os.dup2(source, target)
        os.execvpe(argv[0], argv, environment)  # noqa: S606 - an argv from qwf.toml, no shell
    except OSError as error:
        os.write(2, f"{_why_no_start(argv[0], environment, error)}\n".encode())
    except BaseException:
        traceback.print_exc()
    finally:
        os._exit(CANNOT_START)
