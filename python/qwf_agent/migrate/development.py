"""A development database follows the sources, and keeps its data.

Such a database was deployed from a checkout. Beside the marks of the changes it keeps the text of
every source that it has, so the next deploy finds out what differs, and replaces that in one
transaction. A database that a package deployed has no such texts: it gets the scripts of later
releases. So does one that has exactly the sources of a release, once there is a later one.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import psycopg
from psycopg import sql
from psycopg.rows import tuple_row

from qwf_agent.migrate import database, difference, trust
from qwf_agent.migrate.database import Say
from qwf_agent.migrate.plan import PROJECT, Change, MigrateError, Plan, Script, digest

NEXT = "releases/next"  # what tables need until the next release, written by hand
_READ = "select name, text from {} order by place"
_WRITE = """
create table if not exists {table} (
  name text primary key, place bigint not null, text text not null);
delete from {table};
insert into {table} (name, place, text)
select s.name, s.place, s.text
from unnest({names}::text[], {texts}::text[]) with ordinality s (name, text, place);
"""
# The marks of a new database, which yoyo makes in the same way.
_MARK = """
delete from {table} where migration_id <> all ({ids}::text[]);
insert into {table} as m (migration_hash, migration_id, script_hash, applied_at_utc)
select encode(sha256(convert_to(c.id, 'UTF8')), 'hex'), c.id, c.script,
  clock_timestamp() at time zone 'utc'
from unnest({ids}::text[], {scripts}::text[]) c (id, script)
on conflict (migration_hash) do update
set script_hash = excluded.script_hash, applied_at_utc = excluded.applied_at_utc
where (m.script_hash, m.applied_at_utc is null) is distinct from (excluded.script_hash, false);
"""
# As _qwf.check_bodies() does, but the error has its place in the body.
_CHECK = """set local check_function_bodies = on;
select plpgsql_validator(p.oid)
from pg_proc p join pg_language l on l.oid = p.prolang and l.lanname = 'plpgsql'
where p.pronamespace::regnamespace::text in ('qwf', '_qwf');
select fmgr_sql_validator(p.oid)
from pg_proc p join pg_language l on l.oid = p.prolang and l.lanname = 'sql'
where p.pronamespace::regnamespace::text in ('qwf', '_qwf') and p.prosqlbody is null;"""
_COLUMNS = """do $$
begin
  if (select array_agg(a.attname::text order by a.attnum) from pg_attribute a
      where a.attrelid = '{name}'::regclass and a.attnum > 0 and not a.attisdropped)
    <> '{{{columns}}}'::text[] then
    raise exception '{name} would have other columns than in a new database, or in another order'
      using hint = 'a new column stands last';
  end if;
end $$;"""


def outdated(conn: psycopg.Connection[Any], chain: Plan) -> list[str] | None:
    """The sources whose text is not the one that this database was deployed from; None if it is no
    development database, or one of a release that gets the script of the next."""
    there = _texts(conn, chain)
    if there is None:
        return None
    if chain.sources is not chain:
        deployed = database.deployed(conn, chain)
        known = [change for change in chain.changes if change.id in deployed]
        if len(known) < len(deployed):
            return None  # a later release: going back is refused
        if known and known[-1] is not chain.changes[-1] and _is_of(known[-1], there):
            return None
    here = _sources(chain)
    return [name for name in {**here, **there} if here.get(name) != there.get(name)]


def follow(conninfo: str, chain: Plan, say: Say) -> list[str]:
    """Make a development database like one that is deployed now, and return the objects that were
    replaced, made again, added or dropped.

    Raises MigrateError, and then nothing was changed.
    """
    with database.errors_as_advice(), database.connect(conninfo) as conn:
        database.refuse_standby(conn)
        database.take_lock(conn, say)
        trust.trusted(conn, *database.schemas(chain))
        there, here = _texts(conn, chain), _sources(chain)  # as the last deploy left it
        if there is None:
            raise MigrateError("another process has reverted this database: deploy again")
        old, new = (
            difference.read(pair for pair in texts.items() if pair[0] != NEXT)
            for texts in (there, here)
        )
        lead = difference.lead(
            old, new, difference.Catalogue(conn),
            lambda key: key.startswith("function ") and difference.same_head(old[key], new[key]),
            "\n".join(_unwritten(there.get(NEXT, ""), here.get(NEXT, ""))),
        )  # fmt: skip
        looks = [
            _COLUMNS.format(name=key.split()[1], columns=",".join(names))
            for key in new
            if old.get(key) != new[key] and (names := difference.columns(key, new[key]))
        ]
        begin = f"begin;\n{trust.PIN};\nset local check_function_bodies = off;"
        marks = [_write(conn, chain, here), _mark(conn, chain)]
        check = [_CHECK] if lead.statements else []
        statements = [*lead.statements[:-1], *check, *looks]
        text = "\n\n".join([begin, *statements, *marks, "commit;"])
        try:
            script = Script(chain.sources.path, lambda: text)
            database.execute_between_callers(conn, script, "", say)
        except MigrateError as error:
            if not isinstance(error.__cause__, psycopg.Error):
                raise
            raise explained(error.__cause__.diag, database.BRIEF + text, chain) from error
    for what, keys in lead.done.items():
        say(f"{what}: {', '.join(keys)}")
    return [key for keys in lead.done.values() for key in keys]


def recorded(conn: psycopg.Connection[Any], chain: Plan) -> str:
    """The statements that make a database which has all of today's sources follow them; none for a
    package of a release."""
    return "" if chain.is_package else _write(conn, chain, _sources(chain))


def record(conn: psycopg.Connection[Any], chain: Plan) -> None:
    """Let a database that has all changes follow the sources, unless it has others by that."""
    if chain.project != PROJECT:
        return
    texts = _sources(chain)
    if not chain.is_package and (chain.sources is chain or _is_of(chain.changes[-1], texts)):
        conn.execute(_write(conn, chain, texts).encode())
    else:
        forget(conn, chain)


def forget(conn: psycopg.Connection[Any], chain: Plan) -> None:
    """Follow the sources no more, because a part of them is reverted."""
    conn.execute(sql.SQL("drop table if exists {}").format(_table(chain)))


def _table(chain: Plan, name: str = "sources") -> sql.Identifier:
    return sql.Identifier(chain.registry, name)


def _texts(conn: psycopg.Connection[Any], chain: Plan) -> dict[str, str] | None:
    if chain.project != PROJECT:
        return None  # of another project we know no objects
    cursor = trust.PinnedCursor(conn, row_factory=tuple_row)
    try:
        return dict(cursor.execute(sql.SQL(_READ).format(_table(chain))).fetchall())
    except (psycopg.errors.UndefinedTable, psycopg.errors.InvalidSchemaName):
        return None


def _is_of(release: Change, texts: Mapping[str, str]) -> bool:
    """Return True if these are the sources of a release."""
    found = digest(text for name, text in texts.items() if name != NEXT)
    return f"-- Sources: {found}\n" in release.deploy.source()


def _sources(chain: Plan) -> dict[str, str]:
    """The text of every source in order, and what tables need until the next release."""
    file = chain.path.parent / f"{NEXT}.sql"
    texts = {change.name: change.deploy.source() for change in chain.sources.changes}
    return texts | ({NEXT: Script(file).read()} if file.is_file() else {})


def _unwritten(old: str, new: str) -> list[str]:
    """The statements for tables that this database has not had."""
    had = {text for texts in difference.read([("", old)]).values() for text in texts}
    wanted = [text for texts in difference.read([("", new)]).values() for text in texts]
    return [text for text in wanted if text not in had]


def _write(conn: psycopg.Connection[Any], chain: Plan, texts: Mapping[str, str]) -> str:
    return (
        sql.SQL(_WRITE)
        .format(
            table=_table(chain),
            names=sql.Literal([*texts]),
            texts=sql.Literal([*texts.values()]),
        )
        .as_string(conn)
    )


def _mark(conn: psycopg.Connection[Any], chain: Plan) -> str:
    return (
        sql.SQL(_MARK)
        .format(
            table=_table(chain, "_yoyo_migration"),
            ids=sql.Literal([change.id for change in chain.changes]),
            scripts=sql.Literal([change.deploy.hash() for change in chain.changes]),
        )
        .as_string(conn)
    )


def explained(diag: psycopg.errors.Diagnostic, text: str, chain: Plan) -> MigrateError:
    """The error of a text that was sent, with its object and the line of a source."""
    message = f"{diag.message_primary}{database.hint(diag)}"
    position = int(diag.statement_position or 0)
    near = re.search(r'function "(\w+)" near line (\d+)', diag.context or "")
    name, lines, start = "", 0, "create"
    for made in _MADE.finditer(text, 0, max(position, 0)):
        name, lines = made[1], text.count("\n", made.start(), position)
    if near and not name:  # a line of its body
        name, lines, start = near[1], int(near[2]) - 1, "$$"
    body = diag.internal_query or ""  # of a function that the script does not touch
    for change in chain.sources.changes:
        source = change.deploy.source()
        if body and body in source:
            name = [made[1] for made in _MADE.finditer(source, 0, source.find(body))][-1]
            lines, start = body.count("\n", 0, int(diag.internal_position or 1)), body
        for made in _MADE.finditer(source):
            if name in (made[1], made[1].rpartition(".")[2]):
                line = source.count("\n", 0, source.find(start, made.start())) + 1 + lines
                place = f"{change.deploy.path}:{line}: {made[1]}"
                return MigrateError(f"nothing was changed: {place}: {message}")
    return MigrateError(f"nothing was changed: {message}")


_MADE = re.compile(r"^create (?:or replace )?(?:unlogged )?\w+ ([\w.]+)", re.MULTILINE)
