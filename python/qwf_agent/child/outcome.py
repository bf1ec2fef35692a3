"""The outcome of an attempt as qwf.finish() takes it, and which exception or exit code leads to
which outcome."""

from __future__ import annotations

import errno
import json
import math
import signal
import traceback
from collections.abc import Iterator, Mapping
from itertools import islice
from types import TracebackType
from typing import Any, NamedTuple

from qwf_agent.app import LONGEST_RETRY_S, PermanentError, Release, TemporaryError
from qwf_agent.child.body import BadOutput, ImportFailed, ModelFailed, WrongArguments
from qwf_agent.child.out_folder import OutRootFailed
from qwf_agent.child.saving import NotBegun
from qwf_agent.child.tasks import NoSuchTask
from qwf_agent.llm.errors import Cancelled, ServerLost

TEMPFAIL_CODE = 75  # EX_TEMPFAIL of sysexits.h
MIN_RETRY_S = 0.1
TO_JSON = json.JSONEncoder(ensure_ascii=False).encode
SILENT = {"log_tail": ""}  # what most jobs add to their detail: they have printed nothing
SILENT_JSON = TO_JSON(SILENT)[1:].encode()
ACCELERATOR = "accelerator"  # the reason: an error of the card
NO_SPACE = (errno.ENOSPC, errno.EDQUOT)
# Words in the errors of CUDA, HIP, NVML and libraries on top of them, which mean that the card is
# out of memory, busy, gone or broken.
ACCELERATOR_WORDS = (
    "acceleratorerror", "cuda error", "cuda out of memory", "cuda-capable", "cublas", "cudnn",
    "nvml", "out of memory", "device-side assert", "hip error", "hip out of memory", "rocm error",
    "busy or unavailable", "cudaerrordevicesunavailable",
)  # fmt: skip
FATAL_CODES = (64, 65, 78)  # EX_USAGE, EX_DATAERR, EX_CONFIG: retrying cannot help


# What an exception of a body can mean, also as the cause of another one or inside a group.
KINDS = (Release, TemporaryError, PermanentError, ServerLost, Cancelled)
DEEPEST, MOST_LEAVES = 50, 1000  # how far a group or a chain of causes is read


class JobOutcome(NamedTuple):
    """The result of an attempt. `output` is JSON text."""

    outcome: str
    output: bytes = b"{}"
    error: str | None = None
    detail: dict[str, Any] = {}  # noqa: RUF012 - never changed


def render(outcome: JobOutcome, more: str = "") -> bytes:
    """The outcome as a JSON object whose last member is its detail; `more` adds members to the
    detail. `report` turns it into a report."""
    error = "null" if outcome.error is None else TO_JSON(outcome.error)
    detail = TO_JSON(outcome.detail)[1:-1] if outcome.detail else ""
    comma = ", " if detail and more else ""
    rest = (
        f', "outcome": "{outcome.outcome}", "error": {error}, "detail": {{{detail}{comma}{more}}}}}'
    )
    return b'{"output": ' + outcome.output + rest.encode(errors="replace")


def report(
    job_id: int,
    token: str,
    rendered: bytes,
    more: Mapping[str, Any],
    seconds: float | None = None,
) -> bytes:
    """One element of the list that qwf.finish_many() takes; `more` adds members to its detail,
    `seconds` how long the body ran. The output of user code is copied as text, not parsed."""
    if more:
        comma = b"" if rendered.endswith(b"{}}") else b", "
        members = SILENT_JSON if more is SILENT else TO_JSON(more)[1:].encode(errors="replace")
        if seconds is not None:
            members = f'"body_s": {max(seconds, 0):.6f}, '.encode() + members
        rendered = rendered[:-2] + comma + members + b"}"
    return f'{{"job_id": {job_id}, "token": "{token}", '.encode() + rendered[1:]


class CommandFailed(Exception):
    """A command ended with an exit code other than 0, or by a signal."""

    def __init__(self, message: str, code: int) -> None:
        super().__init__(message)
        self.code = code  # negative: the signal


def of_exception(
    error: BaseException, limit: int, gpu: bool = False, told: str | None = None
) -> JobOutcome:
    """The outcome of a body that raised; its error text has at most `limit` bytes. In a child with
    a card (`gpu`), an error of the card is a fault of the host: another host may succeed. `told`:
    why the body was told to release its job.

    A group of exceptions means what all of its leaves mean; if they differ, it is an error. An
    exception that means nothing here means what its cause (`raise ... from`) does. Never raises.
    """
    leaves = list(islice(_leaves(error, gpu), MOST_LEAVES))
    if len(leaves) == 1 and leaves[0] is error:
        return _of_one(error, limit, gpu, told)
    text = clip(describe(error), limit)
    outcomes = [_of_one(leaf, limit, gpu, told) for leaf in leaves]
    first = outcomes[0]
    kinds = {(one.outcome, one.detail.get("reason")) for one in outcomes}
    if len(kinds) > 1 or first.outcome == "completed":  # each leaf has called sys.exit(0)
        return JobOutcome("error", error=text)
    waits = [one.detail["retry_after_s"] for one in outcomes if "retry_after_s" in one.detail]
    detail = {**first.detail, "retry_after_s": max(waits)} if waits else first.detail
    return first._replace(error=text, detail=detail)


def _leaves(error: BaseException, gpu: bool, depth: int = 0) -> Iterator[BaseException]:
    """The exceptions that decide about an exception: those in a group and in the groups within it,
    the first of its causes that means something, or itself."""
    inner = _members(error) if depth < DEEPEST else ()
    if inner:
        for one in inner:
            yield from _leaves(one, gpu, depth + 1)
        return
    cause = error.__cause__ if depth < DEEPEST else None
    if cause is not None and not _means(error, gpu):
        causes = list(islice(_leaves(cause, gpu, depth + 1), MOST_LEAVES))
        if any(isinstance(one, KINDS) or _host_reason(one, gpu) for one in causes):
            yield from causes
            return
    yield error


def _members(error: BaseException) -> tuple[BaseException, ...]:
    """The exceptions in a BaseExceptionGroup, or in the same class of the package that Python 3.10
    needs for it."""
    try:
        inner = error.exceptions  # type: ignore[attr-defined]
    except Exception:
        return ()
    is_group = isinstance(inner, tuple) and all(isinstance(one, BaseException) for one in inner)
    return inner if is_group else ()


def _means(error: BaseException, gpu: bool) -> bool:
    """Return True if the cause of the exception is not asked: it says itself what the end is."""
    said = (*KINDS, SystemExit, CommandFailed, BadOutput, WrongArguments)
    of_host = (ImportFailed, ModelFailed, OutRootFailed)
    return isinstance(error, (*said, *of_host)) or _host_reason(error, gpu) is not None


def _of_one(error: BaseException, limit: int, gpu: bool, told: str | None) -> JobOutcome:
    if isinstance(error, Release):
        return _of_release(clip(text_of(error), limit), told)
    reason = _host_reason(error, gpu)
    if reason is not None:
        return JobOutcome("tempfail", error=clip(describe(error), limit), detail={"reason": reason})
    if isinstance(error, CommandFailed):
        return of_exit(error.code, text_of(error))
    if isinstance(error, SystemExit):
        return _of_system_exit(error)
    if isinstance(error, WrongArguments):  # the engine knows whether the producer has newer code
        detail = {} if error.is_null else {"reason": "arguments"}
        return JobOutcome("fatal", error=clip(text_of(error), limit), detail=detail)
    if isinstance(error, BadOutput):
        return JobOutcome("error", error=clip(text_of(error), limit))
    if isinstance(error, ImportFailed):
        text = clip(describe(error.__cause__ or error), limit)
        if isinstance(error.__cause__, NoSuchTask):  # nothing is wrong with this host
            return JobOutcome("error", error=text)
        return JobOutcome("lost", error=text, detail={"reason": "import"})
    if isinstance(error, ModelFailed):
        text = f"{text_of(error)}\n{describe(error.__cause__ or error)}"
        return JobOutcome("lost", error=clip(text, limit), detail={"reason": "model"})
    if isinstance(error, NotBegun):
        return JobOutcome("lost", error=f"the body did not begin: {error}")
    if isinstance(error, OutRootFailed):
        text = f"{text_of(error)}\n{describe(error.__cause__ or error)}"
        return JobOutcome("lost", error=clip(text, limit), detail={"reason": "out_root"})
    if isinstance(error, TemporaryError):
        return _of_temporary(error, limit)
    kinds = ((PermanentError, "fatal"), (ServerLost, "lost"), (Cancelled, "cancelled"))
    outcome = next((outcome for kind, outcome in kinds if isinstance(error, kind)), "error")
    detail = {"reason": "server"} if isinstance(error, ServerLost) else {}
    return JobOutcome(outcome, error=clip(describe(error), limit), detail=detail)


def _of_temporary(error: TemporaryError, limit: int) -> JobOutcome:
    """A transient failure; with `counts=False` a release that waits."""
    wait_s = error.retry_after_s
    text = describe(error) if error.counts else text_of(error) or type(error).__name__
    if not isinstance(wait_s, (int, float)) or math.isnan(wait_s):
        return JobOutcome("tempfail", error=clip(text, limit))
    if wait_s > LONGEST_RETRY_S:
        text = f"{text.rstrip()}\nretry_after_s was {wait_s}: a job waits at most 366 days"
    wait_s = min(max(float(wait_s), MIN_RETRY_S if error.counts else 1.0), LONGEST_RETRY_S)
    detail: dict[str, Any] = {"retry_after_s": wait_s}
    if error.counts:
        return JobOutcome("tempfail", error=clip(text, limit), detail=detail)
    return JobOutcome("released", error=clip(text, limit), detail={**detail, "reason": "later"})


def _of_release(message: str, told: str | None) -> JobOutcome:
    """The outcome of a body that releases its job. It counts as a loss at its timeout, and as an
    error if nobody has told it to: else such a job could run forever."""
    if told is None:
        text = f"Release: {message or 'raised by the body'}; but nobody has told the body to stop"
        return JobOutcome("error", error=text)
    if told == "timeout":
        text = f"timeout: the body gave its job back before its end{message and f': {message}'}"
        return JobOutcome("lost", error=text, detail={"reason": told})
    return JobOutcome("released", error=message or None, detail={"reason": told})


def _host_reason(error: BaseException | None, gpu: bool) -> str | None:
    """The fault of this host that caused the error: `accelerator`, `disk_full` or None.

    Checks only the type and message of the error and its cause: the source lines in a traceback may
    contain any of these words.
    """
    if error is None:
        return None
    if isinstance(error, OSError) and error.errno in NO_SPACE:
        return "disk_full"
    text = f"{type(error).__name__}: {text_of(error)}".lower()
    if gpu and any(mark in text for mark in ACCELERATOR_WORDS):
        return ACCELERATOR
    return (
        _host_reason(error.__cause__, gpu)
        if isinstance(error, (ImportFailed, ModelFailed))
        else None
    )


def of_exit(code: int, message: str) -> JobOutcome:
    """The outcome of a command with this exit code; a negative code is the signal that killed
    it."""
    if code < 0:
        return JobOutcome("lost", error=message, detail={"reason": "crashed", "signal": -code})
    outcome = "tempfail" if code == TEMPFAIL_CODE else "fatal" if code in FATAL_CODES else "error"
    return JobOutcome(outcome, error=message, detail={"exit_code": code})


def of_exit_status(status: int, out_of_memory: bool) -> JobOutcome:
    """The outcome of the job that was running when its child ended; `status` as os.wait returns
    it."""
    if not status & 0x7F:
        code = status >> 8
        outcome = "tempfail" if code == TEMPFAIL_CODE else "error"
        message = f"{how_it_ended(status, out_of_memory)} before the body returned"
        return JobOutcome(outcome, error=message, detail={"exit_code": code})
    number = status & 0x7F
    reason = "oom" if out_of_memory and number == signal.SIGKILL else "crashed"
    message = f"{how_it_ended(status, out_of_memory)} while the body ran"
    return JobOutcome("lost", error=message, detail={"reason": reason, "signal": number})


def how_it_ended(status: int, out_of_memory: bool) -> str:
    """How a process ended, in words; `status` as os.wait returns it."""
    number = status & 0x7F
    if not number:
        return f"the process exited with code {status >> 8}"
    cause = "out of memory: " if out_of_memory and number == signal.SIGKILL else ""
    return f"{cause}the process was killed by {signal_name(number)}"


def describe(error: BaseException) -> str:
    """`Type: message` and the traceback, without the frames of the agent itself."""
    trace = error.__traceback__
    while trace is not None and _is_ours(trace) and trace.tb_next is not None:
        trace = trace.tb_next
    head = f"{type(error).__name__}: {text_of(error)}\n"
    try:
        return head + "".join(traceback.format_exception(type(error), error, trace))
    except Exception:  # an exception of the chain raises when converted to text
        return head


def text_of(error: BaseException) -> str:
    """The message of an exception; where it has none because its `__str__` raises, that."""
    try:
        return str(error)
    except Exception as wrong:
        return f"(no text: its __str__ raised {type(wrong).__name__})"


def clip(text: str, limit: int) -> str:
    """Text that Postgres can store, at most `limit` bytes: the head and the tail are kept."""
    data = text.replace("\0", "").encode(errors="replace")
    if len(data) <= limit:
        return data.decode()
    gap = f"\n... {len(data) - limit} bytes left out ...\n"
    half = max(0, (limit - len(gap)) // 2)
    return (
        data[:half].decode(errors="ignore") + gap + data[len(data) - half :].decode(errors="ignore")
    )


def signal_name(number: int) -> str:
    """A name such as `SIGSEGV`, or `signal 77` for a signal without a name."""
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


def _of_system_exit(error: SystemExit) -> JobOutcome:
    if error.code is None or error.code == 0:
        return JobOutcome("completed")
    if not isinstance(error.code, int):
        return JobOutcome(
            "error", error=clip(f"exited: {text_of(error)}", 4096), detail={"exit_code": 1}
        )
    outcome = "tempfail" if error.code == TEMPFAIL_CODE else "error"
    return JobOutcome(
        outcome, error=f"exited with code {error.code}", detail={"exit_code": error.code & 0xFF}
    )


def _is_ours(trace: TracebackType) -> bool:
    return str(trace.tb_frame.f_globals.get("__name__", "")).startswith("qwf_agent.")


def broke_card(outcome: JobOutcome) -> bool:
    """Return True if the body met an error of the card: every later use of the card by its process
    may fail, and what the body had on it stays there until the process ends."""
    return outcome.detail.get("reason") == ACCELERATOR
