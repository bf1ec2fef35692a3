"""Whose objects a command may touch.

The maker of a view, a function or an operator decides what runs when it is used, with the rights of
the user. So every statement runs with a fixed search path, and a schema is used only if its owner
could do as much without us: it is our own, or it belongs to a superuser. Being a member of the
owner's role is no sign of trust: up to Postgres 15 a role may make anybody its member.

A schema that is missing is not to be used either: somebody else may make it, or rename one of his,
before the next statement. Only a schema that exists and is trusted stays so. So one statement asks
both, and the caller uses only what that statement found.
"""

from __future__ import annotations

from typing import Any

import psycopg
from psycopg.rows import Row, tuple_row

from qwf_agent.migrate.plan import PROJECT, MigrateError

SCHEMAS = (PROJECT, f"_{PROJECT}")
PIN = "select pg_catalog.set_config('search_path', 'pg_catalog, pg_temp', true)"

# A session that took another role can take its own back, so a superuser stays one.
_FOREIGN = """
with session as materialized (
  select r.rolsuper as super from pg_catalog.pg_roles r where r.rolname = session_user
), trusted as materialized (
  select r.oid from pg_catalog.pg_roles r
  where r.rolsuper or r.rolname = session_user
    or r.rolname = current_user and not (select s.super from session s)
), used as materialized (
  select n.oid, n.nspname, n.nspowner from pg_catalog.pg_namespace n where n.nspname = any (%s)
), object as (
  select 1 as rank, format('schema %%I', u.nspname) as name, u.nspowner as owner from used u
  union all
  select 2, format('%%I.%%I', u.nspname, c.relname), c.relowner
  from used u join pg_catalog.pg_class c on c.relnamespace = u.oid
  union all
  select 2, format('function %%I.%%I', u.nspname, p.proname), p.proowner
  from used u join pg_catalog.pg_proc p on p.pronamespace = u.oid
  union all
  select 2, format('trigger %%I on %%I.%%I', t.tgname, u.nspname, c.relname), p.proowner
  from used u
  join pg_catalog.pg_class c on c.relnamespace = u.oid
  join pg_catalog.pg_trigger t on t.tgrelid = c.oid
  join pg_catalog.pg_proc p on p.oid = t.tgfoid
)
select array(select u.nspname::text from used u), f.name, pg_catalog.pg_get_userbyid(f.owner),
  session_user::text
from (values (1)) always
left join lateral (
  select o.name, o.owner from object o
  where o.owner not in (select t.oid from trusted t)
  order by o.rank, o.name
  limit 1
) f on true
"""
_SUPERUSER = """
select exists (
  select from pg_catalog.pg_roles r where r.rolname in (session_user, current_user) and r.rolsuper)
"""


class PinnedCursor(psycopg.Cursor[Row]):
    """A cursor whose statements find only what pg_catalog has, and what they name in full.

    The path is set for one transaction, in the same round trip: behind a pooler the session belongs
    to others, and the pooler may refuse settings at the start of a session.
    """

    def execute(self, query: Any, params: Any = None, **options: Any) -> PinnedCursor[Row]:
        """Execute one statement, with parameters if there are any."""
        with self.connection.pipeline():
            psycopg.Cursor(self.connection).execute(PIN)
            super().execute(query, params, **options)
        return self


class Untrusted(MigrateError):
    """A schema, or an object in it, belongs to somebody else."""


def trusted(conn: psycopg.Connection[Any], *schemas: str) -> set[str]:
    """Which of these schemas exist. Raises Untrusted if one, or an object in it, is another's."""
    cursor = PinnedCursor(conn, row_factory=tuple_row)
    row = cursor.execute(_FOREIGN, [list(schemas)]).fetchone()
    found, name, owner, user = row or ([], None, None, None)
    if name is not None:
        raise Untrusted(
            f"{name} belongs to {owner}, and what {owner} put there would run with the rights of"
            f" {user}: connect as the owner or, to work and not to deploy, as a login with one of"
            " the four roles; if it should not be in this database, drop it"
        )
    return set(found)


def existing(conn: psycopg.Connection[Any], *schemas: str) -> set[str]:
    """Which of these schemas exist, whosever they are."""
    query = "select n.nspname from pg_catalog.pg_namespace n where n.nspname = any (%s)"
    cursor = PinnedCursor(conn, row_factory=tuple_row)
    return {name for (name,) in cursor.execute(query, [list(schemas)])}


def usable(conn: psycopg.Connection[Any], *schemas: str) -> set[str]:
    """Which of these schemas exist; for a superuser as `trusted`.

    Plain logins read and call what somebody else deployed, and lend only their own rights.
    """
    cursor = PinnedCursor(conn, row_factory=tuple_row)
    superuser = cursor.execute(_SUPERUSER).fetchone() != (False,)
    return trusted(conn, *schemas) if superuser else existing(conn, *schemas)


def refuse_as_superuser(conn: psycopg.Connection[Any]) -> None:
    """Raise MigrateError if we are a superuser and the engine is missing or no superuser's."""
    if usable(conn, *SCHEMAS) != set(SCHEMAS):
        raise MigrateError("this database has no qwf schema: qwf migrate deploy")
