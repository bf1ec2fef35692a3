"""The usual times of a run and its nodes."""

from __future__ import annotations

from typing import Any

from qwf_agent.look import connection
from qwf_agent.look.connection import Connection

USUAL = """
select u.node, u.p50 from qwf.usual u
where u.kind in ('run', 'node') and u.name = %s and u.p50 is not null
"""


def add(conn: Connection, status: dict[str, Any]) -> None:
    """Write usual times, seconds, into a run and its nodes. A login that may not read them is told
    nothing."""
    found = connection.readable(conn, USUAL, (status["run"]["workflow"],))
    times = {row["node"]: row["p50"] for row in found}
    status["run"]["usual"] = times.get("")
    for node in status["nodes"]:
        node["usual"] = times.get(node["node_id"])
