"""The checks of `qwf doctor`, in the order they are printed.

Each looks at one thing, yields its findings, and changes nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from qwf_agent.cli.doctor import engine, folders, schema, server, standbys
from qwf_agent.cli.doctor.findings import Finding
from qwf_agent.look.connection import Connection

Check = Callable[[Connection, str], Iterator[Finding]]

CHECKS: dict[str, Check] = {
    "server": server.server,
    "clock": server.clock,
    "schema": schema.schema,
    "drift": schema.changed_by_hand,
    "roles": schema.roles,
    "settings": schema.settings,
    "vacuum": server.vacuum,
    "snapshots": server.snapshots,
    "standbys": standbys.standbys,
    "tick": engine.ticking,
    "runs": engine.runs,
    "invariants": engine.invariants,
    "queues": engine.queues,
    "workers": engine.workers,
    "models": engine.model_servers,
    "schedules": engine.schedules,
    "options": engine.options,
    "folders": folders.folders,
}
WITHOUT_SCHEMA: dict[str, Check] = {
    "server": server.server,
    "clock": server.clock,
    "schema": schema.missing,
}
