"""Bodies in any language: runs an argv, never a shell string, in the job's folder with a small
environment."""

from __future__ import annotations

import errno
import json
import os
import select
import signal
import subprocess
import tempfile
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing, suppress
from pathlib import Path
from typing import Any, NamedTuple

from qwf_agent.app import Job, PermanentError, Release
from qwf_agent.child.body import BadOutput
from qwf_agent.child.cancel import BodyEvents, CancelEvent
from qwf_agent.child.checkpoint_file import CheckpointFile
from qwf_agent.child.outcome import TEMPFAIL_CODE, CommandFailed, signal_name
from qwf_agent.child.track import TrackFile
from qwf_agent.system.fork import die_with_parent
from qwf_agent.system.guardian import MARK

COMMAND = "command"
INHERITED = ("PATH", "HOME", "LANG", "CUDA_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES", MARK)
TOO_LONG = (errno.E2BIG, errno.ENAMETOOLONG)
OWN_INPUTS = ("command", "stop_signal")  # the agent reads them, not the program
SHOWN = 200  # letters of a name in an error
CHECK_S = 0.02  # how often to check whether the command has ended, as its output may stay open


class CommandRefused(PermanentError):
    """The command is invalid or not allowed here."""


CommandRefused.__name__ = "Refused"  # the error of such a job begins with it


class Command(NamedTuple):
    """A command as the inputs of its job describe it."""

    argv: list[str]
    stop_signal: str | None  # the signal that tells it to release its job
    inputs: dict[str, Any]  # those of the program

    @classmethod
    def read(cls, inputs: Mapping[str, Any]) -> Command:
        """Read the inputs of a job. Raises Refused."""
        rest = {name: value for name, value in inputs.items() if name not in OWN_INPUTS}
        stop_signal = inputs.get("stop_signal")
        if stop_signal not in (None, "TERM"):
            raise CommandRefused('"stop_signal" must be "TERM": there is no other signal')
        return cls(_argv(inputs.get("command")), stop_signal, rest)


class Exchange(NamedTuple):
    """The files that carry the inputs and the output."""

    inputs: Path
    output: Path


class CommandFiles(NamedTuple):
    """Makes the files that a command writes while it runs."""

    checkpoint: Callable[[Path], CheckpointFile]
    track: Callable[[Path], TrackFile]


def run_command(
    command: Command,
    job: Job,
    out: Path,
    allowed: Path,
    events: BodyEvents,
    output_bytes: int,
    files: CommandFiles,
) -> dict[str, Any]:
    """Run a command and return its output: the JSON object in the file QWF_OUTPUT, else the one in
    the last line of standard output, else {}. The file may have `output_bytes`.

    Raises Refused, BadOutput, CommandFailed for an exit code or signal, and Release for the exit
    code 75 after the `stop_signal`.
    """
    argv = command.argv
    program = resolve(argv[0], allowed)
    with tempfile.TemporaryDirectory(prefix="qwf-") as folder:
        exchange = Exchange(Path(folder, "inputs.json"), Path(folder, "output.json"))
        exchange.inputs.write_text(json.dumps(command.inputs), encoding="utf-8")
        checkpoint = files.checkpoint(Path(folder, "checkpoint.json"))
        track = files.track(Path(folder, "track.jsonl"))
        environment = {
            **_environment(job, out, exchange),
            "QWF_CHECKPOINT": str(checkpoint.path),
            "QWF_TRACK": str(track.path),
        }
        with closing(LastLine()) as stdout, exchange.inputs.open("rb") as stdin:
            try:
                process = subprocess.Popen(
                    argv, executable=program, cwd=out, env=environment, stdin=stdin,
                    stdout=stdout.writer, preexec_fn=die_with_parent,
                )  # fmt: skip
            except OSError as error:
                if error.errno in TOO_LONG:
                    raise _too_long(argv) from None
                raise
            stdout.close_writer()
            stop = events.stopping if command.stop_signal else None
            told = [events.cancel, *([stop] if stop else [])]
            _copy_output(process, stdout, told, (checkpoint, track))
        track.close()
        checkpoint.close()
        if process.returncode == TEMPFAIL_CODE and stop is not None and stop.is_set():
            raise Release
        _check_exit(process.returncode)
        return _output(exchange.output, stdout.line(), output_bytes)


def resolve(name: str, allowed: Path) -> str:
    """The path of the program `name` in the folder `allowed`, with all links followed. Raises
    Refused."""
    root = allowed.resolve()
    shown = repr(name if len(name) <= SHOWN else f"{name[:SHOWN]}…")
    try:
        program = (root / name).resolve()
        is_executable = program.is_file() and os.access(program, os.X_OK)
    except OSError as error:  # such as a name that is too long
        raise CommandRefused(f"command {shown}: {error.strerror}") from None
    except RuntimeError:
        raise CommandRefused(f"command {shown}: its links go round in a circle") from None
    if root not in program.parents:
        raise CommandRefused(f"command {shown} is not in {root}, the only allowed folder")
    if not is_executable:
        raise CommandRefused(f"command {shown}: {program} is not an executable file")
    return str(program)


def _too_long(argv: Sequence[str]) -> CommandRefused:
    longest = max(len(os.fsencode(one)) for one in argv)
    total = sum(len(os.fsencode(one)) + 1 for one in argv)
    return CommandRefused(
        f"the arguments of the command are too long for this system: {total} bytes in all, the "
        f"longest {longest}; pass them as inputs of the job, which are a file (QWF_INPUTS)"
    )


def _argv(command: Any) -> list[str]:
    if not isinstance(command, Sequence) or isinstance(command, str) or not command:
        raise CommandRefused('"command" must be a list: the program and its arguments')
    return [_argument(position, value) for position, value in enumerate(command)]


def _argument(position: int, value: Any) -> str:
    text = json.dumps(value) if isinstance(value, (int, float)) else value
    if not isinstance(text, str) or "\0" in text or (position == 0 and not text):
        raise CommandRefused(f"command[{position}] must be a text or a number")
    return text


def _environment(job: Job, out: Path, exchange: Exchange) -> dict[str, str]:
    inherited = {name: os.environ[name] for name in INHERITED if name in os.environ}
    return {
        **inherited,
        "QWF_JOB_ID": str(job.id),
        "QWF_RUN_ID": "" if job.run_id is None else str(job.run_id),
        "QWF_NODE_ID": job.node_id or "",
        "QWF_ATTEMPT": str(job.attempt),
        "QWF_OUT": str(out),
        "QWF_INPUTS": str(exchange.inputs),
        "QWF_OUTPUT": str(exchange.output),
    }


def _copy_output(
    process: subprocess.Popen[bytes],
    stdout: LastLine,
    events: list[CancelEvent],
    files: tuple[CheckpointFile, TrackFile],
) -> None:
    """Copy what the command prints to the log, and look at its files, until it ends. When one of
    the events is set, send SIGTERM to its process group."""
    poll = select.poll()
    poll.register(stdout.reader, select.POLLIN)
    for event in events:
        poll.register(event, select.POLLIN)
    printing = True
    while process.poll() is None:
        if printing:
            poll.poll(CHECK_S * 1000)
            printing = stdout.read()
        else:
            with suppress(subprocess.TimeoutExpired):
                process.wait(CHECK_S)
        for file in files:
            file.step()
        for event in [one for one in events if one.is_set()]:
            events.remove(event)
            poll.unregister(event)
            os.killpg(os.getpgrp(), signal.SIGTERM)
    stdout.read()


class LastLine:
    """A pipe that a command prints to. Copies it to this process's log and keeps the last line that
    is not empty."""

    LIMIT = 2 << 20

    def __init__(self) -> None:
        self.reader, self.writer = os.pipe()
        self._kept = b""
        os.set_blocking(self.reader, False)

    def close_writer(self) -> None:
        """Close our copy of the writing end: the command has its own."""
        os.close(self.writer)
        self.writer = -1

    def read(self) -> bool:
        """Copy what is in the pipe, at most 1 MiB. False at its end."""
        for _ in range(16):
            try:
                data = os.read(self.reader, 65536)
            except BlockingIOError:
                return True
            if not data:
                return False
            write_all(1, data)
            self._kept = _last_lines(self._kept + data)[-self.LIMIT :]
        return True

    def close(self) -> None:
        """Close the pipe, even if a process that the command started still has it open."""
        os.close(self.reader)
        if self.writer >= 0:
            os.close(self.writer)

    def line(self) -> bytes:
        """The last line that is not empty."""
        return self._kept.rstrip().rpartition(b"\n")[2]


def write_all(fd: int, data: bytes) -> None:
    """Write all of `data`, even if the pipe takes only a part at a time."""
    while data:
        data = data[os.write(fd, data) :]


def _last_lines(data: bytes) -> bytes:
    """The end of `data`, from the beginning of the last line that is not empty."""
    return data[data.rstrip().rfind(b"\n") + 1 :]


def _check_exit(code: int) -> None:
    if code:
        how = f"was killed by {signal_name(-code)}" if code < 0 else f"exited with code {code}"
        raise CommandFailed(f"the command {how}", code)


def _read(path: Path, limit: int) -> bytes:
    """The file, which may have `limit` bytes; its size is looked at first, and it may grow."""
    size = path.stat().st_size
    if size <= limit:
        with path.open("rb") as file:
            written = file.read(limit + 1)
        if len(written) <= limit:
            return written
        size = path.stat().st_size
    raise BadOutput(
        f"the file QWF_OUTPUT has {size} bytes, the limit is {limit} (QW005): write a file into "
        "QWF_OUT, and return its name"
    )


def _output(path: Path, last_line: bytes, limit: int) -> dict[str, Any]:
    written = _read(path, limit) if path.is_file() else b""
    if not written.strip():
        try:
            value = json.loads(last_line)
        except (ValueError, RecursionError):
            return {}
        return value if isinstance(value, dict) else {}
    try:
        value = json.loads(written)
    except (ValueError, RecursionError) as error:
        raise BadOutput(f"the file QWF_OUTPUT is not JSON: {error}") from None
    if not isinstance(value, dict):
        raise BadOutput(f"the file QWF_OUTPUT contains a {type(value).__name__}, not an object")
    return value
