"""Writes a release: the script that leads a database of the last release to today's sources.

`make release VERSION=0.2.0` compares the sources with those of the last tag, object by object, and
asks two databases what the texts cannot say. It writes sql/releases/0.2.0.sql with its revert and
verify scripts, and a line and a tag of sql/sqitch.plan; but first it runs the scripts: old sources
and the script must give the same as new sources, and the way back the same as old ones. For tables,
types and sequences it takes sql/releases/next.sql, and next.revert.sql for the way back, which are
written by hand. The first release freezes all sources in one script.
"""

from __future__ import annotations

import contextlib
import re
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Iterator
from datetime import datetime, timezone
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import psycopg

from qwf_agent import migrate
from qwf_agent.migrate import derived, difference, trust
from qwf_agent.migrate.plan import RELEASES, SOURCES, MigrateError, without_transactions

if TYPE_CHECKING:
    from support.servers import Server

ROOT = Path(__file__).resolve().parents[1]
# What of an object stays the same where `create or replace` takes its new text.
SHAPES = """
select 'function ' || p.pronamespace::regnamespace || '.' || p.proname,
  concat(p.prokind, pg_get_function_arguments(p.oid), ' > ', pg_get_function_result(p.oid))
from pg_proc p where p.pronamespace in ('qwf'::regnamespace, '_qwf'::regnamespace)
union all
select 'view ' || c.relnamespace::regnamespace || '.' || c.relname, (
  select string_agg(concat(a.attname, ' ', format_type(a.atttypid, a.atttypmod), ', '), ''
    order by a.attnum)
  from pg_attribute a where a.attrelid = c.oid and a.attnum > 0)
from pg_class c
where c.relkind = 'v' and c.relnamespace in ('qwf'::regnamespace, '_qwf'::regnamespace)
"""
# The columns to compare of the rows that sources insert: not those that a function fills.
INSERTED = """
select c.oid::regclass::text, string_agg(quote_ident(a.attname), ', ' order by a.attnum)
from pg_class c
join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
left join pg_attrdef d on d.adrelid = c.oid and d.adnum = a.attnum
where c.relkind = 'r' and c.relnamespace in ('qwf'::regnamespace, '_qwf'::regnamespace)
  and a.attidentity = '' and coalesce(pg_get_expr(d.adbin, d.adrelid) !~ '\\w\\(', true)
group by c.oid
"""
NO_WAY_BACK = """do $$
begin
  raise exception 'release {} has changed tables, and nobody has written a way back'
    using hint = 'restore a backup';
end $$;"""


class Database(NamedTuple):
    """A database that goes again."""

    name: str
    dsn: str

    def rows(self, query: str) -> list[tuple[Any, ...]]:
        with psycopg.connect(self.dsn, options="-c search_path=pg_catalog,pg_temp") as conn:
            return conn.execute(query.encode()).fetchall()

    def run(self, text: str) -> None:
        """Run statements in one transaction. Raises MigrateError."""
        with psycopg.connect(self.dsn, autocommit=True) as conn:
            try:
                psycopg.Cursor(conn).execute(f"begin; {trust.PIN};\n{text}\n;commit;".encode())
            except psycopg.Error as error:
                raise MigrateError(str(error).strip()) from error


@contextlib.contextmanager
def scratch(server: Server, text: str = "", template: str | None = None) -> Iterator[Database]:
    """A database, after running a text in it."""
    with server.database(server.new_name(), template) as janitor:
        found = Database(janitor.dbname, server.dsn(janitor.dbname))
        if text:
            found.run(text)
        yield found


# The script of a release --------------------------------------------------------------------------


def release(root: Path, version: str, server: Server, *, yes: bool = False) -> list[str]:
    """Write a release into a checkout, and return what people are told.

    With `yes`, public views may be dropped and made again. Raises MigrateError, and then nothing
    was written.
    """
    plan = migrate.read_plan(root / "sql" / "sqitch.plan")
    tags = [tag for change in plan.changes for tag in change.tags]
    if not re.fullmatch(r"\d+(\.\d+)+\w*", version) or f"v{version}" in tags:
        raise MigrateError(f"{version or 'nothing'} is no new version: VERSION=0.2.0")
    if not tags:
        with scratch(server, _whole(plan)) as new:
            return _first(plan, version, new)
    with _tagged(root, tags[-1]) as before:
        return _next(plan, before, version, server, yes=yes)


def _refuse_version(version: str, new: Database) -> None:
    if new.rows("select qwf.version()") != [(version,)]:
        raise MigrateError(f"qwf.version() does not return {version}: change it first")


def _first(plan: migrate.Plan, version: str, new: Database) -> list[str]:
    """Freeze all sources as the script of the first release."""
    _refuse_version(version, new)
    up = _script("Deploy", version, _whole(plan), plan.digest)
    down = derived.revert(_title(version), up)
    new.run("\n".join(without_transactions([down])))
    if left := new.rows("select nspname from pg_namespace where nspname in ('qwf', '_qwf')"):
        raise MigrateError(f"reverted, there are still: {left}")
    text = plan.path.read_text(encoding="utf-8")
    plan.path.with_name(SOURCES).write_text(text, encoding="utf-8")
    pragmas = re.findall(r"^%.*\n", text, re.MULTILINE)
    plan.path.write_text("".join(pragmas) + "\n", encoding="utf-8")
    _write(plan, version, up, down, "The engine")
    for end in ("", ".revert"):  # was for the databases of developers
        (plan.path.parent / RELEASES / f"next{end}.sql").unlink(missing_ok=True)
    conf = plan.path.parents[1] / "sqitch.conf"  # sqitch may run in the checkout now
    settings = conf.read_text(encoding="utf-8").partition("# The checkout")[0]
    conf.write_text(f"{settings}[deploy]\n\tverify = true\n", encoding="utf-8")
    return [f"all sources are frozen in sql/{RELEASES}{version}.sql"]


def _next(
    plan: migrate.Plan, before: migrate.Plan, version: str, server: Server, *, yes: bool
) -> list[str]:
    """Write what leads from the sources of the last release to today's."""
    hand, back = (plan.path.parent / RELEASES / f"next{end}.sql" for end in ("", ".revert"))
    alters, returns = (file.read_text("utf-8") if file.is_file() else "" for file in (hand, back))
    there, here, notes = _objects(before), _objects(plan), []
    if not any(difference.compare(there, here, alters)):
        raise MigrateError("nothing has changed since the last release")
    with (
        scratch(server, _whole(plan)) as new,
        scratch(server, _whole(before)) as old,
        scratch(server, template=old.name) as upgraded,
    ):
        _refuse_version(version, new)
        lead = _lead(old, new, there, here, alters)
        lost = [key for key in lead.done.get("made again", []) if key.startswith("view qwf.")]
        if lost and not yes:
            raise MigrateError(
                f"these are dropped and made again, and lose what a site has built on them (rights,"
                f" and views of its own): {', '.join(lost)}; better add columns at the end only; if"
                f" it has to be: make release VERSION={version} YES=1"
            )
        way_back = difference.Difference([], {})
        try:
            if returns or not alters:
                way_back = _lead(new, old, here, there, returns)
        except difference.ByHand as error:
            if returns:
                raise MigrateError(str(error).replace("next.sql", "next.revert.sql")) from None
        if not way_back.statements:
            notes = ["there is no way back: nobody has written next.revert.sql"]
        upgraded.run(f"set local check_function_bodies = off;\n{lead}")
        _refuse_different(server, upgraded, new, "upgraded, a database differs from a new one")
        if way_back.statements:
            upgraded.run(f"set local check_function_bodies = off;\n{way_back}")
            _refuse_different(server, upgraded, old, "reverted, a database differs from before")
    up = _script("Deploy", version, str(lead), plan.sources.digest)
    down = _script("Revert", version, str(way_back) or NO_WAY_BACK.format(version))
    sums = ", ".join(f"{len(keys)} {what}" for what, keys in lead.done.items())
    _write(plan, version, up, down, f"From {before.changes[-1].tags[-1]}: {sums}")
    for file in (hand, back):
        file.unlink(missing_ok=True)
    return [*(f"{what}: {', '.join(keys)}" for what, keys in lead.done.items()), *notes]


def _lead(
    before: Database, after: Database, old: difference.Objects, new: difference.Objects, hand: str
) -> difference.Difference:
    was, will = dict(before.rows(SHAPES)), dict(after.rows(SHAPES))

    def keeps(key: str) -> bool:  # a view may get columns at its end
        return will[key].startswith(was[key]) if key.startswith("view ") else will[key] == was[key]

    with psycopg.connect(before.dsn, autocommit=True) as conn:
        return difference.lead(old, new, difference.Catalogue(conn), keeps, hand)


# Sources, and what they make ----------------------------------------------------------------------


def _objects(plan: migrate.Plan) -> dict[str, list[str]]:
    return difference.read((one.name, one.deploy.source()) for one in plan.sources.changes)


def _whole(plan: migrate.Plan) -> str:
    """All sources in order, to be run in one transaction."""
    texts = without_transactions(change.deploy.source() for change in plan.sources.changes)
    titles = re.compile(r"\A-- Deploy .*\n")
    return "set local check_function_bodies = off;\n\n" + "\n".join(
        titles.sub("", text) for text in texts
    )


@contextlib.contextmanager
def _tagged(root: Path, tag: str) -> Iterator[migrate.Plan]:
    """The plan of the release with this tag."""
    done = subprocess.run(
        ["git", "-C", str(root), "archive", tag, "sql"],  # noqa: S607
        capture_output=True, check=False,
    )  # fmt: skip
    if done.returncode:
        raise MigrateError(f"git has no release {tag}: {done.stderr.decode().strip()}")
    with tempfile.TemporaryDirectory() as folder:
        with tarfile.open(fileobj=BytesIO(done.stdout)) as archive:
            archive.extractall(folder, filter="data")
        yield migrate.read_plan(Path(folder) / "sql" / "sqitch.plan")


def _refuse_different(server: Server, one: Database, two: Database, what: str) -> None:
    """Raise MigrateError unless two databases have the same objects and inserted rows."""
    first, second = (_dumped(server, database) for database in (one, two))
    wrong = []
    for name in sorted({*first, *second}):
        ours, theirs = (found.get(name, "").splitlines() for found in (first, second))
        if ours != theirs:
            wrong.append(name.removeprefix("-- Name: "))
            wrong += [f"  - {line}" for line in ours if line not in theirs]
            wrong += [f"  + {line}" for line in theirs if line not in ours]
    if wrong:
        raise MigrateError(f"{what}:\n" + "\n".join(wrong))


def _dumped(server: Server, database: Database) -> dict[str, str]:
    """Each entry of pg_dump, their order aside, and the rows of each table."""
    from support.sqitch import dump

    parts = re.split(r"\n(?=-- Name: )", dump(server, database.dsn))[1:]
    entries = (part.partition("\n") for part in parts)
    found = {head.split("; Owner")[0]: text.strip("-\n ") for head, _, text in entries}
    rows = " union all ".join(
        f"(select '{table}', md5(string_agg(t::text, ';' order by t::text collate \"C\"))"  # noqa: S608
        f" from (select {columns} from {table}) t)"
        for table, columns in database.rows(INSERTED)
    )
    found |= {f"rows of {table}": str(digest) for table, digest in database.rows(rows)}
    return found


# Files --------------------------------------------------------------------------------------------


def _title(version: str) -> str:
    return f"qwf:{RELEASES}{version}"


def _script(verb: str, version: str, text: str, digest: str = "") -> str:
    head = f"-- {verb} {_title(version)}\n" + (f"-- Sources: {digest}\n" if digest else "")
    path = "set local search_path = pg_catalog, pg_temp;"
    off = "set local check_function_bodies = off;"
    return "\n\n".join([f"{head}\nbegin;", path, off, text.replace(f"{off}\n\n", ""), "commit;\n"])


def _verifying(version: str, up: str) -> str:
    """Fails if something is gone that this release has made, as long as it is the newest."""
    _, _, looks = derived.verify("", up).partition("begin;\n\n")
    looks = re.sub(
        r"^select ", "  perform ", looks.partition("\n\nrollback")[0], flags=re.MULTILINE
    )
    newest = f"  if qwf.version() <> '{version}' then return; end if;"
    return (
        f"-- Verify {_title(version)}\n\nbegin;\n\ndo $$\nbegin\n{newest}\n{looks}\nend $$;\n\n"
        "rollback;\n"
    )


def _write(plan: migrate.Plan, version: str, up: str, down: str, note: str) -> None:
    sql = plan.path.parent
    texts = {"": up, "revert/": down, "verify/": _verifying(version, up)}
    for folder, text in texts.items():
        file = sql / f"{folder}{RELEASES}{version}.sql"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    lines = (sql / SOURCES).read_text(encoding="utf-8")
    planner = re.search(r"Z (.+? <[^>]+>)", lines)
    who = f"{datetime.now(timezone.utc):%Y-%m-%dT%H:%M:%SZ} {planner[1] if planner else ''}"
    with plan.path.open("a", encoding="utf-8") as file_of_plan:
        file_of_plan.write(f"{RELEASES}{version} {who} # {note}\n")
        file_of_plan.write(f"@v{version} {who} # Release {version}\n")


def main() -> None:
    sys.path[:0] = [str(ROOT / "tests")]
    from qwf_agent import embedded
    from support.servers import own_server

    version, yes = (*sys.argv[1:], "", "")[:2]
    try:
        with own_server(embedded.binaries()) as server:
            said = release(ROOT, version, server, yes=bool(yes))
    except MigrateError as error:
        sys.exit(f"release: {error}")
    print("\n".join([*said, f"next: commit, and git tag -a v{version} (docs/releasing.md)"]))


if __name__ == "__main__":
    main()
