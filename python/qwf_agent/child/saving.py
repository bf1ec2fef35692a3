"""Saves checkpoints from a child: its parent stores them, and answers in the shared memory. And
sends what bodies track, without an answer."""

from __future__ import annotations

import asyncio
import itertools
import os
import threading
import time
from collections.abc import Callable

from qwf_agent.child.messages import BEGUN, SAVE, TRACKED, Message
from qwf_agent.child.scoreboard import PLACES, SaveAnswer, Scoreboard

FIRST_S, LONGEST_S = 0.0005, 0.02  # waits between two looks at the answer
ENDED = "the body has ended, so it saves no checkpoint any more"
BLOCKS = (
    "this would block all other bodies of the event loop: write"
    " await asyncio.to_thread(checkpoint.save, value)"
)


class NotBegun(Exception):
    """The database has not stored that a body begins, so it does not begin; says why."""


class Saver:
    """Sends checkpoints to the parent, each with a number, and reads its answers. Any thread may
    use it, for any of the bodies that run.

    Invariant: two checkpoints that wait for an answer have different places for it, and none is
    sent after the answer about its job: the parent would not know the job any more.
    """

    def __init__(
        self, send: Callable[[Message], None], scoreboard: Scoreboard, value_bytes: int
    ) -> None:
        self._send = send
        self._scoreboard = scoreboard
        self._value_bytes = value_bytes
        self._numbers = itertools.count(1)
        self._running: set[int] = set()  # tickets of the jobs whose bodies run
        self._waiting: dict[int, int] = {}  # by place: the ticket of a job whose body waits
        self._lock = threading.Lock()
        self._pid = os.getpid()

    def body_begins(self, ticket: int) -> None:
        """The body of this job may save from now on."""
        self._running.add(ticket)

    def body_ends(self, ticket: int) -> None:
        """It may not any more: a thread of it that still waits gets an error."""
        with self._lock:
            self._running.discard(ticket)
            if self._waiting:
                self._waiting = {n: one for n, one in self._waiting.items() if one != ticket}

    def begin(self, ticket: int, text: str) -> int:
        """Send the checkpoint of a job, and return the number of its answer. Raises ValueError if
        it is too large, and RuntimeError in a process that the body has forked, or after its
        end."""
        size = len(text.encode())
        if size > self._value_bytes:
            raise ValueError(
                f"the checkpoint has {size} bytes, the limit is {self._value_bytes}: write a file,"
                " and save its path"
            )
        if os.getpid() != self._pid:
            raise RuntimeError("save checkpoints in the process that runs the body")
        with self._lock:
            if ticket not in self._running:
                raise RuntimeError(ENDED)
            number = next(one for one in self._numbers if one % PLACES not in self._waiting)
            self._waiting[number % PLACES] = ticket
            self._send((SAVE, ticket, number, text))
        return number

    def answer(self, number: int) -> SaveAnswer | None:
        """The answer of the database, None until it is there. Raises RuntimeError if the body has
        ended."""
        with self._lock:
            if number % PLACES not in self._waiting:
                raise RuntimeError(ENDED)
            found = self._scoreboard.save_answer(number)
            if found is not None:
                del self._waiting[number % PLACES]
        return found

    def send_tracked(self, ticket: int, text: str) -> None:
        """Send what a body has tracked, a JSON text: nobody answers."""
        self._send((TRACKED, ticket, text))

    def save(self, ticket: int, text: str) -> None:
        """Store the checkpoint of a job, and wait until it is committed. Raises ValueError, and
        RuntimeError as `begin` does."""
        if refusal := self._refusal(ticket, text):
            raise ValueError(f"the checkpoint was refused: {refusal}")

    def begin_body(self, ticket: int) -> None:
        """Store that the body of a job that runs at most once begins, and wait until that is
        committed: nobody else runs it from then on. Raises NotBegun."""
        if refusal := self._refusal(ticket, BEGUN):
            raise NotBegun(refusal)

    def _refusal(self, ticket: int, text: str) -> str:
        number, wait_s = self.begin(ticket, text), FIRST_S
        while (answer := self.answer(number)) is None:
            time.sleep(wait_s)
            wait_s = min(wait_s * 2, LONGEST_S)
        return answer.refusal

    def save_beside(self, ticket: int, text: str) -> None:
        """The same for one of many bodies in an event loop: only from another thread, because the
        others go on meanwhile. Raises RuntimeError in the thread of the loop."""
        try:
            asyncio.get_running_loop()
        except RuntimeError:
            self.save(ticket, text)
        else:
            raise RuntimeError(BLOCKS)
