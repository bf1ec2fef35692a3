"""Commands about alerts: who hears of what, what is wrong now, and the receivers of this box."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import click
from psycopg.types.json import Jsonb

from qwf_agent import config
from qwf_agent.app import PermanentError, TemporaryError
from qwf_agent.cli import addresses, arguments, commands, errors, output
from qwf_agent.cli.read import show_list
from qwf_agent.look import connection
from qwf_agent.look.connection import Connection
from qwf_agent.look.draw import alerts as said
from qwf_agent.receivers import delivery
from qwf_agent.receivers.config import Receiver, read_receivers

if TYPE_CHECKING:
    from typing_extensions import LiteralString

RULES = "select * from qwf.alert_overview order by by_producers, name"
STARTS = "select rule -> 'do' ? 'workflow' as a_run from qwf.alert_overview where name = %s"
MOST = 200  # alerts that are listed
OPEN = "select * from qwf.alert_details where closed_at is null order by id desc limit 201"
CLOSED = """
select * from qwf.alert_details where closed_at is not null order by closed_at desc limit 201
"""
RECEIVERS = "select * from qwf.receiver_overview order by receiver"
OF_RECEIVERS = ("receiver", "hosts", "rules", "sent_at")
OF_RULES = (
    "name", "hears", "tells", "open", "sent_at", "waiting", "undelivered", "last_error",
)  # fmt: skip
OF_ALERTS = (
    "rule", "subject", "kind", "events", "opened_at", "last_at", "closed_at", "run_id", "job_id",
    "sent_to", "sent_at", "sent_job", "delivery", "delivery_error",
)  # fmt: skip


@click.command()
@click.option("--closed", is_flag=True, help="List those that are over, the last first.")
@click.option("--rules", is_flag=True, help="List the rules, and what went wrong with each.")
@click.option("--receivers", is_flag=True, help="List the receivers, and who has them.")
@output.json_option
@addresses.database
def alerts(conn: Connection, closed: bool, rules: bool, receivers: bool, as_json: bool) -> None:
    """List what is wrong now: the alerts that are open.

    Of each it says whether its last message was delivered, and which job delivers it. A message
    that is tried again is sent at once by `qwf change JOB --next`. With --rules the rules, how
    many messages wait, and how many were not delivered.

    \b
    Example:  qwf alerts
              qwf alerts --closed
              qwf alerts --rules
              qwf alerts --receivers
    """
    if closed + rules + receivers > 1:
        raise click.UsageError("give one of --closed, --rules and --receivers")
    if receivers:
        empty = "no receiver; add [receiver.NAME] to qwf.toml of an agent"
        _list(OF_RECEIVERS, conn, RECEIVERS, as_json, empty)
    elif closed:
        _list(OF_ALERTS, conn, CLOSED, as_json, "no alert has closed")
    elif rules:
        empty = "no rule; make one: qwf alert set NAME RULE"
        _list(OF_RULES, conn, RULES, as_json, empty)
    else:
        _list(OF_ALERTS, conn, OPEN, as_json, "no alert is open")


def _list(
    columns: tuple[str, ...], conn: Connection, query: LiteralString, as_json: bool, empty: str
) -> None:
    """Print rows: to a person in the words of the page, to a program as they are."""
    rows = connection.many(conn, query)
    if columns is OF_ALERTS and len(rows) > MOST:
        rows = rows[:MOST]
        click.echo(f"note: these are the newest {MOST}; qwf.alert_details has all", err=True)
    if not as_json:
        rows = [said.in_words(row) for row in rows]
    show_list(columns, rows, as_json, empty)


@click.group(cls=commands.Commands)
def alert() -> None:
    """Set, drop or test the rules of alerts.

    \b
    Example:  qwf alert set bad @bad.alert.json
              qwf alert test bad
    """


@alert.command("set")
@click.argument("name")
@click.argument("rule")
@addresses.database
def set_rule(conn: Connection, name: str, rule: str) -> None:
    """Set the rule NAME. RULE is JSON, or @FILE.

    \b
    Example:  qwf alert set bad @bad.alert.json
    """
    connection.call(conn, "set_alert", name=name, rule=Jsonb(arguments.parse_json(rule, "RULE")))
    click.echo(f"alert {name} is set; try it: qwf alert test {name}")


@alert.command("drop")
@click.argument("name")
@addresses.database
def drop_rule(conn: Connection, name: str) -> None:
    """Drop the rule NAME, and its alerts with it.

    \b
    Example:  qwf alert drop bad
    """
    connection.many(conn, "select qwf.set_alert(%s, null)", (name,))
    click.echo(f"alert {name} is dropped")


@alert.command("test")
@click.argument("name")
@addresses.database
def test_rule(conn: Connection, name: str) -> None:
    """Send a test message as the rule NAME sends its messages.

    \b
    Example:  qwf alert test bad
    """
    number = connection.call(conn, "test_alert", name=name)
    (rule,) = connection.many(conn, STARTS, (name,))
    what = f"run {number}" if rule["a_run"] else f"job {number}"
    click.echo(f"{what} delivers a test message; follow it: qwf wait {what}")


@click.command()
@click.argument("names", nargs=-1)
@click.option("--check", is_flag=True, help="Send a test message to each.")
@output.json_option
def receivers(names: tuple[str, ...], check: bool, as_json: bool) -> None:
    """List the receivers in qwf.toml of this box.

    No address is shown. With --check each gets a test message now, without the database.

    \b
    Example:  qwf receivers
              qwf receivers --check ops
    """
    found = read_receivers(config.load_toml().get("receiver", {}), str(config.toml_path()))
    unknown = sorted(set(names) - found.keys())
    if unknown:
        errors.fail(f"no receiver {unknown[0]}", f"qwf.toml has {', '.join(found) or 'none'}")
    rows = [_row(one, check) for name, one in found.items() if not names or name in names]
    empty = "no receivers; add [receiver.NAME] to qwf.toml"
    show_list(("name", "kind", *(("works",) if check else ())), rows, as_json, empty)
    if any(row.get("works", "yes") != "yes" for row in rows):
        raise SystemExit(1)


def _row(receiver: Receiver, check: bool) -> dict[str, Any]:
    row: dict[str, Any] = {"name": receiver.name, "kind": receiver.kind}
    if not check:
        return row
    name = f"test.{time.time_ns()}"
    message = {"v": 1, "id": name, "thread": name, "state": "test", "rule": "qwf receivers --check"}
    try:
        delivery.deliver(receiver, message)
    except (TemporaryError, PermanentError, config.ConfigError) as error:
        return {**row, "works": str(error)}
    return {**row, "works": "yes"}
