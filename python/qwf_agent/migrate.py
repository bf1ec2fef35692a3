"""Deploys the sqitch plan with yoyo: the same scripts, the same change ids, no Perl.

sqitch's plan (`sql/sqitch.plan`) says what is deployed in which order, and yoyo keeps the registry,
the lock and the order of applying and rolling back. A change is known by its sqitch id, which does
not change when its script is reworked. One database is deployed by one tool: a database that sqitch
deployed is refused here.

A change and the mark that it is deployed commit together. Scripts carry their own `begin` and
`commit`, and a `begin` that follows other statements of one simple-protocol message takes these
into its transaction; so the mark is sent in front of the script, in the same message. Whatever
dies, the next deploy finds a change either marked or not there. The mark gets its time when the
verify has passed: one without was interrupted, and the next deploy verifies it first.
"""

from __future__ import annotations

import contextlib
import hashlib
import re
import socket
import uuid
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime, timezone
from functools import cached_property
from pathlib import Path
from typing import Any

import psycopg
from psycopg import sql
from psycopg.conninfo import conninfo_to_dict, make_conninfo
from yoyo.backends.core.postgresql import PostgresqlPsycopgBackend
from yoyo.connections import DatabaseURI
from yoyo.migrations import Migration, MigrationList

PROJECT = "qwf"
LOCK = 75474063  # sqitch's own advisory lock, so that the two tools exclude each other too
LOCK_TIMEOUT = "10min"
OLDEST_SERVER = 15

Say = Callable[[str], None]


class MigrateError(Exception):
    """A migration cannot be done or went wrong. The message says what to do."""


@dataclass(frozen=True)
class Status:
    """One change of the plan, or of the database where the plan does not know it."""

    change: str
    id: str
    state: str  # deployed, pending, unverified (interrupted), unknown
    deployed_at: datetime | None  # UTC
    note: str


@dataclass(frozen=True)
class Change:
    """One line of the plan, with the scripts that belong to it."""

    name: str
    id: str
    note: str
    tags: tuple[str, ...]
    reworked: bool
    deploy: Path
    revert: Path
    verify: Path


@dataclass(frozen=True)
class Plan:
    """A sqitch plan: its changes in order."""

    path: Path
    project: str
    changes: tuple[Change, ...]

    @cached_property
    def registry(self) -> str:
        """Schema of yoyo's tables: one for each project, beside the project's own schema."""
        return f"{self.project}_migrations"

    def until(self, target: str | None) -> int:
        """How many changes are deployed once `target` is: a change, change@tag, @tag or id."""
        if target is None:
            return len(self.changes)
        name, _, tag = target.partition("@")
        end = len(self.changes)
        if tag:
            end = next((n for n, c in enumerate(self.changes, 1) if tag in c.tags), 0)
        if name:
            end = next(
                (
                    n
                    for n in range(end, 0, -1)
                    if name in (self.changes[n - 1].name, self.changes[n - 1].id)
                ),
                0,
            )
        if not end:
            raise MigrateError(
                f"the plan has no {target}: see qwf migrate status for the changes there are"
            )
        return end


def plan_path() -> Path:
    """The plan of this installation: in the package of a wheel, at the root of a checkout."""
    here = Path(__file__).resolve()
    for folder in (here.parent / "sql", here.parents[2] / "sql"):
        if (folder / "sqitch.plan").is_file():
            return folder / "sqitch.plan"
    raise MigrateError("this installation has no sql/sqitch.plan: install qwf again")


def deploy(
    dsn: str = "",
    *,
    to: str | None = None,
    plan: Path | str | None = None,
    verify: bool = True,
    say: Say | None = None,
    **connection: Any,
) -> list[str]:
    """Deploy what is missing, up to `to`, and return the names of the changes that were deployed.

    `connection` are libpq keywords over those of `dsn` (test runners pass host, port, user, dbname
    and password). Raises MigrateError; what was deployed before the error stays, and the next
    deploy goes on from there.
    """
    chain = read_plan(plan)
    say = say or _nothing
    done: list[str] = []
    with _registry(_conninfo(dsn, connection), chain, say) as backend:
        steps = _steps(chain, say, verify=verify)
        _finish_interrupted(backend, steps, say)
        applied = set(backend.get_applied_migration_hashes())
        _refuse_foreign_schema(backend, chain, applied)
        for step in backend.to_apply(MigrationList(steps[: chain.until(to)])):
            say(f"+ {step.change.name}")
            backend.apply_one(step, mark=False)
            done.append(step.change.name)
    return done


def revert(
    dsn: str = "",
    to: str | None = None,
    *,
    plan: Path | str | None = None,
    say: Say | None = None,
    **connection: Any,
) -> list[str]:
    """Revert the changes after `to`, all of them where it is None.

    Returns their names, the last change first. Raises MigrateError.
    """
    chain = read_plan(plan)
    say = say or _nothing
    done: list[str] = []
    keep = 0 if to is None else chain.until(to)
    with _registry(_conninfo(dsn, connection), chain, say) as backend:
        for step in backend.to_rollback(MigrationList(_steps(chain, say)[keep:])):
            say(f"- {step.change.name}")
            backend.rollback_one(step)
            done.append(step.change.name)
    return done


def status(dsn: str = "", *, plan: Path | str | None = None, **connection: Any) -> list[Status]:
    """Every change of the plan and whether it is deployed, then what the plan does not know."""
    chain = read_plan(plan)
    with _connect(_conninfo(dsn, connection)) as conn:
        _refuse_sqitch(conn, chain)
        deployed = _deployed(conn, chain)
    rows = []
    for c in chain.changes:
        state = (
            "pending" if c.id not in deployed else "deployed" if deployed[c.id] else "unverified"
        )
        rows.append(Status(c.name, c.id, state, deployed.pop(c.id, None), c.note))
    return rows + [
        Status("", change_id, "unknown", when, "") for change_id, when in deployed.items()
    ]


def verify(dsn: str = "", *, plan: Path | str | None = None, **connection: Any) -> list[str]:
    """Run the verify script of every deployed change and return their names.

    Raises MigrateError naming all that fail. A change that was reworked later is passed over, as
    sqitch does: what it made has been replaced.
    """
    chain = read_plan(plan)
    done, failed = [], []
    with _connect(_conninfo(dsn, connection)) as conn:
        _refuse_sqitch(conn, chain)
        deployed = _deployed(conn, chain)
        for change in chain.changes:
            if change.id in deployed and not change.reworked:
                try:
                    _execute(conn, change.verify)
                    done.append(change.name)
                except MigrateError as error:
                    failed.append(f"{change.name}: {error}")
    if failed:
        raise MigrateError("the database is not as it was deployed:\n" + "\n".join(failed))
    return done


def grants() -> str:
    """The statements that give the four roles their rights, as one script that can be run again.

    For a database that was deployed before the roles were there. Raises MigrateError.
    """
    texts = [c.deploy.read_text(encoding="utf-8") for c in read_plan().changes]
    return "\n".join(
        ["begin;", *(given for text in texts for given in _GIVEN.findall(text)), "commit;"]
    )


def read_plan(path: Path | str | None = None) -> Plan:
    """Read a sqitch plan, that of this installation where `path` is None.

    Raises MigrateError with the line at fault.
    """
    file = Path(path) if path is not None else plan_path()
    try:
        lines = file.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise MigrateError(f"cannot read the plan {file}: {error}") from None
    pragmas: dict[str, str] = {}
    parsed: list[dict[str, Any]] = []
    for number, line in enumerate(lines, 1):
        if match := _PRAGMA.match(line):
            pragmas[match["name"]] = match["value"] or ""
        elif match := _TAG.match(line):
            if not parsed:
                raise MigrateError(f"{file}:{number}: a tag without a change before it")
            parsed[-1]["tags"] += (match["tag"],)
        elif match := _CHANGE.match(line):
            parsed.append({**match.groupdict(), "tags": ()})
        elif line.split("#")[0].strip():
            raise MigrateError(f"{file}:{number}: not a line of a sqitch plan: {line.strip()}")
    if not pragmas.get("project"):
        raise MigrateError(f"{file}: no %project")
    return Plan(file, pragmas["project"], _changes(file, pragmas, parsed))


_PRAGMA = re.compile(r"\s*%\s*(?P<name>[\w-]+)\s*(?:=\s*(?P<value>.+?))?\s*$")
_TAG = re.compile(r"\s*@(?P<tag>[^\s#]+)(?:\s[^#]*)?(?:#.*)?$")
_CHANGE = re.compile(
    r"\s*(?P<name>[^\s@#%\[\]][^\s@#\[\]:]*)"
    r"(?:\s+\[(?P<dependencies>[^\]]*)\])?"
    r"\s+(?P<date>\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ)"
    r"\s+(?P<planner>[^<#]*?)\s+<(?P<email>[^>]+)>"
    r"\s*(?:#(?P<note>.*))?$"
)


def _changes(
    file: Path, pragmas: dict[str, str], parsed: list[dict[str, Any]]
) -> tuple[Change, ...]:
    changes: list[Change] = []
    for index, line in enumerate(parsed):
        name = line["name"]
        later = next((n for n in range(index + 1, len(parsed)) if parsed[n]["name"] == name), None)
        # A reworked change keeps its scripts under the first tag after it that has them.
        tags = (
            [tag for entry in parsed[index:later] for tag in entry["tags"]]
            if later is not None
            else []
        )
        if later is not None and not tags:
            raise MigrateError(f"{file}: {name} appears twice without a tag between")
        note = re.sub(
            r"\\([\\nr])",
            lambda m: {"n": "\n", "r": "\r"}.get(m[1], m[1]),
            (line["note"] or "").strip(),
        )
        deploy, revert, verify = (
            _script(file, kind, name, tags) for kind in ("deploy", "revert", "verify")
        )
        parent = changes[-1].id if changes else None
        _check_requires(file, line, {change.name for change in changes})
        change_id = _change_id(pragmas, line, note, parent)
        changes.append(
            Change(name, change_id, note, line["tags"], later is not None, deploy, revert, verify)
        )
    return tuple(changes)


def _check_requires(file: Path, line: dict[str, Any], earlier: set[str]) -> None:
    """Raise unless what a change requires of its own project stands before it."""
    for dependency in (line["dependencies"] or "").split():
        name = dependency.partition("@")[0]
        if name and name not in earlier and not re.match(r"!|[^@]*:|[0-9a-f]{40}$", dependency):
            raise MigrateError(f"{file}: {line['name']} requires {name}, which is not before it")


def _change_id(pragmas: dict[str, str], line: dict[str, Any], note: str, parent: str | None) -> str:
    """sqitch's id of a change: SHA-1 of its plan line and its place, as git hashes an object."""
    named = list(dict.fromkeys((line["dependencies"] or "").split()))
    named = [d.removeprefix(f"{pragmas['project']}:") for d in named]
    requires = [d for d in named if not d.startswith("!")]
    conflicts = [d[1:] for d in named if d.startswith("!")]
    info = [f"project {pragmas['project']}"]
    info += [f"uri {pragmas['uri']}"] if pragmas.get("uri") else []
    info += [f"change {line['name']}"]
    info += [f"parent {parent}"] if parent else []
    info += [f"planner {line['planner']} <{line['email']}>", f"date {line['date']}"]
    info += ["requires", *(f"  + {d}" for d in requires)] if requires else []
    info += ["conflicts", *(f"  - {d}" for d in conflicts)] if conflicts else []
    info += ["", note] if note else []
    text = "\n".join(info)
    return hashlib.sha1(
        f"change {len(text.encode())}\0{text}".encode(), usedforsecurity=False
    ).hexdigest()


def _script(plan: Path, kind: str, name: str, tags: list[str]) -> Path:
    """A script of a change. Deploy scripts lie beside the plan, or in deploy/ as sqitch has it."""
    base = plan.parent
    if tags:
        frozen = [base / "reworked" / kind / f"{name}@{tag}.sql" for tag in tags]
        return next((path for path in frozen if path.is_file()), frozen[0])
    if kind == "deploy" and not (base / "deploy").is_dir():
        return base / f"{name}.sql"
    return base / kind / f"{name}.sql"


# What gives rights: the calls of _allow beside the functions, and the blocks of whole files.
_GIVEN = re.compile(
    r"^(?:call qwf\._allow\(.*?\);|do \$\$.*?^end \$\$;)$", re.MULTILINE | re.DOTALL
)
_MARK = "insert into {table} (migration_hash, migration_id) values ({hash}, {id});"
_CONFIRM = (
    "update {table} set applied_at_utc = clock_timestamp() at time zone 'utc'"
    " where migration_hash = {hash};"
)
_UNMARK = "delete from {table} where migration_hash = {hash};"


class _Backend(PostgresqlPsycopgBackend):  # type: ignore[misc]
    """yoyo on psycopg. Its log names the database user; yoyo would ask the DNS and /etc/passwd."""

    def get_log_data(self, migration: Any = None, operation: str = "apply") -> dict[str, Any]:
        return {
            "id": str(uuid.uuid4()),
            "migration_id": migration.id if migration else None,
            "migration_hash": migration.hash if migration else None,
            "username": self.connection.info.user,
            "hostname": socket.gethostname(),
            "created_at_utc": datetime.now(timezone.utc).replace(tzinfo=None),
            "operation": operation,
        }


class _Step(Migration):  # type: ignore[misc]
    """A change as yoyo sees it: one step, whose scripts run whole."""

    def __init__(
        self, chain: Plan, change: Change, previous: _Step | None, say: Say, *, verify: bool
    ) -> None:
        super().__init__(change.id, str(change.deploy), str(chain.path.parent))
        self.change = change
        self.chain = chain
        self.previous = previous
        self.say = say
        self.verify = verify

    @property
    def depends(self) -> set[_Step]:
        return {self.previous} if self.previous else set()

    def process_steps(self, backend: _Backend, direction: str, force: bool = False) -> None:
        conn = backend.connection
        conn.add_notice_handler(self._pass_on)
        self._set_path(conn)
        if direction == "rollback":
            _execute(conn, self.change.revert, self._sql(_UNMARK, conn))
            return
        _execute(conn, self.change.deploy, self._sql(_MARK, conn))
        if self.verify:
            self._check(conn)
        conn.execute(self._sql(_CONFIRM, conn))

    def resume(self, conn: psycopg.Connection[Any]) -> None:
        """Finish what was interrupted between the change and its verify."""
        self._set_path(conn)
        self._check(conn)
        conn.execute(self._sql(_CONFIRM, conn))

    def _set_path(self, conn: psycopg.Connection[Any]) -> None:
        """The engine's scripts name every schema; those of another project find what they did."""
        conn.execute("reset search_path")  # yoyo's own tables are none of a script's business
        if self.chain.project == PROJECT:
            conn.execute("set search_path = pg_catalog, pg_temp")

    def _check(self, conn: psycopg.Connection[Any]) -> None:
        """Run the verify script; where it fails, revert the change and raise."""
        try:
            _execute(conn, self.change.verify)
        except MigrateError as error:
            try:
                _execute(conn, self.change.revert, self._sql(_UNMARK, conn))
            except MigrateError as second:
                raise MigrateError(
                    f"{self.change.name} is deployed, but its verify fails and so does its revert;"
                    f" repair the database by hand, then deploy again\n{error}\n{second}"
                ) from None
            raise MigrateError(
                f"{self.change.name} was reverted, because its verify fails\n{error}"
            ) from None

    def _sql(self, template: str, conn: psycopg.Connection[Any]) -> str:
        values = {"hash": sql.Literal(self.hash), "id": sql.Literal(self.id)}
        table = sql.Identifier(self.chain.registry, "_yoyo_migration")
        return sql.SQL(template).format(table=table, **values).as_string(conn)

    def _pass_on(self, notice: psycopg.errors.Diagnostic) -> None:
        if notice.severity_nonlocalized == "NOTICE":
            self.say(f"  {self.change.name}: {notice.message_primary}" + _hint(notice))


def _steps(chain: Plan, say: Say, *, verify: bool = True) -> list[_Step]:
    steps: list[_Step] = []
    for change in chain.changes:
        steps.append(_Step(chain, change, steps[-1] if steps else None, say, verify=verify))
    return steps


@contextlib.contextmanager
def _registry(conninfo: str, chain: Plan, say: Say) -> Iterator[_Backend]:
    """yoyo's backend on the registry of a plan, alone on the database for as long as it is held."""
    with _errors_as_advice(), _connect(conninfo) as conn:
        _refuse_shared_sessions(conn, conninfo)
        _take_lock(conn, say)
        _refuse_sqitch(conn, chain)
        conn.execute(
            sql.SQL("create schema if not exists {}").format(sql.Identifier(chain.registry))
        )
        with _Backend(_uri(conn, conninfo, chain), "_yoyo_migration") as backend:
            backend.init_database()
            # yoyo's lock is a row that outlives a killed process; here, alone, it is stale.
            backend.break_lock()
            with backend.lock():
                _refuse_unknown(conn, chain)
                yield backend


def _refuse_shared_sessions(conn: psycopg.Connection[Any], conninfo: str) -> None:
    """Raise behind a pooler that gives every transaction another session: the lock belongs to one.

    Such a pooler hands the session that was used last to whoever comes next; somebody comes, and
    keeps it.
    """
    query = "select pg_backend_pid()"
    before = conn.execute(query).fetchone()
    with _connect(conninfo) as other, other.transaction():
        other.execute(query)
        if conn.execute(query).fetchone() == before:
            return
    raise MigrateError(
        "this address goes through a pooler that shares sessions (PgBouncer in transaction mode):"
        " migrate past it, or through a pool in session mode"
    )


def _take_lock(conn: psycopg.Connection[Any], say: Say) -> None:
    row = conn.execute("select pg_try_advisory_lock(%s)", [LOCK]).fetchone()
    if row and row[0]:
        return
    say("another process is migrating this database: waiting until it ends")
    try:
        conn.execute(sql.SQL("set lock_timeout = {}").format(sql.Literal(LOCK_TIMEOUT)))
        conn.execute("select pg_advisory_lock(%s)", [LOCK])
    except psycopg.errors.LockNotAvailable:
        raise MigrateError(
            f"another process has been migrating this database for {LOCK_TIMEOUT}: end the session"
            " that pg_locks shows with locktype 'advisory', then deploy again"
        ) from None


def _finish_interrupted(backend: _Backend, steps: list[_Step], say: Say) -> None:
    """Verify what was killed between its commit and its verify."""
    backend.ensure_internal_schema_updated()
    rows = backend.execute(
        "select migration_id from _yoyo_migration where applied_at_utc is null"
    ).fetchall()
    for step in steps:
        if (step.id,) in rows:
            say(f"= {step.change.name}: interrupted earlier, verifying")
            with backend.copy() as copy:
                step.resume(copy.connection)


def _deployed(conn: psycopg.Connection[Any], chain: Plan) -> dict[str, datetime | None]:
    table = sql.Identifier(chain.registry, "_yoyo_migration")
    try:
        rows = conn.execute(
            sql.SQL("select migration_id, applied_at_utc from {}").format(table)
        ).fetchall()
    except (psycopg.errors.UndefinedTable, psycopg.errors.InvalidSchemaName):
        return {}
    except psycopg.errors.InsufficientPrivilege as error:
        raise MigrateError(f"{error.diag.message_primary}: use the role that deployed") from None
    return dict(rows)


def _refuse_unknown(conn: psycopg.Connection[Any], chain: Plan) -> None:
    unknown = _deployed(conn, chain).keys() - {change.id for change in chain.changes}
    if unknown:
        raise MigrateError(
            f"{len(unknown)} deployed changes are not in {chain.path}:"
            " another version deployed this database. Use that version or a newer one;"
            " a database from before the first release has to be made anew"
        )


def _refuse_sqitch(conn: psycopg.Connection[Any], chain: Plan) -> None:
    try:
        query = "select exists (select from sqitch.changes where project = %s)"
        row = conn.execute(query, [chain.project]).fetchone()
    except (psycopg.errors.UndefinedTable, psycopg.errors.InvalidSchemaName):
        return
    except psycopg.errors.InsufficientPrivilege:
        row = (True,)
    if row and row[0]:
        raise MigrateError(
            "sqitch deployed this database, and one database is deployed by one tool:"
            " go on with sqitch deploy, sqitch status and sqitch revert"
        )


def _refuse_foreign_schema(backend: _Backend, chain: Plan, applied: set[str]) -> None:
    row = backend.execute("select to_regnamespace('qwf') is not null").fetchone()
    if chain.project == PROJECT and not applied and row[0]:
        raise MigrateError(
            "schema qwf is there already, but was not made by qwf migrate:"
            " drop it, or deploy to another database"
        )


def _execute(conn: psycopg.Connection[Any], script: Path, mark: str = "") -> None:
    """Send `mark` and a whole script in one simple-protocol message.

    Raises MigrateError with file and line.
    """
    try:
        text = script.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise MigrateError(f"cannot read {script}: {error}") from None
    try:
        conn.execute(mark + text)
    except psycopg.Error as error:
        if not conn.closed:
            conn.rollback()
        position = int(error.diag.statement_position or 0) - len(mark)
        line = f":{text.count(chr(10), 0, position - 1) + 1}" if position > 0 else ""
        message = error.diag.message_primary or str(error).strip()
        raise MigrateError(f"{script}{line}: {message}" + _hint(error.diag)) from error


def _hint(diag: psycopg.errors.Diagnostic) -> str:
    return "".join(f"; {part}" for part in (diag.message_detail, diag.message_hint) if part)


@contextlib.contextmanager
def _errors_as_advice() -> Iterator[None]:
    """Turn what the database says outside of scripts into a MigrateError."""
    try:
        yield
    except psycopg.Error as error:
        if isinstance(error.__context__, MigrateError):  # cleaning up after it failed as well
            raise error.__context__ from None
        raise MigrateError(f"{str(error).strip()}; put that right, then deploy again") from error


def _conninfo(dsn: str, connection: dict[str, Any]) -> str:
    given = {
        key: value for key, value in connection.items() if value is not None and key != "autocommit"
    }
    try:
        return make_conninfo(dsn, **given)
    except psycopg.ProgrammingError as error:
        raise MigrateError(f"not an address of a database: {str(error).strip()}") from None


def _connect(conninfo: str) -> psycopg.Connection[Any]:
    try:
        conn = psycopg.connect(conninfo, autocommit=True)
    except psycopg.OperationalError as error:
        raise MigrateError(f"cannot connect: {str(error).strip()}") from None
    if conn.info.server_version < OLDEST_SERVER * 10000:
        version = conn.info.parameter_status("server_version")
        conn.close()
        raise MigrateError(
            f"the server is PostgreSQL {version}: {OLDEST_SERVER} or newer is needed"
        )
    return conn


def _uri(conn: psycopg.Connection[Any], conninfo: str, chain: Plan) -> DatabaseURI:
    """yoyo's form of an address: parts, so that sockets and odd characters come through."""
    parts = {**conninfo_to_dict(conninfo), "schema": sql.Identifier(chain.registry).as_string(conn)}
    return DatabaseURI("postgresql+psycopg", None, None, None, None, conn.info.dbname, parts)


def _nothing(line: str) -> None:
    """Say nothing."""
