"""Makes the checks of `qwf doctor`, in the order they are printed.

qwf.doctor() makes most of them. Python adds what SQL cannot see: the scripts that are shipped, this
box, standbys, and a database without the schema.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta

import psycopg

from qwf_agent import config
from qwf_agent.look.connection import Connection, check_owner
from qwf_agent.look.doctor import box, schema, shipped, standbys
from qwf_agent.look.doctor.findings import Finding, query_value, read, unchecked

Check = Callable[[Connection, str], Iterator[Finding]]

NAMES = (
    *("server", "clock", "schema", "drift", "roles", "settings", "vacuum", "snapshots", "standbys"),
    *("tick", "runs", "invariants", "queues", "workers", "models", "schedules", "late"),
    *("alerts", "options", "folders"),
)
WITHOUT_SCHEMA = ("server", "clock", "schema")
IN_PYTHON: dict[str, Check] = {
    "clock": box.clock,
    "schema": schema.schema,
    "drift": schema.changed_by_hand,
    "roles": schema.roles,
    "standbys": standbys.standbys,
    "folders": box.folders,
}
IN_BOTH = ("roles", "folders")
ABOUT_SERVER = "Version, durability, free connections, room for notifications."
LEVELS = ("fine", "note", "unchecked", "problem")  # the worst last
READER = "run it as a login with qwf_viewer or qwf_admin"
STATEMENT_TIMEOUT = "15s"  # so that the checks do not burden a slow server
# Moments are written in the zone of this box, as everywhere.
ASK = "select set_config('timezone', %s, true); select * from qwf.doctor(array[%s])"


@dataclass(frozen=True)
class Result:
    """The findings of a check; `about`: what is so if there are none."""

    name: str
    about: str
    findings: list[Finding]

    @property
    def state(self) -> str:
        """The worst of the findings; fine if there are none."""
        return max((one.level for one in self.findings), key=LEVELS.index, default="fine")


def make(conn: Connection, address: str, only: tuple[str, ...] = ()) -> Iterator[Result]:
    """Make the checks one after the other: all that are possible, or those of `only`.

    `conn` comes from connect_unchecked: a database without the schema has an owner of its own.
    Raises ConfigError if the schema is there, we are a superuser, and its owner is not.
    """
    conn.execute("select set_config('statement_timeout', %s, false)", (STATEMENT_TIMEOUT,))
    deployed = query_value(conn, "select to_regnamespace('qwf') is not null")
    if deployed:
        check_owner(conn)
    for name in (only or NAMES) if deployed else WITHOUT_SCHEMA:
        yield _made(conn, address, name) if deployed else _without_schema(conn, address, name)


def count(results: list[Result], level: str) -> int:
    """How many findings have the level."""
    return sum(finding.level == level for one in results for finding in one.findings)


def _made(conn: Connection, address: str, name: str) -> Result:
    about = ""
    found: list[Finding] = []
    check = IN_PYTHON.get(name)
    try:
        if check is None or name in IN_BOTH:
            about, found = _asked(conn, name)
            if name == "roles" and address == config.address(config.home()):
                # Only its owner can reach the server of `qwf up`.
                found = [one for one in found if one.subject != "database"]
        if check is not None:
            about = _first_line(check)
            found += check(conn, address)
    except psycopg.Error as error:
        if conn.closed:
            raise
        reason = (error.diag.message_primary or str(error)).strip()
        denied = isinstance(error, psycopg.errors.InsufficientPrivilege)
        found.append(unchecked(reason, READER if denied else "try again"))
    return Result(name, about, found)


def _asked(conn: Connection, name: str) -> tuple[str, list[Finding]]:
    """The findings of a check of qwf.doctor(), or the good state if it found nothing."""
    east = datetime.now().astimezone().utcoffset() or timedelta()
    minutes = int(east.total_seconds()) // 60
    zone = f"UTC{'-' if minutes >= 0 else '+'}{abs(minutes) // 60:02}:{abs(minutes) % 60:02}"
    cursor = conn.execute(ASK, (zone, name))
    cursor.nextset()
    rows = cursor.fetchall()
    fine = [row["says"] for row in rows if row["level"] == "fine"]
    return (fine[0], []) if fine else ("", [read(row) for row in rows])


def _without_schema(conn: Connection, address: str, name: str) -> Result:
    if name == "server":  # the function that makes this check needs no schema
        body = shipped.read().functions["_qwf.doctor_server"].body
        rows = conn.execute(body or "").fetchall()
        return Result(name, ABOUT_SERVER, [read(row) for row in rows])
    check = box.clock if name == "clock" else schema.missing
    return Result(name, _first_line(check), list(check(conn, address)))


def _first_line(check: Check) -> str:
    return (check.__doc__ or "").partition("\n")[0]
