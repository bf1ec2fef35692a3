"""Saves checkpoints from a child: its parent stores them, and answers in the shared page."""

from __future__ import annotations

import itertools
import os
import time
from collections.abc import Callable

from qwf_agent.child.messages import SAVE, Message
from qwf_agent.child.scoreboard import SaveAnswer, Scoreboard

FIRST_S, LONGEST_S = 0.0005, 0.02  # waits between two looks at the answer


class Saver:
    """Sends checkpoints to the parent, each with a number, and reads its answers."""

    def __init__(
        self, send: Callable[[Message], None], scoreboard: Scoreboard, value_bytes: int
    ) -> None:
        self._send = send
        self._scoreboard = scoreboard
        self._value_bytes = value_bytes
        self._numbers = itertools.count(1)
        self._pid = os.getpid()

    def begin(self, ticket: int, text: str) -> int:
        """Send the checkpoint of a job, and return the number of its answer. Raises ValueError if
        it is too large, and RuntimeError in a process that the body has forked."""
        size = len(text.encode())
        if size > self._value_bytes:
            raise ValueError(
                f"the checkpoint has {size} bytes, the limit is {self._value_bytes}: write a file,"
                " and save its path"
            )
        if os.getpid() != self._pid:
            raise RuntimeError("save checkpoints in the process that runs the body")
        number = next(self._numbers)
        self._send((SAVE, ticket, number, text))
        return number

    def answer(self, number: int) -> SaveAnswer | None:
        """The answer of the database, None until it is there."""
        found = self._scoreboard.save_answer()
        return found if found is not None and found.number == number else None

    def save(self, ticket: int, text: str) -> None:
        """Store the checkpoint of a job, and wait until it is committed. Raises ValueError."""
        number, wait_s = self.begin(ticket, text), FIRST_S
        while (answer := self.answer(number)) is None:
            time.sleep(wait_s)
            wait_s = min(wait_s * 2, LONGEST_S)
        if answer.refusal:
            raise ValueError(f"the checkpoint was refused: {answer.refusal}")
