"""`qwf migrate`: deploys, inspects and reverts the schema."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

import click

from qwf_agent import config
from qwf_agent.cli import arguments, commands, errors, output
from qwf_agent.look import connection, draw
from qwf_agent.system import exit_codes

if TYPE_CHECKING:
    from qwf_agent.migrate import Status

plan_option = click.option(
    "--plan", type=click.Path(exists=True, dir_okay=False, path_type=Path), metavar="FILE",
    help="Your own sqitch plan, deployed beside the engine's. Default: the engine's.",
)  # fmt: skip


@click.group(cls=commands.Commands)
def migrate() -> None:
    """Deploy, inspect and revert the schema.

    \b
    Example:      qwf migrate deploy --dsn postgresql://user@host/database
    With psql:    qwf migrate sql | psql DATABASE
    With sqitch:  in a checkout: make sqitch-scripts && cd build/sqitch
                  sqitch deploy db:pg:DATABASE
    """


verbose_option = click.option(
    "-v", "--verbose", is_flag=True,
    help="Name each change. That is the default on a terminal.",
)  # fmt: skip


@migrate.command()
@connection.dsn_option
@plan_option
@click.option("--to", metavar="CHANGE", help="Last change to deploy. Default: all of them.")
@click.option("--dry-run", is_flag=True, help="Only list what would be deployed.")
@verbose_option
def deploy(
    dsn: str | None, plan: Path | None, to: str | None, dry_run: bool, verbose: bool
) -> None:
    """Deploy all missing changes; it is safe to repeat.

    A database that was deployed from a checkout follows its sources: objects that differ are
    replaced in one transaction, and the data stays.

    With --dry-run it lists them in order and writes nothing: exit 0 if none is missing, else 1.

    \b
    Example:  qwf migrate deploy --dry-run
              qwf migrate deploy
    """
    from qwf_agent import migrate

    if dry_run:
        _list_missing(migrate.missing(config.find_dsn(dsn), to=to, plan=plan))
    done = migrate.deploy(config.find_dsn(dsn), to=to, plan=plan, say=_say(verbose))
    click.echo(f"{draw.counted(len(done), 'change')} deployed" if done else "up to date")


@migrate.command()
@connection.dsn_option
@plan_option
@output.json_option
def status(dsn: str | None, plan: Path | None, as_json: bool) -> None:
    """List the changes with their states, a sum and the releases.

    Exit 1 if some are not deployed, or were edited since, or if something else has deployed them.

    \b
    Example:  qwf migrate status
    """
    from qwf_agent import migrate

    dsn = config.find_dsn(dsn)
    migrate.check_origin(dsn, plan=plan)
    changes = migrate.status(dsn, plan=plan)
    rows = [
        {
            "change": c.change or c.id,
            "state": c.state,
            "deployed_at": c.deployed_at,
            "note": c.note,
            "releases": [f"@{tag}" for tag in c.tags],
        }
        for c in changes
    ]
    if as_json:
        output.show_json(rows)
    else:
        output.show(draw.rows(["change", "state", "note"], rows, "the plan is empty"))
        click.echo(_sum(changes))
    if any(c.state != "deployed" for c in changes):
        raise SystemExit(1)


@migrate.command()
@connection.dsn_option
@plan_option
def verify(dsn: str | None, plan: Path | None) -> None:
    """Run the verify script of every deployed change.

    Exit 0 if all is deployed and as it should be, 3 if what is deployed is and changes are pending
    or if a newer qwf has deployed this database, else 1.

    \b
    Example:  qwf migrate verify
    """
    from qwf_agent import migrate

    address = config.find_dsn(dsn)
    changes = migrate.status(address, plan=plan)
    unknown = sum(c.state == "unknown" for c in changes)
    if unknown:
        click.echo(
            f"the schema is newer: {unknown} deployed changes are unknown here; upgrade this box,"
            " and verify with the version that deployed them",
            err=True,
        )
        raise SystemExit(exit_codes.OTHER_VERSION)
    click.echo(f"{len(migrate.verify(address, plan=plan))} changes verified")
    pending = [c.change for c in changes if c.state in (migrate.PENDING, migrate.UNVERIFIED)]
    if pending:
        option = f" --plan {plan}" if plan else ""
        click.echo(
            f"{len(pending)} pending, the first {pending[0]}: qwf migrate deploy{option}", err=True
        )
        raise SystemExit(exit_codes.OTHER_VERSION)


@migrate.command()
@connection.dsn_option
@plan_option
@click.option("--to", metavar="CHANGE", help="Last change to keep: its name, or a release @v0.1.0.")
@click.option("--all", "everything", is_flag=True, help="Revert every change.")
@click.option("--yes", is_flag=True, help="Do not ask for confirmation.")
@verbose_option
def revert(
    dsn: str | None,
    plan: Path | None,
    to: str | None,
    everything: bool,
    yes: bool,
    verbose: bool,
) -> None:
    """Revert changes, the last one first. The data in their tables is lost.

    It says how many jobs and runs that is, and asks. If a view, a function or a column of yours
    uses what would be dropped, it names them and reverts nothing.

    \b
    Example:  qwf migrate revert --to @v0.1.0
              qwf migrate revert --to functions/claim/claim
              qwf migrate revert --all
    """
    from qwf_agent import migrate

    if everything == (to is not None):
        raise click.UsageError(
            "say --to CHANGE, the last change to keep, or --all to revert every change"
        )
    address = config.find_dsn(dsn)
    loss = migrate.loss(address, to, plan=plan)
    if not loss.changes:
        click.echo("nothing to revert")
        return
    what = f"Reverting {loss.changes} change{'' if loss.changes == 1 else 's'}: "
    click.echo(what + ("all data in their tables is deleted" if plan else str(loss)), err=True)
    arguments.confirm("Revert them?", yes)
    done = migrate.revert(address, to, plan=plan, say=_say(verbose))
    click.echo(f"{len(done)} changes reverted" if done else "nothing to revert")


@migrate.command()
@connection.dsn_option
@click.option(
    "--copy", is_flag=True,
    help="The original still runs: make this another instance, and pause all its queues.",
)  # fmt: skip
@click.option("--yes", is_flag=True, help="Do not ask, even if workers are live.")
def restored(dsn: str | None, copy: bool, yes: bool) -> None:
    """Make a database safe to work with that was restored from a backup.

    Run it after the restore, before the agents start. It moves all ids past those that can have
    been given out since the backup, and begins a new generation, so that no job gets the files of
    another. To run it again does no harm.

    \b
    Example:  qwf migrate restored
              qwf migrate restored --copy --dsn postgresql://user@host/copy
    """
    import psycopg

    with connection.connect(config.find_dsn(dsn)) as conn:
        given = {"copy": copy, "despite_live": yes}
        try:
            done = connection.call(conn, "begin_generation", **given)
        except psycopg.Error as error:
            if error.sqlstate != "QW002":
                raise
            live = f"Workers are live: {error.diag.message_detail}. They may already have got ids"
            arguments.confirm(f"{live} a second time; better stop their agents first. Go on?", yes)
            done = connection.call(conn, "begin_generation", copy=copy, despite_live=True)
    click.echo(f"this is generation {done['generation']} of database {done['instance'][:8]}")
    ids = done["next_ids"]
    click.echo(f"the next job is {ids['jobs']}, the next run {ids['runs']}")
    if copy:
        paused = ", ".join(done["paused"]) or "none: they were paused already"
        click.echo(f"queues paused: {paused}; to work here: qwf queue resume NAME")


@migrate.command()
@connection.dsn_option
def adopt(dsn: str | None) -> None:
    """Take over a schema that psql or your own migrations deployed.

    Afterwards `deploy`, `status` and `verify` work on it. Refuses a schema that differs from that
    of this version.

    \b
    Example:  qwf migrate sql | psql mydatabase && qwf migrate adopt
    """
    from qwf_agent import migrate
    from qwf_agent.look.doctor import drift
    from qwf_agent.look.doctor.findings import MAX_SHOWN

    address = config.find_dsn(dsn)
    with connection.connect(address) as conn:
        differences = [finding.what for finding in drift.find(conn)]
        if differences:
            package = f"qwf-agent[cli]=={connection.call(conn, 'version')}"
            errors.fail(
                "the schema in this database is not that of this version",
                f"adopt it with the version that deployed it: pip install '{package}'",
                details=differences[:MAX_SHOWN],
            )
    click.echo(f"{len(migrate.adopt(address, say=_note))} changes adopted")


@migrate.command("sql")
@plan_option
@click.option(
    "--no-transaction", is_flag=True,
    help="Leave out begin and commit, for a migration of another tool.",
)  # fmt: skip
def sql(plan: Path | None, no_transaction: bool) -> None:
    """Print the whole schema as SQL, in order.

    \b
    Example:  qwf migrate sql | psql mydatabase && qwf migrate adopt
    """
    from qwf_agent import migrate

    click.echo(migrate.script(plan=plan, transaction=not no_transaction))


@migrate.command("grants")
def grants() -> None:
    """Print the SQL that gives the four roles their rights.

    For a database that was deployed before the roles existed.

    \b
    Example:  qwf migrate grants | psql mydatabase
    """
    from qwf_agent import migrate

    click.echo(migrate.grants())


@migrate.command("path")
def path() -> None:
    """Print the folder of the sqitch plan and the deploy scripts.

    Stock sqitch cannot run there: most revert and verify scripts are derived, not files. In a
    checkout, `make sqitch-scripts` writes a whole tree to build/sqitch; run sqitch there.

    \b
    Example:  ls "$(qwf migrate path)"
    """
    from qwf_agent import migrate

    click.echo(migrate.plan_path().parent)


def _sum(changes: Sequence[Status]) -> str:
    """How many changes are in each state, and the state of each release."""
    states = Counter(c.state for c in changes)
    counted = ", ".join(f"{number} {state}" for state, number in states.items())
    releases = []
    whole = True
    for change in changes:
        whole = whole and change.state == "deployed"
        state = "deployed" if whole else "not deployed"
        releases += [f"@{tag} {state}" for tag in change.tags]
    return f"{len(changes)} changes: {counted}\nreleases: {', '.join(releases) or 'none yet'}"


def _list_missing(missing: list[Status]) -> NoReturn:
    """Print what a deploy would do, and exit: 0 if nothing is missing."""
    from qwf_agent.migrate import UNVERIFIED

    for change in missing:
        interrupted = change.state == UNVERIFIED
        click.echo(f"= {change.change}: interrupted earlier, to be verified" if interrupted
                   else f"+ {change.change}")  # fmt: skip
    number = "1 change" if len(missing) == 1 else f"{len(missing)} changes"
    click.echo(f"{number} to deploy" if missing else "up to date")
    raise SystemExit(1 if missing else 0)


def _say(verbose: bool) -> Callable[[str], None]:
    """Prints what a migration says; the name of each change only to a terminal or if asked."""
    if verbose or sys.stderr.isatty():
        return _note
    return lambda line: None if line.startswith(("+ ", "- ")) else _note(line)


def _note(line: str) -> None:
    click.echo(line, err=True)
