"""`qwf` in the shell of a reader, from a process that has imported it: a start takes 15 ms of the
processor, and 300 otherwise. Agents are such ones too, and get the signals that `qwf` gets. Other
verbs that start processes, or stay, are those of a new Python; so are all with QWF_TEST_ALL=1.
"""

from __future__ import annotations

import contextlib
import gc
import importlib
import json
import os
import pkgutil
import select
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

PROGRAM = """#!{python} -IS
import json, os, signal, socket, sys
words = sys.argv[1:]
if not words or words[0] in ("demo", "down", "metrics", "tick", "top", "up", "web"):
    os.execv({real!r}, [{real!r}, *words])
with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as server:
    server.connect({address!r})
    message = json.dumps([words, os.getcwd(), dict(os.environ)]).encode()
    socket.send_fds(server, [message], [0, 1, 2])
    for number in (signal.SIGHUP, signal.SIGINT, signal.SIGTERM):
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, lambda number, _: server.send(bytes([number])))
    sys.exit(server.recv(1)[0])
"""
BYTES = 1 << 20  # of a message


@contextlib.contextmanager
def warm_qwf(folder: Path, package: Path, real: Path) -> Iterator[Path]:
    """A folder for the PATH with such a `qwf`, which ends with the context."""
    address, program = folder / "socket", folder / "qwf"
    text = PROGRAM.format(python=sys.executable, real=str(real), address=str(address))
    program.write_text(text, encoding="utf-8")
    program.chmod(0o755)
    process = subprocess.Popen(
        [sys.executable, __file__, str(address), str(package), str(real.parent)],
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
    )  # fmt: skip
    with process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"ready\n"
        yield folder
        process.kill()


def serve(address: str) -> list[str]:
    """Fork a command for each connection. Returns its words in the command; never in this one."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as listening:
        listening.bind(address)
        listening.listen()
        print("ready", flush=True)
        signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody waits for those that wait
        while True:
            asked, _ = listening.accept()
            if os.fork() == 0:
                signal.signal(signal.SIGCHLD, signal.SIG_DFL)
                break
            asked.close()
    message, given, _, _ = socket.recv_fds(asked, BYTES, 3)
    pid = os.fork()
    if pid:
        wait_for(pid, asked)
    asked.close()
    words, folder, environment = json.loads(message)
    for number, descriptor in enumerate(given):
        os.dup2(descriptor, number)
        os.close(descriptor)
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    time.tzset()
    return list(words)


def wait_for(pid: int, asked: socket.socket) -> None:
    """Send the exit status of the command, and end. It gets the signals that are sent here. If
    nobody waits for it, it is killed."""
    ended, pause = os.pidfd_open(pid), select.poll()
    pause.register(ended, select.POLLIN)
    pause.register(asked, select.POLLIN)
    while ended not in (ready for ready, _ in pause.poll()):
        said = asked.recv(1)
        os.kill(pid, said[0] if said else signal.SIGKILL)
        if not said:
            pause.unregister(asked)
    found = os.waitpid(pid, 0)
    code = os.waitstatus_to_exitcode(found[1])
    with contextlib.suppress(OSError):
        asked.send(bytes([code if code >= 0 else 128 - code]))
    os._exit(0)


def main() -> None:
    sys.path[:] = [sys.argv[3], sys.argv[2], *sys.path[1:]]  # without the folder of this script
    from qwf_agent import cli

    for module in pkgutil.walk_packages(cli.__path__, "qwf_agent.cli."):
        if not module.name.startswith(("qwf_agent.cli.top", "qwf_agent.cli.demo")):
            importlib.import_module(module.name)
    importlib.import_module("qwf_agent.__main__")
    gc.collect()
    gc.freeze()  # no command looks for garbage among what was imported: it would copy all of that
    sys.argv = [f"{sys.argv[3]}/qwf", *serve(sys.argv[1])]
    cli.main()


if __name__ == "__main__":
    main()
