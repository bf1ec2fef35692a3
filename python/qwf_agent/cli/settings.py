"""The settings of the engine: list them, change one, set one back to its default."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import click

from qwf_agent import config
from qwf_agent.cli import addresses, arguments, errors, losses, output
from qwf_agent.cli.read import show_list
from qwf_agent.look import connection, draw
from qwf_agent.look.connection import Connection

COLUMNS = ("setting", "value", "default", "meaning")
SETTINGS = """
select o.*, o.value <> o.default_value as changed,
  case when o.unit = 'time' then (o.value #>> '{}')::interval end as time,
  case when o.unit = 'time' then (o.default_value #>> '{}')::interval end as default_time
from qwf.setting_overview o
where %(name)s::text is null or o.name = %(name)s
"""


@click.command()
@click.argument("name", required=False)
@click.argument("value", required=False)
@click.option("--reset", is_flag=True, help="Set NAME back to its default.")
@arguments.yes
@output.json_option
@addresses.database
def settings(
    conn: Connection, name: str | None, value: str | None, reset: bool, yes: bool, as_json: bool
) -> None:
    """List the settings of the engine, or change one.

    Agents follow a change at once. A queue can override lease, timeout and retention. Asks if a
    shorter time would delete something.

    \b
    Example:  qwf settings                       qwf settings lease
              qwf settings stall_timeout 10min   qwf settings retention "60 days"
              qwf settings stall_timeout --reset
    """
    if reset and (name is None or value is not None):
        raise click.UsageError("write: qwf settings NAME --reset")
    if reset or value is not None:
        losses.confirm_setting(conn, str(name), value, yes)
        # of a name and its value, so that null, the default, is sent too
        changes = {name: None if value is None else _parsed(value)}
        connection.call(conn, "change_settings", changes=changes)
    found = connection.many(conn, SETTINGS, {"name": name})
    if name is not None and not found:
        known = [row["name"] for row in connection.many(conn, SETTINGS, {"name": None})]
        meant = config.close_to(name, known)
        errors.fail(
            f"no setting {name}",
            f"did you mean {meant}?" if meant else "qwf settings lists them",
        )
    if as_json:
        output.show_json([{key: row[key] for key in ("name", "value", "default_value", "unit",
                                                     "about")} for row in found])  # fmt: skip
    elif name is None:
        show_list(COLUMNS, [_listed(row) for row in found], False, "")
    else:
        row = _listed(found[0])
        default = f"; the default is {row['default']}" if row["default"] else ", the default"
        click.echo(f"{name} is {row['value']}{default}")
        click.echo(row["meaning"])


def _parsed(value: str) -> Any:
    """A list or object of JSON; any other value as a text, which the database reads."""
    if not value.startswith(("[", "{")):
        return value
    try:
        return json.loads(value)
    except ValueError as error:
        raise click.BadParameter(f"{value}: {error}") from None


def _listed(row: Mapping[str, Any]) -> dict[str, Any]:
    """A setting as a person reads it; the default only if it does not apply."""
    default = _spelled(row["unit"], row["default_value"], row["default_time"])
    return {
        "setting": row["name"],
        "value": _spelled(row["unit"], row["value"], row["time"]),
        "default": default if row["changed"] else None,
        "meaning": row["about"],
    }


def _spelled(unit: str, value: Any, time: Any) -> str:
    if time is not None:
        return draw.spell(time)
    if unit == "bytes":
        return draw.size(value)
    text = json.dumps(value)
    return f"{text} {unit}" if unit == "%" else text
