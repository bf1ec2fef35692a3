"""What would be deleted if something were kept for a shorter time."""

from __future__ import annotations

from typing import Any

from qwf_agent.cli import arguments
from qwf_agent.look import connection, draw
from qwf_agent.look.connection import Connection

MOST = 100_000  # rows that are counted: a question must not take minutes

# With a retention given, that of the setting or of one queue; else those that hold now.
ENDED = """
select
  (select count(*) from (
    select from qwf.jobs j cross join qwf.settings s left join qwf.queues q on q.name = j.queue
    where j.run_id is null and (%(queue)s::text is null or j.queue = %(queue)s)
      and j.finished_at < qwf.now() - case when %(queue)s::text is null
        then coalesce(q.retention, %(retention)s::interval, s.retention)
        else %(retention)s::interval end
    limit %(most)s) d) as jobs,
  (select count(*) from (
    select from qwf.runs r cross join qwf.settings s
    where %(queue)s::text is null
      and r.finished_at < qwf.now() - coalesce(%(retention)s::interval, s.retention)
    limit %(most)s) d) as runs
"""
MINUTES = """
select count(*) from (
  select from qwf.host_minutes m where m.minute < qwf.now() - %(keep)s::interval
  union all
  select from qwf.queue_minutes m where m.minute < qwf.now() - %(keep)s::interval
  limit %(most)s) d
"""
SETTING = """
select (o.value #>> '{}')::interval > coalesce(%(value)s, o.default_value #>> '{}')::interval
    as shorter, coalesce(%(value)s, o.default_value #>> '{}')::interval as kept,
  (o.value #>> '{}')::interval as before
from qwf.setting_overview o
where o.name = %(name)s
"""
QUEUE = """
select coalesce(q.retention, s.retention) as before,
  coalesce(%(retention)s::interval, s.retention) as kept,
  coalesce(%(retention)s::interval, s.retention) < coalesce(q.retention, s.retention) as shorter
from qwf.queues q cross join qwf.settings s
where q.name = %(queue)s
"""


def ended(conn: Connection, retention: Any = None, queue: str | None = None) -> str | None:
    """The jobs and runs that are older than the retention, in words; None if there are none."""
    asked = {"retention": retention, "queue": queue, "most": MOST}
    (found,) = connection.many(conn, ENDED, asked)
    parts = [_counted(found[what], what[:-1]) for what in ("jobs", "runs") if found[what]]
    return " and ".join(parts) or None


def confirm_setting(conn: Connection, name: str, value: str | None, yes: bool) -> None:
    """Ask before a setting deletes what it has kept so far. None is the default."""
    if name not in ("retention", "minutes_keep"):
        return
    (change,) = connection.many(conn, SETTING, {"name": name, "value": value})
    if not change["shorter"]:
        return
    if name == "retention":
        lost = ended(conn, change["kept"])
    else:
        (found,) = connection.many(conn, MINUTES, {"keep": change["kept"], "most": MOST})
        lost = _counted(found["count"], "minute") if found["count"] else None
    _confirm(name, change["before"], change["kept"], lost, yes)


def confirm_queue(conn: Connection, queue: str, retention: Any, yes: bool) -> None:
    """Ask before the retention of a queue deletes what it has kept so far; None: that of the
    settings."""
    for change in connection.many(conn, QUEUE, {"queue": queue, "retention": retention}):
        if change["shorter"]:
            lost = ended(conn, change["kept"], queue)
            _confirm(f"retention of queue {queue}", change["before"], change["kept"], lost, yes)


def _confirm(what: str, before: Any, kept: Any, lost: str | None, yes: bool) -> None:
    if lost is not None:
        arguments.confirm(
            f"{what}: {draw.spell(before)} becomes {draw.spell(kept)}, which deletes {lost} within "
            "minutes. Change it?", yes,
        )  # fmt: skip


def _counted(count: int, what: str) -> str:
    return f"{MOST:,} {what}s or more" if count >= MOST else draw.counted(count, what)
