"""The losses of a revert, looked at before its first script."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

import psycopg
from psycopg.rows import tuple_row

from qwf_agent.migrate import trust
from qwf_agent.migrate.plan import PROJECT, Change, MigrateError, Plan

MAX_NAMED = 20
_DROP = re.compile(
    r"^\s*drop (?:table|view|sequence|type|function|procedure) (?:if exists )?(_?qwf\.\w+)", re.M
)
# Row types and arrays have the name of what they belong to, so that names are enough. Dependencies
# of other kinds than 'n' go with the object: indexes, triggers, publications.
_DEPENDANTS = """
with named as materialized (
  select 'pg_catalog.pg_class'::regclass as classid, c.oid as objid,
    n.nspname || '.' || c.relname as name
  from pg_class c join pg_namespace n on n.oid = c.relnamespace
  union all
  select 'pg_catalog.pg_proc'::regclass, p.oid, n.nspname || '.' || p.proname
  from pg_proc p join pg_namespace n on n.oid = p.pronamespace
  union all
  select 'pg_catalog.pg_type'::regclass, t.oid, n.nspname || '.' || coalesce(e.typname, t.typname)
  from pg_type t join pg_namespace n on n.oid = t.typnamespace
  left join pg_type e on e.typarray = t.oid
), used as (
  select d.classid, d.objid, d.objsubid
  from named g
  join pg_depend d on d.refclassid = g.classid and d.refobjid = g.objid
  where g.name = any (%(going)s) and d.deptype = 'n'
  union
  select g.classid, g.objid, 0
  from named g
  where %(all)s and split_part(g.name, '.', 1) = any (%(schemas)s)
    and not exists (
      select from pg_depend d
      where d.classid = g.classid and d.objid = g.objid and d.deptype in ('a', 'i', 'e'))
), owner as (
  select u.*, r.oid is not null as is_rule,
    coalesce(r.ev_class, a.adrelid, nullif(k.conrelid, 0), t.tgrelid, p.polrelid, i.indrelid) as rel
  from used u
  left join pg_rewrite r on u.classid = 'pg_catalog.pg_rewrite'::regclass and r.oid = u.objid
  left join pg_attrdef a on u.classid = 'pg_catalog.pg_attrdef'::regclass and a.oid = u.objid
  left join pg_constraint k on u.classid = 'pg_catalog.pg_constraint'::regclass and k.oid = u.objid
  left join pg_trigger t on u.classid = 'pg_catalog.pg_trigger'::regclass and t.oid = u.objid
  left join pg_index i on u.classid = 'pg_catalog.pg_class'::regclass and i.indexrelid = u.objid
  left join pg_policy p on u.classid = 'pg_catalog.pg_policy'::regclass and p.oid = u.objid
)
select distinct case
    when o.is_rule then pg_describe_object('pg_catalog.pg_class'::regclass, o.rel, 0)
    else pg_describe_object(o.classid, o.objid, o.objsubid)
  end
from owner o
left join named n
  on n.classid = case when o.rel is null then o.classid else 'pg_catalog.pg_class'::regclass end
  and n.objid = coalesce(o.rel, o.objid)
where n.name is null or n.name <> all (%(ours)s)
order by 1
"""
_THERE = "select to_regclass('qwf.jobs') is not null and to_regclass('qwf.runs') is not null"
_LOST = """
select (select count(*) from qwf.jobs), (select count(*) from qwf.jobs where finished_at is null),
  (select count(*) from qwf.runs), (select count(*) from qwf.runs where finished_at is null)
"""


@dataclass(frozen=True)
class Loss:
    """The losses of a revert: its changes and, if it drops their tables, all jobs and runs."""

    changes: int
    jobs: int = 0
    unfinished_jobs: int = 0
    runs: int = 0
    unfinished_runs: int = 0

    def __str__(self) -> str:
        if not self.jobs and not self.runs:
            return "no job and no run is deleted"
        return (
            f"deletes {_counted(self.jobs, 'job')} ({self.unfinished_jobs} unfinished) and"
            f" {_counted(self.runs, 'run')} ({self.unfinished_runs} unfinished)"
        )


def _counted(number: int, word: str) -> str:
    return f"{number} {word}{'' if number == 1 else 's'}"


def look(conn: psycopg.Connection[Any], chain: Plan, keep: int, deployed: Collection[str]) -> Loss:
    """The losses of reverting every deployed change after the first `keep`. Of the scripts of other
    plans it knows only their number.

    Raises MigrateError if somebody else's objects use what would be dropped.
    """
    going = [change for change in chain.changes[keep:] if change.id in deployed]
    if chain.project != PROJECT or not going:
        return Loss(len(going))
    dropped = _dropped(going)
    cursor = trust.PinnedCursor(conn, row_factory=tuple_row)
    found = cursor.execute(
        _DEPENDANTS,
        {
            "going": dropped,
            "ours": _dropped(chain.changes),
            "all": keep == 0,
            "schemas": list(trust.SCHEMAS),
        },
    )
    names = [str(name) for (name,) in found]
    if names:
        more = [f"and {len(names) - MAX_NAMED} more"] if len(names) > MAX_NAMED else []
        raise MigrateError(
            "nothing was reverted, because other objects use what would be dropped; drop these"
            " first, then revert again:\n" + "\n".join([*names[:MAX_NAMED], *more])
        )
    if not {"qwf.jobs", "qwf.runs"} & set(dropped):
        return Loss(len(going))
    if cursor.execute(_THERE).fetchone() != (True,):  # only a part was deployed
        return Loss(len(going))
    return Loss(len(going), *(cursor.execute(_LOST).fetchone() or ()))


def _dropped(changes: Sequence[Change]) -> list[str]:
    """The qualified names of what the revert scripts of these changes drop."""
    return sorted({name for change in changes for name in _DROP.findall(change.revert.read())})
