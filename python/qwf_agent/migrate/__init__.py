"""Deploys the sqitch plan with yoyo: the same scripts, the same change ids, no Perl.

sqitch's plan (`sql/sqitch.plan`) says what is deployed and in which order; yoyo keeps the registry
and the lock, and applies and rolls back in order. A change is identified by its sqitch id, which
stays the same when its script is reworked. One database is deployed by one tool: a database that
sqitch deployed is refused here.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from yoyo.migrations import MigrationList

from qwf_agent.migrate import database
from qwf_agent.migrate.database import OLDEST_SERVER, Say
from qwf_agent.migrate.plan import Change, MigrateError, Plan, Script, plan_path, read_plan
from qwf_agent.migrate.steps import finish_interrupted, registry, steps_of

__all__ = [
    "OLDEST_SERVER",
    "Change",
    "MigrateError",
    "Plan",
    "Script",
    "Status",
    "deploy",
    "grants",
    "plan_path",
    "read_plan",
    "revert",
    "status",
    "verify",
]


@dataclass(frozen=True)
class Status:
    """One change of the plan, or a deployed change that is not in the plan."""

    change: str
    id: str
    state: str  # deployed, pending, unverified (interrupted), unknown
    deployed_at: datetime | None  # UTC
    note: str


def deploy(
    dsn: str = "",
    *,
    to: str | None = None,
    plan: Path | str | None = None,
    verify: bool = True,
    say: Say | None = None,
    **connection: Any,
) -> list[str]:
    """Deploy the missing changes up to `to`, and return the names of those it deployed.

    `connection` holds libpq keywords that override those of `dsn` (test runners pass host, port,
    user, dbname and password). Raises MigrateError; what was deployed before the error stays, and
    the next deploy continues from there.
    """
    chain = read_plan(plan)
    say = say or _nothing
    done: list[str] = []
    with registry(database.conninfo(dsn, connection), chain, say) as backend:
        steps = steps_of(chain, say, verify=verify)
        finish_interrupted(backend, steps, say)
        applied = set(backend.get_applied_migration_hashes())
        database.refuse_foreign_schema(backend.connection, chain, applied)
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
    """Revert the changes after `to`, or all if it is None.

    Returns their names, the last change first. Raises MigrateError.
    """
    chain = read_plan(plan)
    say = say or _nothing
    done: list[str] = []
    keep = 0 if to is None else chain.until(to)
    with registry(database.conninfo(dsn, connection), chain, say) as backend:
        for step in backend.to_rollback(MigrationList(steps_of(chain, say)[keep:])):
            say(f"- {step.change.name}")
            backend.rollback_one(step)
            done.append(step.change.name)
    return done


def status(dsn: str = "", *, plan: Path | str | None = None, **connection: Any) -> list[Status]:
    """Every change of the plan with its state, then the deployed changes not in the plan."""
    chain = read_plan(plan)
    with database.connect(database.conninfo(dsn, connection)) as conn:
        database.refuse_sqitch(conn, chain)
        deployed = database.deployed(conn, chain)
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

    Raises MigrateError naming all that fail. Skips changes that were reworked later, as sqitch
    does: what they made has been replaced.
    """
    chain = read_plan(plan)
    done, failed = [], []
    with database.connect(database.conninfo(dsn, connection)) as conn:
        database.refuse_sqitch(conn, chain)
        deployed = database.deployed(conn, chain)
        for change in chain.changes:
            if change.id in deployed and not change.reworked:
                try:
                    database.execute(conn, change.verify)
                    done.append(change.name)
                except MigrateError as error:
                    failed.append(f"{change.name}: {error}")
    if failed:
        raise MigrateError("the database is not as it was deployed:\n" + "\n".join(failed))
    return done


def grants() -> str:
    """The statements that give the four roles their rights, as one repeatable script.

    For a database that was deployed before the roles existed. Raises MigrateError.
    """
    texts = [c.deploy.read() for c in read_plan().changes]
    return "\n".join(
        ["begin;", *(given for text in texts for given in _GIVEN.findall(text)), "commit;"]
    )


# What gives rights: the calls of _qwf.allow beside the functions, and blocks that are whole files.
_GIVEN = re.compile(
    r"^(?:call _qwf\.allow\(.*?\);|revoke .*?;|do \$\$.*?^end \$\$;)$", re.MULTILINE | re.DOTALL
)


def _nothing(line: str) -> None:
    """Say nothing."""
