"""Deploys the sqitch plan with yoyo: the same scripts, the same change ids, no Perl.

sqitch's plan (`sql/sqitch.plan`) says what is deployed and in which order; yoyo keeps the registry
and the lock, and applies and rolls back in order. A change is identified by its sqitch id, which
stays the same when its script is reworked. One database is deployed by one tool: a database that
sqitch deployed is refused here.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import psycopg

from qwf_agent.migrate import database, development, reverting, trust
from qwf_agent.migrate.database import OLDEST_SERVER, RegistryMark, Say
from qwf_agent.migrate.plan import (
    PROJECT,
    Change,
    MigrateError,
    Plan,
    Script,
    plan_path,
    read_plan,
    without_transactions,
)
from qwf_agent.migrate.record import record
from qwf_agent.migrate.reverting import Loss

if TYPE_CHECKING:
    from qwf_agent.migrate.steps import Backend

__all__ = [
    "CHANGED",
    "OLDEST_SERVER",
    "PENDING",
    "UNVERIFIED",
    "Change",
    "Loss",
    "MigrateError",
    "Plan",
    "Script",
    "Status",
    "adopt",
    "check_origin",
    "deploy",
    "grants",
    "loss",
    "missing",
    "plan_path",
    "read_plan",
    "revert",
    "script",
    "status",
    "verify",
]

Connection = psycopg.Connection[Any]
PENDING = "pending"
CHANGED = "changed"  # its deploy script was edited after it was deployed
UNVERIFIED = "unverified"  # interrupted between its commit and its verify script


@dataclass(frozen=True)
class Status:
    """One change of the plan, or a deployed change that is not in the plan."""

    change: str
    id: str
    state: str  # deployed, PENDING, UNVERIFIED, CHANGED, unknown
    deployed_at: datetime | None  # UTC
    note: str
    tags: tuple[str, ...] = ()  # the releases that end with it


def deploy(
    dsn: str = "",
    *,
    to: str | None = None,
    plan: Path | str | None = None,
    verify: bool = True,
    say: Say | None = None,
    **connection: Any,
) -> list[str]:
    """Deploy the missing changes up to `to`, and return the names of those it deployed; for a
    development database, the objects that were replaced by those of today's sources.

    `connection` holds libpq keywords that override those of `dsn` (test runners pass host, port,
    user, dbname and password). Raises MigrateError; what was deployed before the error stays, and
    the next deploy continues from there.
    """
    chain = read_plan(plan)
    say = say or _nothing
    with database.errors_as_advice(), database.connect(database.conninfo(dsn, connection)) as conn:
        database.refuse_standby(conn)
    lacking = missing(dsn, to=to, plan=plan, **connection)
    if not lacking:
        return []  # and nothing is written: each replica of a program may deploy at its start
    if lacking[0].state == CHANGED:
        return development.follow(database.conninfo(dsn, connection), chain, say)

    from yoyo.migrations import MigrationList  # takes long to import, and only changes need it

    from qwf_agent.migrate.steps import finish_interrupted, install, registry, steps_of

    done: list[str] = []
    with registry(database.conninfo(dsn, connection), chain, say) as backend:
        steps = steps_of(chain, say, verify=verify)
        database.refuse_changed(chain, database.deployed(backend.connection, chain))
        finish_interrupted(backend, steps, say)
        applied = set(backend.get_applied_migration_hashes())
        before = set(database.deployed(backend.connection, chain))
        database.refuse_foreign_schema(backend.connection, chain, applied)
        wanted = steps[: chain.until(to)]
        is_new = chain.project == PROJECT and not applied
        at_once = is_new and install(backend, wanted, say)
        if at_once:
            done = [step.change.name for step in wanted]
        with _recording_a_failure(backend, chain, before):
            for step in backend.to_apply(MigrationList(wanted)):
                say(f"+ {step.change.name}")
                backend.apply_one(step, mark=False)
                done.append(step.change.name)
        if to is None and not at_once:
            development.record(backend.connection, chain)
        _record(backend, chain, before)
    return done


def missing(
    dsn: str = "",
    *,
    to: str | None = None,
    plan: Path | str | None = None,
    **connection: Any,
) -> list[Status]:
    """The changes that `deploy` would deploy, and those that it would verify because it was
    interrupted, in order. For a development database the sources that differ, which are CHANGED.

    Writes nothing and takes no lock, so another process may deploy meanwhile. Raises MigrateError
    for a database that `deploy` refuses.
    """
    chain = read_plan(plan)
    until = chain.until(to)
    conninfo = database.conninfo(dsn, connection)
    with database.errors_as_advice(), database.connect(conninfo) as conn:
        database.refuse_shared_sessions(conn, conninfo)
        database.refuse_sqitch(conn, chain)
        there = trust.trusted(conn, *database.schemas(chain))
        deployed = database.deployed(conn, chain) if chain.registry in there else {}
        database.refuse_dropped(chain, deployed, there)
        edited = development.outdated(conn, chain) if chain.registry in there else None
        if edited is not None and to is None:
            return [Status(name, "", CHANGED, None, "") for name in edited]
        database.refuse_unknown(chain, deployed)
        database.refuse_foreign_schema(conn, chain, set(deployed))
        database.refuse_changed(chain, deployed)
        return [
            change
            for place, change in enumerate(_states(chain, deployed))
            if change.state == UNVERIFIED or (change.state == PENDING and place < until)
        ]


def adopt(
    dsn: str = "", *, plan: Path | str | None = None, say: Say | None = None, **connection: Any
) -> list[str]:
    """Register every change of the plan as deployed, because something else ran their scripts.

    Runs all verify scripts first, and registers nothing if one fails. They do not see whether a
    function is an older one. Returns the names of the changes. Raises MigrateError.
    """
    from qwf_agent.migrate.steps import register, registry, steps_of

    chain = read_plan(plan)
    say = say or _nothing
    with registry(database.conninfo(dsn, connection), chain, say) as backend:
        if backend.get_applied_migration_hashes():
            raise MigrateError("qwf migrate deployed this database: there is nothing to adopt")
        _verify(backend.connection, chain, _verifiable(chain))
        register(backend, steps_of(chain, say))
    return [change.name for change in chain.changes]


def revert(
    dsn: str = "",
    to: str | None = None,
    *,
    plan: Path | str | None = None,
    say: Say | None = None,
    **connection: Any,
) -> list[str]:
    """Revert the changes after `to`, or all if it is None.

    Returns their names, the last change first. Raises MigrateError; before the first script if
    somebody else's objects use what would be dropped.
    """
    from yoyo.migrations import MigrationList

    from qwf_agent.migrate.steps import registry, steps_of

    chain = read_plan(plan)
    say = say or _nothing
    done: list[str] = []
    keep = 0 if to is None else chain.until(to)
    with registry(database.conninfo(dsn, connection), chain, say) as backend:
        looking = backend.connection
        before = set(database.deployed(looking, chain))
        reverting.look(looking, chain, keep, database.deployed(looking, chain))
        development.forget(looking, chain)
        looking.commit()
        with _recording_a_failure(backend, chain, before):
            for step in backend.to_rollback(MigrationList(steps_of(chain, say)[keep:])):
                say(f"- {step.change.name}")
                backend.rollback_one(step)
                done.append(step.change.name)
        _record(backend, chain, before)
    return done


@contextlib.contextmanager
def _recording_a_failure(backend: Backend, chain: Plan, before: set[str]) -> Iterator[None]:
    """If a script fails, those before it stay, and the event says so. If the process is killed, no
    event does; the next one begins with more changes than the last one ended with."""
    try:
        yield
    except Exception:
        with contextlib.suppress(Exception):  # the error that ended it is what counts
            with backend.copy() as copy:
                after = set(database.deployed(copy.connection, chain))
            if after != before:
                _record(backend, chain, before)
        raise


def _record(backend: Backend, chain: Plan, before: set[str]) -> None:
    with backend.copy() as copy:
        record(copy.connection, chain, before, set(database.deployed(copy.connection, chain)))
        copy.connection.commit()


def loss(
    dsn: str = "", to: str | None = None, *, plan: Path | str | None = None, **connection: Any
) -> Loss:
    """The changes that `revert` would delete. Writes nothing.

    Raises MigrateError for what `revert` refuses.
    """
    chain = read_plan(plan)
    keep = 0 if to is None else chain.until(to)
    with (
        database.errors_as_advice(),
        database.connect(database.conninfo(dsn, connection)) as conn,
    ):
        deployed = _deployed(conn, chain)
        database.refuse_unknown(chain, deployed)
        return reverting.look(conn, chain, keep, deployed)


def status(dsn: str = "", *, plan: Path | str | None = None, **connection: Any) -> list[Status]:
    """Every change of the plan with its state, then the deployed changes not in the plan."""
    chain = read_plan(plan)
    with database.connect(database.conninfo(dsn, connection)) as conn:
        deployed = _deployed(conn, chain)
    known = {change.id for change in chain.changes}
    return _states(chain, deployed) + [
        Status("", change_id, "unknown", mark.at, "")
        for change_id, mark in deployed.items()
        if change_id not in known
    ]


def check_origin(dsn: str = "", *, plan: Path | str | None = None, **connection: Any) -> None:
    """Raise MigrateError if something else than qwf migrate made the schema."""
    chain = read_plan(plan)
    with database.connect(database.conninfo(dsn, connection)) as conn:
        database.refuse_foreign_schema(conn, chain, set(_deployed(conn, chain)))


def _states(chain: Plan, deployed: Mapping[str, RegistryMark]) -> list[Status]:
    """Every change of the plan with its state."""
    states = []
    for change in chain.changes:
        mark = deployed.get(change.id)
        if mark is None:
            state = PENDING
        elif mark.at is None:
            state = UNVERIFIED
        else:
            state = CHANGED if database.is_changed(change, deployed) else "deployed"
        at = mark.at if mark else None
        states.append(Status(change.name, change.id, state, at, change.note, change.tags))
    return states


def verify(dsn: str = "", *, plan: Path | str | None = None, **connection: Any) -> list[str]:
    """Run the verify script of every deployed change and return their names.

    Raises MigrateError naming all that fail. Skips changes that were reworked later, as sqitch
    does: what they made has been replaced.
    """
    chain = read_plan(plan)
    with database.connect(database.conninfo(dsn, connection)) as conn:
        database.refuse_standby(conn)
        deployed = _deployed(conn, chain)
        if not deployed:
            raise MigrateError(
                "no change is registered as deployed in this database: qwf migrate deploy,"
                " or qwf migrate adopt if something else has run the scripts"
            )
        if edited := development.outdated(conn, chain):
            raise MigrateError(
                f"edited after this database deployed them: {database.first_few(edited)};"
                " qwf migrate deploy replaces what differs"
            )
        database.refuse_unknown(chain, deployed)
        database.refuse_changed(chain, deployed)
        there = [change for change in chain.changes if change.id in deployed]
        if len(there) == len(chain.changes):
            there = _verifiable(chain)
        return _verify(conn, chain, there)[: len(deployed)]


def _verifiable(chain: Plan) -> list[Change]:
    """All changes and, as a release verifies only what it has changed, the sources beside them."""
    return [*chain.changes, *(chain.sources.changes if chain.sources is not chain else ())]


def _deployed(conn: Connection, chain: Plan) -> dict[str, RegistryMark]:
    """The changes that are registered as deployed. Raises MigrateError."""
    usable = trust.usable(conn, *database.schemas(chain))
    database.refuse_sqitch(conn, chain)
    deployed = database.deployed(conn, chain) if chain.registry in usable else {}
    database.refuse_dropped(chain, deployed, usable)
    return deployed


def _verify(conn: Connection, chain: Plan, changes: Sequence[Change]) -> list[str]:
    done, failed = [], []
    path = f"{trust.PIN};" if chain.project == PROJECT else ""
    for change in changes:
        if not change.reworked:
            try:
                database.execute(conn, change.verify, path)
                done.append(change.name)
            except MigrateError as error:
                failed.append(f"{change.name}: {error}")
    if failed:
        raise MigrateError("the database is not as it was deployed:\n" + "\n".join(failed))
    return done


def script(*, plan: Path | str | None = None, transaction: bool = True) -> str:
    """All deploy scripts in order, each in a transaction of its own.

    Without `transaction` it begins and commits nothing, for a migration of another tool, which runs
    in one; the search path is that of the engine and then again what it was. Raises MigrateError.
    """
    chain = read_plan(plan)
    texts = [change.deploy.read() for change in chain.sources.changes]
    if transaction:
        return "\n".join(texts)
    texts = without_transactions(texts)
    if chain.project == PROJECT:
        texts = [_KEEP_PATH, f"{trust.PIN};\n", *texts, _OLD_PATH]
    return "\n".join(texts)


_KEEP_PATH = "select set_config('qwf.old_path', current_setting('search_path'), true);"
_OLD_PATH = "select set_config('search_path', current_setting('qwf.old_path'), true);"


def grants() -> str:
    """The statements that give the four roles their rights, as one repeatable script.

    For a database that was deployed before the roles existed. Raises MigrateError.
    """
    texts = [change.deploy.read() for change in read_plan().sources.changes]
    return "\n".join(
        ["begin;", *(given for text in texts for given in _GIVEN.findall(text)), "commit;"]
    )


# What gives rights: the calls of _qwf.allow beside the functions, and blocks that are whole files.
_GIVEN = re.compile(
    r"^(?:call _qwf\.allow\(.*?\);|revoke .*?;|do \$\$.*?^end \$\$;)$", re.MULTILINE | re.DOTALL
)


def _nothing(line: str) -> None:
    """Say nothing."""
