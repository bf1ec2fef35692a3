"""Commands about the database server, and units of services."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from qwf_agent import config, embedded
from qwf_agent.cli import output


@click.command()
@click.option("--tcp", is_flag=True, help="Listen on 127.0.0.1 too, with a password.")
@click.option(
    "--port", type=click.IntRange(1, 65535), metavar="N",
    help="With --tcp: on which port. Default: that of last time, or a free one.",
)  # fmt: skip
def up(tcp: bool, port: int | None) -> None:
    """Start your own Postgres, with the schema deployed.

    Prints its address. Its files are under ~/.qwf (or QWF_HOME), and it runs until `qwf down`. Your
    qwf commands find it without --dsn. Does nothing if it is already running.

    It listens on a socket that only you can reach. Drivers that know no sockets, such as JDBC and
    postgres.js, need --tcp: then a second line has an address with a password.

    \b
    Example:  qwf up && qwf agent --queue cpu --nodes mypackage.nodes
              qwf up --tcp
    """
    from qwf_agent import migrate

    if port is not None and not tcp:
        raise click.UsageError("--port goes with --tcp")
    with output.console(stderr=True).status("starting Postgres") as status:
        dsn = embedded.up(config.home(), (port or 0) if tcp else None)
        migrate.deploy(dsn, say=lambda line: status.update(f"deploying {line.strip('+ ')}"))
    click.echo(dsn)
    if tcp:
        click.echo(embedded.tcp_address(config.home()))


@click.command()
def down() -> None:
    """Stop the Postgres that `qwf up` started, and the page.

    \b
    Example:  qwf down
    """
    from qwf_agent.cli.demo import page

    try:
        stopped_page = page.stop(config.home())
    finally:
        stopped = embedded.down(config.home())
    if stopped or stopped_page:
        click.echo("stopped")
    else:
        click.echo(f"no server was running under {config.home()}")


UNITS = {
    "agent": "qwf-agent@.service",
    "web": "qwf-web.service",
    "metrics": "qwf-metrics.service",
    "tick": "qwf-tick.service",
}


@click.command()
@click.argument("what", type=click.Choice(tuple(UNITS)), default="agent")
@click.option("--user", default="qwf", show_default=True, help="User that runs it.")
def unit(what: str, user: str) -> None:
    """Print a systemd unit: of agents, the page, metrics, or tick.

    The unit of agents is a template: qwf-agent@NAME reads /etc/qwf/NAME.toml. The others read
    /etc/qwf/web.env, metrics.env and tick.env. docs/operations.md explains them.

    \b
    Example:  qwf unit | sudo tee /etc/systemd/system/qwf-agent@.service
              sudo systemctl enable --now qwf-agent@gpu
              qwf unit web | sudo tee /etc/systemd/system/qwf-web.service
    """
    text = _unit_file(UNITS[what]).read_text(encoding="utf-8")
    text = text.replace("ExecStart=/opt/qwf/bin/python ", f"ExecStart={sys.executable} ")
    click.echo(text.replace("User=qwf\n", f"User={user}\n"), nl=False)


def _unit_file(name: str) -> Path:
    """A file of systemd/: in the package of a wheel, at the root of a checkout."""
    here = Path(__file__).resolve()
    inside = here.parents[1] / "units" / name
    return inside if inside.is_file() else here.parents[3] / "systemd" / name
