"""The event that a migration leaves behind, so that the audit says who changed the schema."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import psycopg
from psycopg.types.json import Jsonb

from qwf_agent.migrate.plan import Plan

_HAS_EVENTS = "select to_regproc('_qwf.record_change') is not null"
_RECORD = "select _qwf.record_change('schema_changed', %s, %s, %s)"


def record(
    conn: psycopg.Connection[Any], chain: Plan, before: Collection[str], after: Collection[str]
) -> None:
    """Write which changes of the plan were deployed before, and which are now, given their ids.

    Nothing for a database that had none: it is new, and nothing in it has changed. Nothing, too,
    once the table of events is reverted.
    """
    row = conn.execute(_HAS_EVENTS).fetchone()
    if before and row and row[0]:
        conn.execute(_RECORD, (chain.project, _state(chain, before), _state(chain, after)))


def _state(chain: Plan, deployed: Collection[str]) -> Jsonb:
    """How many changes are deployed, and the last of them."""
    names = [change.name for change in chain.changes if change.id in deployed]
    return Jsonb({"changes": len(names), "last": names[-1] if names else None})
