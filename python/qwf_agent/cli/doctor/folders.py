"""A check of the folders for files on this box: nobody may get the files of somebody else."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from qwf_agent import config
from qwf_agent.app import folder_mark
from qwf_agent.cli.doctor.findings import Finding, note, problem
from qwf_agent.look.connection import Connection

ROOTS = """
select distinct w.out_root as root from qwf.workers w
where w.host = %s and w.out_root is not null
"""
GIVEN_OUT = """
select i.id::text as instance,
  (select s.last_value from qwf.jobs_id_seq s) as jobs,
  (select s.last_value from qwf.runs_id_seq s) as runs
from qwf.instance i
"""
# The newest events: there is no index by type, and there may be millions.
MOVED = """
select count(*) as moved, max(e.detail ->> 'moved_to') as example
from (select * from qwf.job_events order by id desc limit 10000) e
where e.type = 'folder_moved' and e.at > qwf.now() - interval '1 day'
"""
RESTORED = "stop the agents, and run: qwf migrate restored"


def folders(conn: Connection, address: str) -> Iterator[Finding]:
    """The folders of this box are of jobs and runs that this database knows."""
    known = conn.execute(GIVEN_OUT).fetchone()
    if known is None:
        return
    for row in conn.execute(ROOTS, (config.this_box(),)).fetchall():
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
    moved = conn.execute(MOVED).fetchone()
    if moved is not None and moved["moved"]:
        yield note(
            f"{moved['moved']} folders that jobs got in the last day held the files of others, and"
            f" were moved aside, such as to {moved['example']}",
            "after a restore from a backup this is normal, if qwf migrate restored was run; if it"
            f" was not, {RESTORED}. It is also normal for a job that was retried with other"
            " inputs, and for a map that ran again. See job_events, type folder_moved",
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
