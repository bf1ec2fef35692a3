"""However large an argument is, a call ends soon: it is done, or refused with a code of qwf."""

from __future__ import annotations

from typing import Any

import psycopg
import pytest
from psycopg import sql

from support.thorough import THOROUGH

BOUND = "4 s"
TRIES = 3  # a busy machine is slow at everything
ROLES = ("qwf_viewer", "qwf_producer", "qwf_worker", "qwf_admin")

# By type: texts of 10 MB, and lists and objects of 300,000 members.
LARGE = """
create table public.large as
with n as materialized (select i from generate_series(1, 300000) i)
select repeat('ab ', 3500000) as text, (select array_agg('name ' || i) from n) as "text[]",
  (select array_agg(i::bigint) from n) as "bigint[]",
  (select array_agg(i) from n) as "integer[]",
  (select array_agg(('00000000-0000-0000-0000-' || lpad(i::text, 12, '0'))::uuid) from n)
    as "uuid[]",
  to_jsonb(repeat('ab ', 3500000)) as jsonb,
  (select jsonb_object_agg('key ' || i, i) from n) as jsonb_object,
  (select jsonb_agg(i) from n) as jsonb_list,
  (select jsonb_agg(jsonb_build_object('job_id', i)) from n) as jsonb_objects;
grant select on public.large to public;
"""
# What the other arguments are, so that a call comes as far as it can; first by name, then by type.
NAMED = {
    "queue": "'cpu'", "job_id": "1", "run_id": "1", "workflow": "'{}'", "cron": "'0 3 * * *'",
    "every": "null", "kind": "'plain'", "outcome": "'completed'", "task": "'work'",
}  # fmt: skip
TYPED = {
    "text": "'x'", "jsonb": "'{}'", "bigint": "1", "integer": "1", "boolean": "false",
    "uuid": "'00000000-0000-0000-0000-000000000000'", "interval": "'1 s'", "real": "0.5",
    "timestamp with time zone": "'2030-01-01'", "numeric": "1", "double precision": "1",
}  # fmt: skip
FUNCTIONS = """
select p.proname, a.names, a.types, cardinality(a.names) - p.pronargdefaults, (
  select r from unnest(%s::text[]) with ordinality o (r, n)
  where has_function_privilege(r, p.oid, 'execute') order by n limit 1)
from pg_proc p cross join lateral (
  select array(select format_type(t, null) from unnest(p.proargtypes) with ordinality u (t, n)
      order by n) as types,
    p.proargnames[1:p.pronargs] as names) a
where p.pronamespace = 'qwf'::regnamespace and p.prokind = 'f' and p.pronargs > 0
  and p.prorettype <> 'trigger'::regtype
order by p.proname
"""


def calls(db: psycopg.Connection[Any]) -> list[tuple[str, str, str]]:
    """A role, a call, and what is large in it."""
    found = []
    for name, names, types, required, role in db.execute(FUNCTIONS, [list(ROLES)]).fetchall():
        for index, (argument, kind) in enumerate(zip(names, types, strict=True)):
            for column in COLUMNS.get(kind, ()):
                given = {
                    other: NAMED.get(other, TYPED.get(of, "null"))
                    for other, of in zip(names[:required], types[:required], strict=True)
                }
                given[argument] = f'(select "{column}" from public.large)'
                listed = ", ".join(f"{key} => {value}" for key, value in given.items())
                assert index < len(names)
                found.append((role, f"select count(*) from qwf.{name}({listed})", argument))
    return found


COLUMNS = {
    "text": ("text",),
    "text[]": ("text[]",),
    "bigint[]": ("bigint[]",),
    "integer[]": ("integer[]",),
    "uuid[]": ("uuid[]",),
    "jsonb": ("jsonb", "jsonb_object", "jsonb_list", "jsonb_objects"),
}


@pytest.fixture
def session(db: psycopg.Connection[Any]) -> psycopg.Connection[Any]:
    db.execute(LARGE.encode())
    db.execute("set client_min_messages = error")
    db.execute("select qwf.enqueue('work', queue => 'cpu')")
    return db


def ends(db: psycopg.Connection[Any], role: str, call: str) -> str | None:
    """The fault of a call, which leaves nothing behind."""
    for _ in range(TRIES):
        try:
            with db.transaction(force_rollback=True):
                db.execute(sql.SQL("set local role {}").format(sql.Identifier(role)))
                db.execute(f"set local statement_timeout = '{BOUND}'".encode())
                db.execute(call.encode())
            return None
        except psycopg.errors.QueryCanceled:
            continue
        except psycopg.Error as error:
            state = error.sqlstate or ""
            return None if state.startswith("QW") else f"{call}: {state} {str(error)[:200]}"
    return f"{call}: more than {BOUND}"


def test_every_call_ends_soon(session: psycopg.Connection[Any]) -> None:
    wrong = []
    for role, call, _ in calls(session):
        for each in ROLES if THOROUGH else (role,):
            found = ends(session, each, call)
            if found is not None and "42501" not in found:
                wrong.append(f"{each}: {found}")
    assert "\n".join(wrong) == ""
