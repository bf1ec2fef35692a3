"""The mark in the folder of a job or a run: whose files these are.

A restored backup gives ids out again, and two databases give out the same ones. So the number of a
folder does not say whose it is; the hidden file `.qwf` in it does.
"""

from __future__ import annotations

import hashlib
import json
import re
from datetime import datetime, timedelta, timezone
from typing import Any, NamedTuple

NAME = ".qwf"
MOST_BYTES = 4096
_TIME = re.compile(
    r"(\d{4}-\d\d-\d\d)[ T](\d\d:\d\d:\d\d)(?:\.(\d{1,6}))?([+-])(\d\d):?(\d\d)?(?::?\d\d)?"
)


class FolderMark(NamedTuple):
    """Whose files a folder has. The mark of a run names no job."""

    instance: str  # id of the database, as qwf.instance has it
    generation: int
    run_id: int | None
    created_at: str  # of the run, or of the standalone job, as `moment` writes it
    job_id: int | None = None
    node_id: str | None = None
    attempt: int | None = None  # the last that has used the folder
    marked_at: float = 0.0  # when it began to, in seconds since 1970
    inputs: str | None = None  # a digest of the inputs that they were made from; None: unknown

    @property
    def owner(self) -> tuple[str, int | None, int | None, str]:
        """The part that two marks of one run, or of one job, have in common."""
        return self.instance, self.run_id, self.job_id, self.created_at

    def has_other_inputs(self, other: FolderMark) -> bool:
        """True if both marks are of one job, and its inputs have changed in between."""
        known = self.inputs is not None and other.inputs is not None
        return known and self.owner == other.owner and self.inputs != other.inputs

    def is_of_run(self, run: FolderMark) -> bool:
        """Return True if it is the mark of this run or of a job in it, or of this standalone
        job."""
        mine = self if run.run_id is None else self._replace(job_id=None)
        return mine.owner == run.owner

    def describe(self) -> str:
        """Whose files these are, in words."""
        of = f"job {self.job_id}" if self.run_id is None else f"run {self.run_id}"
        if self.run_id is not None and self.job_id is not None:
            of = f"job {self.job_id}, {self.node_id} of {of}"
        return f"{of} of {self.created_at}, database {self.instance[:8]}"

    def text(self) -> str:
        """The content of the file."""
        return json.dumps(self._asdict()) + "\n"


def read(data: bytes) -> FolderMark | None:
    """The mark in the content of the file; None if it is none."""
    try:
        given: dict[str, Any] = json.loads(data)
        mark = FolderMark(**given)
        right = (
            isinstance(mark.instance, str)
            and isinstance(mark.created_at, str)
            and isinstance(mark.generation, int)
            and isinstance(mark.marked_at, (int, float))
            and isinstance(mark.attempt or 0, int)
            and isinstance(mark.inputs or "", str)
        )
    except (ValueError, TypeError, RecursionError):
        return None
    return mark if right else None


def digest(inputs: str | None) -> str:
    """The digest of inputs, as Postgres writes them: one value of jsonb has one text."""
    return hashlib.sha256((inputs or "{}").encode()).hexdigest()[:16]


def moment(text: str) -> str:
    """A time as Postgres writes it, in UTC and always alike: 2026-11-24T12:00:00.000000Z."""
    found = _TIME.fullmatch(text)
    if found is None:
        return text
    day, clock, fraction, sign, hours, minutes = found.groups()
    local = datetime.fromisoformat(f"{day}T{clock}.{(fraction or '').ljust(6, '0')}")
    ahead = timedelta(hours=int(hours), minutes=int(minutes or 0))
    try:
        utc = local + ahead if sign == "-" else local - ahead
    except OverflowError:
        return text
    return utc.replace(tzinfo=timezone.utc).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
