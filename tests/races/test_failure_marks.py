"""Two people mark one group of failures at the same moment."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import psycopg
import pytest

from support.harness import until
from support.planted_bugs import put_in

Db = psycopg.Connection[Any]
MARK = "select qwf.mark_failures('t', 'boom', {})"
FOUND = (
    "select seen_at is not null, snoozed_until is not null, note from qwf.failure_marks"
    " where task = 't' and signature = 'boom'"
)
AT_ONCE = [  # what stands before, what the first and the second say, what stands after
    ("nothing", None, "seen => true", "note => 'ours'", (True, False, "ours")),
    ("a note", "note => 'old'", "seen => true", "snooze => '1 h'", (True, True, "old")),
    ("two notes", "seen => true", "note => 'a'", "note => 'b'", (True, False, "b")),
    ("taken back", "seen => true", "seen => false", "note => 'ours'", (False, False, "ours")),
    ("shown again", "snooze => '1 h'", "snooze => '0 s'", "seen => true", (True, False, None)),
    ("both taken back", "seen => true, note => 'x'", "seen => false", "note => ''", None),
]


def mark_at_once(db: Db, dsn: str, before: str | None, first: str, second: str) -> Any:
    """The mark that stands after the second has waited for the first."""
    db.execute("delete from qwf.failure_marks")
    if before:
        db.execute(MARK.format(before))
    with psycopg.connect(dsn) as one, psycopg.connect(dsn) as two, ThreadPoolExecutor(1) as pool:
        one.execute(MARK.format(first))
        waiting = pool.submit(two.execute, MARK.format(second))
        query = "select from pg_stat_activity where pid = %s and wait_event_type = 'Lock'"
        pid = two.info.backend_pid
        until(lambda: db.execute(query, (pid,)).rowcount, "a session that waits")
        one.commit()
        waiting.result(60)
        two.commit()
    return db.execute(FOUND).fetchone()


@pytest.mark.parametrize("case", AT_ONCE, ids=[row[0] for row in AT_ONCE])
def test_nobody_undoes_what_somebody_else_marks(db: Db, dsn: str, case: tuple[Any, ...]) -> None:
    """The second changes what it says, on top of what the first has said; the row of a group of
    which nothing is said any more goes away."""
    assert mark_at_once(db, dsn, *case[1:4]) == case[4]


@pytest.mark.parametrize("column", ["seen_at", "note"])
def test_a_planted_bug_is_found(db: Db, dsn: str, column: str) -> None:
    """A mark that replaces what it does not say is found."""
    put_in(dsn, "qwf.mark_failures", f"then m.{column}", f"then excluded.{column}")
    wrong = [row[0] for row in AT_ONCE if mark_at_once(db, dsn, *row[1:4]) != row[4]]
    assert wrong
