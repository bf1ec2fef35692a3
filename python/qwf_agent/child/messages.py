"""Messages between parent and child, each preceded by its length.

The parent sends lists of tuples of plain values, encoded with marshal: both ends are the same
interpreter, and it takes a tenth of the time of JSON. A body can write to the socket of its child,
and marshal is not safe with bytes that it did not make. So what a child sends is checked: an answer
has fixed fields, all else is JSON. A job's inputs and its report are sent as text.
"""

from __future__ import annotations

import json
import marshal
import struct
from typing import Any, NamedTuple

from qwf_agent.app.bodies import MOST_CONCURRENT

LENGTH = struct.Struct(">I")
FORMAT = 2  # of marshal: later formats look for repeated values, which takes twice as long
PART_BYTES = 1 << 18

# The messages of a child: the first value is the kind, the comment lists the others.
# Names of its tasks; the GPU memory that each of its models needs, MiB; options that each of its
# tasks declares, as texts; the tasks whose bodies take more than one job, each with its Shape.
READY = "ready"
FILES = "files"  # the files and folders that its code came from
MODEL = "model"  # the model it now has, or None; the seconds it took to load
REUSED = "reused"  # the model that a job needed and that was loaded already
ORDER_DONE = "order_done"  # ticket of the order; the error, if any
# Ticket of the job; number of the answer; its checkpoint, a JSON text, or BEGUN.
SAVE = "save"
BEGUN = ""  # instead of a checkpoint: the body of a job that runs at most once is about to begin
# Ticket of the job; how many bytes its body has streamed, and the last of them: at least those that
# are new.
STREAMED = "streamed"
TRACKED = "tracked"  # ticket of the job; the numbers it has tracked, a JSON text
MOVED = "moved"  # ticket of the job; its folder, where that was moved, whose files it has
PROGRESS = "progress"  # of one of many bodies: ticket of its job, fraction, message
# Ticket of the job, outcome, reason, seconds, whether the child is used up, report.
ANSWER = "answer"

# An answer: a byte that no JSON text begins with, ticket, seconds, whether the child is used up,
# number of the outcome, length of the reason. The reason and the report follow.
ANSWER_HEAD = struct.Struct("<BQd?BB")
ANSWER_MARK = 0
OUTCOMES = ("completed", "error", "fatal", "tempfail", "cancelled", "lost", "released")
LONGEST_S = 1e9  # a child says that something took: sums of such times stay finite
MOST_BYTES = 1 << 62  # a body can have streamed
MAX_NAME = 200  # characters in the name of a model
NUMBERS = {outcome: number for number, outcome in enumerate(OUTCOMES)}

FIRST_ORDER_TICKET = 1 << 63  # tickets from here on are orders to load or unload a model

Message = tuple[Any, ...]
JobFields = tuple[Any, ...]  # a Work without its ticket


class Garbled(Exception):
    """Bytes of a child that are no message of it."""


class Work(NamedTuple):
    """A job as a child gets it. `labels` and `inputs` are JSON texts."""

    ticket: int
    job_id: int
    run_id: int | None
    node_id: str | None
    task: str
    queue: str
    attempt: int
    project: str
    out_dir: str | None
    labels: str | None
    model: str | None
    inputs: str | None
    created_at: str  # of the run or of the standalone job, as Postgres writes it
    checkpoint: str | None  # what an earlier attempt has saved, a JSON text
    queued_s: float | None  # how long it was queued before the claim
    at_most_once: bool  # its body begins when the database has stored that it does
    place: tuple[str, str, int]  # the out-root; the database: instance and generation
    server: str | None  # the server of the model as a JSON text; null if the app loads the model


def pack_jobs(messages: list[Message]) -> bytes:
    """Jobs and orders for a child, in as few parts as PART_BYTES allows: a child starts the first
    one when it has the whole part."""
    data = marshal.dumps(messages, FORMAT)
    if len(data) > PART_BYTES and len(messages) > 1:
        half = len(messages) // 2
        return pack_jobs(messages[:half]) + pack_jobs(messages[half:])
    return LENGTH.pack(len(data)) + data


def is_batch(message: Message) -> bool:
    """Return True if a message of the parent is about the jobs of a batch: ticket of the batch, and
    a list with the fields of each job, which begin with its own ticket."""
    return isinstance(message[1], list)


def read_jobs(data: bytes) -> list[Message]:
    """The jobs and orders that the parent sent."""
    messages: list[Message] = marshal.loads(data)  # noqa: S302 - only the parent writes to this end
    return messages


def pack_answer(
    ticket: int, outcome: str, reason: str | None, seconds: float, used_up: bool, report: bytes
) -> bytes:
    """The answer about a job."""
    why = reason.encode() if reason else b""
    size = ANSWER_HEAD.size + len(why) + len(report)
    head = ANSWER_HEAD.pack(ANSWER_MARK, ticket, seconds, used_up, NUMBERS[outcome], len(why))
    return b"".join((LENGTH.pack(size), head, why, report))


def pack_message(message: Message) -> bytes:
    """Any other message of a child."""
    data = json.dumps(message).encode()
    return LENGTH.pack(len(data)) + data


def read_message(data: bytes) -> Message:
    """The message of a child. Raises Garbled."""
    try:
        return _read_answer(data) if data[0] == ANSWER_MARK else _read_other(data)
    except (struct.error, IndexError, ValueError, RecursionError) as error:
        raise Garbled(f"a message that cannot be read: {error}") from None


class Unpacker:
    """Splits a stream of bytes at the lengths, and keeps the beginning of the next message."""

    def __init__(self, max_bytes: int = 1 << 32) -> None:
        self._rest = bytearray()
        self._needed = 0  # bytes that the rest must have to be worth a look
        self._max_bytes = max_bytes

    def feed(self, data: bytes) -> list[bytes]:
        """The messages that `data` completes. Raises Garbled for one of more than `max_bytes`."""
        if self._rest:
            self._rest += data
            if len(self._rest) < self._needed:
                return []
            data = bytes(self._rest)
        messages, begin, size, needed = [], LENGTH.size, len(data), LENGTH.size
        while begin <= size:
            (length,) = LENGTH.unpack_from(data, begin - LENGTH.size)
            if length > self._max_bytes:
                raise Garbled(f"a message of {length} bytes, the limit is {self._max_bytes}")
            end = begin + length
            if end > size:
                needed += length
                break
            messages.append(data[begin:end])
            begin = end + LENGTH.size
        self._rest, self._needed = bytearray(data[begin - LENGTH.size :]), needed
        return messages

    def is_within(self) -> bool:
        """Return True if it has the beginning of a message and waits for the rest."""
        return bool(self._rest)


def _read_answer(data: bytes) -> Message:
    _, ticket, seconds, used_up, number, reason_bytes = ANSWER_HEAD.unpack_from(data)
    reason, begin = None, ANSWER_HEAD.size
    if reason_bytes:
        begin += reason_bytes
        reason = data[ANSWER_HEAD.size : begin].decode()
    if not 0 <= seconds <= LONGEST_S:
        raise Garbled(f"an answer after {seconds} s")
    return ANSWER, ticket, OUTCOMES[number], reason, seconds, used_up, data[begin:]


def _read_other(data: bytes) -> Message:
    message = json.loads(data)
    if not isinstance(message, list) or not _is_known(message):
        raise Garbled("a message of no known kind")
    return tuple(message)


def _is_known(message: list[Any]) -> bool:
    match message:
        case ["ready", [*tasks], dict(models), dict(options), dict(shapes)]:
            return (
                _all(tasks, str)
                and _all(models.values(), int)
                and _all(options.values(), dict)
                and all(_all(declared.values(), str) for declared in options.values())
                and all(map(_is_shape, shapes.values()))
            )
        case ["progress", int(), int() | float() as fraction, str()]:
            return 0 <= fraction <= 1
        case ["files", [*files]]:
            return _all(files, str)
        case ["model", str() | None as name, int() | float() as seconds]:
            return 0 <= seconds <= LONGEST_S and (name is None or _is_storable(name))
        case ["tracked", int(), str()]:
            return True
        case ["streamed", int(), int() as size, str()]:
            return 0 <= size < MOST_BYTES
        case ["moved", int(), str(), str(), str()] | ["save", int(), int(), str()]:
            return True
        case ["reused", str()] | ["order_done", int(), str() | None]:
            return True
    return False


def _is_shape(value: Any) -> bool:
    match value:
        case [bool(), int() as jobs, int() | float() as wait_s, bool()]:
            return 1 <= jobs <= MOST_CONCURRENT and 0 <= wait_s <= 1
    return False


def _is_storable(name: str) -> bool:
    """Return True if a heartbeat may contain the name; else every heartbeat with it would be
    refused."""
    if len(name) > MAX_NAME or "\0" in name:
        return False
    return not any("\ud800" <= char <= "\udfff" for char in name)


def _all(values: Any, kind: type) -> bool:
    return all(isinstance(value, kind) for value in values)
