"""Writes docs/sql-api.md from a deployed database: its signatures, its comments, its grants.

`make docs` runs it on a scratch database of the scripts in this checkout; --dsn names another one.
The document is the same on every supported Postgres: no expression is shown as a server prints it.
"""

from __future__ import annotations

import argparse
import contextlib
import re
import signal
import sys
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import psycopg
from psycopg.rows import namedtuple_row

from qwf_agent import embedded, migrate

TARGET = Path(__file__).with_name("sql-api.md")

# Which part of the document a function is in, in the order in which a reader needs it.
GROUPS = {
    "Definitions": "register_pipeline register_workflow",
    "Producers": """enqueue_run enqueue enqueue_many run_status result submit_input answer_job
        cancel_run cancel_job retry_run retry_job run_next change_job""",
    "Workers": """version now agent_settings register_worker announce worker_orders claim
        heartbeat progress suspect_stall finish finish_many sleep stay_asleep wake wake_channel
        echo deregister_worker take_model_requests answer_model_request suspend_worker
        report_metrics followed_logs report_log""",
    "Engine": """tick drain_outbox reclaim promote_due fire_schedules expire_inputs prune resolve
        check_invariants""",
    "Control and reading": """create_queue pause_queue resume_queue create_limit drop_limit
        create_schedule drop_schedule enable_schedule worker_control desired_state request_model
        why_not follow_log""",
}
ROLES = ("qwf_producer", "qwf_worker", "qwf_viewer", "qwf_admin")
HEAD = """# SQL API

Generated from the comments of a deployed database by `make docs`: edit those, not this file.

Functions whose names begin with `_` are internal. Arguments with a default may be left out, and
given by name: `select qwf.enqueue('resize', priority => 10)`. SQLSTATEs are explained in
[errors.md](errors.md), how to write a client in [clients.md](clients.md)."""
SHORT = {"integer": "int", "timestamp with time zone": "timestamptz", "double precision": "float8"}
WIDTH = 100

FUNCTIONS = """
select p.proname as name, obj_description(p.oid, 'pg_proc') as comment,
  p.proretset as is_set, format_type(p.prorettype, null) as returns,
  array(
    select format_type(t.oid, null)
    from unnest(coalesce(p.proallargtypes, p.proargtypes::oid[])) with ordinality t (oid, ord)
    order by t.ord) as types,
  coalesce(p.proargnames, '{}') as names, coalesce(p.proargmodes::text[], '{}') as modes,
  array(
    select pg_get_function_arg_default(p.oid, n::int)
    from generate_series(1, cardinality(coalesce(p.proallargtypes, p.proargtypes::oid[]))) n
    order by n) as defaults,
  array(
    select r.role from unnest(%s::text[]) r (role)
    where has_function_privilege(r.role, p.oid, 'execute')) as roles
from pg_proc p
where p.pronamespace = 'qwf'::regnamespace and p.prokind = 'f'
  and p.prorettype <> 'trigger'::regtype and p.proname !~ '^_'
order by p.proname collate "C", p.oid::regprocedure::text collate "C"
"""
RELATIONS = """
select c.relname as name, obj_description(c.oid, 'pg_class') as comment, c.relkind::text as kind,
  c.relpersistence = 'u' as unlogged,
  array(
    select r.role || ': ' || string_agg(v.privilege, ', ' order by v.ord)
    from unnest(%s::text[]) with ordinality r (role, ord)
    cross join unnest('{select,insert,update,delete,truncate}'::text[])
      with ordinality v (privilege, ord)
    where has_table_privilege(r.role, c.oid, v.privilege)
    group by r.role, r.ord
    order by r.ord) as grants,
  array(
    select r.role || ': select, but for ' || string_agg(a.attname, ', ' order by a.attnum)
    from unnest(%s::text[]) with ordinality r (role, ord)
    join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
    where not has_table_privilege(r.role, c.oid, 'select')
      and has_any_column_privilege(r.role, c.oid, 'select')
      and not has_column_privilege(r.role, c.oid, a.attnum, 'select')
    group by r.role, r.ord
    order by r.ord) as partial,
  array(
    select array[
      a.attname, format_type(a.atttypid, a.atttypmod),
      coalesce(col_description(c.oid, a.attnum), '')]
    from pg_attribute a
    where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
    order by a.attnum) as columns
from pg_class c
where c.relnamespace = 'qwf'::regnamespace and c.relkind = any (%s::"char"[])
order by c.relname collate "C"
"""
TYPES = """
select t.typname as name, obj_description(t.oid, 'pg_type') as comment,
  array(
    select e.enumlabel from pg_enum e where e.enumtypid = t.oid order by e.enumsortorder) as labels,
  array(
    select array[a.attname, format_type(a.atttypid, a.atttypmod)]
    from pg_attribute a
    where a.attrelid = t.typrelid and a.attnum > 0 and not a.attisdropped
    order by a.attnum) as columns
from pg_type t
left join pg_class c on c.oid = t.typrelid
where t.typnamespace = 'qwf'::regnamespace and (t.typtype = 'e' or c.relkind = 'c' and exists (
  select from pg_proc p
  where p.pronamespace = t.typnamespace and p.proname !~ '^_'
    and t.oid = any (p.prorettype || coalesce(p.proallargtypes, p.proargtypes::oid[]))))
order by t.typname collate "C"
"""


class Undocumented(Exception):
    """The database has something that has no place here; the message says what to do."""


def document(dsn: str) -> str:
    """The whole of docs/sql-api.md. Raises Undocumented."""
    with psycopg.connect(dsn, row_factory=namedtuple_row) as conn:
        conn.execute("set search_path = pg_catalog")  # so that names in qwf are written in full
        roles = list(ROLES)
        missing = conn.execute(
            "select r from unnest(%s::text[]) r where to_regrole(r) is null", [roles]
        ).fetchall()
        if missing:
            raise Undocumented(f"the database has no role {', '.join(row[0] for row in missing)}")
        functions = conn.execute(FUNCTIONS, [roles]).fetchall()
        views = conn.execute(RELATIONS, [roles, roles, ["v"]]).fetchall()
        tables = conn.execute(RELATIONS, [roles, roles, ["r", "p"]]).fetchall()
        types = conn.execute(TYPES).fetchall()
    check(function.name for function in functions)
    parts = [
        HEAD,
        *chapters(functions),
        "## Views\n\nMay be read by qwf_viewer and qwf_admin. They only ever gain columns.",
        *map(relation, views),
        "## Tables\n\nWritten by the functions alone, and free to change between releases.",
        *map(relation, tables),
        "## Types",
        *map(enumeration_or_row, types),
        "## Roles and grants",
        roles_text(functions, [*views, *tables]),
    ]
    return "\n\n".join(parts) + "\n"


def check(found: Iterable[str]) -> None:
    """Every public function has its place."""
    grouped = {name for names in GROUPS.values() for name in names.split()}
    lost = sorted(set(found) - grouped)
    if lost:
        raise Undocumented(
            f"say in GROUPS of docs/generate_sql_api.py where {', '.join(lost)} belong"
        )


def chapters(functions: list[Any]) -> Iterator[str]:
    for title, names in GROUPS.items():
        yield f"## {title}"
        for name in names.split():
            for function in functions:
                if function.name == name:
                    yield entry(function)


def entry(function: Any) -> str:
    """One function: signature, what its comment says, who may call it."""
    code = f"```sql\n{signature(function)}\n```"
    return f"### {function.name}\n\n{code}\n\n{prose(function.comment)}\n\n*{who(function)}*"


def signature(function: Any) -> str:
    """As one would write it, on one line where it fits."""
    given = [
        argument(name, kind, default)
        for name, kind, mode, default in arguments(function)
        if mode in "iv"
    ]
    out = [f"{name} {short(kind)}" for name, kind, mode, _ in arguments(function) if mode in "tob"]
    returns = f"table ({', '.join(out)})" if out else short(function.returns)
    if function.is_set and not out:
        returns = f"setof {returns}"
    line = f"qwf.{function.name}({', '.join(given)}) → {returns}"
    if len(line) <= WIDTH:
        return line
    return f"qwf.{function.name}(\n{wrapped(given)}\n) → {returns}"


def wrapped(items: list[str]) -> str:
    lines = [" "]
    for number, item in enumerate(items, 1):
        word = f" {item}{',' if number < len(items) else ''}"
        if len(lines[-1] + word) > WIDTH:
            lines.append(" ")
        lines[-1] += word
    return "\n".join(lines)


def arguments(function: Any) -> Iterator[tuple[str, str, str, str | None]]:
    """Name, type, mode and default of each."""
    for index, kind in enumerate(function.types):
        name = function.names[index] if index < len(function.names) else ""
        mode = function.modes[index] if index < len(function.modes) else "i"
        yield name, kind, mode, function.defaults[index]


def argument(name: str, kind: str, default: str | None) -> str:
    said = f"{name} {short(kind)}".strip()
    return said if default is None else f"{said} = {literal(default)}"


def literal(default: str) -> str:
    """A default without the cast the server adds to it."""
    bare = re.sub(r"::[a-z ]+(\[\])?$", "", default)
    return bare.lower() if bare.upper() in ("NULL", "TRUE", "FALSE") else bare


def short(kind: str) -> str:
    base = kind.removesuffix("[]")
    return SHORT.get(base, base) + kind[len(base) :]


def relation(found: Any) -> str:
    """One table or view, with its columns."""
    lines = [f"### {found.name}", "", prose(found.comment)]
    if found.unlogged:
        lines += ["", "Unlogged: empty after a crash of the server."]
    commented = any(comment for _, _, comment in found.columns)
    lines += ["", "| column | type | meaning |" if commented else "| column | type |"]
    lines += ["|---|---|---|" if commented else "|---|---|"]
    for name, kind, comment in found.columns:
        cells = [f"`{name}`", short(kind), *([cell(comment)] if commented else [])]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def enumeration_or_row(found: Any) -> str:
    if found.labels:
        shape = ", ".join(f"`{label}`" for label in found.labels)
    else:
        shape = ", ".join(f"`{name}` {short(kind)}" for name, kind in found.columns)
    return f"### {found.name}\n\n{prose(found.comment)}\n\n{shape}"


def roles_text(functions: list[Any], relations: list[Any]) -> str:
    """Who may call what; and the tables, where the rule is one."""
    lines = [
        "The roles cannot log in: grant them to those that can. PUBLIC may do nothing. Functions",
        "that are not in the table are internal, and granted to nobody.",
        "",
        f"| function | {' | '.join(ROLES)} |",
        f"|---|{'---|' * len(ROLES)}",
    ]
    for function in sorted(functions, key=lambda f: f.name):
        marks = ["yes" if role in function.roles else "" for role in ROLES]
        lines.append(f"| `{function.name}` | {' | '.join(marks)} |")
    rules = {}
    for found in relations:
        rule = "; ".join([*found.partial, *found.grants]) or "nobody"
        rules.setdefault(rule, []).append(f"`{found.name}`")
    lines += ["", "Tables and views:", ""]
    lines += [f"- {', '.join(names)}: {rule}." for rule, names in sorted(rules.items())]
    return "\n".join(lines)


def who(function: Any) -> str:
    return f"May be called by: {', '.join(function.roles) or 'nobody but the owner'}."


def prose(comment: str | None) -> str:
    """A comment as Markdown: nothing in it is markup."""
    return re.sub(r"([*<>\[\]`]|\b_|_\b)", r"\\\1", comment or "").strip()


def cell(comment: str) -> str:
    return prose(comment).replace("|", "\\|").replace("\n", " ")


@contextlib.contextmanager
def scratch() -> Iterator[str]:
    """Address of a database that has just been deployed, for as long as the context lasts."""
    with tempfile.TemporaryDirectory(prefix="qwf-") as folder:
        Path(folder).chmod(0o711)  # Postgres does not run as root: its user has to get through
        cluster = embedded.Cluster(embedded.binaries(), Path(folder, "data"))
        cluster.create()
        try:
            cluster.start({"fsync": "off"})
            dsn = cluster.dsn("postgres")
            migrate.deploy(dsn)
            yield dsn
        finally:
            cluster.stop(signal.SIGQUIT)


def main() -> None:
    parser = argparse.ArgumentParser(description="Write docs/sql-api.md again.")
    parser.add_argument("--dsn", help="a database that has the schema; without it, a scratch one")
    given = parser.parse_args().dsn
    try:
        with contextlib.nullcontext(given) if given is not None else scratch() as dsn:
            TARGET.write_text(document(dsn), encoding="utf-8")
    except (Undocumented, migrate.MigrateError, psycopg.Error) as error:
        sys.exit(f"generate_sql_api: {error}")


if __name__ == "__main__":
    main()
