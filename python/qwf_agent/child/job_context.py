"""The values that a body can take by parameter name."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import cached_property
from pathlib import Path
from typing import Any, Protocol

from qwf_agent.app import Job
from qwf_agent.app.checkpoints import Checkpoint
from qwf_agent.app.folder_mark import FolderMark, digest, moment
from qwf_agent.child.cancel import BodyEvents
from qwf_agent.child.messages import Work
from qwf_agent.child.out_folder import Folder, OutRootFailed, folder_of
from qwf_agent.child.own_folder import Moved, mark_again, take
from qwf_agent.child.stream_parts import StreamWriter
from qwf_agent.child.track import Tracker
from qwf_agent.system.writable import UNWRITABLE, why_unwritable


class JobBoard(Protocol):
    """Where the progress of bodies is written, and what they stream."""

    @property
    def stream(self) -> StreamWriter:
        """The writer of their streams."""

    def report(self, ticket: int, fraction: float, message: str) -> None:
        """Write how far the body of this job is."""


class JobContext:
    """One job, as its body sees it. What most bodies do not take is made when it is asked for."""

    def __init__(
        self, work: Work, board: JobBoard, events: BodyEvents,
        moved: Callable[[int, Moved], None], save: Callable[[int, str], None],
        tracked: Callable[[int, str], None],
    ) -> None:  # fmt: skip
        self.inputs = _parse_object(work.inputs)
        self.events = events
        self.model: Any = None
        self.folder: Folder | None = None  # the folder of the job, if the body has asked for it
        self._work = work
        self._board = board
        self._moved = moved
        self._save = save
        self._tracked = tracked
        self._began_at = time.time()

    @cached_property
    def job(self) -> Job:
        """The job."""
        work = self._work
        return Job(
            work.job_id, work.task, work.queue, work.attempt, work.run_id, work.node_id,
            work.project, _parse_object(work.labels), work.queued_s, self.events.stopping,
            self._stream,
        )  # fmt: skip

    @cached_property
    def status_callback(self) -> StatusCallback:
        """The function that reports progress."""
        return StatusCallback(self._board, self._work.ticket)

    @cached_property
    def checkpoint(self) -> Checkpoint:
        """The checkpoint of the job, which its body reads and saves."""
        work = self._work
        saved = _parse_object(work.checkpoint)
        return Checkpoint(saved, lambda text: self._save(work.ticket, text))

    @cached_property
    def track(self) -> Tracker:
        """The function that tracks numbers."""
        ticket = self._work.ticket
        return Tracker(lambda text: self._tracked(ticket, text))

    def end(self) -> None:
        """Send what the body has tracked last. It has ended."""
        if "track" in self.__dict__:
            self.track.end()

    def out(self) -> Path:
        """Make the folder of the job and return its path. Files of another job are moved aside.
        Raises OutRootFailed."""
        work = self._work
        root = Path(work.place[0])
        self.folder = folder_of(work.job_id, work.run_id, work.node_id, work.out_dir, root)
        with self.blaming_the_host():
            return take(
                self.folder, self._mark, self.folder.base.is_relative_to(root),
                lambda moved: self._moved(work.ticket, moved),
            )  # fmt: skip

    @contextmanager
    def blaming_the_host(self, *spared: int) -> Iterator[None]:
        """Raise OutRootFailed instead of an OSError, if the job has a folder and no job could write
        one on this host; not for the errors in `spared`."""
        try:
            yield
        except OSError as error:
            self.blame_the_host(error, *spared)
            raise

    def blame_the_host(self, error: OSError, *spared: int) -> None:
        """The same for an error that is caught already."""
        if self.folder is None or error.errno not in UNWRITABLE or error.errno in spared:
            return
        why = why_unwritable(Path(self._work.place[0]))
        if why is not None:
            raise OutRootFailed(why) from error

    def files(self) -> list[dict[str, Any]]:
        """The files in the folder of the job, which keeps its mark; none if the body has not asked
        for it."""
        if self.folder is None:
            return []
        mark_again(self.folder.path, self._mark)
        return self.folder.files()

    def _stream(self, text: str) -> None:
        self._board.stream.write(self._work.ticket, text)

    @property
    def _mark(self) -> FolderMark:
        work = self._work
        _, instance, generation = work.place
        return FolderMark(
            instance, generation, work.run_id, moment(work.created_at), work.job_id, work.node_id,
            work.attempt, self._began_at, digest(work.inputs),
        )  # fmt: skip


UNDERSTOOD = {"fraction", "message"}  # by status_callback


class StatusCallback:
    """The function that a body gets as `status_callback`."""

    def __init__(self, board: JobBoard, ticket: int) -> None:
        self._board = board
        self._ticket = ticket
        self._lock = threading.Lock()
        self._has_warned = False
        self._last = 0.0

    def __call__(self, *given: Any, **named: Any) -> dict[str, Any] | None:
        """Report how far the body is, from 0 to 1, and what it is doing: `(fraction, message="")`.
        This makes no system call; the last report wins. It takes any other arguments, too, and
        raises nothing: a fraction that it does not find stays as it was, and the log says so once.
        A pipeline of diffusers gets its dict back, and tells how many steps it has."""
        state = given[3] if len(given) == 4 and isinstance(given[3], dict) else None
        fraction, message = _of_step(*given[:2]) if state is not None else _as_given(given, named)
        with self._lock:
            number = self._last if fraction is None else fraction
            told = min(1.0, max(0.0, number)) if number == number else 0.0
            self._board.report(self._ticket, told, message)
            self._last = told
            unread = state is None and (len(given) > 2 or bool(named.keys() - UNDERSTOOD))
            warn = (told != fraction or unread) and not self._has_warned
            self._has_warned = self._has_warned or warn
        if warn:
            got = ", ".join(_short(given, named))
            with suppress(OSError, ValueError):  # the body may have closed its output
                print(
                    f"warning: status_callback({got}) counts as {told:g}: give a fraction from 0 "
                    "to 1, and a text",
                    flush=True,
                )
        return state


def _of_step(pipeline: Any, step: Any) -> tuple[float | None, str]:
    """The fraction and the message of `callback_on_step_end(pipeline, step, time, state)`."""
    done, total = _number(step), None
    with suppress(Exception):
        total = _number(pipeline.num_timesteps)
    if done is None or not total:
        return None, f"step {_text(step)}"
    return (done + 1) / total, f"step {done + 1:g} of {total:g}"


def _as_given(given: tuple[Any, ...], named: dict[str, Any]) -> tuple[float | None, str]:
    """The fraction and the message in these arguments, as far as there are some."""
    if given and isinstance(given[0], str):
        given = (None, *given)
    fraction = given[0] if given else named.get("fraction")
    message = given[1] if len(given) > 1 else named.get("message")
    if message is None:
        others = {name: named[name] for name in named if name not in UNDERSTOOD}
        message = ", ".join(_short((), others))
    return _number(fraction), _text(message)


def _number(value: Any) -> float | None:
    """The number that a body gave, also one of another library; None for anything else."""
    try:
        return None if isinstance(value, str) else float(value)
    except Exception:
        return None


def _short(given: tuple[Any, ...], named: dict[str, Any]) -> list[str]:
    """The arguments as they are written in a call; of what may be large its type."""
    return [
        start + (f"{value:g}" if isinstance(value, float) else _text(value)[:100])
        if isinstance(value, (str, int, float, type(None)))
        else start + type(value).__name__
        for start, value in [("", one) for one in given] + [(f"{k}=", v) for k, v in named.items()]
    ]


def _text(value: Any) -> str:
    try:
        return str(value)
    except Exception:
        return type(value).__name__


def _parse_object(text: str | None) -> dict[str, Any]:
    """Parse a JSON object; most are empty."""
    if text is None or text == "{}":
        return {}
    value: dict[str, Any] = json.loads(text)
    return value
