"""Commands about the database server and its schema."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from qwf_agent import config, embedded
from qwf_agent.cli import commands, connection, draw, output

plan_option = click.option(
    "--plan", type=click.Path(exists=True, dir_okay=False, path_type=Path), metavar="FILE",
    help="A sqitch plan of your own, deployed beside the engine's. Default: the engine's.",
)  # fmt: skip


@click.command()
def up() -> None:
    """Start a Postgres of your own, schema included.

    Prints its address. It lives under ~/.qwf (or QWF_HOME) and runs until `qwf down`; every qwf
    command of yours finds it by itself. Does nothing where it runs already.

    \b
    Example:  qwf up && qwf agent --queue cpu --nodes mypackage.nodes
    """
    from qwf_agent import migrate

    with output.console(stderr=True).status("starting Postgres") as status:
        dsn = embedded.up(config.home())
        migrate.deploy(dsn, say=lambda line: status.update(f"deploying {line.strip('+ ')}"))
    click.echo(dsn)


@click.command()
def down() -> None:
    """Stop the Postgres that `qwf up` started; its data stay.

    \b
    Example:  qwf down
    """
    stopped = embedded.down(config.home())
    click.echo("stopped" if stopped else f"no server was running under {config.home()}")


@click.command()
@click.option("--user", default="qwf", show_default=True, help="Who runs the agents.")
def unit(user: str) -> None:
    """Print the systemd unit for agents on this box.

    A template: qwf-agent@NAME reads /etc/qwf/NAME.toml. docs/operations.md goes through it.

    \b
    Example:  qwf unit | sudo tee /etc/systemd/system/qwf-agent@.service
              sudo systemctl enable --now qwf-agent@gpu
    """
    text = _unit_file("qwf-agent@.service").read_text(encoding="utf-8")
    text = text.replace("ExecStart=/opt/qwf/bin/python ", f"ExecStart={sys.executable} ")
    click.echo(text.replace("User=qwf\n", f"User={user}\n"), nl=False)


def _unit_file(name: str) -> Path:
    """A file of systemd/: in the package of a wheel, at the root of a checkout."""
    here = Path(__file__).resolve()
    inside = here.parents[1] / "units" / name
    return inside if inside.is_file() else here.parents[3] / "systemd" / name


@click.group(cls=commands.Commands)
def migrate() -> None:
    """Deploy, inspect and revert the schema.

    \b
    Example:  qwf migrate deploy --dsn postgresql://user@host/database
    Without qwf:  qwf migrate sql | psql DATABASE
                  sqitch deploy, in the folder that `qwf migrate path` prints
    """


@migrate.command()
@connection.dsn_option
@plan_option
@click.option("--to", metavar="CHANGE", help="Last change to deploy. Default: all of them.")
def deploy(dsn: str | None, plan: Path | None, to: str | None) -> None:
    """Deploy every change that is missing; as often as you like.

    \b
    Example:  qwf migrate deploy
    """
    from qwf_agent import migrate

    done = migrate.deploy(config.find_dsn(dsn), to=to, plan=plan, say=_note)
    click.echo(f"{len(done)} changes deployed" if done else "up to date")


@migrate.command()
@connection.dsn_option
@plan_option
@output.json_option
def status(dsn: str | None, plan: Path | None, as_json: bool) -> None:
    """List the changes, and which are deployed. Exit 1 when some are not.

    \b
    Example:  qwf migrate status
    """
    from qwf_agent import migrate

    changes = migrate.status(config.find_dsn(dsn), plan=plan)
    rows = [
        {"change": c.change or c.id, "state": c.state, "deployed_at": c.deployed_at, "note": c.note}
        for c in changes
    ]
    if as_json:
        output.show_json(rows)
    else:
        output.show(draw.rows(["change", "state", "note"], rows, "the plan is empty"))
    if any(c.state != "deployed" for c in changes):
        raise SystemExit(1)


@migrate.command()
@connection.dsn_option
@plan_option
def verify(dsn: str | None, plan: Path | None) -> None:
    """Check that what is deployed is still as it was deployed.

    \b
    Example:  qwf migrate verify
    """
    from qwf_agent import migrate

    click.echo(f"{len(migrate.verify(config.find_dsn(dsn), plan=plan))} changes verified")


@migrate.command()
@connection.dsn_option
@plan_option
@click.option("--to", metavar="CHANGE", help="Last change to keep. Default: none; everything goes.")
@click.option("--yes", is_flag=True, help="Do not ask.")
def revert(dsn: str | None, plan: Path | None, to: str | None, yes: bool) -> None:
    """Take changes back, the last first. Data in their tables are lost.

    \b
    Example:  qwf migrate revert --to functions/claim
    """
    from qwf_agent import migrate

    address = config.find_dsn(dsn)
    if not yes:
        click.confirm(
            f"Revert {f'every change after {to}' if to else 'everything'}, data included?",
            abort=True,
            err=True,
        )
    done = migrate.revert(address, to, plan=plan, say=_note)
    click.echo(f"{len(done)} changes reverted" if done else "nothing to revert")


@migrate.command("sql")
@plan_option
def sql(plan: Path | None) -> None:
    """Print the whole schema as SQL, in order.

    \b
    Example:  qwf migrate sql | psql mydatabase
    """
    from qwf_agent import migrate

    for change in migrate.read_plan(plan).changes:
        click.echo(change.deploy.read())


@migrate.command("grants")
def grants() -> None:
    """Print what gives the four roles their rights.

    For a database that was there before them.

    \b
    Example:  qwf migrate grants | psql mydatabase
    """
    from qwf_agent import migrate

    click.echo(migrate.grants())


@migrate.command("path")
def path() -> None:
    """Print the folder of the sqitch plan.

    \b
    Example:  cd "$(qwf migrate path)" && sqitch status
    """
    from qwf_agent import migrate

    click.echo(migrate.plan_path().parent)


def _note(line: str) -> None:
    click.echo(line, err=True)
