"""Processes that do the work of a benchmark. None outlives it."""

from __future__ import annotations

import contextlib
import ctypes
import multiprocessing
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO, Any

from bench.server import BenchError

ROOT = Path(__file__).resolve().parents[1]
STOP_S = 15.0
READY_S = 60.0
EACH_S = 0.5  # added for each process that starts at the same time
FORK = multiprocessing.get_context("fork")


def die_with_parent() -> None:
    """Have the kernel kill this process when its parent ends for any reason (Linux only)."""
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(None).prctl(1, signal.SIGKILL)


@contextlib.contextmanager
def forked(number: int, function: Callable[..., None], *args: Any) -> Iterator[None]:
    """Run `number` processes that call `function(index, *args)`; kill them when the context ends.

    They start together, after all have been forked.
    """
    gate = FORK.Event()

    def run(index: int) -> None:
        die_with_parent()
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        gate.wait()
        function(index, *args)

    started = [FORK.Process(target=run, args=(index,), daemon=True) for index in range(number)]
    try:
        for process in started:
            process.start()
        gate.set()
        yield
    finally:
        for process in started:
            process.kill()
        for process in started:
            process.join()


@contextlib.contextmanager
def spawned(
    commands: list[list[str]], ready: bytes, environment: dict[str, str]
) -> Iterator[list[subprocess.Popen[bytes]]]:
    """Start these commands and wait until each has printed `ready`. When the context ends, ask
    them to stop, then kill them. Raises BenchError if one ends, or takes too long, before that."""
    with contextlib.ExitStack() as stack:
        started: list[tuple[subprocess.Popen[bytes], IO[bytes]]] = []
        stack.callback(lambda: end([process for process, _ in started]))
        for command in commands:
            log: IO[bytes] = stack.enter_context(tempfile.TemporaryFile())
            started.append((begin(command, log, {**os.environ, **environment}), log))
        deadline = time.monotonic() + READY_S + EACH_S * len(commands)
        for process, log in started:
            while ready and ready not in said(log):
                if process.poll() is not None or time.monotonic() > deadline:
                    tail = said(log).decode(errors="replace")[-2000:]
                    raise BenchError(f"{' '.join(map(str, process.args))} is not ready: {tail}")  # type: ignore[arg-type]
                time.sleep(0.02)
        yield [process for process, _ in started]


def begin(
    command: list[str], log: IO[bytes], environment: dict[str, str]
) -> subprocess.Popen[bytes]:
    """Start a command of a benchmark that writes to this log."""
    return subprocess.Popen(
        command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, cwd=ROOT, env=environment,
        preexec_fn=die_with_parent,
    )  # fmt: skip


def said(log: IO[bytes]) -> bytes:
    """Everything written to a log so far."""
    return os.pread(log.fileno(), os.fstat(log.fileno()).st_size, 0)


def end(processes: list[subprocess.Popen[bytes]]) -> None:
    """Ask the processes to stop, and kill those still running after STOP_S."""
    for process in processes:
        with contextlib.suppress(ProcessLookupError):
            process.terminate()
    deadline = time.monotonic() + STOP_S
    for process in processes:
        try:
            process.wait(max(0.0, deadline - time.monotonic()))
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def agent(dsn: str, *options: str) -> list[str]:
    """The command that starts an agent, with the tasks of bench.noop unless options name others."""
    app = () if "--app" in options else ("--app", "bench.noop")
    return [sys.executable, "-m", "qwf_agent", *app, "--dsn", dsn, *options]


@contextlib.contextmanager
def agents(
    dsn: str, number: int = 1, *options: str, **environment: str
) -> Iterator[list[subprocess.Popen[bytes]]]:
    """Run `number` agents with forked children, once all are serving."""
    paths = os.pathsep.join((str(ROOT), str(ROOT / "python")))
    commands = [agent(dsn, *options) for _ in range(number)]
    with spawned(commands, b"serving", {"PYTHONPATH": paths, **environment}) as started:
        yield started
