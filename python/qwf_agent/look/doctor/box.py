"""Checks of this box: its clock, and whose files are in its folders."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import suppress
from datetime import datetime, timedelta, timezone
from pathlib import Path

from qwf_agent import config
from qwf_agent.app import folder_mark
from qwf_agent.look.connection import Connection, many
from qwf_agent.look.doctor.findings import Finding, duration, problem, query_value

SKEW = timedelta(seconds=2)
ROOTS = """
select distinct f.out_root as root from qwf.fleet f
where f.host = %s and f.out_root is not null
"""
GIVEN_OUT = """
select i.instance::text as instance, i.last_job_id as jobs, i.last_run_id as runs
from qwf.instance_overview i
"""
RESTORED = "stop the agents, and run: qwf migrate restored"


def clock(conn: Connection, dsn: str) -> Iterator[Finding]:
    """This box and the server agree on the time."""
    before = time.time()
    remote: datetime = query_value(conn, "select clock_timestamp()")
    local = datetime.fromtimestamp((before + time.time()) / 2, timezone.utc)
    apart = abs(remote - local)
    if apart > SKEW:
        yield problem(
            f"the clocks of this box and of the server are {duration(apart)} apart",
            "synchronize both with NTP: timedatectl set-ntp true. Leases use only the server's "
            "clock, but times in logs and schedules will look wrong",
        )


def folders(conn: Connection, address: str) -> Iterator[Finding]:
    """The folders of this box are of jobs and runs that this database knows."""
    (known,) = many(conn, GIVEN_OUT)
    for row in many(conn, ROOTS, (config.this_box(),)):
        root = Path(row["root"])
        for what, folder, last in (
            ("job", root / "jobs", known["jobs"]), ("run", root, known["runs"]),
        ):  # fmt: skip
            newest = _newest(folder, known["instance"])
            if newest > last:
                yield problem(
                    f"{folder}/{newest} is of {what} {newest}, and this database has given out"
                    f" only {last}: it was restored from a backup, and gives ids out again",
                    RESTORED,
                )


def _newest(folder: Path, instance: str) -> int:
    """The highest number of a folder that has the mark of this database; 0 if there is none."""
    numbers: list[int] = []
    with suppress(OSError), os.scandir(folder) as entries:
        numbers = [int(entry.name) for entry in entries if entry.name.isdecimal()]
    for number in sorted(numbers, reverse=True):
        with suppress(OSError):
            data = (folder / str(number) / folder_mark.NAME).read_bytes()
            mark = folder_mark.read(data[: folder_mark.MOST_BYTES])
            if mark is not None and mark.instance == instance:
                return number
    return 0
