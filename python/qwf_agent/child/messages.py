"""Messages between parent and child: tuples of plain values, each with its length before it.

They are written by marshal: both ends are the same interpreter, and it takes a tenth of the time
that JSON takes. A job's inputs and its report go along as text: the parent never parses what user
code reads or makes.
"""

from __future__ import annotations

import marshal
import struct
from typing import Any, NamedTuple

LENGTH = struct.Struct(">I")
FORMAT = 2  # of marshal: later ones look for values that come twice, which takes as long again

# What a child says, by the first value of its message, and the values after it.
READY = "ready"  # names of its tasks, GPU memory that each of its models needs, MiB
FILES = "files"  # where its code came from
MODEL = "model"  # the one it has now, if any; seconds that loading it took
REUSED = "reused"  # the model a job needed, which was there
ORDER_DONE = "order_done"  # ticket of an order, what went wrong
ANSWER = "answer"  # ticket of a job, outcome, reason, seconds, whether it is full, its report

Message = tuple[Any, ...]
JobFields = tuple[Any, ...]  # a Work without its ticket


class Work(NamedTuple):
    """A job, as a child is told. `labels` and `inputs` are JSON texts."""

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
    """One message as it goes over the socket."""
    data = marshal.dumps(message, FORMAT)
    return LENGTH.pack(len(data)) + data


class Unpacker:
    """Cuts a stream of bytes back into messages; holds what has come of the next one."""

    def __init__(self) -> None:
        self._buffer = bytearray()

    def feed(self, data: bytes) -> list[Message]:
        """Messages that are complete with `data`."""
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
