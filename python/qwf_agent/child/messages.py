"""Messages between parent and child: tuples of plain values, each preceded by its length.

They are encoded with marshal: both ends are the same interpreter, and it takes a tenth of the time
of JSON. A job's inputs and its report are sent as text, so the parent never parses data that user
code reads or returns.
"""

from __future__ import annotations

import marshal
import struct
from typing import Any, NamedTuple

LENGTH = struct.Struct(">I")
FORMAT = 2  # of marshal: later formats look for repeated values, which takes twice as long

# The messages of a child: the first value is the kind, the comment lists the others.
READY = "ready"  # names of its tasks; the GPU memory that each of its models needs, MiB
FILES = "files"  # the files and folders that its code came from
MODEL = "model"  # the model it now has, or None; the seconds it took to load
REUSED = "reused"  # the model that a job needed and that was loaded already
ORDER_DONE = "order_done"  # ticket of the order; the error, if any
# Ticket of the job, outcome, reason, seconds, whether the child uses too much memory, report.
ANSWER = "answer"

Message = tuple[Any, ...]
JobFields = tuple[Any, ...]  # a Work without its ticket


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


def pack(message: Message) -> bytes:
    """Encode one message for the socket."""
    data = marshal.dumps(message, FORMAT)
    return LENGTH.pack(len(data)) + data


class Unpacker:
    """Splits a stream of bytes into messages and keeps the beginning of the next one."""

    def __init__(self) -> None:
        self._buffer = bytearray()

    def feed(self, data: bytes) -> list[Message]:
        """The messages that `data` completes."""
        buffer = self._buffer
        buffer += data
        messages, begin, size = [], LENGTH.size, len(buffer)
        while begin <= size:
            (length,) = LENGTH.unpack_from(buffer, begin - LENGTH.size)
            if begin + length > size:
                break
            message = marshal.loads(buffer[begin : begin + length])  # noqa: S302 - our own child
            messages.append(message)
            begin += length + LENGTH.size
        del buffer[: begin - LENGTH.size]
        return messages
