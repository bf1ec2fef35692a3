"""Empties a database that tests share."""

from __future__ import annotations

import psycopg
from psycopg import sql

from qwf_agent.testing.databases import is_for_tests

# What was deployed, registered or configured. All other tables say what happened.
KEPT = (
    "qwf.instance", "qwf.settings", "qwf.queues", "qwf.limits", "qwf.limit_slots",
    "qwf.limit_starts", "qwf.schedules", "qwf.pipelines", "qwf.workflows", "qwf.graphs",
    "qwf.graph_nodes", "qwf.graph_edges", "_qwf.locks", "_qwf.hash_locks", "_qwf.rests",
    "_qwf.event_numbers", "_qwf.judged", "qwf.alerts",
)  # fmt: skip
NO_NUMBERS = """
update _qwf.event_numbers set first_seq = 1, last_seq = 0, floor_id = 0, mark_id = 0
"""
NAME = "select current_database()::text"
EMPTIED = """
select n.nspname::text, c.relname::text
from pg_catalog.pg_class c join pg_catalog.pg_namespace n on n.oid = c.relnamespace
where n.nspname in ('qwf', '_qwf') and c.relkind = 'r'
  and n.nspname || '.' || c.relname <> all (%s)
"""


def empty(dsn: str) -> None:
    """Delete all jobs, runs and workers, and all that is known about them.

    Definitions, queues, limits, schedules and settings stay. This is for a database that tests
    share, as those of Django's TransactionTestCase do; a copy that `qwf_dsn` makes is empty. Waits
    for the end of every transaction that has read these tables. Raises ValueError unless the
    database was made for tests or its name begins with test_ or ends in _test.
    """
    with psycopg.connect(dsn, row_factory=psycopg.rows.tuple_row) as conn:
        ((name,),) = conn.execute(NAME).fetchall()
        if not (name.startswith("test_") or name.endswith("_test") or is_for_tests(conn)):
            raise ValueError(
                f"the database {name} is not emptied: its name neither begins with test_ nor ends"
                " in _test"
            )
        emptied = conn.execute(EMPTIED, [list(KEPT)]).fetchall()
        tables = sql.SQL(", ").join(sql.Identifier(*found) for found in emptied)
        conn.execute(sql.SQL("truncate {}").format(tables))
        conn.execute("update qwf.limit_slots set job_id = null where job_id is not null")
        conn.execute(NO_NUMBERS)
        conn.execute("update _qwf.judged set learned_seq = 0, run_floor = 0")
        conn.execute("update qwf.limit_starts set used_at = '-infinity'")
